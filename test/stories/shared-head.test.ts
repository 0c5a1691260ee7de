import type { ForgeName } from '../../src/forges/port/forges.ts';
import { DOOR } from '../helpers/door.ts';
import { TITLES } from '../helpers/policies.ts';
import { forgesOf, REPOSITORY, type Scene, shareStories, tellStory, workerComesBy } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES);

const LAX = TITLES.replace('^feat: ', '');
const FILES = { '.gatehouse.yml': TITLES };

/** A repository with a pull request that Gatehouse has reviewed. */
async function reviewed(name: ForgeName, title: string): Promise<{ readonly scene: Scene; readonly number: number }> {
  const scene = gatehouse(name).scene(FILES);
  const number = await scene.open({ 'a.txt': 'a\n' }, { title });
  await scene.settled();
  return { scene, number };
}

/** A second pull request with the same head commit, from a fork. */
async function openTwin(scene: Scene, number: number, details: { title: string; base?: string }): Promise<number> {
  const { forge, repository } = scene;
  const fork = forge.fork(repository, `twin-${number}`);
  const twin = forge.openPullRequest(repository, {
    ...details,
    from: fork,
    head: forge.pull(repository, number).headBranch,
  });
  await scene.tell({ kind: 'pull-request', number: twin, action: 'opened' });
  await scene.settled();
  return twin;
}

async function close(scene: Scene, number: number): Promise<void> {
  scene.forge.close(scene.repository, number);
  await scene.tell({ kind: 'pull-request', number, action: 'closed' });
  await scene.settled();
}

async function retarget(scene: Scene, number: number, base: string): Promise<void> {
  scene.forge.retarget(scene.repository, number, base);
  await scene.tell({ kind: 'pull-request', number, action: 'edited' });
  await scene.settled();
}

