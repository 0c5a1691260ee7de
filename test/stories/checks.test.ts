import { DOOR, openDoor, SECRET, WORKER } from '../helpers/door.ts';
import { TITLED } from '../helpers/policies.ts';
import { forgesOf, pathsOfReads, type Scene, type Story, shareStories, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import type { WebhookEvent } from '../simulated-forge/webhooks.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, [...FORGES, 'github', 'gitea']);

const policy = (checks: string) => ({
  '.gatehouse.yml': `version: 1
rules:
  - id: ci
    require: { checks: ${checks} }
`,
});
const CI_WEB = policy("{ name: 'ci/web*' }");

interface Reported {
  readonly context?: string;
  readonly author?: string;
  readonly sha?: string;
}

/** Somebody sets a commit status. Forgejo sends no webhook of it: there a resync finds it. */
async function report(scene: Scene, number: number, state: string, reported: Reported = {}): Promise<void> {
  const { context = 'ci/web', author = 'jenkins', sha = scene.forge.pull(scene.repository, number).headSha } = reported;
  const status = scene.forge.setStatus(scene.repository, sha, { context, state, author, description: '' });
  if (scene.forge.name !== 'forgejo') {
    await scene.tell({ kind: 'status', status });
  }
}

for (const name of FORGES) {
  /** After this, what was reported about the scene's pull requests is known. */
  const known = async (scene: Scene) => {
    if (name === 'forgejo') {
      await gatehouse(name).resyncAll();
    }
    await scene.settled();
  };

  test.serial(`${name}: a rule on a check waits until it is reported, and follows it`, async (t) => {
    const scene = gatehouse(name).scene(CI_WEB);
    const number = await scene.open({ 'a.txt': 'a\n' });
    await scene.settled();
    t.like(scene.status(number, 'gatehouse/main'), {
      state: 'pending',
      description: 'Waiting for the check ci/web*',
    });
    for (const [reported, state] of [
      ['pending', 'pending'],
      ['success', 'success'],
      ['pending', 'pending'],
      ['failure', 'pending'],
      ['success', 'success'],
    ] as const) {
      await report(scene, number, reported);
      await known(scene);
      t.is(scene.status(number, 'gatehouse/main')?.state, state, reported);
    }
  });

  test.serial(`${name}: a check on the head of a fork counts`, async (t) => {
    const scene = gatehouse(name).scene(CI_WEB);
    const from = scene.forge.fork(scene.repository, `mallory-${name}-${scene.repository.split('/')[1]}`);
    const number = await scene.open({ 'a.txt': 'a\n' }, { from, author: 'mallory' });
    await scene.settled();
    // In the fork itself its owner may set what they like.
    const { headSha } = scene.forge.pull(scene.repository, number);
    scene.forge.setStatus(from, headSha, { context: 'ci/web', state: 'success', author: 'mallory', description: '' });
    await known(scene);
    t.is(scene.status(number, 'gatehouse/main')?.state, 'pending');
    await report(scene, number, 'success');
    await known(scene);
    t.is(scene.status(number, 'gatehouse/main')?.state, 'success');
  });

  test.serial(`${name}: a check by somebody else than from says does not count`, async (t) => {
    const scene = gatehouse(name).scene(policy('{ name: ci/web, from: jenkins }'));
    const number = await scene.open({ 'a.txt': 'a\n' });
    await report(scene, number, 'success', { author: 'mallory' });
    await known(scene);
    t.is(scene.status(number, 'gatehouse/main')?.state, 'pending');
    await report(scene, number, 'success');
    await report(scene, number, 'success', { author: 'mallory' });
    await known(scene);
    t.is(scene.status(number, 'gatehouse/main')?.state, 'success');
  });

  test.serial(`${name}: neither the own status nor what has its name is a check`, async (t) => {
    const scene = gatehouse(name).scene(policy("{ name: '*' }"));
    const number = await scene.open({ 'a.txt': 'a\n' });
    await report(scene, number, 'success', { context: 'gatehouse/main', author: 'mallory' });
    await report(scene, number, 'success', { context: name === 'github' ? 'Gatehouse/Main' : 'gatehouse/main' });
    await report(scene, number, 'success', { context: 'other', author: 'gatehouse' });
    await known(scene);
    t.is(scene.status(number, 'gatehouse/main')?.state, 'pending');
  });

  test.serial(`${name}: a check whose webhook was lost is found by a resync`, async (t) => {
    const scene = gatehouse(name).scene(CI_WEB);
    const number = await scene.open({ 'a.txt': 'a\n' });
    await report(scene, number, 'success');
    await known(scene);
    t.is(scene.status(number, 'gatehouse/main')?.state, 'success');
    const { headSha } = scene.forge.pull(scene.repository, number);
    const lost = { context: 'ci/web', state: 'failure', author: 'jenkins', description: '' };
    scene.forge.setStatus(scene.repository, headSha, lost);
    await gatehouse(name).resyncAll();
    await scene.settled();
    t.is(scene.status(number, 'gatehouse/main')?.state, 'pending');
  });

  test.serial(`${name}: a failure reported again after a success is found by a resync`, async (t) => {
    const scene = gatehouse(name).scene(CI_WEB);
    const number = await scene.open({ 'a.txt': 'a\n' });
    await report(scene, number, 'failure', { author: 'buildkite' });
    await report(scene, number, 'success');
    await known(scene);
    t.is(scene.status(number, 'gatehouse/main')?.state, 'success');
    const { headSha } = scene.forge.pull(scene.repository, number);
    const lost = { context: 'ci/web', state: 'failure', author: 'buildkite', description: '' };
    scene.forge.setStatus(scene.repository, headSha, lost);
    await gatehouse(name).resyncAll();
    await scene.settled();
    t.is(scene.status(number, 'gatehouse/main')?.state, 'pending');
  });
}

for (const name of ['github', 'gitea'] as const) {
  test(`${name}: a check of a commit that no policy waits for asks the forge nothing`, async (t) => {
    const scene = gatehouse(name).scene(TITLED);
    const number = await scene.open({ 'a.txt': 'a\n' });
    await scene.settled();
    const seen = () => scene.forge.seen.filter(({ path }) => path.includes(scene.repository));
    const asked = () => seen().length;
    const before = asked();
    t.deepEqual(
      seen().filter(({ path }) => path.endsWith('/checks')),
      [],
    );
    await report(scene, number, 'success');
    await report(scene, number, 'failure', { sha: scene.forge.head(scene.repository, 'main') });
    await scene.settled();
    t.is(asked(), before);
    t.is(scene.status(number, 'gatehouse/main')?.state, 'success');
  });

  test(`${name}: the own status starts no review of a policy that asks for checks`, async (t) => {
    const scene = gatehouse(name).scene(CI_WEB);
    const number = await scene.open({ 'a.txt': 'a\n' });
    await scene.settled();
    const reads = () => scene.forge.seen.filter(({ path }) => pathsOfReads(scene.repository, number).test(path)).length;
    const before = reads();
    const { headSha } = scene.forge.pull(scene.repository, number);
    for (const status of scene.forge.statuses(scene.repository, headSha)) {
      await scene.tell({ kind: 'status', status });
    }
    await scene.settled();
    t.is(reads(), before);
  });

  test(`${name}: a hundred checks of one commit cause few reviews`, async (t) => {
    await using story = await tellStory(name, policy("{ name: 'job *' }"), {}, DOOR);
    const { database } = story.door;
    const jobs = async (queue: string, state: string) => {
      const query = 'SELECT FROM gatehouse_jobs.job WHERE name = $1 AND state::text = $2';
      return (await database.query(query, [queue, state])).rowCount ?? 0;
    };
    const number = await story.open({ 'a.txt': 'a\n' });
    await work(story);
    const before = await jobs('review', 'completed');
    for (let index = 0; index < 100; index++) {
      await report(story, number, 'success', { context: `job ${index}` });
    }
    t.is(await jobs('review-commit', 'created'), 1);
    await work(story);
    t.is(story.status(number, 'gatehouse/main')?.state, 'success');
    // One of the checks, and one of the resync that a worker begins with.
    t.true((await jobs('review', 'completed')) - before <= 2);
  });

  test(`${name}: two Gatehouses that wait for each other stay pending`, async (t) => {
    await using story = await tellStory(name, policy("{ name: '*gatehouse/main' }"));
    const { forge, repository } = story;
    forge.addToken('token-of-other', 'other-gatehouse');
    const settings = {
      FORGE: name,
      FORGE_URL: forge.url,
      FORGE_TOKEN: 'token-of-other',
      STATUS_CONTEXT: 'other-gatehouse/{base}',
    };
    await using other = await openDoor(settings, { door: true, worker: true });
    const number = story.openSilently({ 'a.txt': 'a\n' });
    const { headSha } = forge.pull(repository, number);
    const tellBoth = async (event: WebhookEvent) => {
      await story.tell(event);
      await forge.deliver(`${other.url}/webhook`, repository, event, { secret: SECRET });
      await story.settled();
      await other.settling.settled(repository);
    };
    await tellBoth({ kind: 'pull-request', number, action: 'opened' });
    for (let round = 0; round < 2; round++) {
      for (const status of forge.statuses(repository, headSha)) {
        await tellBoth({ kind: 'status', status });
      }
    }
    const statuses = forge.statuses(repository, headSha);
    t.deepEqual([...new Set(statuses.map(({ context }) => context))].toSorted(), [
      'gatehouse/main',
      'other-gatehouse/main',
    ]);
    t.deepEqual([...new Set(statuses.map(({ state }) => state))], ['pending']);
  });
}

/** A worker, until it has nothing left to do. */
async function work(story: Story): Promise<void> {
  const since = new Date();
  await using _worker = await story.openDoor({}, WORKER);
  await story.resynced(since);
  await story.settled();
}

test('gitea: a workflow that is skipped after an edit does not hide its failure', async (t) => {
  const scene = gatehouse('gitea').scene(policy('{ name: ci/web, is: [success, skipped] }'));
  const number = await scene.open({ 'a.txt': 'a\n' });
  for (const [reported, state] of [
    ['skipped', 'success'],
    ['failure', 'pending'],
    ['pending', 'pending'],
    ['skipped', 'pending'],
    ['success', 'success'],
  ] as const) {
    await report(scene, number, reported);
    await scene.settled();
    t.is(scene.status(number, 'gatehouse/main')?.state, state, reported);
  }
});

test('github: check runs of an App count, and the newest of each name decides', async (t) => {
  const scene = gatehouse('github').scene(policy("{ name: build, is: [success, skipped], from: 'ci[bot]' }"));
  const { forge, repository } = scene;
  const number = await scene.open({ 'a.txt': 'a\n' });
  const { headSha } = forge.pull(repository, number);
  const run = async (app: string, conclusion?: string) => {
    const made = { name: 'build', app, ...(conclusion === undefined ? {} : { conclusion }) };
    await scene.tell({ kind: 'check-run', run: forge.runCheck(repository, headSha, made) });
    await scene.settled();
    return scene.status(number)?.state;
  };
  t.is(await run('github-actions', 'success'), 'pending', 'another App');
  t.is(await run('ci'), 'pending', 'in progress');
  t.is(await run('ci', 'skipped'), 'success');
  t.is(await run('ci', 'timed_out'), 'pending');
  t.is(await run('ci', 'success'), 'success');
  t.is(await run('ci'), 'pending', 'in progress again');
});

test('github: checks that may not be read are an error, never green', async (t) => {
  const scene = gatehouse('github').scene(CI_WEB);
  const path = new RegExp(`^/graphql/repos/${scene.repository}/commits/[^/]+/checks$`);
  scene.forge.fault({ method: 'POST', path, fault: { kind: 'status', status: 403 } });
  const number = await scene.open({ 'a.txt': 'a\n' });
  await report(scene, number, 'success');
  await scene.settled();
  t.is(scene.status(number)?.state, 'error');
  t.regex(scene.comments(number).join(), /checks that could not be read in full/);
});

test('github: before the checks are read it is stored that they are asked for', async (t) => {
  const scene = gatehouse('github').scene(CI_WEB);
  const { database } = scene.door;
  let stored: readonly unknown[] | undefined;
  scene.when('POST', new RegExp(`^/graphql/repos/${scene.repository}/commits/[^/]+/checks$`), async () => {
    const query = 'SELECT asks FROM gatehouse.reviews WHERE repository = $1';
    stored = (await database.query(query, [scene.repository])).rows;
  });
  await scene.open({ 'a.txt': 'a\n' });
  await scene.settled();
  // Else a check that is reported after this would start no review.
  t.deepEqual(stored, [{ asks: ['checks'] }]);
});
