import type pg from 'pg';
import type { Parameters } from '../../db/parameters.ts';
import type { ForgeName } from '../../forges/port/forges.ts';
import type { CommitStatus, StatusDescription, StatusState } from '../../forges/port/postings.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import { contextKey } from '../../forges/port/status-context.ts';
import { type Claim, LostClaimError } from './claim.ts';

/** A status of a commit, by its name. */
export interface NamedStatus {
  readonly repository: string;
  readonly headSha: string;
  readonly context: string;
}

/** The same for all names that the forge takes for one. */
export interface StatusPlace extends NamedStatus {
  /** {@link contextKey} of the context. */
  readonly key: string;
}

export function statusPlace(forge: ForgeName, { repository, headSha, context }: NamedStatus): StatusPlace {
  return { repository, headSha, context, key: contextKey(forge, context) };
}

/**
 * The status that Gatehouse set last at a place. `unknown`: the writing of one was cut short. `written` is how many
 * statuses the place has; undefined: unknown, because others may have set some.
 */
export type PostedBefore = { readonly written: number | undefined } & (
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'status'; readonly state: StatusState; readonly description: StatusDescription }
);

/** The description, without a state, from the beginning of a write until it is known to be done. */
const WRITING_BEGAN = '';

/** A row of the table. */
export interface PostedRow {
  /** That of its {@link StatusPlace}. */
  readonly key: string;
  readonly state: StatusState | null;
  readonly description: StatusDescription | null;
  readonly written: number | null;
}

/** The rows of a commit as JSON, in a statement that reads more. Both are expressions of SQL. */
export function POSTED_ON(repository: string, headSha: string): string {
  return `coalesce((
    SELECT jsonb_agg(jsonb_build_object('key', p.context, 'state', p.state, 'description', p.description, 'written', p.written))
      FROM gatehouse.posted_statuses p WHERE p.repository = ${repository} AND p.head_sha = ${headSha}), '[]')`;
}

/** What was posted at a place, from the rows of its commit. */
export function postedAt(rows: readonly PostedRow[], place: Pick<StatusPlace, 'key'>): PostedBefore {
  const row = rows.find(({ key }) => key === place.key);
  if (row === undefined) {
    return { kind: 'none', written: 0 };
  }
  const { state, description } = row;
  const written = row.written ?? undefined;
  if (description === null) {
    // The row says only how many statuses others may have set.
    return { kind: 'none', written };
  }
  return state === null ? { kind: 'unknown', written } : { kind: 'status', state, description, written };
}

export async function postedBefore(pool: pg.Pool, place: StatusPlace): Promise<PostedBefore> {
  const { rows } = await pool.query<PostedRow>(
    `SELECT context AS key, state, description, written FROM gatehouse.posted_statuses
      WHERE repository = $1 AND head_sha = $2 AND context = $3`,
    keyOf(place),
  );
  return postedAt(rows, place);
}

/**
 * Before a status is written: a broken request may have been carried out. It is counted. A review holds its
 * claim at this moment, or it throws {@link LostClaimError}.
 */
export async function beginPosting(
  pool: pg.Pool,
  place: StatusPlace,
  enforce: boolean,
  claim: Claim | undefined,
): Promise<void> {
  const { rowCount } = await pool.query(
    `INSERT INTO gatehouse.posted_statuses AS p (repository, head_sha, context, description, enforced, written)
     SELECT $1, $2, $3, $4, $5, 1
      WHERE $6::bigint IS NULL
         OR EXISTS (SELECT FROM gatehouse.reviews WHERE repository = $7 AND pull_request = $8 AND fence = $6)
     ON CONFLICT (repository, head_sha, context)
       DO UPDATE SET state = NULL, description = excluded.description, posted_at = now(),
                     enforced = excluded.enforced, written = p.written + 1`,
    [...keyOf(place), WRITING_BEGAN, enforce, claim?.fence ?? null, claim?.repository ?? null, claim?.number ?? null],
  );
  if (claim !== undefined && rowCount === 0) {
    throw new LostClaimError(claim);
  }
}

/** The statement that remembers what stands now. */
export function postedUpsert(
  { add }: Parameters,
  place: StatusPlace,
  { state, description }: Pick<CommitStatus, 'state' | 'description'>,
  enforce: boolean,
): string {
  return `INSERT INTO gatehouse.posted_statuses (repository, head_sha, context, state, description, enforced, written)
     VALUES (${[...keyOf(place), state, description, enforce, 0].map(add).join(', ')})
     ON CONFLICT (repository, head_sha, context)
       DO UPDATE SET state = excluded.state, description = excluded.description, posted_at = now(),
                     enforced = excluded.enforced`;
}

/**
 * Before the status set last is set once more: what stands afterwards is the same whether or not that is carried out.
 * Returns what identifies the write. Undefined: another one was set, or is being set.
 */
export async function beginAgain(
  pool: pg.Pool,
  place: StatusPlace,
  { state, description }: Pick<CommitStatus, 'state' | 'description'>,
): Promise<string | undefined> {
  const { rows } = await pool.query<{ began: string }>(
    `UPDATE gatehouse.posted_statuses SET posted_at = clock_timestamp(), written = NULL
      WHERE repository = $1 AND head_sha = $2 AND context = $3 AND state = $4 AND description = $5
      RETURNING posted_at::text AS began`,
    [...keyOf(place), state, description],
  );
  return rows[0]?.began;
}