for (const name of FORGES) {
  test(`${name}: one head into a lax branch leaves the strict branch red`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    scene.forge.commit(scene.repository, 'lax', { '.gatehouse.yml': LAX });
    const strict = await scene.open({ 'a.txt': 'a\n' }, { title: 'things' });
    await scene.settled();
    const lax = await openTwin(scene, strict, { title: 'things', base: 'lax' });
    t.is(scene.status(strict, 'gatehouse/main')?.state, 'failure');
    t.is(scene.status(lax, 'gatehouse/lax')?.state, 'success');
  });

  test(`${name}: two pull requests with one head show the worse verdict`, async (t) => {
    const { scene, number: bad } = await reviewed(name, 'things');
    const good = await openTwin(scene, bad, { title: 'feat: things' });
    t.deepEqual(scene.status(good), {
      state: 'failure',
      description: `#${bad}: 1 of 1 rule failed: conventional-title (#${good} has this commit too)`,
    });
    await scene.edit(bad, { title: 'feat: other things' });
    await scene.settled();
    t.is(scene.status(good)?.state, 'success');
    t.regex(scene.status(good)?.description ?? '', new RegExp(`#${good} has this commit too`));
    await scene.edit(good, { title: 'things' });
    await scene.settled();
    t.is(scene.status(bad)?.state, 'failure');
  });

  test(`${name}: closing a failing pull request frees another one with the same head`, async (t) => {
    const { scene, number: bad } = await reviewed(name, 'things');
    const good = await openTwin(scene, bad, { title: 'feat: things' });
    t.is(scene.status(good)?.state, 'failure');
    await close(scene, bad);
    t.deepEqual(scene.status(good), { state: 'success', description: 'The rule that applies is met' });
  });

  test(`${name}: a stranger's twin of a green commit is named, and closing it is enough`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const good = await scene.open({ 'a.txt': 'a\n' }, { title: 'feat: things', author: 'alice' });
    await scene.settled();
    const twin = await openTwin(scene, good, { title: 'nonsense' });
    t.is(scene.status(good)?.state, 'failure');
    t.regex(scene.status(good)?.description ?? '', new RegExp(`^#${twin}: .*#${good} has this commit too`));
    await close(scene, twin);
    t.deepEqual(scene.status(good), { state: 'success', description: 'The rule that applies is met' });
  });

  test(`${name}: a pull request opened on a green commit is pending at once`, async (t) => {
    const { scene, number: first } = await reviewed(name, 'feat: things');
    await openTwin(scene, first, { title: 'things' });
    t.deepEqual(scene.states(first), ['success', 'pending', 'failure']);
  });

  test(`${name}: a closed pull request never leaves its success to the next one`, async (t) => {
    const { scene, number: first } = await reviewed(name, 'feat: things');
    await close(scene, first);
    t.deepEqual(scene.states(first), ['success', 'pending']);
    t.regex(scene.status(first)?.description ?? '', /^No open pull request has this commit/);
    await openTwin(scene, first, { title: 'things' });
    t.is(scene.status(first)?.state, 'failure');
  });

  test(`${name}: a success missing in our database is withdrawn with its pull request`, async (t) => {
    const { scene, number } = await reviewed(name, 'feat: things');
    const forgotten = await scene.door.database.query(
      'DELETE FROM gatehouse.posted_statuses WHERE repository = $1 AND head_sha = $2',
      [scene.repository, scene.forge.pull(scene.repository, number).headSha],
    );
    t.is(forgotten.rowCount, 1);
    await close(scene, number);
    t.deepEqual(scene.states(number), ['success', 'pending']);
  });

  test(`${name}: no success outlives a closed pull request that the database has lost`, async (t) => {
    const { scene, number } = await reviewed(name, 'feat: things');
    const head = scene.forge.pull(scene.repository, number).headSha;
    for (const table of ['posted_statuses', 'reviews']) {
      const statement = `DELETE FROM gatehouse.${table} WHERE repository = $1 AND head_sha = $2`;
      t.is((await scene.door.database.query(statement, [scene.repository, head])).rowCount, 1);
    }
    await close(scene, number);
    t.deepEqual(scene.states(number), ['success', 'pending']);
  });

  test(`${name}: a success that another open pull request has earned is not withdrawn`, async (t) => {
    const { scene, number: first } = await reviewed(name, 'feat: things');
    const twin = await openTwin(scene, first, { title: 'feat: the same' });
    await close(scene, first);
    t.deepEqual(scene.status(twin), { state: 'success', description: 'The rule that applies is met' });
    await close(scene, twin);
    t.is(scene.status(twin)?.state, 'pending');
  });

  test(`${name}: a merged commit keeps its success`, async (t) => {
    const { scene, number } = await reviewed(name, 'feat: things');
    t.true(scene.forge.merge(scene.repository, number));
    await scene.tell({ kind: 'pull-request', number, action: 'closed' });
    await scene.settled();
    t.deepEqual(scene.states(number), ['success']);
  });

  test(`${name}: a success is withdrawn though the webhook of the closing was lost`, async (t) => {
    await using story = await tellStory(name, FILES, {}, DOOR);
    const number = await story.open({ 'a.txt': 'a\n' }, { title: 'feat: things' });
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'success');
    story.forge.close(story.repository, number);
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'pending');
  });

  test(`${name}: a head that was pushed over never leaves its success to the next one`, async (t) => {
    const { scene, number: first } = await reviewed(name, 'feat: things');
    const old = scene.forge.pull(scene.repository, first).headSha;
    await scene.push(first, { 'a.txt': 'b\n' });
    await scene.settled();
    t.deepEqual(scene.states(old), ['success', 'pending']);
    t.is(scene.status(first)?.state, 'success');
    await scene.push(first, { 'a.txt': 'c\n' });
    await scene.settled();
    t.deepEqual(scene.states(old), ['success', 'pending'], 'only the last head could stand green');
  });

  test(`${name}: a success forged on an old head never waits there for the next one`, async (t) => {
    const { scene, number } = await reviewed(name, 'things');
    const old = scene.forge.pull(scene.repository, number).headSha;
    await scene.push(number, { 'a.txt': 'b\n' });
    await scene.settled();
    const forged = { context: 'gatehouse/main', state: 'success', author: 'mallory', description: '' };
    await scene.tell({ kind: 'status', status: scene.forge.setStatus(scene.repository, old, forged) });
    await scene.settled();
    t.deepEqual(scene.states(old), ['failure', 'success', 'failure']);
  });

  test(`${name}: a head that never was green costs no write when it is pushed over`, async (t) => {
    const { scene, number } = await reviewed(name, 'things');
    const old = scene.forge.pull(scene.repository, number).headSha;
    await scene.push(number, { 'a.txt': 'b\n' });
    await scene.settled();
    t.deepEqual(scene.states(old), ['failure']);
  });

  test(`${name}: a force-push back to a green head is judged again and becomes green`, async (t) => {
    const { scene, number } = await reviewed(name, 'feat: things');
    const old = scene.forge.pull(scene.repository, number).headSha;
    await scene.push(number, { 'a.txt': 'b\n' });
    await scene.settled();
    scene.forge.pushCommit(scene.repository, number, old);
    await scene.tell({ kind: 'pull-request', number, action: 'synchronize' });
    await scene.settled();
    t.is(scene.states(old).at(-1), 'success');
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: a push leaves the success of the old head to a twin that has earned it`, async (t) => {
    const { scene, number: first } = await reviewed(name, 'feat: things');
    const twin = await openTwin(scene, first, { title: 'feat: the same' });
    await scene.push(first, { 'a.txt': 'b\n' });
    await scene.settled();
    t.deepEqual(scene.status(twin), { state: 'success', description: 'The rule that applies is met' });
  });

  test(`${name}: an old head loses its success though the push's webhook was lost`, async (t) => {
    await using story = await tellStory(name, FILES, {}, DOOR);
    const number = await story.open({ 'a.txt': 'a\n' }, { title: 'feat: things' });
    await workerComesBy(story);
    const old = story.forge.pull(story.repository, number).headSha;
    story.forge.push(story.repository, number, { 'a.txt': 'b\n' });
    await workerComesBy(story);
    t.is(story.states(old).at(-1), 'pending');
    t.is(story.status(number)?.state, 'success');
  });

  test(`${name}: an unwritable old head never stops a review, nor stays green`, async (t) => {
    await using story = await tellStory(name, FILES, {}, DOOR);
    const number = await story.open({ 'a.txt': 'a\n' }, { title: 'feat: things' });
    await workerComesBy(story);
    const old = story.forge.pull(story.repository, number).headSha;
    const fault = { kind: 'status', status: 500 } as const;
    story.forge.fault({ method: 'POST', path: new RegExp(`/statuses/${old}$`), fault });
    await story.push(number, { 'a.txt': 'b\n' });
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'success');
    t.is(story.states(old).at(-1), 'success');
    story.forge.clearFaults();
    await workerComesBy(story);
    t.is(story.states(old).at(-1), 'pending');
  });

  test(`${name}: a pull request reopened with other words is pending at once`, async (t) => {
    const { scene, number } = await reviewed(name, 'feat: things');
    await close(scene, number);
    scene.forge.edit(scene.repository, number, { title: 'things' });
    scene.forge.reopen(scene.repository, number);
    await scene.tell({ kind: 'pull-request', number, action: 'reopened' });
    await scene.settled();
    t.deepEqual(scene.states(number), ['success', 'pending', 'failure']);
    await scene.tell({ kind: 'pull-request', number, action: 'reopened' });
    await scene.settled();
    t.is(scene.states(number).length, 3, 'a status of this very verdict is left to stand');
  });

  test(`${name}: branches that differ by case never leave a closed pull request green`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    scene.forge.commit(scene.repository, 'Main', { 'b.txt': 'b\n' });
    const lower = await scene.open({ 'a.txt': 'a\n' }, { title: 'feat: things' });
    await scene.settled();
    const upper = await openTwin(scene, lower, { title: 'feat: things', base: 'Main' });
    // GitHub has one status for both.
    const contexts = name === 'github' ? [undefined] : ['gatehouse/main', 'gatehouse/Main'];
    const states = () => contexts.map((context) => scene.status(lower, context)?.state);
    t.deepEqual(
      states(),
      contexts.map(() => 'success'),
    );
    await close(scene, upper);
    t.deepEqual(states(), ['success', 'pending'].slice(0, contexts.length));
    await close(scene, lower);
    t.deepEqual(
      states(),
      contexts.map(() => 'pending'),
    );
  });

  test(`${name}: branches that differ by case are judged each by its own rules`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    scene.forge.commit(scene.repository, 'Main', { '.gatehouse.yml': LAX });
    const strict = await scene.open({ 'a.txt': 'a\n' }, { title: 'things' });
    await scene.settled();
    const lax = await openTwin(scene, strict, { title: 'things', base: 'Main' });
    t.is(scene.status(strict, 'gatehouse/main')?.state, 'failure');
    t.is(
      scene.status(lax, name === 'github' ? undefined : 'gatehouse/Main')?.state,
      name === 'github' ? 'failure' : 'success',
    );
    await retarget(scene, lax, 'main');
    t.is(scene.status(strict)?.state, 'failure');
    if (name !== 'github') {
      t.is(scene.status(lax, 'gatehouse/Main')?.state, 'pending');
    }
  });

  test(`${name}: a retargeted pull request leaves the old branch's status to the others`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    scene.forge.commit(scene.repository, 'lax', { '.gatehouse.yml': LAX });
    const bad = await scene.open({ 'a.txt': 'a\n' }, { title: 'things' });
    await scene.settled();
    const good = await openTwin(scene, bad, { title: 'feat: things' });
    await retarget(scene, bad, 'lax');
    t.is(scene.status(bad, 'gatehouse/lax')?.state, 'success');
    t.deepEqual(scene.status(good, 'gatehouse/main'), {
      state: 'success',
      description: 'The rule that applies is met',
    });
    await retarget(scene, bad, 'main');
    t.is(scene.status(good, 'gatehouse/main')?.state, 'failure');
    t.is(scene.status(bad, 'gatehouse/lax')?.state, 'pending', 'no open pull request into lax is left');
  });
}

