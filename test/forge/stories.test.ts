import type { ExecutionContext } from 'ava';
import test from '../helpers/test.ts';
import { eventually, until } from '../helpers/until.ts';
import { symlink } from '../simulated-forge/git.ts';
import { onForges } from './forges.ts';
import { ownGatehouse, shareGatehouse } from './gatehouse.ts';
import { call, inlinesOf, OURS } from './reading.ts';
import type { TestForge } from './test-forge.ts';

/** The main stories: what people do on a forge, simulated or real, and what Gatehouse then says there. */
const { every, both } = onForges(test);
const gatehouseOf = shareGatehouse(test);

const NO_DEBUGGER = `version: 1
rules:
  - id: no-debugger
    forbid: { added_lines: 'debugger', in: ['**/*.ts'] }
`;
const APPROVED = `version: 1
rules:
  - id: approved
    require: { approvals: { fresh: true } }
`;
const UPDATED = `version: 1
rules:
  - id: approved
    require: { approvals: { fresh: except-updates, from: bob } }
`;
const LABELLED = `version: 1
rules:
  - id: labelled
    require: { label: 'reviewed' }
`;
const PLANNED = `version: 1
rules:
  - id: planned
    require: { any: [{ assignee: bob }, { milestone: 'v2.*' }] }
`;
const READY_LABELLED = `version: 1
rules:
  - id: labelled
    when: { draft: false }
    require: { label: 'reviewed' }
`;
const DOCS_ONLY = `version: 1
rules:
  - id: docs
    require: { only_files: 'docs/**' }
`;
const CHECKED = `version: 1
rules:
  - id: ci
    require: { checks: { name: 'ci/*', from: bob } }
`;
const ALL_CHECKED = `version: 1
rules:
  - id: ci
    require: { checks: { all: true, at_least: build } }
`;
/** No runner ever takes its job. */
const WORKFLOW = `on: push
jobs:
  test: { runs-on: nobody, steps: [{ run: 'true' }] }
`;
const TITLED = `version: 1
rules:
  - id: titled
    require: { title: '^feat' }
`;
const BAD = { 'app.ts': 'one\ndebugger\n' };
const GOOD = { 'app.ts': 'one\ntwo\n' };

both.serial('no head is judged by the diff of the head before', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  const good = await site.push('topic', GOOD);
  const number = await site.open('topic');
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

every('a pull request turns from red to green', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  const bad = await site.push('topic', BAD);
  const number = await site.open('topic');
  await site.expect(t, bad, 'failure');
  t.deepEqual(await inlinesOf(site, number), ['app.ts:2']);
  t.is((await site.comments(number)).length, 1);

  const good = await site.push('topic', GOOD);
  await site.expect(t, good, 'success');
  await until(async () => (await inlinesOf(site, number)).length === 0);
  t.is((await site.comments(number)).length, 1);
  t.is((await site.status(bad, OURS))?.state, 'failure');
});

every('a success that somebody else sets never stays', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  const bad = await site.push('topic', BAD);
  const number = await site.open('topic');
  await site.expect(t, bad, 'failure');
  const forged = { context: 'gatehouse/main', state: 'success' };
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
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  const heads = [await site.push('topic', GOOD)];
  await site.open('topic');
  for (const files of [BAD, GOOD, BAD]) {
    heads.push(await site.push('topic', { ...files, 'count.txt': `${heads.length}\n` }));
  }
  await site.expect(t, heads.at(-1) ?? '', 'failure');
  for (const [index, sha] of heads.entries()) {
    t.false((await site.states(sha)).includes(index % 2 === 0 ? 'failure' : 'success'), `${index}`);
  }
});

every('an approval counts until the next push', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': APPROVED });
  const first = await site.push('topic', GOOD);
  const number = await site.open('topic');
  await site.expect(t, first, 'waiting');
  await site.review(number, 'mallory', 'approved');
  await site.review(number, 'bob', 'approved');
  await site.expect(t, first, 'success');
  const second = await site.push('topic', { 'app.ts': 'one\nthree\n' });
  await site.expect(t, second, 'waiting');
  t.false((await site.states(second)).includes('success'));
});

