import { EventEmitter, once } from 'node:events';
import pg from 'pg';

/** Where an end was not told, as of a job whose time has not come, or after a test has cut all connections. */
const LOOK_AGAIN_MS = 1_000;
const GIVE_UP_MS = 100_000;

/** Tells the repository of each job that has ended, or its queue where it has none. Whichever process ran it. */
const TELL_ENDS = `
  CREATE OR REPLACE FUNCTION public.tell_end() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_notify('job_ended', coalesce(OLD.data->>'repository', OLD.name));
      RETURN NULL;
    END $$;
  CREATE OR REPLACE TRIGGER tell_end AFTER UPDATE OF state OR DELETE ON gatehouse_jobs.job_common
    FOR EACH ROW WHEN (OLD.state = 'active') EXECUTE FUNCTION public.tell_end();
  LISTEN job_ended`;

/** Listens from the first wait on. */
export function watchJobs(database: pg.Pool, url: string) {
  const ends = new EventEmitter().setMaxListeners(0);
  let listener: Promise<pg.Client | undefined> | undefined;

  /** Undefined while the database cannot be reached: the next look tries again. */
  async function listen(): Promise<pg.Client | undefined> {
    const client = new pg.Client({ connectionString: url });
    const forget = () => {
      listener = undefined;
    };
    client.on('error', forget);
    client.on('notification', ({ payload = '' }) => ends.emit(payload));
    try {
      await client.connect();
      await client.query(TELL_ENDS);
      return client;
    } catch {
      forget();
      await client.end();
      return undefined;
    }
  }

  /** Looks now, and each time that a job of this repository or queue has ended, until `look` finds nothing left. */
  async function untilNothing(of: string, look: () => Promise<string | undefined>): Promise<void> {
    let changed = performance.now();
    let before = '';
    for (;;) {
      listener ??= listen();
      await listener;
      const ended = once(ends, of, { signal: AbortSignal.timeout(LOOK_AGAIN_MS) }).catch(() => {});
      const left = await look();
      if (left === undefined) {
        return;
      }
      if (left !== before) {
        changed = performance.now();
      }
      before = left;
      if (performance.now() - changed > GIVE_UP_MS) {
        throw new Error(`${of} does not settle: ${left}`);
      }
      await ended;
    }
  }

  async function jobsOf(repository: string): Promise<string | undefined> {
    const { rows } = await database.query<{ jobs: string | null }>(
      `SELECT json_agg(json_build_array(singleton_key, state, output))::text AS jobs
         FROM gatehouse_jobs.job
        WHERE state IN ('created', 'retry', 'active') AND name <> 'review-dead-letters'
          AND data->>'repository' = $1`,
      [repository],
    );
    return rows[0]?.jobs ?? undefined;
  }

  return {
    /** Waits until none of this repository's jobs waits or runs. */
    settled: (repository: string): Promise<void> => untilNothing(repository, () => jobsOf(repository)),
    isSettled: async (repository: string): Promise<boolean> => (await jobsOf(repository)) === undefined,
    /** Waits for the end of a resync that began since then. A worker asks for one when it starts. */
    resynced: (since: Date): Promise<void> =>
      untilNothing('resync', async () => {
        const { rows } = await database.query<{ state: string; output: unknown }>(
          `SELECT state, output FROM gatehouse_jobs.job
            WHERE name = 'resync' AND state IN ('completed', 'failed') AND started_on >= $1`,
          [since],
        );
        const failed = rows.find(({ state }) => state === 'failed');
        if (failed !== undefined) {
          throw new Error(`the resync failed: ${JSON.stringify(failed.output)}`);
        }
        return rows.length > 0 ? undefined : `no resync has ended since ${since.toISOString()}`;
      }),
    async close() {
      await (await listener)?.end();
    },
  };
}
