import type { ExecutionContext } from 'ava';
import type { Site } from '../helpers/site.ts';
import test from '../helpers/test.ts';
import { eventually } from '../helpers/until.ts';
import { clientOf, onBothForges, refOf } from './forges.ts';
import { shareGatehouse } from './gatehouse.ts';
import { ask, call, described, OURS } from './reading.ts';
import type { TestForge } from './test-forge.ts';

/** Comments that override a rule, and others with commands, on a Gitea, simulated or real. */
const both = onBothForges(test);
const gatehouseOf = shareGatehouse(test);

const POLICY = `version: 1
override: { by: [alice, bob, mallory] }
rules:
  - id: titled
    require: { title: '^feat: ' }
`;

interface Failing {
  readonly site: Site;
  readonly sha: string;
  readonly number: number;
  readonly command: string;
}

/** A pull request of `alice` that fails. */
async function failing(t: ExecutionContext, forge: TestForge, policy = POLICY): Promise<Failing> {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': policy });
  const sha = await site.push('topic', { 'app.ts': 'one\n' });
  const number = await site.open('topic', { title: 'things' });
  await site.expect(t, sha, 'failure');
  return { site, sha, number, command: `/gatehouse override titled ${sha} hotfix 4711` };
}

/** Waits until the comment of Gatehouse says so, and shows that the commit was never green. */
async function refused({ site, number, sha }: Failing, why: RegExp): Promise<boolean> {
  await eventually(`the comment says ${why}`, async () => why.test((await site.comments(number)).join()));
  return !(await site.states(sha)).includes('success');
}

both('an override lets one head through until its comment is edited', async (t, forge) => {
  const { site, sha, number, command } = await failing(t, forge);
  const comment = await site.comment(number, 'bob', `${command}\r\n\r\nSee the chat.`);
  await site.expect(t, sha, 'success');
  t.is((await site.status(sha, OURS))?.description, '1 rule overridden: hotfix 4711');
  await site.editComment(number, 'alice', comment, `${command}\r\n\r\nSee the chat!`);
  await site.expect(t, sha, 'failure');
  await site.editComment(number, 'bob', comment, `${command}\r\n\r\nSee the chat.`);
  await eventually('the edits have come', async () => /was edited\./.test((await site.comments(number)).join()));
  t.is((await site.status(sha, OURS))?.state, 'failure');
});

both('an override ends with its comment, and with the next push', async (t, forge) => {
  const { site, sha, number, command } = await failing(t, forge);
  const comment = await site.comment(number, 'bob', command);
  await site.expect(t, sha, 'success');
  await site.deleteComment(number, 'bob', comment);
  await site.expect(t, sha, 'failure');
  await site.comment(number, 'bob', command);
  await site.expect(t, sha, 'success');
  const next = await site.push('topic', { 'app.ts': 'two\n' });
  await site.expect(t, next, 'failure');
  t.false((await site.states(next)).includes('success'));
});

both('a comment that is edited into a command within its second is none', async (t, forge) => {
  const given = await failing(t, forge);
  const comment = await given.site.comment(given.number, 'bob', 'Thanks!');
  await given.site.editComment(given.number, 'alice', comment, given.command);
  t.true(await refused(given, /The override of `titled` by `bob` was edited\./));
});

both('a command never counts without its webhook, until it is posted again', async (t, forge) => {
  const given = await failing(t, forge);
  const { site, number, sha, command } = given;
  await site.loseWebhooks(true);
  // Nothing but the lost webhooks shows whose words the command is.
  const comment = await site.comment(number, 'bob', 'Thanks!');
  await site.editComment(number, 'alice', comment, command);
  await site.comment(number, 'bob', `${command} of bob`);
  await site.loseWebhooks(false);
  await site.edit(number, { body: 'Judged again' });
  t.true(await refused(given, /its webhook has not arrived\. If this stays, post it again/));
  await site.comment(number, 'bob', command);
  await site.expect(t, sha, 'success');
});

both('the author cannot override', async (t, forge) => {
  const given = await failing(t, forge);
  await given.site.comment(given.number, 'alice', given.command);
  t.true(await refused(given, /by `alice` was written by the author/));
});

both('somebody who may not write cannot override', async (t, forge) => {
  const given = await failing(t, forge);
  await given.site.comment(given.number, 'mallory', given.command);
  t.true(await refused(given, /by `mallory` was written by somebody who may not write/));
});

both('somebody who committed to the pull request cannot override', async (t, forge) => {
  const given = await failing(t, forge);
  const { site, number } = given;
  await site.push('main', { 'b.txt': 'b\n' });
  const sha = await site.updateBranch(number);
  await site.expect(t, sha, 'failure');
  await site.comment(number, 'bob', `/gatehouse override titled ${sha} hotfix 4711`);
  t.true(await refused({ ...given, sha }, /by `bob` was written by somebody who committed to this pull request/));
});

