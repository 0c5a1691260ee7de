import type pg from 'pg';
import { findDeliveries, listDeliveries } from '../../src/inbox/read-deliveries.ts';
import { addDays } from '../helpers/days.ts';
import { type Door, openDoor, shareDoor } from '../helpers/door.ts';
import { gatehouse } from '../helpers/process.ts';
import { rowsRead } from '../helpers/rows-read.ts';
import { runGatehouse } from '../helpers/run-command.ts';
import ava from '../helpers/test.ts';

const test = ava.serial;
const emptyDoor = shareDoor(ava);

function list(door: Door, args: readonly string[] = []) {
  return runGatehouse(['deliveries', ...args], { env: { DATABASE_URL: door.databaseUrl } });
}

function payload(repository: string, number: number): string {
  return JSON.stringify({ action: 'opened', number, pull_request: { number }, repository: { full_name: repository } });
}

/** Three deliveries, an hour apart, the last of them just now. */
async function deliverThree(door: Door): Promise<void> {
  await addDays(door.database, 1);
  for (const [hours, id, body, event] of [
    [2, 'oldest', '{"zen":"x"}', 'ping'],
    [1, 'middle', payload('acme/widgets', 7), 'pull_request'],
    [0, 'newest', payload('acme/gadgets', 12), 'pull_request'],
  ] as const) {
    const { status } = await door.post(body, { 'x-forge-delivery': id, 'x-forge-event': event });
    if (status !== 200) {
      throw new Error(`the door answered ${status}`);
    }
    await door.database.query(
      'UPDATE gatehouse.deliveries SET received_at = now() - make_interval(hours => $1) WHERE delivery_id = $2',
      [hours, id],
    );
  }
}

test('deliveries are listed newest first, in columns for people', async (t) => {
  const door = await emptyDoor();
  t.deepEqual(await list(door), { code: 0, stdout: '', stderr: 'No deliveries found.\n' });
  await deliverThree(door);
  const { code, stdout, stderr } = await list(door);
  t.deepEqual([code, stderr], [0, '']);
  t.is(
    stdout.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, 'THE TIME------------'),
    'RECEIVED              EVENT         ABOUT            DELIVERY\n' +
      'THE TIME------------  pull_request  acme/gadgets#12  newest\n' +
      'THE TIME------------  pull_request  acme/widgets#7   middle\n' +
      'THE TIME------------  ping          -                oldest\n',
  );
});

test('filters can be combined', async (t) => {
  const door = await emptyDoor();
  await deliverThree(door);
  for (const [args, expected] of [
    ['', 'newest middle oldest'],
    ['--event ping', 'oldest'],
    ['--repository ACME/Widgets', 'middle'],
    ['--repository acme/gadgets --pull-request 12', 'newest'],
    ['--since 90m', 'newest middle'],
    [`--since ${new Date(Date.now() - 5_400_000).toISOString()}`, 'newest middle'],
    ['--since 2999-01-01', ''],
    ['--limit 2', 'newest middle'],
    ['--event pull_request --repository acme/gadgets --pull-request 7', ''],
  ] as const) {
    const { code, stdout } = await list(door, [...args.split(' ').filter(Boolean), '--json']);
    const ids = stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).deliveryId]));
    t.deepEqual([code, ids.join(' ')], [0, expected], args);
  }
});

