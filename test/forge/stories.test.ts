import type { ExecutionContext } from 'ava';
import test from '../helpers/test.ts';
import { eventually, until } from '../helpers/until.ts';
import { onForges } from './forges.ts';
import { type Gatehouse, ownGatehouse, shareGatehouse } from './gatehouse.ts';
import { call, inlinesOf, OURS } from './reading.ts';
import type { HookedSite, TestForge } from './test-forge.ts';

/** The main stories: what people do on a forge, simulated or real, and what Gatehouse then says there. */
const { every, both } = onForges(test);
const gatehouseOf = shareGatehouse(test);

const policy = (...rules: readonly string[]) =>
  `version: 1\nrules:\n${rules.map((body, index) => `  - { id: rule-${index}, ${body} }\n`).join('')}`;
const NO_DEBUGGER = policy("forbid: { added_lines: 'debugger', in: ['**/*.ts'] }");
const APPROVED = policy('require: { approvals: { fresh: true } }');
const UPDATED = policy('require: { approvals: { fresh: except-updates, from: bob } }');
const LABELLED = policy("require: { label: 'reviewed' }");
const PLANNED = policy("require: { any: [{ assignee: bob }, { milestone: 'v2.*' }] }");
const CHECKED = policy("require: { checks: { name: 'ci/*', from: bob } }");
const ALL_CHECKED = policy('require: { checks: { all: true, at_least: build } }');
const TITLED = policy("require: { title: '^feat' }");
/** No runner ever takes its job. */
const WORKFLOW = `on: push
jobs:
  test: { runs-on: nobody, steps: [{ run: 'true' }] }
`;
const BAD = { 'app.ts': 'one\ndebugger\n' };
const GOOD = { 'app.ts': 'one\ntwo\n' };

interface Opened {
  readonly gatehouse: Gatehouse;
  readonly site: HookedSite;
  readonly sha: string;
  readonly number: number;
}

/** A pull request of these files, in a repository with this policy. */
async function open(forge: TestForge, text: string, files: Readonly<Record<string, string>>): Promise<Opened> {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': text });
  const sha = await site.push('topic', files);
  return { gatehouse, site, sha, number: await site.open('topic') };
}

both.serial('no head is judged by the diff of the head before', async (t, forge) => {
  const { site, sha: good, number } = await open(forge, NO_DEBUGGER, GOOD);
  await site.expect(t, good, 'success');
  const { sha, release } = await site.pushHeld('topic', BAD);
  const looks = async () =>
    (await forge.requests(site)).filter((path) => path.includes(`/git/refs/pull/${number}/head`)).length;
  const before = await looks();
  try {
    await site.label(number, 'look');
    await until(async () => (await looks()) > before);
  } finally {
    await release();
  }
  await site.expect(t, sha, 'failure');
  t.false((await site.states(sha)).includes('success'));
});

every('a pull request turns from red, which cannot be merged, to green, which can', async (t, forge) => {
  const { site, sha: bad, number } = await open(forge, NO_DEBUGGER, BAD);
  await site.protect('main', OURS);
  await site.expect(t, bad, 'failure');
  t.deepEqual(await inlinesOf(site, number), ['app.ts:2']);
  t.is((await site.comments(number)).length, 1);
  t.false(await site.mergeByButton(number));

  const good = await site.push('topic', GOOD);
  await site.expect(t, good, 'success');
  await until(async () => (await inlinesOf(site, number)).length === 0);
  t.is((await site.comments(number)).length, 1);
  t.is((await site.status(bad, OURS))?.state, 'failure');
  t.true(await site.mergeByButton(number));
  t.is(await site.state(number), 'merged');
});

every('a success that somebody else sets never stays', async (t, forge) => {
  const { gatehouse, site, sha: bad, number } = await open(forge, NO_DEBUGGER, BAD);
  await site.expect(t, bad, 'failure');
  const forged = { context: OURS, state: 'success' };
  await site.setStatus('bob', bad, forged);
  await site.expect(t, bad, 'failure');
  // The webhook of this one is lost.
  await site.loseWebhooks(true);
  await site.setStatus('bob', bad, forged);
  await site.label(number, 'seen');
  await gatehouse.resync(t);
  await site.expect(t, bad, 'failure');
  t.deepEqual(
    (await site.states(bad)).filter((state) => state !== 'pending'),
    ['failure', 'success', 'failure', 'success', 'failure'],
  );
});

every('each of several pushes gets its own verdict or none', async (t, forge) => {
  const { site, sha } = await open(forge, NO_DEBUGGER, GOOD);
  const heads = [sha];
  for (const files of [BAD, GOOD, BAD]) {
    heads.push(await site.push('topic', { ...files, 'count.txt': `${heads.length}\n` }));
  }
  await site.expect(t, heads.at(-1) ?? '', 'failure');
  for (const [index, head] of heads.entries()) {
    t.false((await site.states(head)).includes(index % 2 === 0 ? 'failure' : 'success'), `${index}`);
  }
});

