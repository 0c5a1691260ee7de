import type pg from 'pg';
import { inTransaction } from '../../db/transaction.ts';
import type { ReviewRequest } from '../../forges/port/events.ts';
import type { Log } from '../../log.ts';
import { recordStatements } from '../tables/override-comments.ts';
import { connectEngine, insertsByQueue, refuseNewerEngine } from './engine.ts';
import { JOBS_SCHEMA, REVIEW_DEAD_LETTERS, requestKey } from './queues.ts';

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
  stop(): Promise<void>;
}

const REVIVE_TIMEOUT_MS = 5_000;

/** In pg-boss's words they wait: dead letters are jobs that no worker takes. */
const LETTERS = `FROM ${JOBS_SCHEMA}.job WHERE name = '${REVIEW_DEAD_LETTERS}' AND state IN ('created', 'retry')`;

export function makeReplay(pool: pg.Pool, log: Log): Replay {
  const boss = connectEngine(pool, log);

  async function add(client: Pick<pg.ClientBase, 'query'>, request: ReviewRequest): Promise<Requeued> {
    await refuseNewerEngine(pool);
    await boss.start();
    for (const statement of recordStatements([request])) {
      await client.query(statement);
    }
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
      await refuseNewerEngine(pool);
      const { rows } = await pool.query<{
        repository: string;
        number: number | null;
        branch: string | null;
        headSha: string | null;
        headRef: string | null;
        givenUpAt: Date;
        reason: string | null;
      }>(
        `SELECT data->>'repository' AS repository, (data->>'number')::int AS number, data->>'branch' AS branch,
                data->>'headSha' AS "headSha", data->>'headRef' AS "headRef",
                max(created_on) AS "givenUpAt",
                (array_agg(source_output->>'message' ORDER BY created_on DESC))[1] AS reason
           ${LETTERS}
          GROUP BY 1, 2, 3, 4, 5
          ORDER BY 6, 1, 2, 3, 4`,
      );
      return rows.map(({ repository, number, branch, headSha, headRef, ...letter }) => ({
        ...letter,
        request: requestOf(repository, number, branch ?? '', headSha, headRef ?? ''),
      }));
    },

    revive: (request) =>
      inTransaction(pool, REVIVE_TIMEOUT_MS, async (client) => {
        const { rows } = await client.query<{ id: string }>(
          `SELECT id ${LETTERS} AND singleton_key = $1 FOR UPDATE SKIP LOCKED`,
          [requestKey(request)],
        );
        if (rows.length === 0) {
          return 'gone';
        }
        const requeued = await add(client, request);
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

/** By what the job carries: its kind is its queue, which a dead letter has left. */
function requestOf(
  repository: string,
  number: number | null,
  branch: string,
  headSha: string | null,
  headRef: string,
): ReviewRequest {
  if (number !== null) {
    return { kind: 'review', repository, number };
  }
  if (headSha === null) {
    return { kind: 'review-repository', repository, branch };
  }
  return branch === ''
    ? { kind: 'review-commit', repository, headSha }
    : { kind: 'review-merge-group', repository, branch, headSha, headRef };
}