every('an approval survives the button that updates the branch, and no other merge', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': UPDATED });
  const first = await site.push('topic', GOOD);
  const number = await site.open('topic');
  await site.expect(t, first, 'pending');
  await site.review(number, 'bob', 'approved');
  await site.expect(t, first, 'success');
  await site.push('main', { 'base.txt': 'base\n' });
  await site.expect(t, await site.updateBranch(number), 'success');

  const other = await site.push('other', { 'other.ts': 'other\n' });
  const merged = await site.merge('topic', other, { 'other.ts': 'other\n' });
  await site.expect(t, merged, 'pending');
  t.false((await site.states(merged)).includes('success'));
});

both('an approval counts only from those who may write', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': APPROVED });
  const sha = await site.push('topic', GOOD);
  const number = await site.open('topic');
  await site.expect(t, sha, 'waiting');
  await site.review(number, 'mallory', 'approved');
  await gatehouse.received(site, 'pull_request_approved');
  await site.review(number, 'bob', 'changes-requested');
  await gatehouse.received(site, 'pull_request_rejected');
  await site.expect(t, sha, 'waiting');
  t.false((await site.states(sha)).includes('success'));
});

every('a file that is moved into the documentation is not documentation only', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const text = 'one\ntwo\nthree\nfour\nfive\n';
  const site = await gatehouse.site({ '.gatehouse.yml': DOCS_ONLY, 'src/a.txt': text, 'docs/b.txt': text });
  const within = await site.push('within', { 'docs/b.txt': null, 'docs/c.txt': `${text}six\n` });
  await site.open('within');
  await site.expect(t, within, 'success');
  const moved = await site.push('moved', { 'src/a.txt': null, 'docs/a.txt': `${text}six\n` });
  await site.open('moved');
  await site.expect(t, moved, 'failure');
  const link = await site.push('link', { 'docs/b.txt': null, docs: symlink('src') });
  await site.open('link');
  await site.expect(t, link, 'failure');
});

every('labels count when they come and when they go', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': LABELLED });
  const sha = await site.push('topic', GOOD);
  const number = await site.open('topic');
  await site.expect(t, sha, 'failure');
  await site.label(number, 'reviewed');
  await site.expect(t, sha, 'success');
  await site.unlabel(number, 'reviewed');
  await site.expect(t, sha, 'failure');
  await site.label(number, 'reviewed', 'other');
  await site.expect(t, sha, 'success');
  await site.clearLabels(number);
  await site.expect(t, sha, 'failure');
});

every('an assignee and a milestone count when they come and when they go', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': PLANNED });
  const sha = await site.push('topic', GOOD);
  const number = await site.open('topic');
  await site.expect(t, sha, 'failure');
  await site.assign(number, 'bob');
  await site.expect(t, sha, 'success');
  await site.assign(number);
  await site.expect(t, sha, 'failure');
  await site.setMilestone(number, 'v2.0');
  await site.expect(t, sha, 'success');
  await site.setMilestone(number, null);
  await site.expect(t, sha, 'failure');
});

every("a fork's pull request is judged like any other", async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  const number = await site.openFromFork(BAD);
  const sha = await site.head(number);
  await site.expect(t, sha, 'failure');
  t.deepEqual(await inlinesOf(site, number), ['app.ts:2']);
});

every('a renamed repository is reviewed under its new name', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  const bad = await site.push('topic', BAD);
  const number = await site.open('topic');
  await site.expect(t, bad, 'failure');
  await site.rename(`${site.repository.split('/')[1]}-renamed`);
  const good = await site.push('topic', GOOD);
  await site.expect(t, good, 'success');
  t.is((await site.comments(number)).length, 1);
});

