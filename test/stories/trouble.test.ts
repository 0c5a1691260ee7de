import type { ExecutionContext } from 'ava';
import { Redis } from 'ioredis';
import type { ForgeName } from '../../src/forges/port/forges.ts';
import { within } from '../helpers/deadline.ts';
import { DOOR, WORKER } from '../helpers/door.ts';
import { TWO_RULES } from '../helpers/policies.ts';
import {
  forgesOf,
  pathsOfReads,
  REPOSITORY,
  type Scene,
  type Story,
  shareStories,
  tellStory,
} from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { eventually } from '../helpers/until.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES, { env: { WORKER_CONCURRENCY: '16' } });

const FILES = {
  '.gatehouse.yml': TWO_RULES,
};
const CHANGE = { 'app.ts': 'debugger\n' };

/** As if nothing had happened. */
function assertReviewed(t: ExecutionContext, scene: Scene, number: number, what?: string) {
  t.is(scene.status(number)?.state, 'failure', what);
  t.is(scene.states(number).filter((state) => state === 'failure').length, 1, what);
  t.is(scene.comments(number).length, 1, what);
  t.deepEqual(
    scene.inlines(number).map(({ path, line }) => `${path}:${line}`),
    ['app.ts:1'],
    what,
  );
}

for (const name of FORGES) {
  test(`${name}: reads that fail for a while are retried until they succeed`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const fault = { kind: 'status', status: 500 } as const;
    const number = scene.openSilently(CHANGE, { title: 'things' });
    scene.forge.fault({ method: 'GET', path: new RegExp(`^/repos/${scene.repository}/`), times: 5, fault });
    scene.forge.fault({ method: 'POST', path: new RegExp(`^/graphql/repos/${scene.repository}/`), times: 5, fault });
    await scene.judge(number);
    assertReviewed(t, scene, number);
    t.deepEqual(await scene.deadLetters(), []);
  });

  test(`${name}: no pull request waits for ever because two posts in a row were not answered`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = scene.openSilently({ 'app.ts': 'fine\n' }, { title: 'docs: things' });
    const path = new RegExp(`/statuses/${scene.head(number)}$`);
    scene.forge.fault({ method: 'POST', path, times: 1, fault: { kind: 'status', status: 502 } });
    scene.forge.fault({ method: 'POST', path, times: 1, afterwards: true, fault: { kind: 'status', status: 502 } });
    t.is(await scene.judge(number), 'success');
    t.deepEqual(scene.states(number), ['pending', 'pending', 'success']);
  });

  test(`${name}: writes whose connection drops at first all arrive, none twice`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const lost = scene.openSilently(CHANGE, { title: 'things' });
    const answerLost = scene.openSilently({ 'app.ts': 'debugger\n' }, { title: 'things' });
    for (const [number, afterwards] of [
      [lost, false],
      [answerLost, true],
    ] as const) {
      const sha = scene.forge.pull(scene.repository, number).headSha;
      // So that a pending status is among the writes.
      const earlier = { context: 'gatehouse/main', state: 'success', description: '', author: 'gatehouse' };
      scene.forge.setStatus(scene.repository, sha, earlier);
      for (const path of [`/statuses/${sha}$`, `/issues/${number}/comments$`, `/pulls/${number}/reviews$`]) {
        scene.forge.fault({
          method: 'POST',
          path: new RegExp(`^/repos/${scene.repository}${path}`),
          times: 1,
          afterwards,
          fault: { kind: 'drop' },
        });
      }
      await scene.tell({ kind: 'pull-request', number, action: 'opened' });
    }
    await scene.settled();
    assertReviewed(t, scene, lost, 'what was not carried out');
    assertReviewed(t, scene, answerLost, 'what was carried out and not confirmed');
  });

  test(`${name}: requests to a hung forge time out and are retried`, async (t) => {
    await using scene = await tellStory(name, FILES, {}, { door: true, worker: true }, { patience: 1 });
    const reading = scene.openSilently(CHANGE, { title: 'things' });
    scene.forge.fault({
      path: pathsOfReads(scene.repository, reading),
      times: 2,
      fault: { kind: 'hang' },
    });
    const writing = scene.openSilently({ 'app.ts': 'debugger\n' }, { title: 'things' });
    const trap = scene.trap(writing, 2, true);
    await scene.tell({ kind: 'pull-request', number: reading, action: 'opened' });
    await scene.judge(writing);
    t.true(trap.sprung);
    assertReviewed(t, scene, reading);
    assertReviewed(t, scene, writing);
  });

  test.serial(
    `${name}: after the last attempt the status is error, and the job a dead letter until the next`,
    async (t) => {
      const scene = gatehouse(name).scene(FILES);
      const number = scene.openSilently(CHANGE, { title: 'things' });
      const difference = new RegExp(`^/repos/${scene.repository}/pulls/${number}(?:/files|\\.diff)$`);
      const asked = () => scene.forge.seen.filter(({ path }) => difference.test(path)).length;
      let isAway = true;
      const path = Object.assign(/^/, { test: (path: string) => isAway && difference.test(path) });
      scene.forge.fault({ path, fault: { kind: 'status', status: 503 } });
      await scene.judge(number);
      t.deepEqual(scene.status(number), {
        state: 'error',
        description: 'Could not be reviewed: the forge gave no usable answer',
      });
      t.deepEqual(await scene.deadLetters(), [{ repository: scene.repository, number }]);
      t.is(asked(), 12, 'six attempts, in each of which a read is repeated once');
      t.deepEqual(scene.comments(number), []);

      isAway = false;
      await scene.resync();
      assertReviewed(t, scene, number, 'the next resync completes it');
      t.deepEqual(await scene.deadLetters(), []);
    },
  );

  test(`${name}: all replicas wait for a rate limit, and it is no failure`, async (t) => {
    await assertAwaited(t, name);
  });
}

