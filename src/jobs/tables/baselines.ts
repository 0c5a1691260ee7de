import type pg from 'pg';
import type { RepositoryIds, Visibility } from '../../forges/port/pull-request.ts';
import type { Fault } from '../../review/policy/faults.ts';

/** What is wrong with a baseline that was in force, or that never could be. */
export type BaselineProblem = 'missing' | 'replaced' | 'unreadable' | 'broken';

/** A policy that can be used. */
export interface StoredPolicy {
  readonly commit: string;
  readonly visibility: Visibility;
  readonly path: string;
  readonly text: string;
  /** The ids of the repository that it was read from. */
  readonly ids: RepositoryIds;
}

/** What is stored of the baseline of an owner. */
export interface BaselineRow {
  /** `owner/name` of the policy repository. */
  readonly repository: string;
  /** The last one that could be used; null: there was none. */
  readonly inForce: StoredPolicy | null;
  /** The commit that was looked at last, if it had a policy, and its visibility. */
  readonly seen: { readonly commit: string; readonly visibility: Visibility } | null;
  readonly problem: BaselineProblem | null;
  /** Why; null without a problem and a policy. */
  readonly reason: string | null;
  /** The faults of the policy at `seen`, where it is broken. */
  readonly faults: readonly Fault[];
}

export interface StoredBaseline {
  readonly row: BaselineRow;
  /** Rises with each change. */
  readonly revision: string;
}

/** `key`: the policy repository. Undefined: nobody has looked at it. */
export async function storedBaseline(pool: pg.Pool, key: string): Promise<StoredBaseline | undefined> {
  const { rows } = await pool.query<{ state: string; revision: string }>(
    'SELECT state, revision FROM gatehouse.baselines WHERE repository = $1',
    [key.toLowerCase()],
  );
  const [row] = rows;
  return row && { row: JSON.parse(row.state), revision: row.revision };
}

/** False when somebody else has changed it since it was read: `before`, or undefined where there was none. */
export async function storeBaseline(
  pool: pg.Pool,
  row: BaselineRow,
  before: StoredBaseline | undefined,
): Promise<boolean> {
  const values = [row.repository.toLowerCase(), JSON.stringify(row), row.inForce !== null, row.problem];
  const { rowCount } =
    before === undefined
      ? await pool.query(
          `INSERT INTO gatehouse.baselines (repository, state, in_force, problem) VALUES ($1, $2, $3, $4)
           ON CONFLICT (repository) DO NOTHING`,
          values,
        )
      : await pool.query(
          `UPDATE gatehouse.baselines
              SET state = $2, in_force = $3, problem = $4, revision = revision + 1, changed_at = now()
            WHERE repository = $1 AND revision = $5`,
          [...values, before.revision],
        );
  return rowCount === 1;
}

/**
 * Forgets the baselines of policy repositories of another name: the operator has unset or changed POLICY_REPOSITORY.
 */
export async function forgetOtherBaselines(pool: pg.Pool, name: string | undefined): Promise<void> {
  await pool.query(`DELETE FROM gatehouse.baselines WHERE split_part(repository, '/', 2) IS DISTINCT FROM $1`, [
    name?.toLowerCase() ?? null,
  ]);
}

/** One repository of each owner that deliveries came from. */
export async function ownersWithDeliveries(pool: pg.Pool): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT min(name) AS name FROM gatehouse.repositories GROUP BY lower(split_part(name, '/', 1)) ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

const BASELINE_STATES = ['in-force', 'none', 'missing', 'replaced', 'unreadable', 'broken'] as const;

/** How many owners have a baseline in each state. `none`: there never was one. */
export async function countBaselines(pool: pg.Pool): Promise<ReadonlyMap<string, number>> {
  const { rows } = await pool.query<{ state: string; count: number }>(
    `SELECT wanted.state, (SELECT count(*)::int FROM gatehouse.baselines b
                            WHERE coalesce(b.problem, CASE WHEN b.in_force THEN 'in-force' ELSE 'none' END) = wanted.state) AS count
       FROM unnest($1::text[]) AS wanted (state)`,
    [BASELINE_STATES],
  );
  return new Map(rows.map(({ state, count }) => [state, count]));
}