every('an approval counts from those who may write, until the next push', async (t, forge) => {
  const { gatehouse, site, sha, number } = await open(forge, APPROVED, GOOD);
  await site.protect('main', OURS);
  await site.expect(t, sha, 'waiting');
  await site.review(number, 'mallory', 'approved');
  await gatehouse.received(site, forge.name === 'github' ? 'pull_request_review' : 'pull_request_approved');
  await gatehouse.settled(site);
  await site.expect(t, sha, 'waiting');
  t.false(await site.mergeByButton(number), 'while it waits for others');
  t.false((await site.states(sha)).includes('success'));
  await site.review(number, 'bob', 'approved');
  await site.expect(t, sha, 'success');
  const second = await site.push('topic', { 'app.ts': 'one\nthree\n' });
  await site.expect(t, second, 'waiting');
  t.false((await site.states(second)).includes('success'));
});

every('an approval survives the button that updates the branch, and no other merge', async (t, forge) => {
  const { site, sha, number } = await open(forge, UPDATED, GOOD);
  await site.expect(t, sha, 'pending');
  await site.review(number, 'bob', 'approved');
  await site.expect(t, sha, 'success');
  await site.push('main', { 'base.txt': 'base\n' });
  await site.expect(t, await site.updateBranch(number), 'success');

  const other = await site.push('other', { 'other.ts': 'other\n' });
  const merged = await site.merge('topic', other, { 'other.ts': 'other\n' });
  await site.expect(t, merged, 'pending');
  t.false((await site.states(merged)).includes('success'));
});

type Act = (opened: Opened) => Promise<void>;

/** What makes a pull request green and what ends that, by turns. */
const TURNS: Readonly<Record<string, readonly [text: string, ...acts: readonly Act[]]>> = {
  labels: [
    LABELLED,
    ({ site, number }) => site.label(number, 'reviewed'),
    ({ site, number }) => site.unlabel(number, 'reviewed'),
    ({ site, number }) => site.label(number, 'reviewed', 'other'),
    ({ site, number }) => site.clearLabels(number),
  ],
  'an assignee and a milestone': [
    PLANNED,
    ({ site, number }) => site.assign(number, 'bob'),
    ({ site, number }) => site.assign(number),
    ({ site, number }) => site.setMilestone(number, 'v2.0'),
    ({ site, number }) => site.setMilestone(number, null),
  ],
  'a check': [
    CHECKED,
    async ({ site, sha }) => {
      await site.setStatus('alice', sha, { context: 'ci/web', state: 'success' });
      await site.setStatus('bob', sha, { context: 'ci/api', state: 'failure' });
      await until(async () => (await site.status(sha, OURS))?.description === 'Waiting for the check ci/api');
      await site.setStatus('bob', sha, { context: 'ci/api', state: 'success' });
    },
    ({ site, sha }) => site.setStatus('bob', sha, { context: 'ci/web', state: 'pending' }),
  ],
  'all checks': [
    ALL_CHECKED,
    async ({ site, sha }) => {
      await site.setStatus('alice', sha, { context: 'lint', state: 'success' });
      await until(async () => (await site.status(sha, OURS))?.description === 'Waiting for the check build');
      await site.setStatus('bob', sha, { context: 'build', state: 'success' });
    },
    ({ site, sha }) => site.setStatus('bob', sha, { context: 'e2e', state: 'pending' }),
    ({ site, sha }) => site.setStatus('bob', sha, { context: 'e2e', state: 'success' }),
  ],
};

for (const [what, [text, ...acts]] of Object.entries(TURNS)) {
  every(`the status follows ${what}, by turns green and not`, async (t, forge) => {
    const opened = await open(forge, text, GOOD);
    const red = what.endsWith('check') || what.endsWith('checks') ? 'pending' : 'failure';
    await opened.site.expect(t, opened.sha, red);
    for (const [index, act] of acts.entries()) {
      await act(opened);
      await opened.site.expect(t, opened.sha, index % 2 === 0 ? 'success' : red);
    }
  });
}

both('a job of Actions that no runner has taken keeps all checks open', async (t, forge) => {
  const { site, sha } = await open(forge, ALL_CHECKED, { ...GOOD, '.gitea/workflows/ci.yml': WORKFLOW });
  if (forge.kind === 'simulated') {
    // It has no Actions.
    await site.setStatus('bob', sha, { context: 'ci.yml / test (push)', state: 'pending' });
  }
  await site.setStatus('bob', sha, { context: 'build', state: 'success' });
  await until(async () => /^Waiting for the check .*test/.test((await site.status(sha, OURS))?.description ?? ''));
  t.is((await site.status(sha, OURS))?.state, 'pending');
});

every("a fork's pull request is judged like any other", async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': CHECKED });
  const number = await site.openFromFork(BAD);
  const sha = await site.head(number);
  await site.expect(t, sha, 'pending');
  await site.setStatus('bob', sha, { context: 'ci/web', state: 'success' });
  await site.expect(t, sha, 'success');
  await site.push('main', { '.gatehouse.yml': NO_DEBUGGER });
  await site.expect(t, sha, 'failure');
  await until(async () => (await inlinesOf(site, number)).join() === 'app.ts:2');
});

