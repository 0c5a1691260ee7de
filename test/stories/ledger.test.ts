import ava from 'ava';
import { makeForge } from '../../src/forges/make-forge.ts';
import { type LedgerDeps, recordBranches } from '../../src/jobs/ledger/record-branches.ts';
import { savePush } from '../../src/jobs/tables/ledger.ts';
import { makeLog } from '../../src/log.ts';
import { makeMetrics } from '../../src/metrics.ts';
import { openPool, WAITING_FOR_A_LOCK } from '../helpers/database.ts';
import { DOOR, SECRET, WORKER } from '../helpers/door.ts';
import { ledgerCommits, ledgerEntries, shownCommits } from '../helpers/ledger.ts';
import { FORGES, type Scene, shareStories, tellStory, workerComesBy } from '../helpers/story.ts';
import { eventually } from '../helpers/until.ts';
import type { Changes } from '../simulated-forge/git.ts';

const test = ava.serial;
const shared = shareStories(ava);

const POLICY = `version: 1
override: { by: bob }
rules:
  - id: title
    require: { title: '^feat: ' }
`;
const FILES = { '.gatehouse.yml': POLICY, 'app.ts': 'one\n' };
const GOOD = { title: 'feat: things' };
const BAD = { title: 'things' };

const parsesNothing = {
  parsePolicy: async () => {
    throw new Error('there is no policy');
  },
};

type How = 'merge' | 'squash' | 'rebase' | 'fast-forward';

/** Merges, and tells of the push; or loses its webhook. */
async function merge(
  scene: Scene,
  number: number,
  { how = 'merge' as How, by = 'bob', lost = false, count = 1 } = {},
): Promise<void> {
  scene.forge.merge(scene.repository, number, { how, by, force: true });
  if (!lost) {
    await scene.tell({ kind: 'push', branch: 'main', commits: count });
    await scene.settled();
  }
}

