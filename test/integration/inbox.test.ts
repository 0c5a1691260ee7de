import { setTimeout as sleep } from 'node:timers/promises';
import { makeInboxPool, makePool } from '../../src/db/pool.ts';
import { commitStatement, inTransaction, onConnection, WITH_WARNINGS } from '../../src/db/transaction.ts';
import { makeLog } from '../../src/log.ts';
import { sharedRedisUrl, WAITING_FOR_A_LOCK } from '../helpers/database.ts';
import { openDoor, storedDeliveries } from '../helpers/door.ts';
import { delivery, inboxOn, openInbox, shareInbox } from '../helpers/inbox.ts';
import { pullRequestOpened } from '../helpers/payloads.ts';
import { startProxy } from '../helpers/proxy.ts';
import ava from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const test = ava.serial;
const emptyInbox = shareInbox(ava);

test('a row that the database rejects does not fail the others', async (t) => {
  const door = await emptyInbox();
  // PostgreSQL's text has no NUL. The door's own checks let none through; this is what happens if they did.
  const bad = delivery({ event: 'a\u0000b' });
  const neighbours = Array.from({ length: 10 }, () => delivery());
  const [, refused, ...accepted] = await Promise.all(
    [delivery(), bad, ...neighbours].map((one) => door.inbox.accept(one)),
  );
  t.deepEqual(refused, { outcome: 'refused', reason: 'database' });
  for (const answer of accepted) {
    t.is(answer.outcome, 'accepted');
  }
  t.is((await storedDeliveries(door.pool)).length, 11);
});

for (const [what, jobStatements] of [
  ['cannot be added', () => Promise.reject(new Error('no queue'))],
  [
    'fails to be added',
    async () => [{ text: `INSERT INTO gatehouse.repositories (name) VALUES ('a job')` }, { text: 'SELECT 1 / 0' }],
  ],
] as const) {
  test(`when its job ${what}, neither a delivery nor its frame or job is stored`, async (t) => {
    await using door = await openInbox({ jobStatements });
    const answers = await Promise.all(Array.from({ length: 5 }, () => door.inbox.accept(delivery({ job: 'a job' }))));
    t.deepEqual(
      answers,
      answers.map(() => ({ outcome: 'refused', reason: 'database' })),
    );
    t.is((await door.inbox.accept(delivery({ repository: null }))).outcome, 'accepted');
    t.is((await storedDeliveries(door.pool)).length, 1);
    t.is((await door.pool.query('SELECT FROM gatehouse.repositories')).rowCount, 0);
    t.is((await door.pool.query('SELECT FROM gatehouse.frames')).rowCount, 0);
    t.is(door.wakeups(), 0);
  });
}

for (const [how, batch] of [
  ['alone', 1],
  ['in company', 5],
] as const) {
  test(`deliveries sent after a failed BEGIN are not stored without jobs: ${how}`, async (t) => {
    await using door = await openInbox({
      jobStatements: async (jobs) =>
        jobs.map((job) => ({ text: `INSERT INTO gatehouse.repositories (name) VALUES ($1)`, values: [job] })),
    });
    // A connection that had such a transaction before is no safer than a new one.
    t.is((await door.inbox.accept(delivery({ job: 'before' }))).outcome, 'accepted');
    let failures = 0;
    door.pool.on('acquire', (client) => {
      const query = client.query.bind(client);
      Object.assign(client, {
        query: (statement: unknown, ...rest: unknown[]) => {
          const begins = typeof statement === 'string' && statement.startsWith('BEGIN');
          // As when an administrator cancels what the backend is at in this moment.
          const sent = begins && failures++ === 0 ? 'SELECT 1 / 0' : statement;
          return Reflect.apply(query, client, [sent, ...rest]);
        },
      });
    });
    const deliveries = Array.from({ length: batch }, (_, index) => delivery({ job: `job ${index}` }));
    const answers = await Promise.all(deliveries.map((one) => door.inbox.accept(one)));
    t.true(failures > 0);
    for (const { outcome } of answers) {
      t.is(outcome, 'accepted', 'by the second attempt');
    }
    const { rowCount } = await door.pool.query("SELECT FROM gatehouse.repositories WHERE name ~ '^(before|job)'");
    t.is(rowCount, 1 + batch, 'each with its job');
  });
}

test('workers are woken once for a batch with jobs, and not for a duplicate', async (t) => {
  const door = await emptyInbox();
  const before = door.wakeups();
  const one = delivery({ job: 'a job' });
  t.is((await door.inbox.accept(one)).outcome, 'accepted');
  t.is((await door.inbox.accept(one)).outcome, 'duplicate');
  t.is((await door.inbox.accept(delivery())).outcome, 'accepted');
  t.is(door.wakeups() - before, 1);
});

