import { statusDescription } from '../../src/forges/port/postings.ts';
import { MAIN, type Site } from '../helpers/site.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';
import { clientOf, onBothForges, refOf } from './forges.ts';
import { pullOf } from './reading.ts';

/** What a backtest relies on, held against the simulated Gitea and the real one alike. */
const both = onBothForges(test);

async function merged(site: Site, branch: string, title: string): Promise<{ sha: string; number: number }> {
  const sha = await site.push(branch, { [`${branch}.ts`]: 'one\n' });
  const number = await site.open(branch, { title });
  await site.mergeByButton(number);
  return { sha, number };
}

both('merged pull requests are listed, the one merged last first', async (t, forge) => {
  const site = await forge.site();
  const client = clientOf(t, forge);
  t.deepEqual(await client.merged.list(site.repository, 10), { merged: [] });
  const first = await merged(site, 'first', 'feat: first');
  // Times are in whole seconds: the next one must have begun.
  const after = (await pullOf(forge, site, first.number)).updated_at;
  await until(() => Math.floor(Date.now() / 1_000) > Date.parse(after) / 1_000);
  const second = await merged(site, 'second', 'feat: second');
  await site.push('closed', { 'closed.ts': 'one\n' });
  const closed = await site.open('closed');
  await site.close(closed);
  await site.push('open', { 'open.ts': 'one\n' });
  await site.open('open');
  // A comment puts the first one before the second in the forge's own order.
  await site.comment(first.number, 'bob', 'Thank you');

  const list = await client.merged.list(site.repository, 10);
  t.is(list?.cutAt, undefined);
  t.deepEqual(
    list?.merged.map(({ pullRequest: { number, title, state } }) => [number, title, state]),
    [
      [second.number, 'feat: second', 'merged'],
      [first.number, 'feat: first', 'merged'],
    ],
  );
  t.deepEqual(
    (await client.merged.list(site.repository, 1))?.merged.map(({ pullRequest }) => pullRequest.number),
    [second.number],
  );
  const [newest] = list?.merged ?? [];
  const merge = await client.merged.of(refOf(site, newest?.pullRequest.number ?? 0));
  t.is(merge?.mergeCommit, await client.branchCommit(site.repository, MAIN));
  t.regex(newest?.mergedAt ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  t.is(await client.merged.list(`${site.repository}-gone`, 10), undefined);
});

both('what was merged can be read, whatever became of its branch', async (t, forge) => {
  const site = await forge.site();
  const client = clientOf(t, forge);
  const moving = await merged(site, 'moving', 'feat: a branch that goes on');
  const tip = await site.push('moving', { 'later.ts': 'two\n' });
  const gone = await merged(site, 'gone', 'feat: a branch that is deleted');
  await site.deleteBranch('gone');
  const list = (await client.merged.list(site.repository, 10))?.merged ?? [];
  t.is(list.length, 2);
  t.is((await pullOf(forge, site, moving.number)).head.sha, tip, 'by itself it shows the branch as it is now');
  for (const { number, sha } of [moving, gone]) {
    const found = list.find(({ pullRequest }) => pullRequest.number === number);
    const merge = await client.merged.of(refOf(site, number));
    t.like(merge, { baseBranch: MAIN, head: sha, mergedBy: 'bob' });
    t.is(merge?.mergedAt, found?.mergedAt);
    const repository = { id: merge?.repositoryId ?? '', name: site.repository };
    t.is(await client.merged.broughtBy(repository, MAIN, merge?.mergeCommit ?? ''), number);
    t.is(await client.merged.broughtBy(repository, 'other', merge?.mergeCommit ?? ''), undefined);
    t.is(await client.merged.broughtBy(repository, MAIN, tip), undefined);
    const { files, complete } = await client.changedFiles(refOf(site, number), sha);
    t.true(complete);
    t.deepEqual(
      files.map(({ path, status, additions }) => [path, status, additions]),
      [[number === moving.number ? 'moving.ts' : 'gone.ts', 'added', 1]],
    );
    t.deepEqual(
      (await client.commits(refOf(site, number))).map((commit) => commit.sha),
      [sha],
    );
  }
});

both('every status that a commit had is listed, the newest first', async (t, forge) => {
  const site = await forge.site();
  const client = clientOf(t, forge);
  const sha = await site.push('topic', { 'a.ts': 'a\n' });
  t.is(await client.merged.of(refOf(site, await site.open('topic'))), undefined, 'it is open');
  const states = ['pending', 'failure', 'success'] as const;
  for (const state of states) {
    await client.setStatus(site.repository, sha, {
      context: 'gatehouse/main',
      state,
      description: statusDescription(`It is ${state}`),
    });
  }
  await client.setStatus(site.repository, sha, {
    context: 'other',
    state: 'success',
    description: statusDescription('Another name'),
  });
  await site.setStatus('bob', sha, { context: 'gatehouse/main', state: 'success' });
  const found = await client.statuses(site.repository, sha, 'gatehouse/main');
  t.deepEqual(
    found?.map(({ own, creator, state }) => [own, creator, state]),
    [[false, 'bob', 'success'], ...states.toReversed().map((state) => [true, 'gatehouse', state])],
  );
  t.true(found?.every(({ updatedAt = '' }) => Math.abs(Date.parse(updatedAt) - Date.now()) < 3_600_000));
});

both('what a fork brought in can be read when the fork is gone', async (t, forge) => {
  const site = await forge.site();
  const client = clientOf(t, forge);
  const number = await site.openFromFork({ 'fork.ts': 'one\n' });
  await site.mergeByButton(number);
  await site.deleteFork();
  const [found] = (await client.merged.list(site.repository, 10))?.merged ?? [];
  t.is(found?.pullRequest.head.repository, null);
  const sha = (await client.merged.of(refOf(site, number)))?.head;
  t.truthy(sha);
  const { files } = await client.changedFiles(refOf(site, number), sha ?? '');
  t.deepEqual(
    files.map(({ path }) => path),
    ['fork.ts'],
  );
});

both('a review of what was merged can no longer be dismissed', async (t, forge) => {
  const site = await forge.site();
  await site.push('topic', { 'topic.ts': 'one\n' });
  const number = await site.open('topic');
  const review = await site.review(number, 'bob', 'approved');
  await site.mergeByButton(number);
  await t.throwsAsync(site.dismiss(number, review), {
    message: /can't dismiss a review associated to a closed or merged PR/,
  });
});
