import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { refuseTransactionPooling } from './pooler.ts';
import { NewerSchemaError, readSchemaState } from './schema.ts';
import { makeShortLocks } from './short-locks.ts';
import { sqlState } from './sqlstate.ts';

const MIGRATIONS = fileURLToPath(new URL('./migrations', import.meta.url));
const CONNECT_TIMEOUT_MS = 10_000;

/** Any number will do as long as every version of Gatehouse uses the same. */
const ADVISORY_LOCK = 4_201_883_917;

/**
 * Brings the schema up to date, then runs `installMore` (the partitions and the job engine's own schema) under the same
 * lock.
 * Many may start at once: they wait for a session-level advisory lock, and the later ones find nothing to do.
 * On a newer schema that still serves this code nothing is changed, so a rollback starts as it should.
 * Returns the names of the migrations that were applied; throws {@link NewerSchemaError}
 * and `PoolerError`.
 */
export async function migrate(
  databaseUrl: string,
  installMore: (client: pg.ClientBase) => Promise<void>,
  wait: DatabaseWait = { waitSeconds: 0 },
): Promise<readonly string[]> {
  const retry = makeRetry(wait);
  const client = await retry(() => connect(databaseUrl));
  try {
    await client.query(SESSION_SETTINGS);
    await retry(() => refuseTransactionPooling(databaseUrl));
    await takeLock(client);
    if ((await readSchemaState(client)) === 'too-new') {
      throw new NewerSchemaError();
    }
    const locks = await retry(() => makeShortLocks(client, databaseUrl, wait.onBlocked ?? (() => {})));
    try {
      const applied: string[] = [];
      for (;;) {
        const [next] = await locks.run(() => applyNext(client));
        if (next === undefined) {
          break;
        }
        applied.push(next.name);
      }
      await locks.run(() => installMore(client));
      return applied;
    } finally {
      await locks.close();
    }
  } finally {
    // Ending the session releases the lock.
    await client.end();
  }
}

/** Each file is a transaction of its own: what waits for one table does not hold another meanwhile. */
function applyNext(client: pg.Client) {
  return runner({
    dbClient: client,
    dir: MIGRATIONS,
    direction: 'up',
    count: 1,
    schema: 'gatehouse',
    createSchema: true,
    migrationsTable: 'migrations',
    noLock: true,
    log: () => {},
  });
}

/** Longer than a migration may wait for the tables that it changes. */
const LOCK_TIMEOUT_SECONDS = 15 * 60;

/**
 * A role may have other defaults. The keep-alives let the server find out within half a minute that a starter is gone,
 * and free its lock.
 */
const SESSION_SETTINGS = `
  SET statement_timeout = 0; SET DateStyle = 'ISO'; SET default_transaction_isolation = 'read committed';
  SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3`;

const LOCK_POLL_MS = 100;

/** Polls: a session that waits for the lock would keep the one that holds it from building indexes concurrently. */
async function takeLock(client: pg.Client): Promise<void> {
  const deadline = performance.now() + LOCK_TIMEOUT_SECONDS * 1_000;
  for (;;) {
    const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
      ADVISORY_LOCK,
    ]);
    if (rows[0]?.taken) {
      return;
    }
    if (performance.now() > deadline) {
      throw new Error(`another migration has held the lock for more than ${LOCK_TIMEOUT_SECONDS} s`);
    }
    await sleep(LOCK_POLL_MS);
  }
}

/**
 * How long to wait for a database that does not answer yet. Each failed attempt is reported, and who blocks a
 * migration.
 */
export interface DatabaseWait {
  readonly waitSeconds: number;
  readonly onWait?: (error: unknown) => void;
  /** Is told which sessions hold a lock that a migration waits for. */
  readonly onBlocked?: (blockers: readonly string[]) => void;
}

const ATTEMPT_PAUSE_MS = 1_000;

async function connect(connectionString: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString,
    application_name: 'gatehouse migrate',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
  });
  // A connection lost between two queries is reported by the next query.
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** A migration needs several connections, and each may be one too many. They share the time to wait. */
function makeRetry({ waitSeconds, onWait }: DatabaseWait): <T>(attempt: () => Promise<T>) => Promise<T> {
  const deadline = performance.now() + waitSeconds * 1_000;
  return async (attempt) => {
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        // Wrong credentials do not become right by waiting.
        if (!mayComeYet(error) || performance.now() + ATTEMPT_PAUSE_MS > deadline) {
          throw error;
        }
        onWait?.(error);
        await sleep(ATTEMPT_PAUSE_MS);
      }
    }
  };
}

const TOO_MANY_CONNECTIONS = '53300';

/** Class 57 (operator intervention) is a server that starts or stops; no SQLSTATE at all is none that answers. */
function mayComeYet(error: unknown): boolean {
  const state = sqlState(error);
  return state === undefined || state.startsWith('57') || state === TOO_MANY_CONNECTIONS;
}
