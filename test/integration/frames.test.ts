import { randomBytes } from 'node:crypto';
import { zstdDecompressSync } from 'node:zlib';
import type pg from 'pg';
import type { ReceivedDelivery } from '../../src/inbox/delivery.ts';
import type { Inbox } from '../../src/inbox/inbox.ts';
import { readBody } from '../../src/inbox/read-body.ts';
import { applyRetention } from '../../src/jobs/retention.ts';
import { makeLog } from '../../src/log.ts';
import { addDays, onOneDay } from '../helpers/days.ts';
import { storedDeliveries } from '../helpers/door.ts';
import { delivery, shareInbox } from '../helpers/inbox.ts';
import { payloads } from '../helpers/payloads.ts';
import { runGatehouse } from '../helpers/run-command.ts';
import ava from '../helpers/test.ts';

const test = ava.serial;
const emptyInbox = shareInbox(ava);
const MIB = 1024 * 1024;

/** Waits for none before the next: the first is a batch by itself, and the others gather behind it. */
function acceptTogether(inbox: Inbox<string>, deliveries: readonly ReceivedDelivery<string>[]) {
  return Promise.all(deliveries.map((one) => inbox.accept(one)));
}

async function frames(pool: pg.Pool): Promise<readonly Buffer[]> {
  const { rows } = await pool.query<{ bytes: Buffer }>('SELECT bytes FROM gatehouse.frames ORDER BY id');
  return rows.map(({ bytes }) => bytes);
}

/** Compares the bytes at once: AVA looks at each of them. */
async function isReadAs(pool: pg.Pool, { hookId, deliveryId, body }: ReceivedDelivery<string>): Promise<boolean> {
  const read = await readBody(pool, { hookId, deliveryId });
  return read.outcome === 'read' && read.body.equals(body);
}

/** So many with the ids `0`, `1` …, of which `0` is stored alone and the others in one frame. */
async function acceptFrame(inbox: Inbox<string>, count: number): Promise<readonly ReceivedDelivery<string>[]> {
  const opened = (id: number) => JSON.stringify({ action: 'opened', number: 7, pull_request: { number: 7 }, id });
  const deliveries = Array.from({ length: count }, (_, id) =>
    delivery({
      deliveryId: String(id),
      body: Buffer.from(`{"repository":{"full_name":"acme/widgets"},${opened(id).slice(1)}`),
    }),
  );
  await acceptTogether(inbox, deliveries);
  return deliveries;
}

for (const [found, columns] of [
  ['neither a body nor a frame', 'body = NULL, frame_id = NULL'],
  ['both a body and a frame', "body = 'bytes', frame_id = gen_random_uuid()"],
]) {
  test(`a delivery with ${found} is never stored`, async (t) => {
    const door = await emptyInbox();
    t.is((await door.inbox.accept(delivery())).outcome, 'accepted');
    // PostgreSQL's check_violation.
    const error = { code: '23514', message: /"one_body"/ };
    await t.throwsAsync(door.pool.query(`UPDATE gatehouse.deliveries SET ${columns}`), error);
  });
}

test('deliveries stored together share a frame and give back their exact bytes', async (t) => {
  const door = await emptyInbox();
  // A third of them: each read unpacks a frame.
  const examples = payloads()
    .filter((_, index) => index % 3 === 0)
    .map(({ event, body }) => delivery({ event, body }));
  const answers = await acceptTogether(door.inbox, examples);
  t.true(answers.every(({ outcome }) => outcome === 'accepted'));
  const stored = await frames(door.pool);
  t.true(stored.length > 1 && stored.length < examples.length / 4, `${stored.length} frames`);
  t.true(stored.every((bytes) => zstdDecompressSync(bytes).length <= MIB));
  for (const one of examples) {
    t.true(await isReadAs(door.pool, one));
  }
});

test('a lone delivery, and a large one, have bodies of their own', async (t) => {
  const door = await emptyInbox();
  const large = delivery({ body: randomBytes(3 * MIB) });
  await door.inbox.accept(delivery());
  await door.inbox.accept(large);
  await acceptTogether(door.inbox, [delivery(), large, delivery({ body: randomBytes(2 * MIB) }), delivery()]);
  t.is((await storedDeliveries(door.pool)).length, 5);
  const { rows } = await door.pool.query('SELECT FROM gatehouse.deliveries WHERE frame_id IS NOT NULL');
  t.is(rows.length, 0);
  t.is((await frames(door.pool)).length, 0);
  t.true(await isReadAs(door.pool, large));
});