for (const name of FORGES) {
  test(`${name}: a merge has its verdict, its method and who merged it`, async (t) => {
    const scene = shared(name).scene(FILES);
    for (const how of ['merge', 'squash', 'fast-forward'] as const) {
      const number = await scene.open({ [`${how}.ts`]: 'a\n' }, GOOD);
      await scene.settled();
      if (how === 'fast-forward') {
        await scene.updateBranch(number);
        await scene.settled();
      }
      await merge(scene, number, { how, count: how === 'fast-forward' ? 2 : 1 });
    }
    const found = await ledgerCommits(scene);
    t.deepEqual(
      [...new Set(shownCommits(found))],
      ['passed #1 merge bob', 'passed #2 squash bob', 'passed #3 fast-forward bob'],
    );
    t.is(found.at(-1)?.sha, scene.forge.head(scene.repository, 'main'));
  });

  test(`${name}: each commit of a rebase came with its pull request`, async (t) => {
    const scene = shared(name).scene(FILES);
    const number = await scene.open({ 'a.ts': 'a\n' }, GOOD);
    await scene.push(number, { 'b.ts': 'b\n' });
    await scene.settled();
    await merge(scene, number, { how: 'rebase', count: 2 });
    t.deepEqual(shownCommits(await ledgerCommits(scene)), ['passed #1 rebase bob', 'passed #1 rebase bob']);
  });

  test(`${name}: a merge past a red status, and one without a verdict, are bypassed`, async (t) => {
    const scene = shared(name).scene(FILES);
    const red = await scene.open({ 'a.ts': 'a\n' }, BAD);
    await scene.settled();
    await merge(scene, red, { by: 'root' });
    const unseen = scene.openSilently({ 'b.ts': 'b\n' }, GOOD);
    await merge(scene, unseen, { by: 'root' });
    const found = await ledgerCommits(scene);
    t.deepEqual(shownCommits(found), ['bypassed #1 merge root', `bypassed #${unseen} merge root`]);
    t.deepEqual(
      found.map(({ why }) => why),
      ['the verdict was failure', 'there was no verdict'],
    );
  });

  test(`${name}: a push without a pull request is direct, and names who pushed`, async (t) => {
    const scene = shared(name).scene(FILES);
    await scene.push('main', { 'a.ts': 'a\n' }, { 'b.ts': 'b\n' });
    await scene.settled();
    t.deepEqual(shownCommits(await ledgerCommits(scene)), ['direct alice', 'direct alice']);
  });

  test(`${name}: a commit pushed before a squash is not a part of it`, async (t) => {
    const scene = shared(name).scene(FILES);
    const number = await scene.open({ 'a.ts': 'a\n' }, GOOD);
    await scene.push(number, { 'b.ts': 'b\n' });
    await scene.settled();
    await scene.push('main', { 'c.ts': 'c\n' });
    await scene.settled();
    scene.forge.commit(scene.repository, 'main', { 'evil.ts': 'x\n' });
    await merge(scene, number, { how: 'squash' });
    const [first, second, third] = shownCommits(await ledgerCommits(scene));
    t.is(first, 'direct alice');
    // Its webhook is lost, and that of the squash shows where this ended.
    t.is(second, 'direct null');
    t.is(third, 'passed #1 squash bob');
  });

  test(`${name}: without a policy there was nothing to pass`, async (t) => {
    const scene = shared(name).scene({ 'app.ts': 'one\n' });
    const number = await scene.open({ 'a.ts': 'a\n' }, BAD);
    await scene.settled();
    await merge(scene, number);
    t.deepEqual(shownCommits(await ledgerCommits(scene)), [`no policy #${number} merge bob`]);
  });

  test(`${name}: a force-push names what was lost`, async (t) => {
    const scene = shared(name).scene(FILES);
    const before = scene.forge.head(scene.repository, 'main');
    const lost = [await scene.push('main', { 'a.ts': 'a\n' }), await scene.push('main', { 'b.ts': 'b\n' })];
    await scene.settled();
    scene.forge.reset(scene.repository, 'main', before);
    const tip = await scene.push('main', { 'c.ts': 'c\n' });
    await scene.settled();
    const [rewritten, after] = (await ledgerEntries(scene)).slice(-2);
    t.is(rewritten?.kind, 'rewritten');
    t.deepEqual(rewritten?.kind === 'rewritten' && rewritten.lost, lost.toReversed());
    t.is(after?.kind === 'commit' && after.sha, tip);
  });
}

test('github: an overridden rule is named with the merge', async (t) => {
  const scene = shared('github').scene(FILES);
  const number = await scene.open({ 'a.ts': 'a\n' }, BAD);
  await scene.settled();
  await scene.comment(
    number,
    'bob',
    `/gatehouse override title ${scene.forge.pull(scene.repository, number).headSha} urgent`,
  );
  await scene.settled();
  await merge(scene, number);
  const [entry] = await ledgerCommits(scene);
  t.is(entry?.outcome, 'overridden');
  t.deepEqual(entry?.pullRequest?.verdict?.overrides, [{ rule: 'title', login: 'bob' }]);
});

for (const name of FORGES) {
  test(`${name}: a resync finds what lost webhooks missed`, async (t) => {
    const story = shared(name);
    const scene = story.scene(FILES);
    const first = await scene.open({ 'a.ts': 'a\n' }, GOOD);
    const second = await scene.open({ 'b.ts': 'b\n' }, BAD);
    await scene.settled();
    await workerComesBy(story, {}, [scene.repository]);
    t.deepEqual(
      (await ledgerEntries(scene)).map(({ kind }) => kind),
      ['started'],
      'it begins at its present head',
    );
    await merge(scene, first, { lost: true });
    await merge(scene, second, { lost: true, by: 'root' });
    scene.forge.commit(scene.repository, 'main', { 'c.ts': 'c\n' });
    await workerComesBy(story, {}, [scene.repository]);
    t.deepEqual(shownCommits(await ledgerCommits(scene)), [
      `passed #${first} merge bob`,
      `bypassed #${second} merge root`,
      'direct null',
    ]);
  });
}

