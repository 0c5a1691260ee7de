import ava from 'ava';
import { ledgerCommits, shownCommits } from '../helpers/ledger.ts';
import { FORGES, shareStories } from '../helpers/story.ts';

const test = ava.serial;
const shared = shareStories(ava);

const POLICY = `version: 1
rules:
  - id: title
    require: { title: '^feat: ' }
`;
const FILES = { '.gatehouse.yml': POLICY, 'app.ts': 'one\n' };
const GOOD = { title: 'feat: things' };
const BAD = { title: 'things' };

for (const name of FORGES) {
  test(`${name}: a second pull request with a red head never makes its merge passed`, async (t) => {
    const scene = shared(name).scene(FILES);
    const { forge, repository } = scene;
    const red = await scene.open({ 'a.ts': 'a\n' }, BAD);
    await scene.settled();
    forge.reset(repository, 'again', scene.head(red));
    const green = await scene.open('again', GOOD);
    await scene.settled();
    t.is(scene.status(green)?.state, 'failure', 'the status shows the worst of both');
    forge.merge(repository, green, { by: 'root', force: true });
    await scene.tell({ kind: 'push', branch: 'main' });
    await scene.settled();
    t.deepEqual(shownCommits(await ledgerCommits(scene)), [`bypassed #${green} merge root`]);
  });

  test(`${name}: a pull request that was closed holds up no other with its head`, async (t) => {
    const scene = shared(name).scene(FILES);
    const { forge, repository } = scene;
    const red = await scene.open({ 'a.ts': 'a\n' }, BAD);
    await scene.settled();
    forge.reset(repository, 'again', scene.head(red));
    const green = await scene.open('again', GOOD);
    await scene.settled();
    await scene.close(red);
    await scene.settled();
    t.is(scene.status(green)?.state, 'success');
    forge.merge(repository, green, { by: 'bob' });
    await scene.tell({ kind: 'push', branch: 'main' });
    await scene.settled();
    t.deepEqual(shownCommits(await ledgerCommits(scene)), [`passed #${green} merge bob`]);
  });

  test(`${name}: a commit that passed once and is pushed again is direct`, async (t) => {
    const scene = shared(name).scene(FILES);
    const { forge, repository } = scene;
    const before = forge.head(repository, 'main');
    const number = await scene.open({ 'a.ts': 'a\n' }, GOOD);
    await scene.settled();
    forge.merge(repository, number, { by: 'bob' });
    const merged = forge.head(repository, 'main');
    await scene.tell({ kind: 'push', branch: 'main' });
    await scene.settled();
    forge.reset(repository, 'main', before);
    await scene.tell({ kind: 'push', branch: 'main', before: merged, by: 'root' });
    await scene.settled();
    await scene.door.database.query(
      "UPDATE gatehouse.ledger_branches SET looked_at = looked_at + interval '5 minutes'",
    );
    forge.reset(repository, 'main', merged);
    await scene.tell({ kind: 'push', branch: 'main', before, by: 'mallory' });
    await scene.settled();
    const found = await ledgerCommits(scene);
    t.deepEqual(shownCommits(found), [`passed #${number} merge bob`, 'direct mallory']);
    t.is(found[1]?.why, `pull request ${number} had brought it before`);
  });

  test(`${name}: the head of a pull request into another branch is direct on main`, async (t) => {
    const scene = shared(name).scene(FILES);
    const { forge, repository } = scene;
    await scene.push('next', { 'next.ts': 'a\n' });
    const number = await scene.open({ 'a.ts': 'a\n' }, { ...GOOD, base: 'next' });
    await scene.settled();
    forge.merge(repository, number, { by: 'bob', how: 'fast-forward' });
    forge.reset(repository, 'main', scene.head(number));
    await scene.tell({ kind: 'push', branch: 'main', by: 'mallory' });
    await scene.settled();
    t.is((await ledgerCommits(scene)).filter(({ branch }) => branch === 'main').at(-1)?.outcome, 'direct');
  });

  test(`${name}: a message that names a pull request leads to none`, async (t) => {
    const scene = shared(name).scene(FILES);
    const number = await scene.open({ 'a.ts': 'a\n' }, GOOD);
    await scene.settled();
    scene.forge.merge(scene.repository, number, { by: 'bob', how: 'squash' });
    await scene.tell({ kind: 'push', branch: 'main' });
    await scene.settled();
    await scene.pushSaying('main', `feat: things (#${number})\n\nMerge pull request #${number}`, { 'b.ts': 'b\n' });
    await scene.settled();
    t.deepEqual(shownCommits(await ledgerCommits(scene)), [`passed #${number} squash bob`, 'direct alice']);
  });
}

