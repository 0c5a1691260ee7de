import type pg from 'pg';
import { inTransaction } from '../db/transaction.ts';
import type { ReviewRequest } from '../forges/events.ts';
import type { Log } from '../log.ts';
import { connectEngine, insertsByQueue } from './engine.ts';
import { JOBS_SCHEMA, REVIEW_DEAD_LETTERS, type ReviewJob, reviewKey } from './queues.ts';

/** `waiting`: its like is in the queue already and stands for both. `gone`: somebody else has brought it back meanwhile. */
export type Requeued = 'queued' | 'waiting' | 'gone';

/** A pull request whose review was given up after its last attempt. */
export interface DeadLetter extends ReviewJob {
  readonly givenUpAt: Date;
  /** What the last attempt failed with; null when the engine has kept nothing. */
  readonly reason: string | null;
}

/** Puts jobs in their queues again, at a person's word. */
export interface Replay {
  requeue(request: ReviewRequest): Promise<Requeued>;
  /** One for each pull request, oldest first. */
  deadLetters(): Promise<readonly DeadLetter[]>;
  /** Puts a review back in its queue and takes it out of the dead letters, both or neither. */
  revive(letter: ReviewJob): Promise<Requeued>;
  stop(): Promise<void>;
}

const REVIVE_TIMEOUT_MS = 5_000;

/** Waiting, as pg-boss has it: dead letters are jobs that nobody works on. */
const LETTERS = `FROM ${JOBS_SCHEMA}.job WHERE name = '${REVIEW_DEAD_LETTERS}' AND state IN ('created', 'retry')`;

export function makeReplay(pool: pg.Pool, log: Log): Replay {
  const boss = connectEngine(pool, log);

  async function add(client: Pick<pg.ClientBase, 'query'>, request: ReviewRequest): Promise<Requeued> {
    await boss.start();
    const db = { executeSql: (text: string, values?: unknown[]) => client.query(text, values) };
    for (const [queue, inserts] of insertsByQueue([request])) {
      const added = await boss.insert(queue, inserts, { db, returnId: true });
      if (added === null || added.length === 0) {
        return 'waiting';
      }
    }
    return 'queued';
  }

  return {
    requeue: (request) => add(pool, request),

    async deadLetters() {
      const { rows } = await pool.query<DeadLetter>(
        `SELECT data->>'repository' AS repository, (data->>'number')::int AS number,
                max(created_on) AS "givenUpAt",
                (array_agg(source_output->>'message' ORDER BY created_on DESC))[1] AS reason
           ${LETTERS}
          GROUP BY 1, 2
          ORDER BY 3, 1, 2`,
      );
      return rows;
    },

    revive: ({ repository, number }) =>
      inTransaction(pool, REVIVE_TIMEOUT_MS, async (client) => {
        const job: ReviewJob = { repository, number };
        const { rows } = await client.query<{ id: string }>(
          `SELECT id ${LETTERS} AND singleton_key = $1 FOR UPDATE SKIP LOCKED`,
          [reviewKey(job)],
        );
        if (rows.length === 0) {
          return 'gone';
        }
        const requeued = await add(client, { kind: 'review', ...job });
        const db = { executeSql: (text: string, values?: unknown[]) => client.query(text, values) };
        await boss.deleteJob(
          REVIEW_DEAD_LETTERS,
          rows.map(({ id }) => id),
          { db },
        );
        return requeued;
      }),

    stop: () => boss.stop({ graceful: false }),
  };
}