for (const name of FORGES) {
  for (const webhooks of ['received', 'lost'] as const) {
    test(`${name}: a force-push never makes a rebase direct, webhooks ${webhooks}`, async (t) => {
      await using story = await tellStory(name, FILES, {}, DOOR);
      const { forge, repository } = story;
      const number = await story.open({ 'a.ts': 'a\n' }, BAD);
      await story.push(number, { 'b.ts': 'b\n' }, { 'c.ts': 'c\n' });
      await workerComesBy(story);
      await story.loseWebhooks(webhooks === 'lost');
      const before = forge.head(repository, 'main');
      forge.merge(repository, number, { how: 'rebase', by: 'root', force: true });
      await story.send({ kind: 'push', branch: 'main', commits: 3, before });
      const whole = forge.head(repository, 'main');
      const [left = ''] = forge.parents(whole);
      forge.reset(repository, 'main', left);
      const tip = forge.commit(repository, 'main', { 'd.ts': 'd\n' });
      await story.send({ kind: 'push', branch: 'main', before: whole });
      await workerComesBy(story);
      const found = await ledgerCommits(story);
      t.is(found.at(-1)?.sha, tip);
      const rest = webhooks === 'received' || name === 'github' ? `bypassed #${number} rebase root` : 'unknown null';
      const [pushed = '', ...brought] = shownCommits(found).toReversed();
      t.deepEqual(brought, [rest, rest]);
      // The resync of the worker may look before the job of the webhook has told who pushed.
      t.true(pushed === 'direct null' || (pushed === 'direct alice' && webhooks === 'received'), pushed);
    });
  }
}

for (const name of FORGES) {
  test(`${name}: a lost push is named though its webhook is late`, async (t) => {
    await using story = await tellStory(name, FILES, {}, DOOR);
    const { forge, repository, door } = story;
    await workerComesBy(story);
    const before = forge.head(repository, 'main');
    const gone = forge.commit(repository, 'main', { 'a.ts': 'a\n' });
    const late = forge.webhook(repository, { kind: 'push', branch: 'main', before }, { secret: SECRET });
    forge.reset(repository, 'main', before);
    forge.commit(repository, 'main', { 'b.ts': 'b\n' });
    await workerComesBy(story);
    const kinds = async () => (await ledgerEntries(story)).map(({ kind }) => kind);
    t.deepEqual(await kinds(), ['started', 'commit']);
    await forge.send(`${door.url}/webhook`, late);
    await workerComesBy(story);
    t.deepEqual(await kinds(), ['started', 'commit', 'rewritten']);
    const last = (await ledgerEntries(story)).at(-1);
    t.deepEqual(last?.kind === 'rewritten' && last.lost, [gone]);
  });
}

