import { LRUCache } from 'lru-cache';
import { JOBS_SCHEMA } from './queue.ts';

/** The order in which the engine's statement takes jobs, and that it is this statement. */
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
  apply(text: string, values: readonly unknown[]): { readonly text: string; readonly values: unknown[] } | undefined;
  /** What a statement has returned: if jobs were taken, it was the turn of their owners. */
  took(rows: readonly object[]): void;
}

/**
 * The next job is of the owner with the fewest active jobs, among equals of the one whose turn was the longest ago,
 * then of such a repository, then the oldest. Active jobs are those of all replicas; turns are those of this process,
 * and decide where it has one slot. The order is changed in the engine's own statement, since only there it is exact
 * while others take jobs too.
 */
export function makeFairOrder(): FairOrder {
  const turns = {
    owner: new LRUCache<string, number>({ max: MAX_REMEMBERED }),
    repository: new LRUCache<string, number>({ max: MAX_REMEMBERED }),
  };
  let turn = 0;

  return {
    apply(text, values) {
      const queue = TAKES_JOBS.exec(text)?.[1];
      if (queue === undefined) {
        return undefined;
      }
      if (!text.includes(ENGINE_ORDER)) {
        throw new Error('the job engine takes jobs in an order that is not known here');
      }
      const [owners, repositories] = [`$${values.length + 1}`, `$${values.length + 2}`];
      const order = [
        `${activeOf(queue, ownerOf)} ASC`,
        `${turnOf(owners, ownerOf)} ASC`,
        `${activeOf(queue, repositoryOf)} ASC`,
        `${turnOf(repositories, repositoryOf)} ASC`,
      ];
      return {
        text: text.replace(ENGINE_ORDER, `ORDER BY ${order.join(', ')}, j.priority desc, j.created_on`),
        values: [...values, asJson(turns.owner), asJson(turns.repository)],
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