every('a force-push is judged by what it leaves, and in a renamed repository, too', async (t, forge) => {
  const { site, sha, number } = await open(forge, NO_DEBUGGER, BAD);
  await site.expect(t, sha, 'failure');
  const forced = await site.forcePush('topic', { 'other.ts': 'debugger\n' });
  await site.expect(t, forced, 'failure');
  await until(async () => (await inlinesOf(site, number)).join() === 'other.ts:1');
  await site.rename(`${site.repository.split('/')[1]}-renamed`);
  const good = await site.forcePush('topic', GOOD);
  await site.expect(t, good, 'success');
  t.is((await site.comments(number)).length, 1);
});

every("a retargeted pull request gets its new base's policy", async (t, forge) => {
  const { site, sha, number } = await open(forge, NO_DEBUGGER, GOOD);
  await site.push('release', { '.gatehouse.yml': LABELLED });
  await site.expect(t, sha, 'success');
  await site.retarget(number, 'release');
  await site.expect(t, sha, 'failure', 'release');
});

every('a policy that a push of many commits changes is noticed', async (t, forge) => {
  const { site, sha } = await open(forge, NO_DEBUGGER, GOOD);
  await site.expect(t, sha, 'success');
  // Gitea's webhook lists the newest five.
  const later = Array.from({ length: 6 }, (_, index) => ({ 'count.txt': `${index}\n` }));
  await site.push('main', { '.gatehouse.yml': LABELLED }, ...later);
  await site.expect(t, sha, 'failure');
});

/** Whether a commit that is green for an easier branch can be merged into main, where it fails. */
async function mergesGreenElsewhere(
  t: ExecutionContext,
  forge: TestForge,
  required: string,
  webhooks: 'lost' | 'arrive',
  easier: string,
): Promise<boolean> {
  // Of its own where webhooks are lost: a resync that another test requests would find what they told.
  const gatehouse = await (webhooks === 'lost' ? ownGatehouse(t, forge, {}) : gatehouseOf(forge));
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  await site.push(easier, { '.gatehouse.yml': TITLED });
  await site.protect('main', required);
  const sha = await site.push('topic', BAD);
  await site.open('topic', { base: easier });
  await site.expect(t, sha, 'success', easier);
  // A job of the push would find the other pull request, too.
  await gatehouse.settled(site);
  await site.loseWebhooks(webhooks === 'lost');
  const number = await site.open('topic');
  if (webhooks === 'arrive') {
    await site.expect(t, sha, 'failure');
  }
  return site.mergeByButton(number);
}

for (const [on, required, webhooks, easier, isMet] of [
  [both, 'gatehouse/*', 'lost', 'easy', true],
  [both, 'gatehouse/*', 'arrive', 'easy', false],
  [every, OURS, 'lost', 'easy', false],
  [both, OURS, 'lost', 'Main', false],
] as const) {
  on(
    `${required} required: the success of the branch ${easier}, webhooks ${webhooks}, ${isMet ? 'allows' : 'does not allow'} a merge`,
    async (t, forge) => {
      t.is(await mergesGreenElsewhere(t, forge, required, webhooks, easier), isMet);
    },
  );
}

every('a closed pull request never leaves its success on the commit', async (t, forge) => {
  const { site, sha, number } = await open(forge, TITLED, GOOD);
  await site.expect(t, sha, 'success');
  await site.close(number);
  await site.expect(t, sha, 'pending');
  t.regex((await site.status(sha, OURS))?.description ?? '', /^No open pull request has this commit/);
  await site.reopen(number);
  await site.expect(t, sha, 'success');
  t.true(await site.mergeByButton(number));
  await until(async () => (await site.state(number)) === 'merged');
  t.is((await site.status(sha, OURS))?.state, 'success');
});

every('no old head stays green, nor becomes it by somebody else', async (t, forge) => {
  const { site, sha: old, number } = await open(forge, NO_DEBUGGER, GOOD);
  await site.expect(t, old, 'success');
  const bad = await site.forcePush('topic', BAD);
  await site.expect(t, bad, 'failure');
  await site.expect(t, old, 'pending');
  const good = await site.forcePush('topic', { 'app.ts': 'one\nthree\n' });
  await site.expect(t, good, 'success');
  // Neither is a head any more, and no branch has them.
  await site.setStatus('bob', bad, { context: OURS, state: 'success' });
  await eventually('it is taken back', async () => (await site.states(bad)).at(-2) === 'success');
  await site.expect(t, bad, 'pending');
  t.is(await site.head(number), good);
});

both('a deleted branch ends the review, and nothing fails', async (t, forge) => {
  const { gatehouse, site, sha, number } = await open(forge, NO_DEBUGGER, BAD);
  await site.expect(t, sha, 'failure');
  await site.deleteBranch('topic');
  await until(async () => (await site.state(number)) === 'closed');
  t.is((await call(forge, 'GET', `/repos/${site.repository}/pulls/${number}/files`)).status, 200);
  t.is(await gatehouse.failures(site), 0);
});