for (const name of FORGES) {
  for (const how of ['merge', 'squash'] as const) {
    test(`${name}: a ${how} made by hand has passed only if it has nothing else`, async (t) => {
      const scene = shared(name).scene({ ...FILES, 'both.ts': '1\n2\n3\n4\n5\n6\n7\n8\n9\n' });
      const handmade = async (files: Changes, own: Changes) => {
        const number = await scene.open(files, GOOD);
        await scene.settled();
        await scene.push('main', { 'both.ts': `0\n2\n3\n4\n5\n6\n7\n8\n${number}\n` });
        await scene.settled();
        scene.forge.merge(scene.repository, number, { how, by: 'root', force: true, own });
        await scene.tell({ kind: 'push', branch: 'main' });
        await scene.settled();
        const last = (await ledgerCommits(scene)).at(-1);
        return [last?.outcome, last?.why?.replaceAll(/\d/g, 'N') ?? null];
      };
      t.deepEqual(await handmade({ 'a.ts': 'a\n' }, {}), ['passed', null]);
      const other = 'the commit has changes that pull request N does not have';
      t.deepEqual(await handmade({ 'b.ts': 'b\n' }, { 'evil.ts': 'x\n' }), ['bypassed', other]);
      t.deepEqual(await handmade({ 'c.ts': 'c\n' }, { 'c.ts': 'x\n' }), ['bypassed', other]);
      const both = { 'both.ts': '0\n2\n3\n4\nfive\n6\n7\n8\n3\n' };
      const merged = { 'both.ts': '0\n2\n3\n4\nfive\n6\n7\n8\n4\n' };
      t.deepEqual(await handmade(both, merged), ['passed', null], 'as git merges it');
      const unclear = 'it cannot be told whether the commit has only pull request N';
      const evil = { 'both.ts': '0\n2\n3\n4\nsix\n6\n7\n8\n5\nevil\n' };
      t.deepEqual(await handmade({ 'both.ts': '0\n2\n3\n4\nsix\n6\n7\n8\n4\n' }, evil), ['unknown', unclear]);
    });

    test(`${name}: a ${how} of a file that the base has moved is never a bypass`, async (t) => {
      const scene = shared(name).scene({ ...FILES, 'old.ts': '1\n2\n3\n4\n5\n6\n7\n8\n9\n' });
      const merged = async (head: Changes, base: Changes, own: Changes) => {
        const number = await scene.open(head, GOOD);
        await scene.settled();
        await scene.push('main', base);
        await scene.settled();
        scene.forge.merge(scene.repository, number, { how, by: 'root', force: true, own });
        await scene.tell({ kind: 'push', branch: 'main' });
        await scene.settled();
        return (await ledgerCommits(scene)).at(-1)?.outcome;
      };
      const moved = { 'old.ts': null, 'new.ts': '0\n2\n3\n4\n5\n6\n7\n8\n9\n' };
      const changed = { 'old.ts': '1\n2\n3\n4\n5\n6\n7\n8\nnine\n' };
      const both = { 'old.ts': null, 'new.ts': '0\n2\n3\n4\n5\n6\n7\n8\nnine\n' };
      t.is(await merged(changed, moved, both), 'passed');
      const again = { 'new.ts': null, 'next.ts': '0\n2\n3\n4\n5\n6\n7\n8\nnine\n' };
      const evil = { 'new.ts': null, 'next.ts': '0\n2\n3\n4\n5\n6\n7\n8\n10\nevil\n' };
      t.is(await merged({ 'new.ts': '0\n2\n3\n4\n5\n6\n7\n8\n10\n' }, again, evil), 'unknown');
    });
  }
}

for (const name of FORGES) {
  test(`${name}: a merge is never direct because of a rename`, async (t) => {
    await using story = await tellStory(name, FILES);
    const number = await story.open({ 'a.ts': 'a\n' }, GOOD);
    await story.settled();
    const repository = story.repository;
    story.forge.merge(repository, number, { by: 'bob', force: true });
    story.when('GET', /\/commits\/\w+\/pulls?$/, () => story.rename('renamed'));
    await story.tell({ kind: 'push', branch: 'main' });
    await story.settledFor(repository);
    t.deepEqual(shownCommits(await ledgerCommits({ ...story, repository })), [`passed #${number} merge bob`]);
  });
}

/** To record without a worker. */
function depsOf({ forge: { name, url, token }, door }: Scene): LedgerDeps {
  return {
    forge: makeForge({ forge: name, url, credentials: { kind: 'token', token } }),
    pool: door.database,
    workers: parsesNothing,
    fallback: undefined,
    baselineOf: async () => ({ kind: 'none' as const }),
    statusContext: 'gatehouse/{base}',
    enforce: true,
    ledgerSettleSeconds: 0,
    keepsRecord: true,
    metrics: makeMetrics(),
    log: makeLog('silent'),
  };
}

for (const name of FORGES) {
  test(`${name}: two that record one branch at once add no entry twice, and none fails`, async (t) => {
    await using story = await tellStory(name, { 'app.ts': 'one\n' }, {}, DOOR);
    const { forge: simulated, repository } = story;
    const deps = depsOf(story);
    const { forge } = deps;
    const record = (between: () => Promise<void>) => {
      let isFirst = true;
      const history = {
        ...forge.history,
        async broughtBy(...asked: Parameters<typeof forge.history.broughtBy>) {
          if (isFirst) {
            isFirst = false;
            await between();
          }
          return forge.history.broughtBy(...asked);
        },
      };
      return recordBranches({ ...deps, forge: { ...forge, history } }, { repository });
    };
    await record(async () => {});
    simulated.commit(repository, 'main', { 'a.ts': 'a\n' });
    await record(async () => {
      simulated.commit(repository, 'main', { 'b.ts': 'b\n' });
      await record(async () => {});
      simulated.commit(repository, 'main', { 'c.ts': 'c\n' });
    });
    const found = (await ledgerCommits(story)).map(({ sha }) => sha);
    t.is(found.length, 3);
    t.is(new Set(found).size, 3);
    t.is(found.at(-1), simulated.head(repository, 'main'));
  });
}