test('of repeats in one batch one is accepted, and of two hooks both are', async (t) => {
  const door = await emptyInbox();
  const one = delivery({ hookId: '1' });
  // The first is a batch by itself, and the others gather behind it.
  const batch = [delivery(), one, one, { ...one, hookId: '2' }];
  const answers = await Promise.all(batch.map((each) => door.inbox.accept(each)));
  t.deepEqual(
    answers.map(({ outcome }) => outcome),
    ['accepted', 'accepted', 'duplicate', 'accepted'],
  );
});

test('two inboxes that store the same deliveries crosswise both succeed', async (t) => {
  const door = await emptyInbox();
  const second = inboxOn<string>(door.pool, async () => []);
  for (let round = 0; round < 10; round++) {
    const deliveries = Array.from({ length: 60 }, () => delivery());
    const answers = await Promise.all([
      ...deliveries.map((one) => door.inbox.accept(one)),
      ...deliveries.toReversed().map((one) => second.accept(one)),
    ]);
    const count = (outcome: string) => answers.filter((answer) => answer.outcome === outcome).length;
    t.is(count('accepted'), 60);
    t.is(count('duplicate'), 60);
  }
});

test('a locked table leads to a rejection in time, and to success without the lock', async (t) => {
  await using door = await openInbox({ patience: 0.5 });
  const blocker = await door.pool.connect();
  await blocker.query('BEGIN; LOCK TABLE gatehouse.deliveries IN ACCESS EXCLUSIVE MODE');
  const blocked = [delivery(), delivery(), delivery()];
  const answers = await Promise.all(blocked.map((one) => door.inbox.accept(one)));
  for (const answer of answers) {
    t.deepEqual(answer, { outcome: 'refused', reason: 'deadline' });
  }
  await blocker.query('ROLLBACK');
  blocker.release();
  const after = delivery();
  t.is((await door.inbox.accept(after)).outcome, 'accepted');
  await door.inbox.idle();
  // One was with the database when its time was up, and may have been stored: it was refused, not lost.
  const stored = new Set((await storedDeliveries(door.pool)).map(({ deliveryId }) => deliveryId));
  t.true(stored.has(after.deliveryId));
  t.true(blocked.filter(({ deliveryId }) => stored.has(deliveryId)).length <= 1);
});

test('a role that turns synchronous_commit off does not turn it off for deliveries', async (t) => {
  const job = { text: "INSERT INTO gatehouse.progress VALUES ('a job', now())" };
  await using door = await openInbox({
    jobStatements: async () => [job],
    prepare: async (pool) => {
      await pool.query(`DO $$ BEGIN
        EXECUTE format('ALTER ROLE %I IN DATABASE %I SET synchronous_commit = off', current_user, current_database());
      END $$`);
      await pool.query('CREATE TABLE settings (with_job boolean, setting text)');
      // Deferred: it reads the setting that the COMMIT itself reads.
      await pool.query(
        `CREATE FUNCTION note_setting() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
           INSERT INTO settings SELECT EXISTS (SELECT FROM gatehouse.progress WHERE task = 'a job'), current_setting('synchronous_commit');
           RETURN NULL;
         END $$`,
      );
      await pool.query(
        `CREATE CONSTRAINT TRIGGER note_setting AFTER INSERT ON gatehouse.deliveries DEFERRABLE INITIALLY DEFERRED
         FOR EACH ROW EXECUTE FUNCTION note_setting()`,
      );
    },
  });
  t.is((await door.inbox.accept(delivery())).outcome, 'accepted');
  t.is((await door.inbox.accept(delivery({ job: 'review' }))).outcome, 'accepted');
  const { rows } = await door.pool.query('SELECT with_job, setting FROM settings ORDER BY with_job');
  t.deepEqual(rows, [
    { with_job: false, setting: 'on' },
    { with_job: true, setting: 'on' },
  ]);
});

test('the repository of a delivery is stored once, and not that of a push to a fork', async (t) => {
  const door = await emptyInbox();
  const accepted = await Promise.all([
    door.inbox.accept(delivery({ hookId: '2' })),
    door.inbox.accept(delivery({ hookId: '1' })),
    door.inbox.accept(delivery({ hookId: '1', repository: 'acme/gadgets' })),
    door.inbox.accept(delivery({ repository: null })),
    door.inbox.accept(delivery({ repository: 'stranger/widgets', resynced: [] })),
  ]);
  t.true(accepted.every(({ outcome }) => outcome === 'accepted'));
  await door.inbox.accept(delivery({ hookId: '2' }));
  const { rows } = await door.pool.query('SELECT name FROM gatehouse.repositories ORDER BY 1');
  t.deepEqual(rows, [{ name: 'acme/gadgets' }, { name: 'acme/widgets' }]);
});