every('a force-push is judged by what it leaves', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  const bad = await site.push('topic', BAD);
  const number = await site.open('topic');
  await site.expect(t, bad, 'failure');
  const forced = await site.forcePush('topic', { 'other.ts': 'debugger\n' });
  await site.expect(t, forced, 'failure');
  await until(async () => (await inlinesOf(site, number)).join() === 'other.ts:1');
  const good = await site.forcePush('topic', GOOD);
  await site.expect(t, good, 'success');
});

every("a retargeted pull request gets its new base's policy", async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  await site.push('release', { '.gatehouse.yml': LABELLED });
  const sha = await site.push('topic', GOOD);
  const number = await site.open('topic');
  await site.expect(t, sha, 'success');
  await site.retarget(number, 'release');
  await site.expect(t, sha, 'failure', 'release');
});

every('a rule on a check follows the commit statuses of the account it names', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': CHECKED });
  const sha = await site.push('topic', GOOD);
  await site.open('topic');
  await site.expect(t, sha, 'pending');
  await site.setStatus('alice', sha, { context: 'ci/web', state: 'success' });
  await site.setStatus('bob', sha, { context: 'ci/api', state: 'failure' });
  await until(async () => (await site.status(sha, OURS))?.description === 'Waiting for the check ci/api');
  t.is((await site.status(sha, OURS))?.state, 'pending');
  await site.setStatus('bob', sha, { context: 'ci/api', state: 'success' });
  await site.expect(t, sha, 'success');
  await site.setStatus('bob', sha, { context: 'ci/web', state: 'pending' });
  await site.expect(t, sha, 'pending');
});

every('all checks are waited for, and one that begins later withdraws the green', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': ALL_CHECKED });
  const sha = await site.push('topic', GOOD);
  await site.open('topic');
  await site.setStatus('alice', sha, { context: 'lint', state: 'success' });
  await until(async () => (await site.status(sha, OURS))?.description === 'Waiting for the check build');
  await site.setStatus('bob', sha, { context: 'build', state: 'success' });
  await site.expect(t, sha, 'success');
  await site.setStatus('bob', sha, { context: 'e2e', state: 'pending' });
  await site.expect(t, sha, 'pending');
  await site.setStatus('bob', sha, { context: 'e2e', state: 'success' });
  await site.expect(t, sha, 'success');
});

both('a job of Actions that no runner has taken keeps all checks open', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': ALL_CHECKED });
  const sha = await site.push('topic', { ...GOOD, '.gitea/workflows/ci.yml': WORKFLOW });
  await site.open('topic');
  if (forge.kind === 'simulated') {
    // It has no Actions.
    await site.setStatus('bob', sha, { context: 'ci.yml / test (push)', state: 'pending' });
  }
  await site.setStatus('bob', sha, { context: 'build', state: 'success' });
  await until(async () => /^Waiting for the check .*test/.test((await site.status(sha, OURS))?.description ?? ''));
  t.is((await site.status(sha, OURS))?.state, 'pending');
});

every('a check on the head of a fork counts', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': CHECKED });
  const number = await site.openFromFork(GOOD);
  const sha = await site.head(number);
  await site.expect(t, sha, 'pending');
  await site.setStatus('bob', sha, { context: 'ci/web', state: 'success' });
  await site.expect(t, sha, 'success');
});

every('the next resync reviews a push whose webhook was lost', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  const good = await site.push('topic', GOOD);
  await site.open('topic');
  await site.expect(t, good, 'success');
  await site.loseWebhooks(true);
  const bad = await site.push('topic', BAD);
  await site.loseWebhooks(false);
  await gatehouse.resync(t);
  await site.expect(t, bad, 'failure');
});

every('a dismissed approval is found by the next resync', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': APPROVED });
  const sha = await site.push('topic', GOOD);
  const number = await site.open('topic');
  await site.expect(t, sha, 'pending');
  const review = await site.review(number, 'bob', 'approved');
  await site.expect(t, sha, 'success');
  const judged = Date.now();
  // The forge tells times in seconds.
  await until(() => Date.now() > judged + 1_000);
  await site.dismiss(number, review);
  await gatehouse.resync(t);
  await site.expect(t, sha, 'pending');
});

