import test, { type ExecutionContext } from 'ava';
import { until } from '../helpers/until.ts';
import { symlink } from '../simulated-forge/git.ts';
import { onBothForges } from './forges.ts';
import { shareGatehouse } from './gatehouse.ts';
import { call, commentsOf, inlinesOf, pullOf, statusOf } from './reading.ts';
import type { TestForge } from './site.ts';

/** The main stories: what people do on a Gitea, simulated or real, and what Gatehouse then says there. */
const both = onBothForges(test);
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
  await gatehouse.expect(t, site, good, 'success');
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
  await gatehouse.expect(t, site, sha, 'failure');
  t.false((await gatehouse.told(site, sha)).includes('success'));
});

both('a pull request turns from red to green', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  const bad = await site.push('topic', BAD);
  const number = await site.open('topic');
  await gatehouse.expect(t, site, bad, 'failure');
  t.deepEqual(await inlinesOf(forge, site, number), ['app.ts:2']);
  t.is((await commentsOf(forge, site, number)).length, 1);

  const good = await site.push('topic', GOOD);
  await gatehouse.expect(t, site, good, 'success');
  await until(async () => (await inlinesOf(forge, site, number)).length === 0);
  t.is((await commentsOf(forge, site, number)).length, 1);
  t.is((await statusOf(forge, site, bad))?.status, 'failure');
});

both('a success that somebody else sets never stays', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  const bad = await site.push('topic', BAD);
  const number = await site.open('topic');
  await gatehouse.expect(t, site, bad, 'failure');
  const forged = { context: 'gatehouse/main', state: 'success' };
  await site.setStatus('bob', bad, forged);
  await gatehouse.expect(t, site, bad, 'failure');
  // The webhook of this one is lost.
  await site.loseWebhooks(true);
  await site.setStatus('bob', bad, forged);
  await site.label(number, 'seen');
  await gatehouse.resync(t);
  await gatehouse.expect(t, site, bad, 'failure');
  t.deepEqual(
    (await gatehouse.told(site, bad)).filter((state) => state !== 'pending'),
    ['failure', 'success', 'failure', 'success', 'failure'],
  );
});

both('each of several pushes gets its own verdict or none', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  const heads = [await site.push('topic', GOOD)];
  await site.open('topic');
  for (const files of [BAD, GOOD, BAD]) {
    heads.push(await site.push('topic', { ...files, 'count.txt': `${heads.length}\n` }));
  }
  await gatehouse.expect(t, site, heads.at(-1) ?? '', 'failure');
  for (const [index, sha] of heads.entries()) {
    t.false((await gatehouse.told(site, sha)).includes(index % 2 === 0 ? 'failure' : 'success'), `${index}`);
  }
});

both('an approval counts until the next push', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': APPROVED });
  const first = await site.push('topic', GOOD);
  const number = await site.open('topic');
  await gatehouse.expect(t, site, first, 'waiting');
  await site.review(number, 'mallory', 'approved');
  await site.review(number, 'bob', 'approved');
  await gatehouse.expect(t, site, first, 'success');
  const second = await site.push('topic', { 'app.ts': 'one\nthree\n' });
  await gatehouse.expect(t, site, second, 'waiting');
  t.false((await gatehouse.told(site, second)).includes('success'));
});

both('an approval survives the button that updates the branch, and no other merge', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': UPDATED });
  const first = await site.push('topic', GOOD);
  const number = await site.open('topic');
  await gatehouse.expect(t, site, first, 'pending');
  await site.review(number, 'bob', 'approved');
  await gatehouse.expect(t, site, first, 'success');
  await site.push('main', { 'base.txt': 'base\n' });
  await gatehouse.expect(t, site, await site.updateBranch(number), 'success');

  const other = await site.push('other', { 'other.ts': 'other\n' });
  const merged = await site.merge('topic', other, { 'other.ts': 'other\n' });
  await gatehouse.expect(t, site, merged, 'pending');
  t.false((await gatehouse.told(site, merged)).includes('success'));
});

both('an approval counts only from those who may write', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': APPROVED });
  const sha = await site.push('topic', GOOD);
  const number = await site.open('topic');
  await gatehouse.expect(t, site, sha, 'waiting');
  await site.review(number, 'mallory', 'approved');
  await gatehouse.received(site, 'pull_request_approved');
  await site.review(number, 'bob', 'changes-requested');
  await gatehouse.received(site, 'pull_request_rejected');
  await gatehouse.expect(t, site, sha, 'waiting');
  t.false((await gatehouse.told(site, sha)).includes('success'));
});

