import { LRUCache } from 'lru-cache';
import type pg from 'pg';
import { sqlState, UNIQUE_VIOLATION } from '../../db/sqlstate.ts';
import { DEAD_LETTERS, JOBS_SCHEMA, type Jobs, type Kind, type TakenJob } from './queue.ts';

/** The version of the engine's schema that the statement below is written for. */
export const ENGINE_SCHEMA = 43;

/** Owners, and repositories, whose last turn is remembered. */
const MAX_REMEMBERED = 200;

/** Slots beyond those of the setting: see {@link makeTaker}. */
export const SPARE_SLOTS = 2;

/** Takes the next job of a queue; undefined when none can run now. */
export type TakeJob = <K extends Kind>(queue: K) => Promise<TakenJob<Jobs[K]> | undefined>;

/**
 * The next job is of the owner with the fewest active jobs, among equals of the one whose turn was the longest ago,
 * then of such a repository, then by priority, then the oldest. Active jobs are those of all replicas; turns are those
 * of this process, and decide where it has one slot. One statement decides and takes, since only there the order is
 * exact while others take jobs too.
 *
 * Whoever has no active job need not wait for the end of those of others, which may be slow on purpose.
 * `ordinarySlotsLeft` are those that have no job now. When there are none, a spare slot takes a job of a repository
 * without active ones, and the last one of an owner without.
 */
export function makeTaker(pool: pg.Pool, ordinarySlotsLeft: (queue: string) => number = () => 1): TakeJob {
  const turns = {
    owner: new LRUCache<string, number>({ max: MAX_REMEMBERED }),
    repository: new LRUCache<string, number>({ max: MAX_REMEMBERED }),
  };
  let turn = 0;
  /** Statements under way, by queue: each may take a job. */
  const taking = new Map<string, number>();

  /** If a job was taken, it was the turn of its owner. */
  function remember(data: object): void {
    if ('repository' in data && typeof data.repository === 'string') {
      const repository = data.repository.toLowerCase();
      turn += 1;
      turns.repository.set(repository, turn);
      turns.owner.set(repository.split('/')[0] ?? '', turn);
    }
  }

  return async (queue) => {
    const underWay = taking.get(queue) ?? 0;
    const spareSlots = Math.max(0, 1 + underWay - ordinarySlotsLeft(queue));
    const values = [asJson(turns.owner), asJson(turns.repository), spareSlots];
    taking.set(queue, underWay + 1);
    try {
      // Under a name, so that each connection has the long statement read and planned once.
      const query = { name: `take ${queue}`, text: takeOne(queue), values };
      const { rows } = await pool.query<TakenJob<Jobs[typeof queue]>>(query);
      const [job] = rows;
      if (job !== undefined) {
        remember(job.data);
      }
      return job;
    } catch (error) {
      // Another slot has taken a job of this key at the same moment.
      if (sqlState(error) === UNIQUE_VIOLATION) {
        return undefined;
      }
      throw error;
    } finally {
      taking.set(queue, (taking.get(queue) ?? 1) - 1);
    }
  };
}

/** The engine's table, in the partition that all queues share. */
const JOBS = `${JOBS_SCHEMA}.job_common`;
const NOW = `${JOBS_SCHEMA}.job_now()`;

/** SQL: a job that waits, and whose time has come. */
const isDue = (job: string) => `${job}.state < 'active' AND NOT ${job}.blocked AND ${job}.start_after <= ${NOW}`;

const repositoryOf = (job: string) => `coalesce(lower(${job}.data->>'repository'), '')`;
const ownerOf = (job: string) => `split_part(${repositoryOf(job)}, '/', 1)`;

/** The queues in which a job waits whose time has come. It may still be passed over: see {@link makeTaker}. */
export async function dueQueues(pool: pg.Pool | pg.ClientBase): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>({
    name: 'due queues',
    text: `SELECT name FROM ${JOBS_SCHEMA}.queue
            WHERE EXISTS (SELECT FROM ${JOBS} AS j WHERE j.name = queue.name AND ${isDue('j')})`,
  });
  return rows.map(({ name }) => name);
}

/**
 * Takes one job, as the engine's own statement does, so that everything else of the engine finds what it expects. Jobs
 * of a key that runs are passed over: the unique index on active keys would refuse them, and those behind them would
 * wait. Conditions on `policy` are those of the engine's partial indexes.
 *
 * $1 and $2 are the turns of owners and of repositories, $3 is how many spare slots are asked.
 */
function takeOne(queue: Kind): string {
  return `
  WITH next AS (
    SELECT j.id FROM ${JOBS} AS j
     WHERE j.name = '${queue}' AND ${isDue('j')}
       AND NOT EXISTS (SELECT FROM ${JOBS} AS running
                        WHERE running.name = '${queue}' AND running.state = 'active' AND running.policy = 'stately'
                          AND coalesce(running.singleton_key, '') = coalesce(j.singleton_key, ''))
       AND CASE $3::int WHEN 0 THEN true
             WHEN 1 THEN ${activeOf(queue, repositoryOf)} = 0 ELSE ${activeOf(queue, ownerOf)} = 0 END
     ORDER BY ${activeOf(queue, ownerOf)}, ${turnOf('$1', ownerOf)},
              ${activeOf(queue, repositoryOf)}, ${turnOf('$2', repositoryOf)},
              j.priority DESC, j.created_on
     LIMIT 1 FOR UPDATE OF j SKIP LOCKED)
  UPDATE ${JOBS} AS j
     SET state = 'active', started_on = ${NOW}, heartbeat_on = ${NOW},
         retry_count = CASE WHEN j.started_on IS NULL THEN j.retry_count ELSE j.retry_count + 1 END
   WHERE j.name = '${queue}' AND j.id = ANY (ARRAY(SELECT id FROM next))
  RETURNING j.id, j.name, j.data, j.retry_count AS "retryCount", j.retry_limit AS "retryLimit",
    j.expire_seconds AS "expireInSeconds", j.created_on AS "createdOn", j.started_on AS "startedOn",
    EXISTS (SELECT FROM ${JOBS} AS w WHERE w.name = '${queue}' AND ${isDue('w')} AND w.id <> j.id) AS "othersWait",
    EXISTS (SELECT FROM ${JOBS} AS d
             WHERE d.name = '${DEAD_LETTERS}' AND d.source_name = '${queue}'
               AND d.singleton_key = j.singleton_key) AS "hasDeadLetters"`;
}

/** Counted once for the statement, in the engine's partial index of active jobs. */
function activeOf(queue: Kind, nameOf: (job: string) => string): string {
  return `coalesce(((SELECT jsonb_object_agg(name_of, jobs)
      FROM (SELECT ${nameOf('active')} AS name_of, count(*) AS jobs FROM ${JOBS} AS active
             WHERE active.name = '${queue}' AND active.state = 'active' AND active.policy = 'stately'
             GROUP BY 1) AS counted) ->> ${nameOf('j')})::int, 0)`;
}

function turnOf(parameter: string, nameOf: (job: string) => string): string {
  return `coalesce(((SELECT ${parameter}::jsonb) ->> ${nameOf('j')})::int, 0)`;
}

function asJson(turns: LRUCache<string, number>): string {
  return JSON.stringify(Object.fromEntries(turns.entries()));
}