/** False: another write has begun since, and may have been carried out before this one. */
export async function rememberAgain(
  client: pg.ClientBase,
  place: StatusPlace,
  { state, description }: Pick<CommitStatus, 'state' | 'description'>,
  enforce: boolean,
  began: string,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `UPDATE gatehouse.posted_statuses SET state = $4, description = $5, enforced = $6
      WHERE repository = $1 AND head_sha = $2 AND context = $3 AND posted_at::text = $7`,
    [...keyOf(place), state, description, enforce, began],
  );
  return rowCount === 1;
}

/** How many statuses a place has, as the forge says. */
export async function rememberWritten(pool: pg.Pool, place: StatusPlace, written: number): Promise<void> {
  await pool.query(
    `INSERT INTO gatehouse.posted_statuses (repository, head_sha, context, written) VALUES ($1, $2, $3, $4)
     ON CONFLICT (repository, head_sha, context) DO UPDATE SET written = excluded.written`,
    [...keyOf(place), written],
  );
}

/** Others have set a status at a place (`always`), or may have done so where nothing is remembered of it. */
export async function forgetWritten(pool: pg.Pool, place: StatusPlace, always: boolean): Promise<void> {
  await pool.query(
    `INSERT INTO gatehouse.posted_statuses AS p (repository, head_sha, context) VALUES ($1, $2, $3)
     ON CONFLICT (repository, head_sha, context) DO UPDATE SET written = NULL WHERE $4`,
    [...keyOf(place), always],
  );
}

/** The status of an open pull request that shows its verdict. */
export interface ShownStatus extends NamedStatus, PullRequestRef {
  /** What was set last; null: unknown. */
  readonly state: StatusState | null;
}

/** Those of the open pull requests of these repositories. */
export async function shownStatuses(
  pool: pg.Pool,
  forge: ForgeName,
  repositories: readonly string[],
): Promise<readonly ShownStatus[]> {
  const { rows } = await pool.query<ShownStatus>(
    `SELECT r.repository, r.pull_request AS number, r.head_sha AS "headSha", r.reported_as AS context, p.state
       FROM gatehouse.reviews r
       LEFT JOIN unnest($1::text[], $2::text[]) AS named (context, key) ON named.context = r.reported_as
       LEFT JOIN gatehouse.posted_statuses p
         ON p.repository = r.repository AND p.head_sha = r.head_sha AND p.context = named.key
      WHERE r.open AND r.verdict <> 'none' AND r.reported_as IS NOT NULL AND r.repository = ANY ($3::text[])
      ORDER BY 1, 2`,
    [...(await contextKeys(pool, forge)), repositories],
  );
  return rows;
}

/**
 * The open pull requests of a repository whose status was set while rules were enforced and no longer are, or the other
 * way round.
 */
export async function setWithOtherEnforcement(
  pool: pg.Pool,
  forge: ForgeName,
  repository: string,
  enforce: boolean,
): Promise<readonly PullRequestRef[]> {
  const { rows } = await pool.query<PullRequestRef>(
    `SELECT r.repository, r.pull_request AS number FROM ${WITH_OTHER_ENFORCEMENT} AND r.repository = $4 ORDER BY 2`,
    [enforce, ...(await contextKeys(pool, forge)), repository],
  );
  return rows;
}

/** Those that have one. */
export async function repositoriesWithOtherEnforcement(
  client: pg.ClientBase,
  forge: ForgeName,
  enforce: boolean,
): Promise<readonly string[]> {
  const { rows } = await client.query<{ repository: string }>(
    `SELECT DISTINCT r.repository FROM ${WITH_OTHER_ENFORCEMENT}`,
    [enforce, ...(await contextKeys(client, forge))],
  );
  return rows.map(({ repository }) => repository);
}

/** Whether there is one in any repository. */
export async function isAnySetWithOtherEnforcement(
  pool: pg.Pool,
  forge: ForgeName,
  enforce: boolean,
): Promise<boolean> {
  const { rowCount } = await pool.query(`SELECT FROM ${WITH_OTHER_ENFORCEMENT} LIMIT 1`, [
    enforce,
    ...(await contextKeys(pool, forge)),
  ]);
  return rowCount === 1;
}

const WITH_OTHER_ENFORCEMENT = `gatehouse.reviews r
  LEFT JOIN unnest($2::text[], $3::text[]) AS named (context, key) ON named.context = r.reported_as
  LEFT JOIN gatehouse.posted_statuses p
    ON p.repository = r.repository AND p.head_sha = r.head_sha AND p.context = named.key
 WHERE r.open AND r.verdict <> 'none' AND coalesce(p.enforced, true) <> $1`;

/**
 * The contexts of open reviews, and the key of each. PostgreSQL's lower() depends on the locale and differs from ours
 * beyond ASCII.
 */
async function contextKeys(
  client: pg.Pool | pg.ClientBase,
  forge: ForgeName,
): Promise<[contexts: string[], keys: string[]]> {
  const { rows } = await client.query<{ context: string }>(
    'SELECT DISTINCT reported_as AS context FROM gatehouse.reviews WHERE open AND reported_as IS NOT NULL',
  );
  const contexts = rows.map(({ context }) => context);
  return [contexts, contexts.map((context) => contextKey(forge, context))];
}

function keyOf({ repository, headSha, key }: StatusPlace): [string, string, string] {
  return [repository, headSha, key];
}
