import type pg from 'pg';
import { PgBoss } from 'pg-boss';
import type { Log } from '../log.ts';
import { JOBS_SCHEMA, QUEUES, REVIEW_QUEUE, type ReviewJob, reviewKey } from './queues.ts';

/** The job engine as the door uses it: it only puts jobs in. */
export interface JobQueue {
  /** Adds a job per pull request, in the caller's transaction. One that already waits is not added again. */
  enqueueReviews(client: pg.ClientBase, jobs: readonly ReviewJob[]): Promise<void>;
  stats(): Promise<readonly QueueStats[]>;
  stop(): Promise<void>;
}

export interface QueueStats {
  readonly queue: string;
  /** Waiting to be run, whether for the first time or again. */
  readonly waiting: number;
  readonly active: number;
  readonly failed: number;
  /** Seconds that the oldest job which could run has waited; 0 when none waits. */
  readonly oldestWaitingSeconds: number;
}

/** Installs or upgrades the engine's schema and its queues. Runs under the migration's lock. */
export async function installJobs(databaseUrl: string): Promise<void> {
  const boss = new PgBoss({
    connectionString: databaseUrl,
    application_name: 'gatehouse migrate',
    schema: JOBS_SCHEMA,
    max: 2,
    supervise: false,
    schedule: false,
  });
  const failures: Error[] = [];
  boss.on('error', (error) => failures.push(error));
  await boss.start();
  try {
    for (const { name, ...options } of QUEUES) {
      await boss.createQueue(name, options);
      // The policy is fixed when a queue is made; everything else may change with a version.
      const { policy: _fixed, ...changeable } = options;
      await boss.updateQueue(name, changeable);
    }
  } finally {
    await boss.stop({ graceful: false });
  }
  if (failures.length > 0) throw new AggregateError(failures, 'the job engine could not be installed');
}

/** The engine starts at its first use, and again at the next if the database was not there. */
export function makeJobQueue(pool: pg.Pool, log: Log): JobQueue {
  const boss = new PgBoss({
    db: { executeSql: (text, values) => pool.query(text, values) },
    schema: JOBS_SCHEMA,
    migrate: false,
    supervise: false,
    schedule: false,
  });
  boss.on('error', (err) => log.warn({ err }, 'the job engine could not reach the database'));

  return {
    async enqueueReviews(client, jobs) {
      await boss.start();
      const byKey = new Map(jobs.map((job) => [reviewKey(job), job]));
      // One order for every transaction, or two of them could wait for each other.
      const inserts = [...byKey].sort(byName).map(([singletonKey, job]) => ({ singletonKey, data: job }));
      await boss.insert(REVIEW_QUEUE, inserts, {
        db: { executeSql: (text, values) => client.query(text, values) },
      });
    },

    async stats() {
      const { rows } = await pool.query<{
        name: string;
        waiting: number;
        active: number;
        failed: number;
        oldest: number;
      }>(
        `SELECT q.name,
                count(*) FILTER (WHERE j.state IN ('created', 'retry'))::int AS waiting,
                count(*) FILTER (WHERE j.state = 'active')::int AS active,
                count(*) FILTER (WHERE j.state = 'failed')::int AS failed,
                coalesce(extract(epoch FROM now() - min(j.start_after)
                  FILTER (WHERE j.state IN ('created', 'retry') AND j.start_after <= now())), 0)::float8 AS oldest
           FROM ${JOBS_SCHEMA}.queue q
           LEFT JOIN ${JOBS_SCHEMA}.job j ON j.name = q.name AND j.state IN ('created', 'retry', 'active', 'failed')
          WHERE q.name = ANY ($1)
          GROUP BY q.name`,
        [QUEUES.map(({ name }) => name)],
      );
      return rows.map(({ name, oldest, ...counts }) => ({ queue: name, ...counts, oldestWaitingSeconds: oldest }));
    },

    stop: () => boss.stop({ graceful: false }),
  };
}

function byName([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : Number(left > right);
}
