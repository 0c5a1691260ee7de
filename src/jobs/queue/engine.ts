import { hash } from 'node:crypto';
import type pg from 'pg';
import { type JobInsert, PgBoss } from 'pg-boss';
import { NewerSchemaError } from '../../db/schema.ts';
import { INVALID_SCHEMA_NAME, sqlState, UNDEFINED_TABLE } from '../../db/sqlstate.ts';
import type { ReviewRequest } from '../../forges/port/review-requests.ts';
import type { Log } from '../../log.ts';
import { recordPushes } from '../tables/makers.ts';
import { recordStatements } from '../tables/override-comments.ts';
import {
  DEAD_LETTERS,
  JOBS_SCHEMA,
  keyOf,
  kindsOf,
  type QueueTable,
  RETENTION_SECONDS,
  singletonOptions,
} from './queue.ts';
import { ENGINE_SCHEMA } from './take-job.ts';

/** The job engine as the door and the commands use it: they only put jobs in. */
export interface JobQueue {
  /**
   * What adds jobs, for the caller's own transaction, and records what they say of overrides. A job is not added when
   * the same one is already waiting.
   */
  statements(jobs: readonly ReviewRequest[]): Promise<readonly pg.QueryConfig[]>;
  /** Adds jobs now. */
  enqueue(jobs: readonly ReviewRequest[]): Promise<void>;
  /** Unless one waits already. */
  requestResync(): Promise<void>;
  /** Undefined when jobs can be added, else why not, without internal details. */
  fault(): Promise<string | undefined>;
  stop(): Promise<void>;
}

/** The engine's schema is not the one that the jobs are taken from. Its message is for operators. */
class OtherEngineError extends Error {
  override readonly name = 'OtherEngineError';
  constructor(version: number | undefined) {
    const found = version === undefined ? 'there is none' : `it is version ${version}, not ${ENGINE_SCHEMA}`;
    super(`the job engine cannot use its schema, and takes no jobs: ${found}; run gatehouse migrate of this version`);
  }
}

/** Undefined where the engine is not installed. */
async function engineVersion(client: pg.Pool | pg.ClientBase): Promise<number | undefined> {
  try {
    const { rows } = await client.query<{ version: number }>(`SELECT version FROM ${JOBS_SCHEMA}.version`);
    return rows[0]?.version;
  } catch (error) {
    const state = sqlState(error);
    if (state !== UNDEFINED_TABLE && state !== INVALID_SCHEMA_NAME) {
      throw error;
    }
    return undefined;
  }
}

/**
 * The engine starts on its own schema version only. A version of Gatehouse with a newer engine has raised it for good,
 * so waiting does not help: throws {@link NewerSchemaError}.
 */
export async function refuseNewerEngine(client: pg.Pool | pg.ClientBase): Promise<void> {
  if (((await engineVersion(client)) ?? 0) > ENGINE_SCHEMA) {
    throw new NewerSchemaError();
  }
}

/** Jobs are taken by a statement of ours, which is right for one version only: throws {@link OtherEngineError}. */
export async function refuseOtherEngine(client: pg.Pool | pg.ClientBase): Promise<void> {
  const version = await engineVersion(client);
  if (version !== ENGINE_SCHEMA) {
    throw new OtherEngineError(version);
  }
}

/**
 * Begins a transaction that holds what an upgrade of the engine needs. The engine waits for each lock for 30 seconds,
 * with every delivery behind it; the session of the migration waits for a second. Returns whether there is an upgrade.
 */
async function lockOlderEngine(client: pg.ClientBase): Promise<boolean> {
  const version = await engineVersion(client);
  if (version === undefined || version === ENGINE_SCHEMA) {
    return false;
  }
  await client.query('BEGIN');
  const { rows } = await client.query<{ tables: string }>(
    `SELECT string_agg(oid::regclass::text, ', ' ORDER BY relname) AS tables FROM pg_class
      WHERE relnamespace = '${JOBS_SCHEMA}'::regnamespace AND relkind IN ('r', 'p')`,
  );
  await client.query(`LOCK TABLE ${rows[0]?.tables} IN ACCESS EXCLUSIVE MODE`);
  return true;
}

/** Installs or upgrades the engine's schema and its queues. Runs under the migration's lock. */
export async function installJobs(client: pg.ClientBase, queues: QueueTable): Promise<void> {
  await refuseNewerEngine(client);
  const boss = new PgBoss({
    db: engineDatabase(client),
    schema: JOBS_SCHEMA,
    supervise: false,
    schedule: false,
  });
  const failures: Error[] = [];
  boss.on('error', (error) => failures.push(error));
  const isLocked = await lockOlderEngine(client);
  // What the engine begins is then part of this transaction, and it commits it.
  await boss.start();
  if (isLocked) {
    await client.query('COMMIT');
  }
  try {
    // First, since the dead letters of a queue must have somewhere to go.
    await boss.createQueue(DEAD_LETTERS, { retentionSeconds: RETENTION_SECONDS });
    for (const kind of kindsOf(queues)) {
      const { options } = queues[kind];
      await boss.createQueue(kind, options);
      // The policy is fixed when a queue is made; everything else may change with a version.
      const { policy: _fixed, ...changeable } = options;
      await boss.updateQueue(kind, changeable);
    }
  } finally {
    await boss.stop({ graceful: false });
  }
  if (failures.length > 0) {
    throw new AggregateError(failures, 'the job engine could not be installed');
  }
}