test('a batch of repeats stores no frame, and a repeat is not stored twice', async (t) => {
  const door = await emptyInbox();
  const first = await acceptFrame(door.inbox, 4);
  t.is((await frames(door.pool)).length, 1);
  const again = await acceptTogether(door.inbox, first);
  t.true(again.every(({ outcome }) => outcome === 'duplicate'));
  t.is((await frames(door.pool)).length, 1);
  const fresh = delivery();
  await acceptTogether(door.inbox, [...first, fresh]);
  t.is((await storedDeliveries(door.pool)).length, 5);
  for (const one of [...first, fresh]) {
    t.true(await isReadAs(door.pool, one));
  }
});

const DAMAGES: readonly (readonly [string, string, RegExp])[] = [
  [
    'flipped bits',
    'UPDATE gatehouse.frames SET bytes = set_byte(bytes, length(bytes) / 2, get_byte(bytes, length(bytes) / 2) # 255)',
    /./,
  ],
  ['a wrong checksum', 'UPDATE gatehouse.frames SET bytes = set_byte(bytes, length(bytes) - 1, 0)', /checksum/],
  ['an end cut off', 'UPDATE gatehouse.frames SET bytes = substr(bytes, 1, length(bytes) - 9)', /unexpected end/],
  ['no row', 'DELETE FROM gatehouse.frames', /frame \S+ is missing/],
  ['a wrong offset', 'UPDATE gatehouse.deliveries SET frame_offset = frame_offset + 1', /SHA-256/],
];

for (const [what, statement, reason] of DAMAGES) {
  test(`a frame with ${what} is reported for its deliveries, and others are read`, async (t) => {
    const door = await emptyInbox();
    const [alone, framed] = await acceptFrame(door.inbox, 4);
    await door.pool.query(statement);
    const damaged = await readBody(door.pool, { hookId: '', deliveryId: framed?.deliveryId ?? '' });
    t.is(damaged.outcome, 'damaged');
    t.regex('reason' in damaged ? damaged.reason : '', reason);
    t.is((await readBody(door.pool, { hookId: '', deliveryId: alone?.deliveryId ?? '' })).outcome, 'read');
  });
}

test('the commands report a damaged body, and go on with the next delivery', async (t) => {
  const door = await emptyInbox();
  await acceptFrame(door.inbox, 3);
  await door.pool.query('UPDATE gatehouse.frames SET bytes = substr(bytes, 1, length(bytes) - 1)');
  const run = (...args: string[]) => runGatehouse(args, { env: { DATABASE_URL: door.databaseUrl } });
  const body = await run('deliveries', '--body', '1');
  t.is(body.code, 1);
  t.is(body.stdout, '');
  t.regex(body.stderr, /^gatehouse deliveries: 1: its stored body is damaged \(.+\); redeliver it at the forge/);
  const replay = await run('replay', '1', '2', '0');
  t.is(replay.code, 1);
  t.regex(replay.stderr, /^1: its stored body is damaged .+\n2: its stored body is damaged .+\n/);
  t.is(replay.stdout, '0: the review of acme/widgets#7 put back in the queue\n');
});

test(
  'retention drops a frame with its deliveries, and not before',
  onOneDay(async (t) => {
    const door = await emptyInbox();
    await addDays(door.pool, 30);
    const apply = () =>
      applyRetention({ pool: door.pool, days: 30, log: makeLog('silent'), signal: new AbortController().signal });
    const age = (days: number) =>
      door.pool.query(
        `UPDATE gatehouse.deliveries SET received_at = received_at - make_interval(days => ${days});
         UPDATE gatehouse.frames SET received_at = received_at - make_interval(days => ${days})`,
      );
    const accepted = await acceptFrame(door.inbox, 4);
    await age(30);
    t.is(await apply(), 'finished');
    for (const one of accepted) {
      t.true(await isReadAs(door.pool, one));
    }
    await addDays(door.pool, 32);
    await age(2);
    t.is(await apply(), 'finished');
    t.is((await storedDeliveries(door.pool)).length, 0);
    t.is((await frames(door.pool)).length, 0);
  }),
);