every('a policy that a push of many commits changes is noticed', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  const sha = await site.push('topic', GOOD);
  await site.open('topic');
  await site.expect(t, sha, 'success');
  // Gitea's webhook lists the newest five.
  const later = Array.from({ length: 6 }, (_, index) => ({ 'count.txt': `${index}\n` }));
  await site.push('main', { '.gatehouse.yml': LABELLED }, ...later);
  await site.expect(t, sha, 'failure');
});

every('branch protection refuses a merge when red and allows it when green', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  await site.protect('main', 'gatehouse/main');
  const bad = await site.push('topic', BAD);
  const number = await site.open('topic');
  await site.expect(t, bad, 'failure');
  t.false(await site.mergeByButton(number));
  const good = await site.push('topic', GOOD);
  await site.expect(t, good, 'success');
  t.true(await site.mergeByButton(number));
  t.is(await site.state(number), 'merged');
});

every('branch protection refuses a merge that waits for others', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': APPROVED });
  await site.protect('main', 'gatehouse/main');
  const sha = await site.push('topic', GOOD);
  const number = await site.open('topic');
  await site.expect(t, sha, 'waiting');
  t.false(await site.mergeByButton(number));
  await site.review(number, 'bob', 'approved');
  await site.expect(t, sha, 'success');
  t.true(await site.mergeByButton(number));
});

/** Whether a commit that is green for an easier branch can be merged into main, where it fails. */
async function mergesGreenElsewhere(
  t: ExecutionContext,
  forge: TestForge,
  required: string,
  webhooks: 'lost' | 'arrive',
  easier = 'easy',
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

both("a required pattern gatehouse/* is met by another branch's success", async (t, forge) => {
  t.true(await mergesGreenElsewhere(t, forge, 'gatehouse/*', 'lost'));
});

both('a required pattern gatehouse/* is not met once gatehouse/main fails', async (t, forge) => {
  t.false(await mergesGreenElsewhere(t, forge, 'gatehouse/*', 'arrive'));
});

every("a required status gatehouse/main is not met by another branch's success", async (t, forge) => {
  t.false(await mergesGreenElsewhere(t, forge, 'gatehouse/main', 'lost'));
});

both('a required status gatehouse/main is not met by the success of a branch Main', async (t, forge) => {
  t.false(await mergesGreenElsewhere(t, forge, 'gatehouse/main', 'lost', 'Main'));
});

every('a closed pull request never leaves its success on the commit', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': TITLED });
  const sha = await site.push('topic', GOOD);
  const number = await site.open('topic');
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
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  const old = await site.push('topic', GOOD);
  const number = await site.open('topic');
  await site.expect(t, old, 'success');
  const bad = await site.forcePush('topic', BAD);
  await site.expect(t, bad, 'failure');
  await site.expect(t, old, 'pending');
  const good = await site.forcePush('topic', { 'app.ts': 'one\nthree\n' });
  await site.expect(t, good, 'success');
  // Neither is a head any more, and no branch has them.
  await site.setStatus('bob', bad, { context: OURS, state: 'success' });
  await eventually('the failure is set again', async () => (await site.states(bad)).at(-2) === 'success');
  await site.expect(t, bad, 'failure');
  t.is(await site.head(number), good);
});

every('a draft never has a success that it would lose once it is ready', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': READY_LABELLED });
  const sha = await site.push('topic', GOOD);
  const number = await site.open('topic', { draft: true });
  await site.expect(t, sha, 'failure');
  t.false((await site.states(sha)).includes('success'));
  await site.label(number, 'reviewed');
  await site.expect(t, sha, 'success');
});

both('a deleted branch ends the review, and nothing fails', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  const sha = await site.push('topic', BAD);
  const number = await site.open('topic');
  await site.expect(t, sha, 'failure');
  await site.deleteBranch('topic');
  await until(async () => (await site.state(number)) === 'closed');
  t.is((await call(forge, 'GET', `/repos/${site.repository}/pulls/${number}/files`)).status, 200);
  t.is(await gatehouse.failures(site), 0);
});
