import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';

const LOOK_MS = 50;
/** Without any change. */
const GIVE_UP_MS = 100_000;

/** Tells when Gatehouse has nothing left to do for a repository. */
export interface Settling {
  settled(repository: string): Promise<void>;
  isSettled(repository: string): Promise<boolean>;
}

/** Whoever waits shares the looks into the database: many tests may wait for one Gatehouse at a time. */
export function watchJobs(database: pg.Pool): Settling {
  let next: Promise<ReadonlyMap<string, string>> | undefined;

  async function look(): Promise<ReadonlyMap<string, string>> {
    await sleep(LOOK_MS);
    next = undefined;
    const { rows } = await database.query<{ repository: string; jobs: string }>(
      `SELECT data->>'repository' AS repository, json_agg(json_build_array(singleton_key, state, output))::text AS jobs
         FROM gatehouse_jobs.job
        WHERE state IN ('created', 'retry', 'active') AND name <> 'review-dead-letters'
          AND data->>'repository' IS NOT NULL
        GROUP BY 1`,
    );
    return new Map(rows.map(({ repository, jobs }) => [repository, jobs]));
  }

  return {
    isSettled: async (repository) => !(await look()).has(repository),
    async settled(repository) {
      let changed = performance.now();
      let before = '';
      for (;;) {
        next ??= look();
        const jobs = (await next).get(repository);
        if (jobs === undefined) {
          return;
        }
        if (jobs !== before) {
          changed = performance.now();
        }
        before = jobs;
        if (performance.now() - changed > GIVE_UP_MS) {
          throw new Error(`${repository} does not settle: ${jobs}`);
        }
      }
    },
  };
}
