import type pg from 'pg';
import { inTransaction } from '../../db/transaction.ts';
import type { ReviewRequest } from '../../forges/port/review-requests.ts';
import type { Log } from '../../log.ts';
import { addRepositories } from '../tables/repositories.ts';
import { forgetTimes } from '../tables/reviews.ts';
import { connectEngine, insertsByQueue, recordsOf, refuseNewerEngine } from './engine.ts';
import { DEAD_LETTERS, JOBS_SCHEMA, keyOf, type QueueTable, singletonOptions } from './queue.ts';

/** `waiting`: the same job is already in the queue. `gone`: it was queued again by somebody else. */
export type Requeued = 'queued' | 'waiting' | 'gone';

/** A request that was given up after its last attempt. */
export interface DeadLetter {
  readonly request: ReviewRequest;
  readonly givenUpAt: Date;
  /** What the last attempt failed with; null when the engine has kept nothing. */
  readonly reason: string | null;
}

/** Puts jobs in their queues again, when an operator requests it. */
export interface Replay {
  requeue(request: ReviewRequest): Promise<Requeued>;
  /** One for each pull request, branch or group of a merge queue, oldest first. */
  deadLetters(): Promise<readonly DeadLetter[]>;
  /** Puts a review back in its queue and takes it out of the dead letters, both or neither. */
  revive(request: ReviewRequest): Promise<Requeued>;
  /**
   * Has a resync look at these repositories, stored or not, and at each of their pull requests; without names at all
   * repositories that are stored. Returns how many that are.
   */
  requestResync(names: readonly string[]): Promise<number>;
  stop(): Promise<void>;
}

const REVIVE_TIMEOUT_MS = 5_000;

/** In pg-boss's words they wait: dead letters are jobs that no worker takes. */
const LETTERS = `FROM ${JOBS_SCHEMA}.job WHERE name = '${DEAD_LETTERS}' AND state IN ('created', 'retry')`;

async function markDue(client: pg.ClientBase, names: readonly string[]): Promise<number> {
  await addRepositories(client, names);
  const { rowCount } = await client.query(
    `UPDATE gatehouse.repositories SET due = true, resynced_at = NULL
      WHERE cardinality($1::text[]) = 0 OR lower(name) IN (SELECT lower(named) FROM unnest($1::text[]) AS named)`,
    [names],
  );
  return rowCount ?? 0;
}

export function makeReplay(pool: pg.Pool, queues: QueueTable, log: Log): Replay {
  const boss = connectEngine(pool, log);

  async function add(client: Pick<pg.ClientBase, 'query'>, request: ReviewRequest): Promise<Requeued> {
    await refuseNewerEngine(pool);
    await boss.start();
    for (const statement of recordsOf([request])) {
      await client.query(statement);
    }
    const db = { executeSql: (text: string, values?: unknown[]) => client.query(text, values) };
    for (const [queue, inserts] of insertsByQueue(queues, [request])) {
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
      await refuseNewerEngine(pool);
      const { rows } = await pool.query<DeadLetter>(
        `SELECT data - 'origin' || jsonb_build_object('kind', source_name) AS request, max(created_on) AS "givenUpAt",
                (array_agg(source_output->>'message' ORDER BY created_on DESC))[1] AS reason
           ${LETTERS}
          GROUP BY 1
          ORDER BY 2, 1`,
      );
      return rows;
    },

    revive: (request) =>
      inTransaction(pool, REVIVE_TIMEOUT_MS, async (client) => {
        const { rows } = await client.query<{ id: string }>(
          `SELECT id ${LETTERS} AND source_name = $1 AND singleton_key = $2 FOR UPDATE SKIP LOCKED`,
          [request.kind, keyOf(queues, request.kind, request)],
        );
        if (rows.length === 0) {
          return 'gone';
        }
        const requeued = await add(client, request);
        const db = { executeSql: (text: string, values?: unknown[]) => client.query(text, values) };
        await boss.deleteJob(
          DEAD_LETTERS,
          rows.map(({ id }) => id),
          { db },
        );
        return requeued;
      }),

    requestResync: (names) =>
      inTransaction(pool, REVIVE_TIMEOUT_MS, async (client) => {
        await refuseNewerEngine(client);
        await boss.start();
        const due = await markDue(client, names);
        await forgetTimes(client, names);
        const db = { executeSql: (text: string, values?: unknown[]) => client.query(text, values) };
        // One that waits already will look at them.
        await boss.send('resync', {}, { ...singletonOptions('resync'), db });
        return due;
      }),

    stop: () => boss.stop({ graceful: false }),
  };
}
