import { withNewPusher } from '../../src/jobs/resync/judged-reviews.ts';
import { CLIENTS } from '../helpers/forges.ts';
import { onlyCarolCounts, resyncNow, type Scene, shareStories, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { nextSecond, until } from '../helpers/until.ts';

/** Whoever pushed a commit is no second pair of eyes for it, in whose name ever it was made. */
const gatehouse = shareStories(test, CLIENTS);

const rules = (fresh: string) => `version: 1
override: { by: [bob, carol] }
rules:
  - id: approved
    require: { approvals: { fresh: ${fresh} } }
`;
const FRESH = rules('true');
const UPDATES = rules('except-updates');
const OWN = `version: 1
rules:
  - id: own
    require: { contributors: { author: true, only: true } }
`;
const NOT_COUNTED = /`bob`, who pushed a commit of this pull request/;
const UNSEEN = /No webhook says who pushed `[0-9a-f]{10}`, so Gatehouse assumes the author did/;

/** Pushes a commit in the name of alice. */
async function pushes(scene: Scene, number: number, by: string, text = `${by}\n`): Promise<void> {
  scene.forge.push(scene.repository, number, { 'a.txt': text });
  await scene.tell({ kind: 'pull-request', number, action: 'synchronize', by });
}

async function rebases(scene: Scene, number: number, by: string): Promise<void> {
  scene.forge.forcePush(scene.repository, number, { 'a.txt': 'rebased\n' });
  await scene.settled(scene.tell({ kind: 'pull-request', number, action: 'synchronize', by }));
  await nextSecond();
}

async function updates(scene: Scene, number: number, by: string): Promise<void> {
  scene.forge.commit(scene.repository, 'main', { 'main.txt': `after ${scene.head(number)}\n` });
  scene.forge.updateBranch(scene.repository, number, by);
  await scene.settled(scene.tell({ kind: 'pull-request', number, action: 'synchronize', by }));
}

async function approves(scene: Scene, number: number, by: string): Promise<string | undefined> {
  await scene.review(number, by, 'approved');
  return scene.verdict(number);
}

for (const name of CLIENTS) {
  for (const [fresh, policy] of Object.entries({ true: FRESH, 'except-updates': UPDATES })) {
    test(`${name}: who pushed in the author’s name does not approve (fresh: ${fresh})`, async (t) => {
      const scene = gatehouse(name).scene({ '.gatehouse.yml': policy });
      const number = await scene.open({ 'a.txt': 'a\n' });
      await pushes(scene, number, 'Bob');
      t.is(await approves(scene, number, 'bob'), 'pending');
      t.regex(scene.comments(number).join(), NOT_COUNTED);
      t.is(await approves(scene, number, 'carol'), 'success');
    });
  }

  test(`${name}: an approval that outlives any push counts, whoever pushed`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': rules('false') });
    const number = await scene.open({ 'a.txt': 'a\n' });
    await pushes(scene, number, 'bob');
    await rebases(scene, number, 'alice');
    t.is(await approves(scene, number, 'bob'), 'success');
  });

  test(`${name}: who pushed to the branch before the pull request does not approve`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': FRESH });
    scene.forge.commit(scene.repository, 'topic', { 'a.txt': 'a\n' });
    await scene.tell({ kind: 'push', branch: 'topic', before: '', by: 'bob' });
    scene.forge.commit(scene.repository, 'topic', { 'b.txt': 'b\n' });
    await scene.tell({ kind: 'push', branch: 'topic' });
    const number = await scene.open('topic');
    await onlyCarolCounts(t, scene, number);
    t.notRegex(scene.comments(number).join(), UNSEEN);
  });

  test(`${name}: who only updated the branch approves`, async (t) => {
    for (const policy of [FRESH, UPDATES]) {
      const scene = gatehouse(name).scene({ '.gatehouse.yml': policy });
      const number = await scene.open({ 'a.txt': 'a\n' });
      if (policy === UPDATES) {
        t.is(await approves(scene, number, 'bob'), 'success');
        await updates(scene, number, 'bob');
        t.is(scene.status(number)?.state, 'success');
      }
      await updates(scene, number, 'bob');
      t.is(await approves(scene, number, 'bob'), 'success');
    }
  });

  test(`${name}: a merge with changes in the author’s name makes its pusher a maker`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': UPDATES });
    const number = await scene.open({ 'a.txt': 'a\n' });
    scene.forge.commit(scene.repository, 'main', { 'main.txt': 'main\n' });
    scene.forge.updateBranch(scene.repository, number, 'alice', { 'a.txt': 'evil\n' });
    await scene.tell({ kind: 'pull-request', number, action: 'synchronize', by: 'bob' });
    await onlyCarolCounts(t, scene, number);
  });

  test(`${name}: who updated the branch and was rebased away approves`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': FRESH });
    const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }));
    await updates(scene, number, 'bob');
    await rebases(scene, number, 'alice');
    t.is(await approves(scene, number, 'bob'), 'success');
  });

  test(`${name}: a force-push takes away commits, and not who pushed them`, async (t) => {
    for (const isJudged of [true, false]) {
      const scene = gatehouse(name).scene({ '.gatehouse.yml': FRESH });
      const number = await scene.open({ 'a.txt': 'a\n' });
      await pushes(scene, number, 'bob');
      if (isJudged) {
        await scene.settled();
      }
      await rebases(scene, number, 'alice');
      await onlyCarolCounts(t, scene, number);
    }
  });

  test(`${name}: a pull request that is reopened still knows who made it`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': FRESH });
    const { forge, repository } = scene;
    const number = await scene.open({ 'a.txt': 'a\n' });
    forge.push(repository, number, { 'a.txt': 'dave\n' }, { author: 'dave' });
    await scene.settled(scene.tell({ kind: 'pull-request', number, action: 'synchronize' }));
    await pushes(scene, number, 'bob');
    await scene.settled();
    await rebases(scene, number, 'alice');
    await scene.settled(scene.close(number));
    t.deepEqual(
      (await scene.door.database.query('SELECT FROM gatehouse.reviews WHERE repository = $1', [repository])).rows,
      [],
    );
    await scene.reopen(number);
    t.is(await approves(scene, number, 'dave'), 'pending');
    t.regex(scene.comments(number).join(), /`dave`, who made a commit of this pull request that was there before/);
    await onlyCarolCounts(t, scene, number);
  });

  test(`${name}: who pushed to a pull request approves no other one with the commit`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': FRESH });
    const { forge, repository } = scene;
    const from = forge.fork(repository, `alice-${repository.split('/')[1]}`);
    const first = await scene.open({ 'a.txt': 'a\n' }, { from });
    await pushes(scene, first, 'bob');
    await scene.close(first);
    const second = await scene.open(forge.pull(repository, first).headBranch, { from });
    await onlyCarolCounts(t, scene, second);
  });

  test(`${name}: pushes to a fork are none to others who have the commits`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': OWN });
    const { forge, repository } = scene;
    const number = await scene.open({ 'a.txt': 'a\n' });
    await pushes(scene, number, 'alice');
    const { headBranch } = forge.pull(repository, number);
    const from = forge.fork(repository, `eve-${repository.split('/')[1]}`);
    const places = name === 'github' ? [{ from }] : [{ from }, { agit: true }];
    for (const place of places) {
      const other = await scene.open(headBranch, { ...place, author: 'eve' });
      await scene.tell({ kind: 'pull-request', number: other, action: 'synchronize', by: 'eve' });
      await pushes(scene, other, 'eve', `${Object.keys(place)}\n`);
      await scene.settled();
      await scene.edit(number, { title: `feat: ${other}` });
      t.is(await scene.verdict(number), 'success');
    }
  });

  test(`${name}: a pusher who was not seen counts as the author, and it is told`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': FRESH });
    const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }));
    t.regex(scene.comments(number).join(), UNSEEN);
    await pushes(scene, number, 'no login');
    await scene.settled();
    t.true(
      scene
        .comments(number)
        .join()
        .includes(`No webhook says who pushed \`${scene.head(number).slice(0, 10)}\``),
    );
    t.is(await approves(scene, number, 'bob'), 'success');
    t.regex(scene.comments(number).join(), UNSEEN);
  });

  test(`${name}: a push that is told late ends the approval of its pusher`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': FRESH });
    const { forge, repository } = scene;
    const number = await scene.open({ 'a.txt': 'a\n' });
    const [branch, before] = [forge.pull(repository, number).headBranch, scene.head(number)];
    forge.push(repository, number, { 'a.txt': 'bob\n' });
    forge.push(repository, number, { 'a.txt': 'bob again\n' });
    t.is(await approves(scene, number, 'bob'), 'success');
    await scene.tell({ kind: 'push', branch, commits: 2, before, by: 'bob' });
    t.is(await scene.verdict(number), 'pending');
    t.regex(scene.comments(number).join(), NOT_COUNTED);
  });

  test(`${name}: what a push brought besides a merge may be told late`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': FRESH });
    const { forge, repository } = scene;
    const number = await scene.open({ 'a.txt': 'a\n' });
    const [branch, before] = [forge.pull(repository, number).headBranch, scene.head(number)];
    forge.push(repository, number, { 'a.txt': 'bob\n' });
    await scene.tell({ kind: 'push', branch, before: '', by: 'ci[bot]' });
    await updates(scene, number, 'bob');
    t.is(await approves(scene, number, 'bob'), 'success');
    await scene.tell({ kind: 'push', branch, before, by: 'bob' });
    t.is(await scene.verdict(number), 'pending');
    t.regex(scene.comments(number).join(), NOT_COUNTED);
  });

  test(`${name}: a resync finds a push that a review missed`, async (t) => {
    await using story = await tellStory(name, { '.gatehouse.yml': FRESH });
    const number = await story.open({ 'a.txt': 'a\n' });
    t.is(await approves(story, number, 'bob'), 'success');
    const { repository } = story;
    t.deepEqual(await withNewPusher(story.door.database, repository), []);
    // As of a delivery that was stored while the review ran.
    await story.door.database.query(
      "INSERT INTO gatehouse.makers (repository, pull_request, sha, login) VALUES ($1, 0, $2, 'bob')",
      [repository, story.head(number)],
    );
    t.deepEqual(await withNewPusher(story.door.database, repository), [{ repository, number }]);
    await resyncNow(story);
    t.is(story.status(number)?.state, 'pending');
    t.deepEqual(await withNewPusher(story.door.database, repository), [], 'once');
  });
}