/** Runs the engine's statements. */
export function engineDatabase(client: pg.Pool | pg.ClientBase) {
  return {
    executeSql: async (text: string, values?: unknown[]): Promise<{ rows: object[] }> => ({
      // Without values the engine may send several statements at once: with an empty list they would be refused.
      rows: rowsOf(await client.query<object>(text, values)),
    }),
  };
}

/** Under a name, so that each connection has the engine's long statement read and planned once. */
function prepared({ text, values }: { readonly text: string; readonly values: unknown[] }): pg.QueryConfig {
  return { name: hash('sha256', text, 'base64url'), text, values };
}

/** What the engine sends as several statements at once, its supervision above all, has a result for each. */
function rowsOf(result: pg.QueryResult<object> | pg.QueryResult<object>[]): object[] {
  return Array.isArray(result) ? result.flatMap((each) => each.rows) : result.rows;
}

/** The engine for those who only put jobs in. Not started yet. */
export function connectEngine(pool: pg.Pool, log: Log): PgBoss {
  const boss = new PgBoss({
    db: engineDatabase(pool),
    schema: JOBS_SCHEMA,
    migrate: false,
    supervise: false,
    schedule: false,
  });
  boss.on('error', (err) => log.warn({ err }, 'the job engine could not reach the database'));
  return boss;
}

/** The engine starts at its first use, and again at the next if the database was not there. */
export function makeJobQueue(pool: pg.Pool, queues: QueueTable, log: Log): JobQueue {
  const boss = connectEngine(pool, log);

  let started = false;
  let stopped = false;

  /** The engine refuses a schema of another version of itself; that its queues exist is checked here. */
  async function start(): Promise<void> {
    if (started) {
      return;
    }
    // A check that was under way at the stop must not start the engine again: its timers would keep the process alive.
    if (stopped) {
      throw new Error('the job queue is stopped');
    }
    await refuseOtherEngine(pool);
    await boss.start();
    const names = [...kindsOf(queues)];
    if ((await boss.getQueues(names)).length < names.length) {
      throw new Error(`a queue is missing: expected ${names.join(', ')}`);
    }
    started = true;
  }

  /** The engine runs its statements on the executor it is given; this one only collects them. */
  async function statements(jobs: readonly ReviewRequest[]): Promise<readonly pg.QueryConfig[]> {
    await start();
    const written = [...recordsOf(jobs)];
    const executeSql = async (text: string, values: unknown[] = []) => {
      // Other values would fail only when they are sent, and nothing would stop the COMMIT that follows.
      if (!values.every((value) => typeof value === 'string')) {
        throw new Error('the job engine passed a value that is not text');
      }
      written.push(prepared({ text, values }));
      return { rows: [] };
    };
    for (const [queue, inserts] of insertsByQueue(queues, jobs)) {
      await boss.insert(queue, inserts, { db: { executeSql } });
    }
    return written;
  }

  return {
    async fault() {
      try {
        await start();
        return undefined;
      } catch (err) {
        log.warn({ err }, 'the job engine cannot start');
        return err instanceof OtherEngineError
          ? err.message
          : 'the job engine cannot use its schema; run gatehouse migrate of this version';
      }
    },

    statements,

    async enqueue(jobs) {
      for (const statement of await statements(jobs)) {
        await pool.query(statement);
      }
    },

    async requestResync() {
      await start();
      await boss.send('resync', {}, singletonOptions('resync'));
    },

    stop() {
      stopped = true;
      return boss.stop({ graceful: false });
    },
  };
}

/** What is recorded in the transaction of the jobs. */
export function recordsOf(jobs: readonly ReviewRequest[]): readonly pg.QueryConfig[] {
  return [...recordStatements(jobs), ...recordPushes(jobs)];
}

/** One order of queues and keys for every transaction, or two of them could wait for each other. */
export function insertsByQueue(
  queues: QueueTable,
  jobs: readonly ReviewRequest[],
): readonly (readonly [string, JobInsert[]])[] {
  return kindsOf(queues).flatMap((kind) => {
    const ofKind = jobs.filter((job) => job.kind === kind);
    // The first of those with one key, as for a job that waits already: its delivery is the origin.
    const byKey = new Map(ofKind.toReversed().map((job) => [keyOf(queues, job.kind, job), dataOf(job)]));
    const inserts = [...byKey].sort(byName).map(([key, data]) => ({ ...singletonOptions(key), data }));
    return inserts.length === 0 ? [] : [[kind, inserts] as const];
  });
}

function dataOf(request: ReviewRequest): object {
  const { kind: _kind, pushed: _pushed, ...data } = { pushed: undefined, ...request };
  return data;
}

function byName([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : Number(left > right);
}
