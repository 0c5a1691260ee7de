import { forgesOf, resyncNow, type Scene, shareStories, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES, { own: true });
const CHANGE = { 'app.ts': 'one\n' };
const POLICY = { '.gatehouse.yml': "version: 1\nrules: [{ id: t, require: { title: '^feat' } }]\n" };

/** All that is read of a repository's files, and of its pull requests with them. */
function failReads({ forge, repository }: Scene, status: number): void {
  for (const path of [
    `^/repos/${repository}/(?:contents|git|raw)/`,
    `^/graphql/repos/${repository}/pulls/\\d+/facts`,
  ]) {
    forge.fault({ path: new RegExp(path), fault: { kind: 'status', status } });
  }
}

for (const name of FORGES) {
  for (const status of [403, 500, 502]) {
    test(`${name}: without a policy a pull request hears nothing of files that answer ${status}`, async (t) => {
      const scene = gatehouse(name).scene({ 'README.md': 'hello\n' });
      const number = scene.openSilently(CHANGE);
      failReads(scene, status);
      await scene.tell({ kind: 'pull-request', number, action: 'opened' });
      await scene.settled();
      t.deepEqual(scene.states(number), []);
    });
  }

  test(`${name}: without a policy nothing is posted after the forge has healed, either`, async (t) => {
    await using story = await tellStory(name, { 'README.md': 'hello\n' });
    const number = story.openSilently(CHANGE);
    failReads(story, 500);
    await story.tell({ kind: 'pull-request', number, action: 'opened' });
    await story.settled();
    story.forge.clearFaults();
    await resyncNow(story);
    t.deepEqual(story.states(number), []);
    t.deepEqual(story.comments(number), []);
    const { rows } = await story.door.database.query('SELECT verdict FROM gatehouse.reviews');
    t.deepEqual(rows, [{ verdict: 'none' }]);
  });

  test(`${name}: a policy that somebody only proposes makes no other pull request hear`, async (t) => {
    const scene = gatehouse(name).scene({ 'README.md': 'hello\n' });
    const proposal = await scene.open(POLICY, { title: 'feat: a policy' });
    await scene.settled();
    t.is(scene.status(proposal)?.state, 'success');
    const number = scene.openSilently(CHANGE);
    failReads(scene, 500);
    await scene.tell({ kind: 'pull-request', number, action: 'opened' });
    await scene.settled();
    t.deepEqual(scene.states(number), []);
  });

  test(`${name}: where a policy was seen once, a pull request hears that it could not be read`, async (t) => {
    const scene = gatehouse(name).scene(POLICY);
    await scene.open(CHANGE, { title: 'feat: first' });
    await scene.settled();
    const number = scene.openSilently({ 'b.txt': 'b\n' });
    failReads(scene, 500);
    await scene.tell({ kind: 'pull-request', number, action: 'opened' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'error');
  });

  test(`${name}: a success from before the database was lost never stays while files cannot be read`, async (t) => {
    await using story = await tellStory(name, POLICY);
    const number = await story.open(CHANGE, { title: 'feat: first' });
    await story.settled();
    t.is(story.status(number)?.state, 'success');
    await story.door.database.query(
      'TRUNCATE gatehouse.repositories, gatehouse.reviews, gatehouse.posted_statuses CASCADE',
    );
    failReads(story, 500);
    await story.tell({ kind: 'pull-request', number, action: 'edited' });
    await story.settled();
    t.is(story.status(number)?.state, 'error');
  });
}

for (const name of FORGES) {
  test(`${name}: a success that somebody else set never stays on what cannot be read`, async (t) => {
    const scene = gatehouse(name).scene(POLICY);
    const number = scene.openSilently(CHANGE);
    failReads(scene, 500);
    await scene.setStatus('mallory', scene.head(number), { context: 'gatehouse/main', state: 'success' });
    await scene.tell({ kind: 'pull-request', number, action: 'opened' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'error');
  });
}

test('github: a merge group without a policy hears nothing of a queue that cannot be read', async (t) => {
  await using story = await tellStory('github', { 'README.md': 'hello\n' });
  const number = story.openSilently(CHANGE);
  const headSha = story.forge.enqueue(story.repository, number);
  story.forge.fault({ path: /^\/graphql\/repos\/.*\/merge-queue$/, fault: { kind: 'status', status: 502 } });
  await story.tell({ kind: 'merge-group', action: 'checks_requested', number, headSha });
  await story.settled();
  t.deepEqual(story.forge.statuses(story.repository, headSha), []);
  story.forge.clearFaults();
  story.forge.dequeue(story.repository, number);
  await story.tell({ kind: 'merge-group', action: 'checks_requested', number, headSha });
  await story.settled();
  t.deepEqual(story.forge.statuses(story.repository, headSha), [], 'nor of one that is in the queue no more');
});