/** Far longer than any test: only {@link endPause} ends it. */
const PAUSE_SECONDS = 1_800;

async function assertAwaited(t: ExecutionContext, name: ForgeName) {
  await using story = await tellStory(name, FILES, {}, DOOR);
  const { forge } = story;
  const { database } = story.door;
  const fault = { kind: 'too-many', retryAfter: PAUSE_SECONDS } as const;
  let told = Number.POSITIVE_INFINITY;
  const remember = () => {
    told = Date.now();
  };
  const open = () => story.openSilently(CHANGE, { title: 'things' });
  const putOff = (number: number) =>
    eventually('the review is put off', async () => {
      const { rows } = await database.query<{ after: Date }>(
        `SELECT start_after AS after FROM gatehouse_jobs.job
          WHERE name = 'review' AND state = 'created' AND data->>'number' = $1`,
        [`${number}`],
      );
      return rows.some(({ after }) => after.getTime() >= told + PAUSE_SECONDS * 1_000);
    });

  let number = 0;
  let other = 0;
  await whileWorking(story, async () => {
    number = open();
    other = open();
    story.when(undefined, pathsOfReads(REPOSITORY, number), remember);
    forge.fault({ path: pathsOfReads(REPOSITORY, number), times: 1, fault });
    await story.tell({ kind: 'pull-request', number, action: 'opened' });
    await putOff(number);
    await story.tell({ kind: 'pull-request', number: other, action: 'opened' });
    await putOff(other);
  });
  {
    await using _another = await story.openDoor({}, WORKER);
    await eventually('the resync of another worker is put off', async () => {
      const { rows } = await database.query(
        `SELECT FROM gatehouse_jobs.job
          WHERE name = 'resync' AND state = 'created' AND start_after > created_on + interval '1 minute'`,
      );
      return rows.length > 0;
    });
  }
  const limited = forge.seen.findIndex(({ path }) => pathsOfReads(REPOSITORY, number).test(path));
  t.deepEqual(forge.seen.slice(limited + 1), [], 'nobody asks anything meanwhile');

  await endPause(story);
  let late = 0;
  await whileWorking(story, async () => {
    await story.settled();
    assertReviewed(t, story, number);
    assertReviewed(t, story, other);
    // A limit on a write, in the middle of a report.
    late = open();
    const path = new RegExp(`/issues/${late}/comments$`);
    story.when('POST', path, remember);
    forge.fault({ method: 'POST', path, times: 1, fault });
    await story.tell({ kind: 'pull-request', number: late, action: 'opened' });
    await putOff(late);
  });
  await endPause(story);
  await whileWorking(story, async () => {
    await story.settled();
    assertReviewed(t, story, late);
  });
  const { rows } = await database.query('SELECT name, output FROM gatehouse_jobs.job WHERE retry_count > 0');
  t.deepEqual(rows, [], 'no attempt was used up');
}