both('a file that is moved into the documentation is not documentation only', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const text = 'one\ntwo\nthree\nfour\nfive\n';
  const site = await gatehouse.site({ '.gatehouse.yml': DOCS_ONLY, 'src/a.txt': text, 'docs/b.txt': text });
  const within = await site.push('within', { 'docs/b.txt': null, 'docs/c.txt': `${text}six\n` });
  await site.open('within');
  await gatehouse.expect(t, site, within, 'success');
  const moved = await site.push('moved', { 'src/a.txt': null, 'docs/a.txt': `${text}six\n` });
  await site.open('moved');
  await gatehouse.expect(t, site, moved, 'failure');
  const link = await site.push('link', { 'docs/b.txt': null, docs: symlink('src') });
  await site.open('link');
  await gatehouse.expect(t, site, link, 'failure');
});

both('labels count when they come and when they go', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': LABELLED });
  const sha = await site.push('topic', GOOD);
  const number = await site.open('topic');
  await gatehouse.expect(t, site, sha, 'failure');
  await site.label(number, 'reviewed');
  await gatehouse.expect(t, site, sha, 'success');
  await site.unlabel(number, 'reviewed');
  await gatehouse.expect(t, site, sha, 'failure');
  await site.label(number, 'reviewed', 'other');
  await gatehouse.expect(t, site, sha, 'success');
  await site.clearLabels(number);
  await gatehouse.expect(t, site, sha, 'failure');
});

both("a fork's pull request is judged like any other", async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  const number = await site.openFromFork(BAD);
  const { sha } = (await pullOf(forge, site, number)).head;
  await gatehouse.expect(t, site, sha, 'failure');
  t.deepEqual(await inlinesOf(forge, site, number), ['app.ts:2']);
});

both('a renamed repository is reviewed under its new name', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  const bad = await site.push('topic', BAD);
  const number = await site.open('topic');
  await gatehouse.expect(t, site, bad, 'failure');
  await site.rename(`${site.repository().split('/')[1]}-renamed`);
  const good = await site.push('topic', GOOD);
  await gatehouse.expect(t, site, good, 'success');
  t.is((await commentsOf(forge, site, number)).length, 1);
});

both('a force-push is judged by what it leaves', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  const bad = await site.push('topic', BAD);
  const number = await site.open('topic');
  await gatehouse.expect(t, site, bad, 'failure');
  const forced = await site.forcePush('topic', { 'other.ts': 'debugger\n' });
  await gatehouse.expect(t, site, forced, 'failure');
  await until(async () => (await inlinesOf(forge, site, number)).join() === 'other.ts:1');
  const good = await site.forcePush('topic', GOOD);
  await gatehouse.expect(t, site, good, 'success');
});

both("a retargeted pull request gets its new base's policy", async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  await site.push('release', { '.gatehouse.yml': LABELLED });
  const sha = await site.push('topic', GOOD);
  const number = await site.open('topic');
  await gatehouse.expect(t, site, sha, 'success');
  await site.retarget(number, 'release');
  await gatehouse.expect(t, site, sha, 'failure', 'release');
});

both('a rule on a check follows the commit statuses of the account it names', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': CHECKED });
  const sha = await site.push('topic', GOOD);
  await site.open('topic');
  await gatehouse.expect(t, site, sha, 'pending');
  await site.setStatus('alice', sha, { context: 'ci/web', state: 'success' });
  await site.setStatus('bob', sha, { context: 'ci/api', state: 'failure' });
  await until(async () => (await statusOf(forge, site, sha))?.description === 'Waiting for the check ci/api');
  t.is((await statusOf(forge, site, sha))?.status, 'pending');
  await site.setStatus('bob', sha, { context: 'ci/api', state: 'success' });
  await gatehouse.expect(t, site, sha, 'success');
  await site.setStatus('bob', sha, { context: 'ci/web', state: 'pending' });
  await gatehouse.expect(t, site, sha, 'pending');
});

both('a check on the head of a fork counts', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': CHECKED });
  const number = await site.openFromFork(GOOD);
  const { sha } = (await pullOf(forge, site, number)).head;
  await gatehouse.expect(t, site, sha, 'pending');
  await site.setStatus('bob', sha, { context: 'ci/web', state: 'success' });
  await gatehouse.expect(t, site, sha, 'success');
});

both('the next resync reviews a push whose webhook was lost', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  const good = await site.push('topic', GOOD);
  await site.open('topic');
  await gatehouse.expect(t, site, good, 'success');
  await site.loseWebhooks(true);
  const bad = await site.push('topic', BAD);
  await site.loseWebhooks(false);
  await gatehouse.resync(t);
  await gatehouse.expect(t, site, bad, 'failure');
});

