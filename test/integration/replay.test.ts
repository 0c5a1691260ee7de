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

test('the review of each named delivery is queued once, and reported', async (t) => {
  const door = await emptyDoor();
  await door.post(about(7), { 'x-forge-delivery': 'seven' });
  await door.post(about(8), { 'x-forge-delivery': 'eight' });
  await forgetJobs(door);
  const first = await replay(door, ['seven', 'eight', 'seven']);
  t.is(first.code, 0);
  t.is(first.stderr, '');
  t.is(
    first.stdout,
    'seven: the review of acme/widgets#7 put back in the queue\neight: the review of acme/widgets#8 put back in the queue\n',
  );
  const again = await replay(door, ['seven']);
  t.is(again.code, 0);
  t.is(again.stdout, 'seven: the review of acme/widgets#7 is already in the queue\n');
  t.deepEqual(
    (await door.jobs()).map(({ key, state }) => [key, state]),
    [
      ['acme/widgets#7', 'created'],
      ['acme/widgets#8', 'created'],
    ],
  );
});

test('replaying a policy push queues reviews of all pull requests into its branch', async (t) => {
  const door = await emptyDoor();
  const push = { ref: 'refs/heads/main', commits: [{ modified: ['.gatehouse.yml'] }] };
  const body = JSON.stringify({ ...push, repository: { full_name: 'acme/widgets' } });
  await door.post(body, { 'x-forge-delivery': 'push', 'x-forge-event': 'push' });
  await forgetJobs(door);
  const { code, stdout } = await replay(door, ['push']);
  t.is(code, 0);
  t.is(stdout, 'push: the review of all pull requests into main of acme/widgets put back in the queue\n');
  t.deepEqual(
    (await door.jobs()).map(({ key }) => key),
    ['acme/widgets@main'],
  );
});

test('an unknown id fails, and the others are still replayed', async (t) => {
  const door = await emptyDoor();
  await door.post(about(7), { 'x-forge-delivery': 'seven' });
  await forgetJobs(door);
  const { code, stdout, stderr } = await replay(door, ['nobody', 'seven']);
  t.is(code, 1);
  t.is(stderr, 'nobody: no delivery has this id\n');
  t.is(stdout, 'seven: the review of acme/widgets#7 put back in the queue\n');
});

test('a delivery that needs no review is reported, and queues nothing', async (t) => {
  const door = await emptyDoor();
  await door.post('{"zen":"x"}', { 'x-forge-delivery': 'ping', 'x-forge-event': 'ping' });
  const { code, stdout } = await replay(door, ['ping']);
  t.is(code, 0);
  t.is(stdout, 'ping: asks for no review (ping)\n');
  t.deepEqual(await door.jobs(), []);
});

test('of an id of two hooks, both deliveries are replayed', async (t) => {
  const door = await emptyDoor();
  await door.post(about(7), { 'x-forge-delivery': 'shared', 'x-github-hook-id': '11' });
  await door.post(about(8), { 'x-forge-delivery': 'shared' });
  await forgetJobs(door);
  t.is(
    (await replay(door, ['shared'])).stdout,
    'shared: the review of acme/widgets#8 put back in the queue\n' +
      'shared: the review of acme/widgets#7 put back in the queue\n',
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
  t.is(none.code, 1);
  t.is(none.stdout, '');
  t.is(
    none.stderr,
    'acme/widgets#9: none of its reviews was given up\nacme/gadgets: none of its reviews was given up\n',
  );

  const one = await replay(door, ['--dead-letters', 'ACME/widgets#2']);
  t.is(one.code, 0);
  t.regex(one.stdout, /^acme\/widgets#2: put back in the queue \(given up \d{4}-.*: .*500.*\)\n$/);
  await until(() => story.status(2)?.state === 'success');
  t.deepEqual(await deadLetters(), ['acme/widgets#1', 'acme/widgets#3']);

  const rest = await replay(door, ['--dead-letters'], { REDIS_URL: await sharedRedisUrl() });
  t.is(rest.code, 0);
  t.is(rest.stdout.split('\n').length, 3);
  t.is(rest.stderr, '');
  await until(() => story.status(1)?.state === 'success' && story.status(3)?.state === 'success');
  t.deepEqual(await deadLetters(), []);
  const empty = await replay(door, ['--dead-letters']);
  t.is(empty.code, 0);
  t.is(empty.stdout, 'No review was given up.\n');
});

test('a dead letter whose review is queued already makes no second job', async (t) => {
  const door = await emptyDoor();
  await door.post(about(7));
  await door.database.query(
    `INSERT INTO gatehouse_jobs.job (name, data, singleton_key, source_name)
     SELECT 'review-dead-letters', data, singleton_key, 'review' FROM gatehouse_jobs.job
     UNION ALL
     SELECT 'review-dead-letters', data, singleton_key, 'review' FROM gatehouse_jobs.job`,
  );
  const { code, stdout } = await replay(door, ['--dead-letters', 'acme/widgets']);
  t.is(code, 0);
  t.regex(stdout, /^acme\/widgets#7: is already in the queue \(given up [^:]*:[^:]*:[^:]*\)\n$/);
  t.deepEqual(
    (await door.jobs()).map(({ key, state }) => [key, state]),
    [['acme/widgets#7', 'created']],
  );
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
  t.is(woken.code, 0);
  t.is(woken.stderr, '');
  t.regex(heard, /publish[\s\S]*gatehouse:wake/);
  await forgetJobs(door);
  const away = { REDIS_URL: `redis://${NOWHERE}` };
  const { code, stdout, stderr } = await replay(door, ['seven'], away);
  t.is(code, 0);
  t.regex(stdout, /put back in the queue/);
  t.is(stderr, 'The workers could not be notified over Redis; they will find the jobs at their next poll.\n');
});