/** The first resync of the worker is over before the work begins. */
async function whileWorking(story: Story, work: () => Promise<void>): Promise<void> {
  const started = new Date();
  await using _worker = await story.openDoor({}, WORKER);
  await story.resynced(started);
  await work();
}

/** As if it had passed. A worker that was told of the limit remembers it all the same, and must have ended. */
async function endPause({ door, forge }: Story): Promise<void> {
  const redis = new Redis(door.redisUrl);
  const keys = (await redis.keys('gatehouse:pause:*')).filter((key) => key.includes(forge.url));
  // None, where Redis was too slow to learn of the limit: the worker that was told keeps to it all the same.
  for (const key of keys) {
    await redis.del(key);
  }
  redis.disconnect();
  await door.database.query("UPDATE gatehouse_jobs.job SET start_after = now() WHERE state = 'created'");
}

test("the next review of a pull request does not wait for the queue's count", async (t) => {
  await using story = await tellStory('github', FILES, {}, DOOR);
  const number = story.openSilently(CHANGE);
  // A review of it was active at the last count, has ended since, and the next count is an hour away.
  await story.door.database.query(
    `UPDATE gatehouse_jobs.queue
        SET singletons_active = ARRAY[$1], monitor_on = now(), monitor_claim_on = now() + interval '1 hour'
      WHERE name = 'review'`,
    [`${REPOSITORY}#${number}`],
  );
  await using _worker = await story.openDoor({ WORKER_CONCURRENCY: '1' }, WORKER);
  await story.tell({ kind: 'pull-request', number, action: 'opened' });
  const reviewed = eventually('it is reviewed', () => story.status(number)?.state === 'failure');
  await t.notThrowsAsync(within(30_000, 'it is skipped', reviewed));
});

test('a failure while another job of the pull request waits makes no dead letter', async (t) => {
  await using story = await tellStory('gitea', FILES);
  const { database } = story.door;
  const number = story.openSilently(CHANGE, { title: 'things' });
  const { forge } = story;
  await database.query("UPDATE gatehouse_jobs.queue SET retry_delay = 3600 WHERE name = 'review'");
  forge.fault({ path: /\.diff$/, fault: { kind: 'status', status: 500 } });
  const states = async () => {
    const { rows } = await database.query(
      "SELECT name, state::text FROM gatehouse_jobs.job WHERE name IN ('review', 'review-dead-letters') ORDER BY created_on",
    );
    return rows.map(({ name, state }) => `${name} ${state}`);
  };
  await story.tell({ kind: 'pull-request', number, action: 'opened' });
  await eventually('it waits for its retry', async () => (await states()).includes('review retry'));
  await story.tell({ kind: 'pull-request', number, action: 'edited' });
  await eventually(
    'the second job has ended',
    async () => (await states()).length > 1 && !(await states()).at(-1)?.match(/created|active/),
  );
  t.deepEqual(await states(), ['review retry', 'review completed']);

  forge.clearFaults();
  await database.query("UPDATE gatehouse_jobs.job SET start_after = now() WHERE state = 'retry'");
  await story.settled();
  assertReviewed(t, story, number);
});

test('after a policy change rate limits are awaited, and failures are dead letters', async (t) => {
  await using story = await tellStory('gitea', FILES);
  const { forge, door } = story;
  await story.settled(story.open(CHANGE, { title: 'things' }));
  const tip = /\/branches\/main$/;
  forge.fault({ path: tip, times: 1, fault: { kind: 'too-many', retryAfter: 2 } });
  forge.commit(REPOSITORY, 'main', { '.gatehouse.yml': `${FILES['.gatehouse.yml']}# again\n` });
  await story.settled(story.tell({ kind: 'push', branch: 'main' }));
  const { rows } = await door.database.query(
    "SELECT FROM gatehouse_jobs.job WHERE name = 'review-repository' AND retry_count > 0",
  );
  t.is(rows.length, 0, 'no attempt was used up');

  forge.fault({ path: tip, fault: { kind: 'status', status: 500 } });
  forge.commit(REPOSITORY, 'main', { '.gatehouse.yml': `${FILES['.gatehouse.yml']}# once more\n` });
  await story.settled(story.tell({ kind: 'push', branch: 'main' }));
  t.deepEqual(await story.deadLetters(), [{ repository: REPOSITORY, branch: 'main' }]);
});
