import { type MergeRow, readMerges } from '../../src/audit/merges.ts';
import { forgesOf, type Scene, shareStories, workerComesBy } from '../helpers/story.ts';
import ava from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const test = ava.serial;
const shared = shareStories(ava, [...FORGES, 'github', 'gitea']);

const POLICY = `version: 1
override: { by: bob }
rules:
  - id: title
    require: { title: '^feat: ' }
`;
const FILES = { '.gatehouse.yml': POLICY, 'app.ts': 'one\n' };
const GOOD = { title: 'feat: things' };
const BAD = { title: 'things' };
/** Later than a second after every status. */
const LATER_MS = 3_000;

type How = 'merge' | 'squash' | 'rebase' | 'fast-forward';

/** Merges some seconds after the last status was set. */
async function merge(
  scene: Scene,
  number: number,
  { how = 'merge' as How, by = 'bob', isTold = true } = {},
): Promise<void> {
  const { forge, repository } = scene;
  const before = forge.head(repository, forge.pull(repository, number).baseBranch);
  forge.merge(repository, number, { how, by, force: true });
  dateMerge(scene, number, Date.now() + LATER_MS);
  if (isTold) {
    await tellMerge(scene, number, before, by);
  }
}

function dateMerge({ forge, repository }: Scene, number: number, time: number): void {
  const pull = forge.pull(repository, number);
  const at = new Date(time).toISOString();
  pull.merged &&= { ...pull.merged, at, closedAt: at };
}

async function tellMerge(scene: Scene, number: number, before: string, by: string): Promise<void> {
  const { baseBranch, merged } = scene.forge.pull(scene.repository, number);
  await scene.tell({ kind: 'push', branch: baseBranch, commits: merged?.commits.length ?? 1, before, by });
  await scene.settled(scene.tell({ kind: 'pull-request', number, action: 'closed' }));
}

/** Of pull requests and pushes. */
function merges({ door, repository }: Scene): Promise<readonly MergeRow[]> {
  return readMerges(door.database, { repository });
}

async function shown(scene: Scene): Promise<readonly string[]> {
  return (await merges(scene)).map(
    ({ outcome, pullRequest, mergedBy }) =>
      `${outcome} ${pullRequest === null ? 'push' : `#${pullRequest}`} ${mergedBy}`,
  );
}

