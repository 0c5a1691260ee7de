import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { sqlState } from './sqlstate.ts';

/**
 * Whoever asks for a lock after a waiting statement waits behind it: a migration that waits for a reader of a table
 * keeps every delivery waiting. So it waits for a second, rolls back, lets the others go on, and tries again.
 */
const LOCK_TIMEOUT_MS = 1_000;
const PAUSE_MS = 3_000;
const GIVE_UP_MINUTES = 10;
const WATCH_INTERVAL_MS = 200;
const RETRIED: readonly (string | undefined)[] = ['55P03' /* lock_not_available */, '40P01' /* deadlock_detected */];

/** No lock within ten minutes. */
class LockedError extends Error {
  override readonly name = 'LockedError';
}

export interface ShortLocks {
  /**
   * Runs `work` until it gets its locks. Each attempt must be one transaction, or skip what an earlier one has
   * committed.
   */
  run<T>(work: () => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/**
 * For the statements that `client` sends. `onBlocked` gets the sessions that hold a lock, once for each group of them:
 * `pg_dump of alice (process 123, active for 12 s)`.
 */
export async function makeShortLocks(
  client: pg.Client & { readonly processID?: number | null },
  databaseUrl: string,
  onBlocked: (blockers: readonly string[]) => void,
): Promise<ShortLocks> {
  await client.query(`SET lock_timeout = ${LOCK_TIMEOUT_MS}`);
  const watch = await watchBlockers(client, databaseUrl, onBlocked);
  const deadline = performance.now() + GIVE_UP_MINUTES * 60_000;
  return {
    async run(work) {
      for (;;) {
        try {
          return await work();
        } catch (error) {
          if (!RETRIED.includes(sqlState(error))) {
            throw error;
          }
          await client.query('ROLLBACK');
          if (performance.now() > deadline) {
            const who = watch.last().join(', ') || 'which ones is not known';
            const message = `other sessions have held a lock for ${GIVE_UP_MINUTES} minutes: ${who}`;
            throw new LockedError(message, { cause: error });
          }
        }
        await sleep(PAUSE_MS);
      }
    },
    close: watch.close,
  };
}

interface Blocker {
  readonly pid: number;
  readonly user: string | null;
  /** What the session calls itself, such as `pg_dump` or `psql`. */
  readonly application: string;
  /** `idle in transaction` is a transaction that somebody left open. Null where the role may not see it. */
  readonly state: string | null;
  /** Since its transaction began. Null where the role may not see it. */
  readonly seconds: number | null;
}

/** Without their queries, which may contain anything. */
const BLOCKERS = `
  SELECT pid, usename AS "user", application_name AS application, state,
         extract(epoch FROM now() - xact_start)::int AS seconds
    FROM pg_stat_activity WHERE pid = ANY (pg_blocking_pids($1)) ORDER BY pid`;

function describe({ pid, user, application, state, seconds }: Blocker): string {
  const since = state === null || seconds === null ? '' : `, ${state} for ${seconds} s`;
  return `${application || 'a session'} of ${user} (process ${pid}${since})`;
}

/** Looks on from a second connection, because the first one waits. */
async function watchBlockers(client: pg.Client, databaseUrl: string, onBlocked: (blockers: readonly string[]) => void) {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  const watcher = new pg.Client({
    connectionString: databaseUrl,
    application_name: 'gatehouse migrate',
    keepAlive: true,
  });
  // Without it the migration goes on, and names nobody.
  watcher.on('error', () => {});
  await watcher.connect();
  let last: readonly string[] = [];
  let told = '';
  let closed = false;

  async function look(): Promise<void> {
    const { rows: blockers } = await watcher.query<Blocker>(BLOCKERS, [rows[0]?.pid]);
    const key = blockers.map(({ pid }) => pid).join();
    if (blockers.length === 0) {
      return;
    }
    last = blockers.map(describe);
    if (key !== told) {
      told = key;
      onBlocked(last);
    }
  }

  async function loop(): Promise<void> {
    while (!closed) {
      await look();
      await sleep(WATCH_INTERVAL_MS);
    }
  }

  const looping = loop().catch(() => {});
  return {
    last: () => last,
    async close() {
      closed = true;
      await looping;
      await watcher.end();
    },
  };
}