test('a status name without {base} shows the worst verdict of all base branches', async (t) => {
  await using story = await tellStory('github', FILES, { STATUS_CONTEXT: 'Review' });
  story.forge.commit(REPOSITORY, 'lax', { '.gatehouse.yml': LAX });
  const strict = await story.open({ 'a.txt': 'a\n' }, { title: 'things' });
  await story.settled();
  t.is(story.status(strict, 'Review')?.state, 'failure');
  const lax = await openTwin(story, strict, { title: 'things', base: 'lax' });
  t.deepEqual(story.status(lax, 'Review'), {
    state: 'failure',
    description: `#${strict}: 1 of 1 rule failed: conventional-title (#${lax} has this commit too)`,
  });
});

for (const name of FORGES) {
  test(`${name}: no branch without a policy is open by another branch's success`, async (t) => {
    await using story = await tellStory(name, FILES, { STATUS_CONTEXT: 'Review' });
    story.forge.commit(REPOSITORY, 'free', { '.gatehouse.yml': null });
    const judged = await story.open({ 'a.txt': 'a\n' }, { title: 'feat: things' });
    await story.settled();
    t.is(story.status(judged, 'Review')?.state, 'success');
    const free = await openTwin(story, judged, { title: 'things', base: 'free' });
    t.deepEqual(story.status(free, 'Review'), {
      state: 'error',
      description: `No policy judges #${free}, which has this commit too: close it, or give its branch one`,
    });
    await close(story, free);
    t.is(story.status(judged, 'Review')?.state, 'success');
    await close(story, judged);
    t.is(story.status(judged, 'Review')?.state, 'pending');
  });
}