for (const name of FORGES) {
  test(`${name}: a green pull request has passed, by whatever method it was merged`, async (t) => {
    const scene = shared(name).scene(FILES);
    for (const how of ['merge', 'squash', 'rebase', 'fast-forward'] as const) {
      const number = await scene.open({ [`${how}.ts`]: 'a\n' }, GOOD);
      await scene.push(number, { [`${how}-2.ts`]: 'b\n' });
      if (how === 'fast-forward') {
        await scene.updateBranch(number);
      }
      await scene.settled();
      await merge(scene, number, { how });
    }
    const found = await merges(scene);
    t.deepEqual(await shown(scene), ['passed #1 bob', 'passed #2 bob', 'passed #3 bob', 'passed #4 bob']);
    const last = scene.forge.pull(scene.repository, 4);
    t.like(found.at(-1), {
      baseBranch: 'main',
      headSha: last.headSha,
      mergeSha: scene.forge.head(scene.repository, 'main'),
      verdict: 'success',
      overrides: [],
    });
  });

  test(`${name}: no merge past a red status, a forged one or none has passed`, async (t) => {
    const scene = shared(name).scene(FILES);
    const opened = (file: string) => scene.settled(scene.open({ [file]: 'a\n' }, BAD));
    const [red, forged, overridden] = [await opened('a.ts'), await opened('b.ts'), await opened('c.ts')];
    const unseen = scene.openSilently({ 'd.ts': 'd\n' }, GOOD);
    scene.impersonate(forged, 'success');
    await scene.settled(scene.comment(overridden, 'bob', `/gatehouse override title ${scene.head(overridden)} urgent`));
    // The forged one first: the push of another merge has it judged anew.
    for (const number of [forged, red, overridden, unseen]) {
      await merge(scene, number, { by: 'root' });
    }
    t.deepEqual((await shown(scene)).toSorted(), [
      `bypassed #${red} root`,
      `bypassed #${forged} root`,
      `not judged #${unseen} root`,
      `overridden #${overridden} root`,
    ]);
    const byNumber = new Map((await merges(scene)).map((found) => [found.pullRequest, found]));
    t.is(byNumber.get(red)?.verdict, 'failure');
    t.like(byNumber.get(overridden)?.overrides[0], { rule: 'title', login: 'bob', reason: 'urgent' });
  });

  test(`${name}: no merge is recorded twice, or lost with its webhook or to an error of the forge`, async (t) => {
    const story = shared(name);
    const scene = story.scene(FILES);
    const number = await scene.open({ 'a.ts': 'a\n' }, GOOD);
    const unheard = await scene.settled(scene.open({ 'b.ts': 'b\n' }, BAD));
    const path = new RegExp(`^/repos/${scene.repository}/.*statuses`);
    scene.forge.fault({ method: 'GET', path, times: 2, fault: { kind: 'status', status: 403 } });
    await merge(scene, number, { isTold: false });
    await scene.settled(scene.tell({ kind: 'pull-request', number, action: 'closed' }));
    t.deepEqual(await shown(scene), []);
    await merge(scene, unheard, { isTold: false, by: 'root' });
    await workerComesBy(story, {}, [scene.repository]);
    const both = [`bypassed #${unheard} root`, `passed #${number} bob`];
    t.deepEqual((await shown(scene)).toSorted(), both);
    scene.forge.label(scene.repository, number, 'late');
    await scene.settled(scene.tell({ kind: 'pull-request', number, action: 'labeled' }));
    t.deepEqual((await shown(scene)).toSorted(), both);
  });

  test(`${name}: a push that no pull request brought is direct, and names who pushed`, async (t) => {
    const scene = shared(name).scene(FILES);
    const { forge, repository } = scene;
    await scene.settled(scene.push('main', { 'a.ts': 'a\n' }, { 'b.ts': 'b\n' }));
    t.deepEqual(await shown(scene), ['direct push alice']);
    await scene.settled(scene.push('topic', { 'c.ts': 'c\n' }));
    t.is((await shown(scene)).length, 1, 'another branch');

    const number = await scene.settled(scene.open({ 'd.ts': 'd\n' }, GOOD));
    const before = forge.head(repository, 'main');
    forge.commit(repository, 'main', { 'evil.ts': 'x\n' });
    forge.commit(repository, 'main', { 'evil.ts': 'y\n' });
    forge.merge(repository, number, { how: 'squash', by: 'mallory', force: true });
    dateMerge(scene, number, Date.now() + LATER_MS);
    await scene.settled(scene.tell({ kind: 'push', branch: 'main', commits: 3, before, by: 'mallory' }));
    t.deepEqual((await shown(scene)).slice(1), ['direct push mallory'], 'more than its pull request has');
  });

  test(`${name}: a push that takes the branch back to a merge is direct`, async (t) => {
    const scene = shared(name).scene(FILES);
    const { forge, repository } = scene;
    const [first, second] = [await scene.open({ 'a.ts': 'a\n' }, GOOD), await scene.open({ 'b.ts': 'b\n' }, GOOD)];
    await scene.settled();
    await merge(scene, first, { how: 'squash' });
    const back = forge.head(repository, 'main');
    await merge(scene, second, { how: 'squash' });
    const before = forge.head(repository, 'main');
    forge.reset(repository, 'main', back);
    await scene.settled(scene.tell({ kind: 'push', branch: 'main', commits: 0, before, by: 'mallory' }));
    t.deepEqual((await shown(scene)).toSorted(), ['direct push mallory', 'passed #1 bob', 'passed #2 bob']);
  });

  test(`${name}: nothing is said of pushes to a repository that is gone`, async (t) => {
    const scene = shared(name).scene(FILES);
    const number = await scene.settled(scene.open({ 'a.ts': 'a\n' }, GOOD));
    await merge(scene, number, { isTold: false });
    scene.forge.deleteRepository(scene.repository);
    await scene.settled(scene.tell({ kind: 'push', branch: 'main' }));
    t.deepEqual(await shown(scene), []);
  });

  test(`${name}: what was merged into another branch is direct where it is pushed`, async (t) => {
    const scene = shared(name).scene(FILES);
    const { forge, repository } = scene;
    await scene.push('next', { 'next.ts': 'a\n' });
    const number = await scene.settled(scene.open({ 'a.ts': 'a\n' }, { ...GOOD, base: 'next' }));
    await merge(scene, number, { how: 'fast-forward' });
    forge.reset(repository, 'main', scene.head(number));
    await scene.settled(scene.tell({ kind: 'push', branch: 'main', by: 'mallory' }));
    t.deepEqual((await shown(scene)).toSorted(), ['direct push mallory', `passed #${number} bob`]);
  });

  test(`${name}: a rename loses no merge, and repeats none`, async (t) => {
    const scene = shared(name).scene(FILES);
    const [first, second] = [await scene.open({ 'a.ts': 'a\n' }, GOOD), await scene.open({ 'b.ts': 'b\n' }, BAD)];
    await scene.settled();
    await merge(scene, first);
    await scene.rename(`${scene.repository.split('/')[1]}-renamed`);
    await merge(scene, second, { by: 'root' });
    await scene.settled(scene.tell({ kind: 'pull-request', number: first, action: 'labeled' }));
    t.deepEqual(await shown(scene), [`bypassed #${second} root`]);
  });
}