both('an override that is posted twice counts once, for its rule only', async (t, forge) => {
  const documented = "  - id: documented\n    require: { files: 'docs/**' }\n";
  const given = await failing(t, forge, POLICY + documented);
  const { site, sha, number, command } = given;
  const other = command.replace('titled', 'documented');
  await site.comment(number, 'bob', `${command}\n${other}`);
  await site.comment(number, 'bob', command);
  t.true(await refused(given, /of `titled` by `bob` is not needed: the rule is overridden already\./));
  await described(site, sha, '1 of 2 rules failed, 1 overridden: documented');
});

both('a change of base ends an override', async (t, forge) => {
  const given = await failing(t, forge);
  const { site, sha, number, command } = given;
  await site.push('release', { 'b.txt': 'b\n' });
  await site.comment(number, 'bob', command);
  await site.expect(t, sha, 'success');
  await site.retarget(number, 'release');
  await site.expect(t, sha, 'failure', 'release');
  await eventually('the comment says so', async () =>
    /before the last force-push or change of base/.test((await site.comments(number)).join()),
  );
  t.pass();
});

for (const [what, text, why] of [
  ['a short id', (command: string, sha: string) => command.replace(sha, sha.slice(0, 12)), /by its full id/],
  ['another head', (command: string, sha: string) => command.replace(sha, 'a'.repeat(40)), /which is not the head/],
  ['no reason', (command: string) => command.replace(' hotfix 4711', ''), /gives no reason/],
  ['an unknown rule', (command: string) => command.replace('titled', 'tilted'), /a rule that the policy does not have/],
] as const) {
  both(`an override with ${what} does not count`, async (t, forge) => {
    const given = await failing(t, forge);
    await given.site.comment(given.number, 'bob', text(given.command, given.sha));
    t.true(await refused(given, why));
  });
}

both('text that shows a command is none', async (t, forge) => {
  const given = await failing(t, forge);
  const { site, number, command } = given;
  const texts = [
    `> ${command}`,
    `\`\`\`\n${command}\n\`\`\``,
    `    ${command}`,
    `\r\n${command}`,
    `<details>\n${command}`,
  ];
  for (const text of texts) {
    await site.comment(number, 'bob', text);
  }
  // One that is looked at, so that all of them have been.
  await site.comment(number, 'bob', command.replace('titled', 'tilted'));
  t.true(await refused(given, /a rule that the policy does not have/));
});

both('recheck judges again, and an unknown command is answered once', async (t, forge) => {
  const { site, sha, number } = await failing(t, forge);
  for (const text of ['/gatehouse help', '/gatehouse overide']) {
    await site.comment(number, 'mallory', text);
  }
  await eventually('the commands are listed', async () => (await site.comments(number)).length > 1);
  await site.loseWebhooks(true);
  await site.edit(number, { title: 'feat: things' });
  await site.loseWebhooks(false);
  await site.comment(number, 'alice', '/gatehouse recheck');
  await site.expect(t, sha, 'success');
  t.is((await site.comments(number)).length, 2);
});

both('comments are read with what shows that they may be edited', async (t, forge) => {
  const site = await forge.site();
  await site.push('topic', { 'app.ts': 'one\n' });
  const number = await site.open('topic');
  const client = clientOf(t, forge);
  const id = await site.comment(number, 'bob', 'one');
  const [comment] = await client.comments(refOf(site, number));
  t.like(comment, { id: String(id), author: 'bob', bot: false, body: 'one', edited: 'no-by-seconds' });
  await eventually('the next second', async () => Date.now() > Date.parse(comment?.createdAt ?? '') + 1_500);
  await site.editComment(number, 'alice', id, 'two');
  t.like((await client.comments(refOf(site, number)))[0], { author: 'bob', body: 'two', edited: 'yes' });
});

both('who may write is known without being an administrator', async (t, forge) => {
  const site = await forge.site();
  await site.push('topic', { 'app.ts': 'one\n' });
  const number = await site.open('topic');
  await site.comment(number, 'bob', 'one');
  await site.comment(number, 'mallory', 'two');
  const { permissions } = await ask<{ permissions: object }>(forge, `/repos/${site.repository}`);
  t.deepEqual(permissions, { admin: false, push: true, pull: true }, 'the account may write, and no more');
  const asked = async (login: string) =>
    (await call(forge, 'GET', `/repos/${site.repository}/collaborators/${login}/permission`)).status;
  t.deepEqual([await asked('bob'), await asked('gatehouse')], [403, 200]);
  const writes = clientOf(t, forge).writeAccess(site.repository);
  t.is(await writes('alice'), 'yes');
  t.is(await writes('Bob'), 'yes');
  t.is(await writes('mallory'), 'no');
  t.is(await writes('nobody'), 'no');
});