test('listing and finding deliveries reads few rows of a large table', async (t) => {
  const door = await emptyDoor();
  // Of 14 days.
  await addDays(door.database, 14);
  await door.database.query(
    `INSERT INTO gatehouse.deliveries (hook_id, delivery_id, received_at, event, repository, pull_request, body_sha256, body)
     SELECT (i % 3)::text, 'id ' || i, now() - make_interval(mins => i), 'push', 'acme/' || i % 1000, 1, ''::bytea, ''::bytea
       FROM generate_series(1, 20000) AS i`,
  );
  await door.database.query('ANALYZE gatehouse.deliveries');
  const cases: readonly (readonly [number, (client: pg.ClientBase) => Promise<readonly unknown[]>])[] = [
    [20, (client) => listDeliveries(client, {}, 20)],
    [20, (client) => listDeliveries(client, { repository: 'ACME/7' }, 100)],
    [0, (client) => listDeliveries(client, { repository: 'acme/7', pullRequest: 2 }, 100)],
    [0, (client) => listDeliveries(client, { repository: 'acme/none' }, 100)],
    [20, (client) => listDeliveries(client, { event: 'push' }, 20)],
    [0, (client) => listDeliveries(client, { event: 'ping' }, 20)],
    [1, (client) => findDeliveries(client, 'id 20000')],
    [0, (client) => findDeliveries(client, 'no id')],
  ];
  for (const [expected, read] of cases) {
    const found = await rowsRead(door.database, 'deliveries%', read);
    t.is(found.result.length, expected, `${read}`);
    t.true(found.read < 1_000, `${read} read ${found.read} rows`);
  }
});

test('with --json each line is an object with a delivery’s fields without its body', async (t) => {
  const door = await emptyDoor();
  await deliverThree(door);
  const { stdout } = await list(door, ['--json', '--limit', '1']);
  const { receivedAt, sha256, ...told } = JSON.parse(stdout);
  const about = { event: 'pull_request', repository: 'acme/gadgets', pullRequest: 12 };
  t.deepEqual(told, { hookId: '', deliveryId: 'newest', ...about });
  t.regex(sha256, /^[0-9a-f]{64}$/);
  t.true(Math.abs(Date.parse(receivedAt) - Date.now()) < 60_000);
});

test('--body prints the exact bytes of the delivery', async (t) => {
  const door = await emptyDoor();
  const body = '\ufeff{"a":"\\u0000 ÿ",\r\n  "b":1}\n';
  await door.post(body, { 'x-forge-delivery': 'exact' });
  t.deepEqual(await list(door, ['--body', 'exact']), { code: 0, stdout: body, stderr: '' });
});

test('an id of two hooks means the newest delivery, and an unknown id fails', async (t) => {
  const door = await emptyDoor();
  for (const hook of ['11', '22']) {
    await door.post(`{"hook":${hook}}`, { 'x-forge-delivery': 'shared', 'x-github-hook-id': hook });
  }
  t.is((await list(door, ['--body', 'shared'])).stdout, '{"hook":22}');
  const unknown = await list(door, ['--body', 'nobody']);
  t.deepEqual([unknown.code, unknown.stderr], [1, 'gatehouse deliveries: nobody: no delivery has this id\n']);
  t.regex((await list(door)).stdout, /^RECEIVED .* HOOK\n[\s\S]* {2}22\n/);
});

test('a missing, incomplete or unmigrated database is reported without its password', async (t) => {
  const away = await runGatehouse(['deliveries'], { env: { DATABASE_URL: 'postgres://user:hunter2@127.0.0.1:9/x' } });
  t.deepEqual([away.code, away.stderr], [1, 'gatehouse deliveries: connect ECONNREFUSED 127.0.0.1:9\n']);
  await using door = await openDoor();
  await door.database.query('DROP TABLE gatehouse.merges');
  const lacking = await list(door);
  t.is(lacking.code, 78);
  t.regex(lacking.stderr, /^The database cannot be used: the schema lacks gatehouse\.merges: .*\.\n$/);
  await door.database.query('DROP SCHEMA gatehouse CASCADE');
  const empty = await list(door);
  t.is(empty.code, 78);
  t.is(empty.stderr, 'The database schema is not up to date; run gatehouse migrate first.\n');
});

test('a reader that closes the pipe does not make it fail', async (t) => {
  const door = await emptyDoor();
  await door.post(JSON.stringify({ text: 'x'.repeat(4_000_000) }), { 'x-forge-delivery': 'long' });
  const { child, ended } = gatehouse(['deliveries', '--body', 'long'], { DATABASE_URL: door.databaseUrl });
  child.stdout?.once('data', () => child.stdout?.destroy());
  const { code, stderr } = await ended();
  t.deepEqual([code, stderr], [0, '']);
});