const { event, body } = pullRequestOpened();
const headers = { 'x-forge-event': event, 'x-forge-delivery': 'one' };

/** Runs at COMMIT, when every statement of the transaction has long succeeded. */
const atCommit = (statement: string) => `
  CREATE FUNCTION at_commit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${statement}; RETURN NULL; END $$;
  CREATE CONSTRAINT TRIGGER at_commit AFTER INSERT ON gatehouse.deliveries
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION at_commit()`;

test('a failed COMMIT is answered 503, and stores neither the delivery nor its job', async (t) => {
  await using door = await openDoor();
  await door.database.query(atCommit(`RAISE EXCEPTION 'not today'`));
  const refused = await door.post(body, headers);
  t.is(refused.status, 503);
  t.deepEqual(await door.deliveries(), []);
  t.deepEqual(await door.jobs(), []);
  await door.database.query('DROP TRIGGER at_commit ON gatehouse.deliveries');
  t.is((await door.post(body, headers)).status, 200);
  t.is((await door.jobs()).length, 1);
});

test('a warning of the COMMIT is a failure, and one of a statement before it is not', async (t) => {
  await using door = await openDoor();
  const { database } = door;
  await database.query(`
    CREATE TABLE early (id int); CREATE TABLE late (id int);
    CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE WARNING 'take care'; RETURN NEW; END $$;
    CREATE TRIGGER warn BEFORE INSERT ON early FOR EACH ROW EXECUTE FUNCTION warn();
    CREATE CONSTRAINT TRIGGER warn AFTER INSERT ON late DEFERRABLE INITIALLY DEFERRED
      FOR EACH ROW EXECUTE FUNCTION warn()`);
  for (const open of [makePool, makeInboxPool]) {
    const pool = open(door.databaseUrl, makeLog('silent'));
    const insert = (table: string) =>
      inTransaction(pool, 4_000, (client) => client.query(`INSERT INTO ${table} VALUES (1)`));
    await t.notThrowsAsync(insert('early'));
    const warned = { message: 'the COMMIT came with a warning: take care' };
    await t.throwsAsync(insert('late'), warned);
    const alone = { text: `WITH one AS (INSERT INTO late VALUES (1)) SELECT ${WITH_WARNINGS}` };
    await t.throwsAsync(commitStatement(pool, 4_000, alone), warned, 'a statement that is a transaction of its own');
    await pool.end();
  }
});

test('a connection whose time is up is never given to the next transaction', async (t) => {
  await using door = await openDoor();
  const attempt = async () => {
    const pool = makeInboxPool(door.databaseUrl, makeLog('silent'));
    pool.on('error', () => {});
    // Connected already, so that the work ends after its time and before the connection is cut.
    await pool.query('SELECT 1');
    await onConnection(pool, 200, () => sleep(201));
    await t.notThrowsAsync(pool.query('SELECT pg_sleep(0.1)'));
    await pool.end();
  };
  await Promise.all(Array.from({ length: 10 }, attempt));
});

test('nothing is acknowledged while its COMMIT is under way', async (t) => {
  await using door = await openDoor();
  const blocker = await door.database.connect();
  await blocker.query('SELECT pg_advisory_lock(1)');
  await door.database.query(atCommit('PERFORM pg_advisory_xact_lock_shared(1)'));
  let answered = false;
  const answer = door.post(body, headers).then((response) => {
    answered = true;
    return response.status;
  });
  await until(async () => {
    const { rows } = await door.database.query(`SELECT ${WAITING_FOR_A_LOCK}`);
    return rows.length > 0;
  });
  t.false(answered);
  await blocker.query('SELECT pg_advisory_unlock(1)');
  blocker.release();
  t.is(await answer, 200);
});

test('a database connection lost between deliveries causes no rejection', async (t) => {
  await using straight = await openDoor();
  const proxy = await startProxy(straight.databaseUrl);
  await using door = await openDoor({ DATABASE_URL: proxy.url });
  t.is((await door.post('{"n":1}')).status, 200);
  proxy.cut();
  t.is((await door.post('{"n":2}')).status, 200);
  await proxy.close();
});

test('workers are woken over Redis after the job is committed', async (t) => {
  let heard = '';
  const proxy = await startProxy(await sharedRedisUrl(), {}, () => (piece) => {
    heard += piece;
  });
  t.teardown(() => proxy.close());
  await using door = await openDoor({ REDIS_URL: proxy.url });
  await until(async () => (await fetch(`${door.url}/health`)).status === 200);
  await door.post(body, headers);
  await until(() => /publish\r\n\S+\r\ngatehouse:wake\r\n\S+\r\nreview\r\n/.test(heard));
  t.is((await door.jobs()).length, 1);
});