for (const name of FORGES) {
  test(`${name}: a force-push is never left out because a push was saved slowly`, async (t) => {
    await using story = await tellStory(name, { 'app.ts': 'one\n' }, {}, DOOR);
    const { forge, repository, door } = story;
    const deps = depsOf(story);
    const { id: chain } = (await deps.forge.repository(repository)) ?? t.fail();
    const kinds = async () => (await ledgerEntries(story)).map(({ kind }) => kind);
    await recordBranches(deps, { repository });
    const before = forge.head(repository, 'main');
    const gone = forge.commit(repository, 'main', { 'a.ts': 'a\n' });
    const push = { before, after: gone, pusher: 'alice', deliveredAt: new Date() };
    const slow = openPool(door.databaseUrl);
    const saving = await slow.connect();
    try {
      await saving.query('BEGIN');
      await savePush(saving, chain, 'main', push);
      const saved = savePush(slow, chain, 'main', push);
      await eventually('the push waits to be saved', async () => {
        const { rowCount } = await door.database.query(`SELECT ${WAITING_FOR_A_LOCK}`);
        return rowCount !== 0;
      });
      forge.reset(repository, 'main', before);
      forge.commit(repository, 'main', { 'b.ts': 'b\n' });
      await recordBranches(deps, { repository });
      t.deepEqual(await kinds(), ['started', 'commit']);
      await saving.query('ROLLBACK');
      await saved;
    } finally {
      saving.release();
      await slow.end();
    }
    await recordBranches(deps, { repository });
    t.deepEqual(await kinds(), ['started', 'commit', 'rewritten']);
    await recordBranches(deps, { repository });
    t.deepEqual(await kinds(), ['started', 'commit', 'rewritten'], 'it is recorded once');
  });

  test(`${name}: pushes to another repository that took its name stay out of the ledger`, async (t) => {
    await using story = await tellStory(name, FILES, {}, DOOR);
    const { forge, repository: former, door } = story;
    await workerComesBy(story);
    await story.rename('moved');
    await workerComesBy(story);
    forge.createRepository(former, { 'other.ts': 'other\n' });
    const before = forge.head(former, 'main');
    forge.commit(former, 'main', { 'b.ts': 'b\n' });
    const pushed = forge.webhook(former, { kind: 'push', branch: 'main', before }, { secret: SECRET });
    await forge.send(`${door.url}/webhook`, pushed);
    await story.push('main', { 'a.ts': 'a\n' });
    await workerComesBy(story, {}, [story.repository, former]);
    t.deepEqual(
      (await ledgerEntries(story)).map(({ kind }) => kind),
      ['started', 'commit'],
    );
  });
}

for (const name of FORGES) {
  test(`${name}: what passed before a rename is never called bypassed`, async (t) => {
    await using story = await tellStory(name, FILES, {}, DOOR);
    const { forge, repository: former } = story;
    const deps = depsOf(story);
    const { id: chain } = (await deps.forge.repository(former)) ?? t.fail();
    const worker = await story.openDoor({}, WORKER);
    const number = await story.open({ 'a.ts': 'a\n' }, GOOD);
    await story.settled();
    await worker[Symbol.asyncDispose]();
    const before = forge.head(former, 'main');
    forge.merge(former, number, { by: 'bob' });
    const push = { before, after: forge.head(former, 'main'), pusher: 'bob', deliveredAt: new Date() };
    await savePush(story.door.database, chain, 'main', push);
    await story.rename('moved');
    await recordBranches(deps, { repository: former });
    t.deepEqual(shownCommits(await ledgerCommits(story)), [`passed #${number} merge bob`]);
  });
}