test('github: a group that a person pushes is judged as its pull request', async (t) => {
  const scene = shared('github').scene(FILES);
  const { forge, repository } = scene;
  const number = await scene.open({ 'a.ts': 'a\n' }, GOOD);
  await scene.settled();
  const headSha = forge.enqueue(repository, number);
  await scene.tell({ kind: 'merge-group', action: 'checks_requested', number, headSha });
  await scene.settled();
  forge.dequeue(repository, number);
  await scene.edit(number, { title: 'things' });
  await scene.settled();
  t.is(scene.status(number)?.state, 'failure');
  forge.mergeByHand(repository, number, headSha, 'root');
  await scene.tell({ kind: 'push', branch: 'main', by: 'root' });
  await scene.settled();
  const [entry] = await ledgerCommits(scene);
  t.is(entry?.pullRequest?.method, 'merge');
  t.true(entry?.outcome === 'bypassed' || entry?.outcome === 'unknown', 'both may be of one moment');
});

test('github: a merge that GitHub signed, as its editor makes it, proves nothing', async (t) => {
  const scene = shared('github').scene({ ...FILES, 'both.ts': '1\n2\n3\n' });
  const { forge, repository } = scene;
  const number = await scene.open({ 'both.ts': '1\ntwo\n3\n' }, GOOD);
  await scene.settled();
  await scene.push('main', { 'both.ts': '1\nzwei\n3\n' });
  await scene.settled();
  const details = { merging: [scene.head(number)], author: 'web-flow', verified: true };
  const merge = forge.commit(repository, 'conflicts', { 'both.ts': '1\nevil\n3\n' }, details);
  forge.mergeByHand(repository, number, merge, 'mallory');
  await scene.tell({ kind: 'push', branch: 'main', by: 'mallory' });
  await scene.settled();
  t.is((await ledgerCommits(scene)).at(-1)?.outcome, 'unknown');
});

test('gitea: nobody who merges by hand chooses the time whose verdict counts', async (t) => {
  const scene = shared('gitea').scene(FILES);
  const { forge, repository } = scene;
  const number = await scene.open({ 'a.ts': 'a\n' }, GOOD);
  await scene.settled();
  const details = { merging: [scene.head(number)] };
  const merge = forge.commit(repository, 'by-hand', { 'a.ts': 'a\n' }, details);
  const began = Date.now();
  forge.mergeByHand(repository, number, merge, 'mallory', '2026-01-01T00:00:00Z');
  await scene.tell({ kind: 'push', branch: 'main', by: 'mallory' });
  await scene.settled();
  const [entry] = await ledgerCommits(scene);
  t.true(Date.parse(entry?.pullRequest?.mergedAt ?? '') >= began - 1_000);
});

test('gitea: a branch named like a commit hides nothing that was pushed', async (t) => {
  const scene = shared('gitea').scene(FILES);
  const { forge, repository } = scene;
  await scene.push('main', { 'a.ts': 'a\n' });
  await scene.settled();
  const known = forge.head(repository, 'main');
  const evil = forge.commit(repository, 'main', { 'evil.ts': 'x\n' });
  forge.reset(repository, known, evil);
  forge.commit(repository, 'main', { 'b.ts': 'b\n' });
  await scene.tell({ kind: 'push', branch: 'main', before: known, commits: 2 });
  await scene.settled();
  t.deepEqual(
    (await ledgerCommits(scene)).map(({ sha }) => sha),
    [known, evil, forge.head(repository, 'main')],
  );
});