test('github: a review that runs while a rename is found does not forget who pushed', async (t) => {
  const answered = '  - { id: answered, forbid: { reviews_requested: true } }\n';
  await using story = await tellStory('github', { '.gatehouse.yml': `${OWN}${answered}` });
  const { forge, door, repository: before } = story;
  const number = await story.open({ 'a.txt': 'a\n' });
  await pushes(story, number, 'bob');
  await story.settled();
  await story.rename('renamed');
  const { repository } = story;
  await story.edit(number, { title: 'feat: renamed' });
  await story.settledFor(repository);

  // The resync looks at the new name first, and requests a review there, which is held until the resync is over.
  const made = 'FROM gatehouse.makers WHERE repository = $1';
  await door.database.query(`DELETE ${made}`, [repository]);
  forge.edit(repository, number, { body: 'A description' });
  forge.age(60_000);
  const since = new Date();
  const held = new RegExp(`/repos/${repository}/pulls/${number}/requested_reviewers$`);
  story.when('GET', held, () => story.resynced(since));
  // It looks at the old name once the review has asked who pushed, and has remembered who made the commits.
  const remembered = async () =>
    (await door.database.query(`SELECT ${made} AND sha = ''`, [repository])).rows.length > 0;
  story.when('GET', new RegExp(`/repos/${before}/pulls$`), () => until(remembered));
  await resyncNow(story);
  await story.settledFor(repository);
  t.is(story.status(number)?.state, 'failure');
});