for (const { before: first, after: last, outcome } of [
  { before: BAD, after: GOOD, outcome: 'passed' },
  { before: GOOD, after: BAD, outcome: 'bypassed' },
]) {
  test(`github: a merge queue’s merge is ${outcome} by the status of its group alone`, async (t) => {
    const scene = shared('github').scene(FILES);
    const { forge, repository } = scene;
    const number = await scene.settled(scene.open({ 'a.ts': 'a\n' }, first));
    const before = forge.head(repository, 'main');
    forge.edit(repository, number, last);
    // Without this, the verdict on the head would be that of its group.
    await scene.door.database.query('UPDATE gatehouse.reviews SET rules = NULL WHERE repository = $1', [repository]);
    const headSha = forge.enqueue(repository, number);
    await scene.settled(scene.tell({ kind: 'merge-group', action: 'checks_requested', number, headSha }));
    forge.mergeQueue(repository, 'main');
    dateMerge(scene, number, Date.now() + LATER_MS);
    const by = 'github-merge-queue[bot]';
    await tellMerge(scene, number, before, by);
    t.deepEqual(await shown(scene), [`${outcome} #${number} ${by}`]);
  });
}

test('gitea: nobody who merges by hand chooses the time whose status counts', async (t) => {
  const scene = shared('gitea').scene(FILES);
  const { forge, repository } = scene;
  const number = await scene.settled(scene.open({ 'a.ts': 'a\n' }, GOOD));
  await scene.settled(scene.edit(number, BAD));
  const commit = forge.commit(repository, 'by-hand', { 'a.ts': 'a\n' }, { merging: [scene.head(number)] });
  forge.mergeByHand(repository, number, commit, 'mallory', '2026-01-01T00:00:00Z');
  const pull = forge.pull(repository, number);
  pull.merged &&= { ...pull.merged, closedAt: new Date(Date.now() + LATER_MS).toISOString() };
  await scene.settled(scene.tell({ kind: 'pull-request', number, action: 'closed' }));
  t.deepEqual(await shown(scene), [`bypassed #${number} mallory`]);
});
