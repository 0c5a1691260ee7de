import { sharedRedisUrl } from '../helpers/database.ts';
import { type Door, shareDoor } from '../helpers/door.ts';
import { NOWHERE } from '../helpers/free-port.ts';
import { CONVENTIONAL_TITLES } from '../helpers/policies.ts';
import { startProxy } from '../helpers/proxy.ts';
import { runGatehouse } from '../helpers/run-command.ts';
import { REPOSITORY, tellStory } from '../helpers/story.ts';
import ava from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const test = ava.serial;
const emptyDoor = shareDoor(ava);

function replay(door: Door, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return runGatehouse(['replay', ...args], { env: { DATABASE_URL: door.databaseUrl, ...env } });
}

const about = (number: number, hook = '') =>
  JSON.stringify({ action: 'opened', pull_request: { number }, repository: { full_name: 'acme/widgets' }, hook });

/** As if a worker had taken and finished them all. */
async function forgetJobs(door: Door): Promise<void> {
  await door.database.query('DELETE FROM gatehouse_jobs.job');
}

const QUEUED = 'put back in the queue\n';

async function jobsOf(door: Door): Promise<readonly string[]> {
  return (await door.jobs()).map(({ key, state }) => `${key} ${state}`);
}

test('the review of each named delivery is queued once, and reported', async (t) => {
  const door = await emptyDoor();
  await door.post(about(7), { 'x-forge-delivery': 'seven' });
  await door.post(about(8), { 'x-forge-delivery': 'eight' });
  await forgetJobs(door);
  t.deepEqual(await replay(door, ['seven', 'nobody', 'eight', 'seven']), {
    code: 1,
    stdout: `seven: the review of acme/widgets#7 ${QUEUED}eight: the review of acme/widgets#8 ${QUEUED}`,
    stderr: 'nobody: no delivery has this id\n',
  });
  t.deepEqual(await replay(door, ['seven']), {
    code: 0,
    stdout: 'seven: the review of acme/widgets#7 is already in the queue\n',
    stderr: '',
  });
  t.deepEqual(await jobsOf(door), ['acme/widgets#7 created', 'acme/widgets#8 created']);
});

test('a push of a policy queues the reviews of its branch, and a delivery that needs no review nothing', async (t) => {
  const door = await emptyDoor();
  const push = { ref: 'refs/heads/main', commits: [{ modified: ['.gatehouse.yml'] }] };
  const body = JSON.stringify({ ...push, repository: { full_name: 'acme/widgets' } });
  await door.post(body, { 'x-forge-delivery': 'push', 'x-forge-event': 'push' });
  await door.post('{"zen":"x"}', { 'x-forge-delivery': 'ping', 'x-forge-event': 'ping' });
  await forgetJobs(door);
  t.deepEqual(await replay(door, ['push', 'ping']), {
    code: 0,
    stdout: `push: the review of all pull requests into main of acme/widgets ${QUEUED}ping: requests no review (ping)\n`,
    stderr: '',
  });
  t.deepEqual(await jobsOf(door), ['acme/widgets@main created']);
});

test('of an id of two hooks, both deliveries are replayed', async (t) => {
  const door = await emptyDoor();
  await door.post(about(7), { 'x-forge-delivery': 'shared', 'x-github-hook-id': '11' });
  await door.post(about(8), { 'x-forge-delivery': 'shared' });
  await forgetJobs(door);
  t.is(
    (await replay(door, ['shared'])).stdout,
    `shared: the review of acme/widgets#8 ${QUEUED}shared: the review of acme/widgets#7 ${QUEUED}`,
  );
});

test('dead letters can be replayed, all or by name, and are then reviewed', async (t) => {
  await using story = await tellStory('gitea', { '.gatehouse.yml': CONVENTIONAL_TITLES });
  const { forge, door } = story;
  await door.database.query('UPDATE gatehouse_jobs.queue SET retry_limit = 0');
  forge.fault({ path: /\.diff$/, fault: { kind: 'status', status: 500 } });
  for (const branch of ['one', 'two', 'three']) {
    forge.commit(REPOSITORY, branch, { 'a.txt': branch });
    const number = forge.openPullRequest(REPOSITORY, { head: branch, title: 'fix: a leak' });
    await story.tell({ kind: 'pull-request', number, action: 'opened' });
  }
  const deadLetters = async () => {
    const { rows } = await door.database.query<{ key: string }>(
      "SELECT singleton_key AS key FROM gatehouse_jobs.job WHERE name = 'review-dead-letters' ORDER BY 1",
    );
    return rows.map(({ key }) => key);
  };
  await until(async () => (await deadLetters()).length === 3);
  t.is(story.status(1)?.state, 'error');
  forge.clearFaults();

  const none = await replay(door, ['--dead-letters', 'acme/widgets#9', 'acme/gadgets']);
  const given = ': none of its reviews was given up\n';
  t.deepEqual(none, { code: 1, stdout: '', stderr: `acme/widgets#9${given}acme/gadgets${given}` });

  const one = await replay(door, ['--dead-letters', 'ACME/widgets#2']);
  t.is(one.code, 0);
  t.regex(one.stdout, /^acme\/widgets#2: put back in the queue \(given up \d{4}-.*: .*500.*\)\n$/);
  await until(() => story.status(2)?.state === 'success');
  t.deepEqual(await deadLetters(), ['acme/widgets#1', 'acme/widgets#3']);

  const rest = await replay(door, ['--dead-letters'], { REDIS_URL: await sharedRedisUrl() });
  t.deepEqual([rest.code, rest.stdout.split('\n').length, rest.stderr], [0, 3, '']);
  await until(() => story.status(1)?.state === 'success' && story.status(3)?.state === 'success');
  t.deepEqual(await deadLetters(), []);
  t.deepEqual(await replay(door, ['--dead-letters']), { code: 0, stdout: 'No review was given up.\n', stderr: '' });
});

test('a dead letter whose review is queued already makes no second job', async (t) => {
  const door = await emptyDoor();
  await door.post(about(7));
  await door.database.query(
    `INSERT INTO gatehouse_jobs.job (name, data, singleton_key, source_name)
     SELECT 'review-dead-letters', data, singleton_key, 'review' FROM gatehouse_jobs.job, generate_series(1, 2)`,
  );
  const { code, stdout } = await replay(door, ['--dead-letters', 'acme/widgets']);
  t.is(code, 0);
  t.regex(stdout, /^acme\/widgets#7: is already in the queue \(given up [^:]*:[^:]*:[^:]*\)\n$/);
  t.deepEqual(await jobsOf(door), ['acme/widgets#7 created']);
});

test('replay wakes the workers over Redis, and only warns when Redis is down', async (t) => {
  const door = await emptyDoor();
  await door.post(about(7), { 'x-forge-delivery': 'seven' });
  await forgetJobs(door);
  let heard = '';
  const proxy = await startProxy(await sharedRedisUrl(), {}, () => (piece) => {
    heard += piece;
  });
  const woken = await replay(door, ['seven'], { REDIS_URL: proxy.url });
  await proxy.close();
  t.deepEqual([woken.code, woken.stderr], [0, '']);
  t.regex(heard, /publish[\s\S]*gatehouse:wake/);
  await forgetJobs(door);
  const away = { REDIS_URL: `redis://${NOWHERE}` };
  const { code, stdout, stderr } = await replay(door, ['seven'], away);
  t.is(code, 0);
  t.regex(stdout, /put back in the queue/);
  t.is(stderr, 'Cannot notify the workers over Redis; they will find the jobs at their next poll.\n');
});
