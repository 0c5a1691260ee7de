import { LRUCache } from 'lru-cache';
import { DEAD_LETTERS, JOBS_SCHEMA } from './queue.ts';

/** The order in which the engine takes jobs, and a pattern that recognizes its statement. */
const ENGINE_ORDER = 'ORDER BY j.priority desc, j.created_on';
const TAKES_JOBS = /\bj\.name = '([\w-]+)'[\s\S]*ORDER BY j\.[\s\S]*FOR UPDATE OF j SKIP LOCKED/;
/** Owners, and repositories, whose last turn is remembered. */
const MAX_REMEMBERED = 200;

/** Which job is next: one owner, or one repository, takes all slots only while no other has work. */
export interface FairOrder {
  /**
   * The engine's statement that takes jobs, in a fair order; undefined for any other one. The text is the same at each
   * call.
   */
  apply(text: string, values: readonly unknown[]): FairStatement | undefined;
  /** What a statement has returned: if jobs were taken, it was the turn of their owners. */
  took(rows: readonly object[]): void;
}

export interface FairStatement {
  readonly text: string;
  readonly values: unknown[];
  /** To be called when it has returned, or failed. */
  readonly end: () => void;
}

/** Slots beyond those of the setting: see {@link makeFairOrder}. */
export const SPARE_SLOTS = 2;

/**
 * The next job is of the owner with the fewest active jobs, among equals of the one whose turn was the longest ago,
 * then of such a repository, then the oldest. Active jobs are those of all replicas; turns are those of this process,
 * and decide where it has one slot. The order is changed in the engine's own statement, since only there it is exact
 * while others take jobs too.
 *
 * Whoever has no active job need not wait for the end of those of others, which may be slow on purpose.
 * `ordinarySlotsLeft` are those that have no job now. When there are none, a spare slot takes a job of a repository
 * without active ones, and the last one of an owner without.
 */
export function makeFairOrder(ordinarySlotsLeft: (queue: string) => number = () => 1): FairOrder {
  const turns = {
    owner: new LRUCache<string, number>({ max: MAX_REMEMBERED }),
    repository: new LRUCache<string, number>({ max: MAX_REMEMBERED }),
  };
  let turn = 0;
  /** Statements under way, by queue: each may take a job. */
  const taking = new Map<string, number>();

  return {
    apply(text, values) {
      const queue = TAKES_JOBS.exec(text)?.[1];
      if (queue === undefined) {
        return undefined;
      }
      const [owners, repositories, spare] = [1, 2, 3].map((index) => `$${values.length + index}`) as Three;
      const underWay = taking.get(queue) ?? 0;
      const isAllowed = `CASE ${spare}::int WHEN 0 THEN true
        WHEN 1 THEN ${activeOf(queue, repositoryOf)} = 0 ELSE ${activeOf(queue, ownerOf)} = 0 END`;
      const order = [
        `${activeOf(queue, ownerOf)} ASC`,
        `${turnOf(owners, ownerOf)} ASC`,
        `${activeOf(queue, repositoryOf)} ASC`,
        `${turnOf(repositories, repositoryOf)} ASC`,
      ];
      const fair = replaced(
        replaced(text, `j.name = '${queue}'`, `j.name = '${queue}' AND ${isAllowed}`),
        ENGINE_ORDER,
        `ORDER BY ${order.join(', ')}, j.priority desc, j.created_on`,
      );
      const spareSlots = String(Math.max(0, 1 + underWay - ordinarySlotsLeft(queue)));
      // Last: what throws has no end that counts it down again.
      taking.set(queue, underWay + 1);
      return {
        text: fair + alsoTells(queue),
        values: [...values, asJson(turns.owner), asJson(turns.repository), spareSlots],
        end: () => taking.set(queue, (taking.get(queue) ?? 1) - 1),
      };
    },

    took(rows) {
      for (const repository of rows.flatMap(repositoryIn)) {
        turn += 1;
        turns.repository.set(repository, turn);
        turns.owner.set(repository.split('/')[0] ?? '', turn);
      }
    },
  };
}

/** What the statement that took a job says of its queue, beside what the engine reads. */
const OTHERS_WAIT = 'othersWait';
const HAS_DEAD_LETTERS = 'hasDeadLetters';

/** Whether another job waited when this one was taken. */
export function othersWaited(job: object): boolean {
  return !(OTHERS_WAIT in job) || job[OTHERS_WAIT] !== false;
}

/** Whether an earlier job of its key was given up. */
export function mayHaveDeadLetters(job: object): boolean {
  return !(HAS_DEAD_LETTERS in job) || job[HAS_DEAD_LETTERS] !== false;
}

/** More columns of what the statement returns. */
function alsoTells(queue: string): string {
  return `,
    EXISTS (SELECT FROM ${JOBS_SCHEMA}.job w
             WHERE w.name = '${queue}' AND w.state < 'active' AND NOT w.blocked AND w.start_after <= ${JOBS_SCHEMA}.job_now()
               AND w.id <> j.id) AS "${OTHERS_WAIT}",
    EXISTS (SELECT FROM ${JOBS_SCHEMA}.job d
             WHERE d.name = '${DEAD_LETTERS}' AND d.source_name = '${queue}' AND d.singleton_key = j.singleton_key) AS "${HAS_DEAD_LETTERS}"`;
}

type Three = [string, string, string];

function replaced(statement: string, part: string, by: string): string {
  if (!statement.includes(part)) {
    throw new Error(`the job engine's statement that takes jobs has no "${part}"`);
  }
  return statement.replace(part, () => by);
}

const repositoryOf = (job: string) => `coalesce(lower(${job}.data->>'repository'), '')`;
const ownerOf = (job: string) => `split_part(${repositoryOf(job)}, '/', 1)`;

/** Counted once for the statement, in the engine's partial index of active jobs. */
function activeOf(queue: string, nameOf: (job: string) => string): string {
  return `coalesce(((SELECT jsonb_object_agg(name_of, jobs)
      FROM (SELECT ${nameOf('active')} AS name_of, count(*) AS jobs FROM ${JOBS_SCHEMA}.job AS active
             WHERE active.name = '${queue}' AND active.state = 'active' AND active.policy = 'stately'
             GROUP BY 1) AS counted) ->> ${nameOf('j')})::int, 0)`;
}

function turnOf(parameter: string, nameOf: (job: string) => string): string {
  return `coalesce(((SELECT ${parameter}::jsonb) ->> ${nameOf('j')})::int, 0)`;
}

function asJson(turns: LRUCache<string, number>): string {
  return JSON.stringify(Object.fromEntries(turns.entries()));
}

function repositoryIn(row: object): readonly string[] {
  const data = 'data' in row ? row.data : undefined;
  const repository = typeof data === 'object' && data !== null && 'repository' in data ? data.repository : undefined;
  return typeof repository === 'string' ? [repository.toLowerCase()] : [];
}
