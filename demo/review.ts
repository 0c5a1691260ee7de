import { styleText } from 'node:util';
import type { SimulatedForge } from '../test/simulated-forge/simulated-forge.ts';
import type { WebhookEvent } from '../test/simulated-forge/webhooks.ts';
import { expect } from './door.ts';
import { BEFORE, BROKEN_RULES, FILE, FIXED, POLICY, PROPOSED, REPOSITORY, TEST } from './example.ts';
import { renderMarkdown } from './markdown.ts';
import type { Moment } from './page/page.ts';
import { answer, awaiting, box, commitStatus, request, say, textWidth, title } from './show.ts';

export interface ReviewDeps {
  readonly forge: SimulatedForge;
  readonly origin: string;
  readonly secret: string;
}

/**
 * A pull request that breaks rules, its review, and the push that fixes it. Throws when a result differs from what is shown.
 * Returns what people see on the forge after each review.
 */
export async function showReview({ forge, origin, secret }: ReviewDeps): Promise<readonly Moment[]> {
  forge.createRepository(REPOSITORY, { '.gatehouse.yml': POLICY, [FILE]: BEFORE });
  forge.protect(REPOSITORY, 'main', ['gatehouse/main']);
  forge.commit(REPOSITORY, 'negative-sizes', { [FILE]: PROPOSED }, { message: 'Negative sizes' });
  const details = { head: 'negative-sizes', title: 'Negative sizes', labels: ['geometry'] };
  const number = forge.openPullRequest(REPOSITORY, details);
  const pull = () => forge.pull(REPOSITORY, number);
  const own = <T extends { readonly author: string }>(items: readonly T[]) =>
    items.filter(({ author }) => author === 'gatehouse');
  const page = `${forge.name === 'github' ? 'pull' : 'pulls'}/${number}`;

  async function tell(event: WebhookEvent): Promise<void> {
    const { headers, body } = forge.webhook(REPOSITORY, event, { secret });
    request(`POST /webhook   from ${forge.url}   ${(Buffer.byteLength(body) / 1024).toFixed(1)} KiB, signed`);
    const response = await fetch(`${origin}/webhook`, { method: 'POST', headers, body });
    answer(response.status, await response.text(), 'the delivery and its job are committed');
    expect(response.status === 200, 'the delivery was not acknowledged');
  }

  /** Waits for the verdict on the current head. */
  async function verdict(state: string) {
    const start = performance.now();
    const found = await awaiting('the review', () => {
      const latest = forge.statuses(REPOSITORY, pull().headSha).at(-1);
      return latest === undefined || latest.state === 'pending' ? undefined : latest;
    });
    const seconds = ((performance.now() - start) / 1_000).toFixed(1);
    for (const status of forge.statuses(REPOSITORY, pull().headSha)) {
      commitStatus(status.context, status.state, status.description);
    }
    say(styleText('dim', `${seconds} s after the webhook`));
    expect(found.state === state, `expected the status ${state}, got ${found.state}: ${found.description}`);
    return found;
  }

  function momentNow(when: string, files: Readonly<Record<string, string>>): Moment {
    const { title, author, headBranch: head, baseBranch: base, labels, headSha, comments, inlineComments } = pull();
    const status = forge.statuses(REPOSITORY, headSha).at(-1);
    expect(status !== undefined, 'the pull request has no status');
    return {
      ...{ when, repository: REPOSITORY, number, title, author, head, base, labels: [...labels], status },
      // Copies: the forge changes a comment in place.
      comments: comments.map(({ author: by, body }) => ({ author: by, body })),
      files: Object.entries(files).map(([path, after]) => ({
        path,
        before: path === FILE ? BEFORE : '',
        after,
        comments: inlineComments
          .filter((comment) => comment.path === path)
          .map(({ author: by, line, body }) => ({ author: by, line, body })),
      })),
    };
  }

  title(`1  ${REPOSITORY} has rules in .gatehouse.yml`);
  say('');
  for (const line of POLICY.trimEnd().split('\n')) {
    say(`  ${styleText('cyan', line)}`);
  }
  say('');
  say('alice opens a pull request. It breaks three rules.');
  say('');
  say(`  ${styleText('bold', `Negative sizes #${number}`)}   negative-sizes → main`);
  for (const line of ['+  console.log(…);', '+  if (width < 0 || height < 0) {', '+    debugger;', '+    return 0;']) {
    say(`  ${styleText('green', line)}`);
  }

  title('2  The forge sends a webhook, and Gatehouse reviews the pull request');
  await tell({ kind: 'pull-request', number, action: 'opened' });
  const failed = await verdict('failure');
  const comments = own(pull().comments);
  const inlines = own(pull().inlineComments);
  const [comment] = comments;
  expect(comment !== undefined && comments.length === 1, 'expected one comment');
  for (const rule of BROKEN_RULES) {
    expect(
      failed.description.includes(rule) && comment.body.includes(rule),
      `the comment or the status does not name ${rule}`,
    );
  }
  box(`gatehouse commented on ${REPOSITORY}/${page}`, renderMarkdown(comment.body, textWidth()));
  expect(
    inlines.map(({ path, line }) => `${path}:${line}`).join() === `${FILE}:2,${FILE}:4`,
    'both lines must have a comment',
  );
  const code = PROPOSED.split('\n');
  for (const { path, line, body } of inlines) {
    box(`${path}, line ${line}`, [
      styleText('dim', `${String(line - 1).padStart(3)}   ${code[line - 2] ?? ''}`),
      styleText('green', `${String(line).padStart(3)} + ${code[line - 1] ?? ''}`),
      '',
      ...renderMarkdown(body, textWidth() - 6).map((text) => (text === '' ? '' : `      ${text}`)),
    ]);
  }
  expect(!forge.merge(REPOSITORY, number), 'the forge merged a pull request that breaks rules');
  say('');
  say('The branch main requires the status gatehouse/main: the forge refuses to merge.');
  const opened = momentNow('alice opens a pull request. It breaks three rules.', { [FILE]: PROPOSED });

  title('3  alice fixes all three');
  say('She pushes a test, removes the debugging code, and edits the title.');
  forge.push(REPOSITORY, number, { [FILE]: FIXED, 'test/widget.test.ts': TEST }, { message: 'Fix it' });
  forge.edit(REPOSITORY, number, { title: 'feat: a widget of negative size has no area' });
  await tell({ kind: 'pull-request', number, action: 'synchronize' });
  await verdict('success');
  const [updated, ...others] = own(pull().comments);
  expect(updated?.id === comment.id && others.length === 0, 'the comment was not updated in place');
  expect(own(pull().inlineComments).length === 0, 'the comments at lines were not removed');
  box('the same comment, kept up to date', renderMarkdown(updated.body, textWidth()));
  say('The comments at lines are removed, because their findings are resolved.');
  const fixed = { [FILE]: FIXED, 'test/widget.test.ts': TEST };
  return [opened, momentNow('alice fixes all three.', fixed)];
}