both('a dismissed approval is found by the next resync', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': APPROVED });
  const sha = await site.push('topic', GOOD);
  const number = await site.open('topic');
  await gatehouse.expect(t, site, sha, 'pending');
  const review = await site.review(number, 'bob', 'approved');
  await gatehouse.expect(t, site, sha, 'success');
  const { updated_at } = await pullOf(forge, site, number);
  // The forge tells times in seconds.
  await until(() => Date.now() > Date.parse(updated_at) + 1_000);
  await site.dismiss(number, review);
  await gatehouse.resync(t);
  await gatehouse.expect(t, site, sha, 'pending');
});

both('a policy that a push of many commits changes is noticed', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  const sha = await site.push('topic', GOOD);
  await site.open('topic');
  await gatehouse.expect(t, site, sha, 'success');
  // Gitea's webhook lists the newest five.
  const later = Array.from({ length: 6 }, (_, index) => ({ 'count.txt': `${index}\n` }));
  await site.push('main', { '.gatehouse.yml': LABELLED }, ...later);
  await gatehouse.expect(t, site, sha, 'failure');
});

both('branch protection refuses a merge when red and allows it when green', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  await site.protect('main', 'gatehouse/main');
  const bad = await site.push('topic', BAD);
  const number = await site.open('topic');
  await gatehouse.expect(t, site, bad, 'failure');
  t.false(await site.mergeByButton(number));
  const good = await site.push('topic', GOOD);
  await gatehouse.expect(t, site, good, 'success');
  t.true(await site.mergeByButton(number));
  t.true((await pullOf(forge, site, number)).merged);
});

both('branch protection refuses a merge that waits for others', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': APPROVED });
  await site.protect('main', 'gatehouse/main');
  const sha = await site.push('topic', GOOD);
  const number = await site.open('topic');
  await gatehouse.expect(t, site, sha, 'waiting');
  t.false(await site.mergeByButton(number));
  await site.review(number, 'bob', 'approved');
  await gatehouse.expect(t, site, sha, 'success');
  t.true(await site.mergeByButton(number));
});

/** Whether a commit that is green for an easier branch can be merged into main, where it fails. */
async function mergesGreenElsewhere(
  t: ExecutionContext,
  forge: TestForge,
  required: string,
  webhooks: 'lost' | 'arrive',
): Promise<boolean> {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  await site.push('easy', { '.gatehouse.yml': TITLED });
  await site.protect('main', required);
  const sha = await site.push('topic', BAD);
  await site.open('topic', { base: 'easy' });
  await gatehouse.expect(t, site, sha, 'success', 'easy');
  await site.loseWebhooks(webhooks === 'lost');
  const number = await site.open('topic');
  if (webhooks === 'arrive') {
    await gatehouse.expect(t, site, sha, 'failure');
  }
  return site.mergeByButton(number);
}

both("a required pattern gatehouse/* is met by another branch's success", async (t, forge) => {
  t.true(await mergesGreenElsewhere(t, forge, 'gatehouse/*', 'lost'));
});

both('a required pattern gatehouse/* is not met once gatehouse/main fails', async (t, forge) => {
  t.false(await mergesGreenElsewhere(t, forge, 'gatehouse/*', 'arrive'));
});

both("a required status gatehouse/main is not met by another branch's success", async (t, forge) => {
  t.false(await mergesGreenElsewhere(t, forge, 'gatehouse/main', 'lost'));
});

both('a closed pull request never leaves its success on the commit', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': TITLED });
  const sha = await site.push('topic', GOOD);
  const number = await site.open('topic');
  await gatehouse.expect(t, site, sha, 'success');
  await site.close(number);
  await gatehouse.expect(t, site, sha, 'pending');
  t.regex((await statusOf(forge, site, sha))?.description ?? '', /^No open pull request has this commit/);
  await site.reopen(number);
  await gatehouse.expect(t, site, sha, 'success');
  t.true(await site.mergeByButton(number));
  await until(async () => (await pullOf(forge, site, number)).state === 'closed');
  t.is((await statusOf(forge, site, sha))?.status, 'success');
});

both('a draft never has a success that it would lose once it is ready', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': READY_LABELLED });
  const sha = await site.push('topic', GOOD);
  const number = await site.open('topic', { title: 'WIP: feat: a draft' });
  await gatehouse.expect(t, site, sha, 'failure');
  t.false((await gatehouse.told(site, sha)).includes('success'));
  await site.label(number, 'reviewed');
  await gatehouse.expect(t, site, sha, 'success');
});

both('a deleted branch ends the review, and nothing fails', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': NO_DEBUGGER });
  const sha = await site.push('topic', BAD);
  const number = await site.open('topic');
  await gatehouse.expect(t, site, sha, 'failure');
  await site.deleteBranch('topic');
  await until(async () => (await pullOf(forge, site, number)).state === 'closed');
  t.is((await call(forge, 'GET', `/repos/${site.repository()}/pulls/${number}/files`)).status, 200);
  t.is(await gatehouse.failures(site), 0);
});
