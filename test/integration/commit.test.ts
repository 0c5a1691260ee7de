import { setTimeout as sleep } from 'node:timers/promises';
import { makeInboxPool, makePool } from '../../src/db/pool.ts';
import { commitStatement, inTransaction, onConnection, WITH_WARNINGS } from '../../src/db/transaction.ts';
import { makeLog } from '../../src/log.ts';
import { sharedRedisUrl, WAITING_FOR_A_LOCK } from '../helpers/database.ts';
import { openDoor } from '../helpers/door.ts';
import { pullRequestOpened } from '../helpers/payloads.ts';
import { startProxy } from '../helpers/proxy.ts';
import ava from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const test = ava.serial;
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
