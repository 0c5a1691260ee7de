import type pg from 'pg';
import type { Parameters } from '../../db/parameters.ts';
import type { ForgeName } from '../../forges/port/forges.ts';
import type { RepositoryHead } from '../../forges/port/many-repositories.ts';
import type { StatusState } from '../../forges/port/postings.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import { contextKey } from '../../forges/port/status-context.ts';

/** What is stored of an open pull request with a certain head. */
export interface HeadVerdict {
  readonly number: number;
  /** Its page, or the comment there. */
  readonly url: string;
  readonly baseBranch: string;
  /** `none`: no policy asks anything of it. Null: there is no verdict yet. */
  readonly verdict: StatusState | 'none' | null;
  readonly description: string;
  /** What the status says instead where rules are not enforced; null: unknown. */
  readonly dryRun: string | null;
  /** False: it says why there is no verdict. */
  readonly isJudged: boolean;
}

/** Where a status is: on a commit, under a name. */
export interface Place extends RepositoryHead {
  readonly context: string;
  /** The same for all names that the forge takes for one. */
  readonly key: string;
}

export function placeAt(forge: ForgeName, { repository, headSha }: RepositoryHead, context: string): Place {
  return { repository, headSha, context, key: contextKey(forge, context) };
}

/** What a merge group says about its commit. */
export interface GroupStatus {
  readonly state: StatusState;
  readonly description: string;
}

/** What Gatehouse knows of a place where it has spoken, or others have. */
export interface PlaceRow {
  readonly key: string;
  readonly context: string;
  /** The last post that was carried out; null: none was, or it is not known. */
  readonly state: StatusState | null;
  readonly description: string | null;
  /** How many posts have begun. */
  readonly posting: number;
  /** Whether one of them may still be answered. */
  readonly isUnderWay: boolean;
  /** Whether the last post is what stands there. False: one has failed, or may still be carried out. */
  readonly isKnown: boolean;
  /** Whether a post would make it known again: none from before may still be carried out. */
  readonly canBeKnown: boolean;
  /** The base branch that a verdict was last shown for; null: no verdict was. */
  readonly judgedBase: string | null;
  readonly merged: boolean;
  readonly group: GroupStatus | null;
  /** Whether statuses were seen there that are not counted in `posting`. */
  readonly uncounted: boolean;
  readonly takes: 'all' | 'no success' | 'nothing';
  /** When a post last began: in seconds. */
  readonly postedAt: number;
}

/** All that is stored of a commit, read at one moment. */
export interface CommitState {
  /** Of the open pull requests with this head. */
  readonly verdicts: readonly HeadVerdict[];
  readonly places: readonly PlaceRow[];
}

/** How long a request that was never answered may still be carried out: proxies and forges end theirs within a minute. */
const REQUEST_LIFE = "interval '2 minutes'";

/** SQL: until when the post that is under way may be carried out; null: none is. */
export const REQUEST_ENDS = (row: string) =>
  `CASE WHEN ${row}.posting > ${row}.answered THEN ${row}.posted_at + ${REQUEST_LIFE} END`;

/** The verdicts on a commit as JSON, in a statement that reads more. Both are expressions of SQL. */
function VERDICTS_ON(repository: string, headSha: string): string {
  return `coalesce((
    SELECT jsonb_agg(jsonb_build_object(
             'number', r.pull_request, 'url', r.url, 'baseBranch', r.base_branch, 'verdict', r.verdict,
             'description', r.description, 'dryRun', r.dry_run_description, 'isJudged', r.rules IS NOT NULL)
             ORDER BY r.pull_request)
      FROM gatehouse.reviews r
     WHERE r.repository = ${repository} AND r.head_sha = ${headSha} AND r.open), '[]')`;
}

/** A row `s` as JSON: a {@link PlaceRow}. */
const PLACE = `jsonb_build_object(
  'key', s.key, 'context', s.context, 'state', s.state, 'description', s.description, 'posting', s.posting,
  'isUnderWay', s.posting > s.answered, 'isKnown', s.posting = s.answered AND s.unsure_until IS NULL,
  'canBeKnown', coalesce(coalesce(${REQUEST_ENDS('s')}, s.unsure_until) <= now(), false),
  'judgedBase', s.judged_base, 'merged', s.merged, 'group', s.merge_group, 'uncounted', s.uncounted, 'takes', s.takes,
  'postedAt', extract(epoch FROM s.posted_at))`;

/** The same of its places. */
export function PLACES_ON(repository: string, headSha: string): string {
  return `coalesce((
    SELECT jsonb_agg(${PLACE}) FROM gatehouse.statuses s WHERE s.repository = ${repository} AND s.head_sha = ${headSha}), '[]')`;
}

export async function readCommit(pool: pg.Pool, { repository, headSha }: RepositoryHead): Promise<CommitState> {
  const { rows } = await pool.query<CommitState>(
    `SELECT ${VERDICTS_ON('$1', '$2')} AS verdicts, ${PLACES_ON('$1', '$2')} AS places`,
    [repository, headSha],
  );
  return rows[0] ?? { verdicts: [], places: [] };
}

/** Before a post: from now on it is not known what stands there. Returns the post's number. */
export async function beginPosting(pool: pg.Pool, place: Place): Promise<number> {
  const { rows } = await pool.query<{ posting: number }>(
    `INSERT INTO gatehouse.statuses AS s (repository, head_sha, key, context, posting) VALUES ($1, $2, $3, $4, 1)
     ON CONFLICT (repository, head_sha, key) DO UPDATE
       SET context = excluded.context, state = NULL, description = NULL, posting = s.posting + 1, posted_at = now(),
           merged = false,
           unsure_until = greatest(s.unsure_until, ${REQUEST_ENDS('s')})
     RETURNING posting`,
    [...keyOf(place), place.context],
  );
  return rows[0]?.posting ?? 0;
}

/** What is stored after a post. */
export interface AfterPost {
  readonly verdicts: readonly HeadVerdict[];
  /** Null: another post has begun since. */
  readonly place: PlaceRow | null;
}

/** What was posted; `judgedBase`: the base branch whose verdict it is. */
interface Posted {
  readonly state: StatusState;
  readonly description: string;
  readonly judgedBase?: string | undefined;
}

/** The parts of a statement that remembers that a post was answered, and selects {@link AfterPost}. */
export function answeredUpdate(
  { add }: Parameters,
  { repository, headSha, key }: Place,
  posting: number,
  { state, description, judgedBase }: Posted,
): { readonly update: string; readonly select: string } {
  const [name, sha] = [`${add(repository)}::text`, `${add(headSha)}::text`];
  return {
    update: `answered AS (
      UPDATE gatehouse.statuses s
         SET state = ${add(state)}, description = ${add(description)}, answered = posting,
             judged_base = coalesce(${add(judgedBase ?? null)}, judged_base),
             unsure_until = CASE WHEN unsure_until > posted_at THEN unsure_until END
       WHERE repository = ${name} AND head_sha = ${sha} AND key = ${add(key)} AND posting = ${add(posting)}
      RETURNING ${PLACE} AS place)`,
    select: `${VERDICTS_ON(name, sha)} AS verdicts, (SELECT place FROM answered) AS place`,
  };
}

/**
 * A post has failed. `stands` is what still stands there, because it was certainly not carried out. Undefined: it may
 * have been, or may still be.
 */
export async function endPosting(
  pool: pg.Pool,
  place: Place,
  posting: number,
  stands: Pick<PlaceRow, 'state' | 'description'> | undefined,
): Promise<void> {
  await pool.query(
    `UPDATE gatehouse.statuses
        SET answered = posting, state = $5, description = $6,
            unsure_until = CASE WHEN $7 THEN unsure_until ELSE greatest(unsure_until, posted_at + ${REQUEST_LIFE}) END
      WHERE repository = $1 AND head_sha = $2 AND key = $3 AND posting = $4`,
    [...keyOf(place), posting, stands?.state ?? null, stands?.description ?? null, stands !== undefined],
  );
}

/** A success may stand there that no row tells of, and the forge could not be asked: the next resync posts. */
export async function noteUnsure(pool: pg.Pool, place: Place): Promise<void> {
  await pool.query(
    `INSERT INTO gatehouse.statuses AS s (repository, head_sha, key, context, unsure_until) VALUES ($1, $2, $3, $4, now())
     ON CONFLICT (repository, head_sha, key) DO UPDATE SET unsure_until = excluded.unsure_until
      WHERE s.state IS NULL AND s.unsure_until IS NULL`,
    [...keyOf(place), place.context],
  );
}

/** The commit is gone from the forge, and with it what it showed. */
export async function forgetPlace(pool: pg.Pool, place: Place, posting: number): Promise<void> {
  await pool.query(
    'DELETE FROM gatehouse.statuses WHERE repository = $1 AND head_sha = $2 AND key = $3 AND posting = $4',
    [...keyOf(place), posting],
  );
}

/** The merge group with this commit has left its queue. */
export async function forgetGroup(pool: pg.Pool, place: Place): Promise<void> {
  await pool.query(
    'UPDATE gatehouse.statuses SET merge_group = NULL WHERE repository = $1 AND head_sha = $2 AND key = $3',
    keyOf(place),
  );
}

type Noted = Pick<PlaceRow, 'merged' | 'uncounted' | 'takes'> & { readonly merge_group: GroupStatus };

/** Notes something else of a place. */
export async function notePlace<Name extends keyof Noted>(
  pool: pg.Pool,
  place: Place,
  name: Name,
  value: Noted[Name],
): Promise<void> {
  await pool.query(
    `INSERT INTO gatehouse.statuses (repository, head_sha, key, context, ${name}) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (repository, head_sha, key) DO UPDATE SET ${name} = excluded.${name}`,
    [...keyOf(place), place.context, value],
  );
}

/** SQL: whether a success may stand at the place in a row of the table. */
export const MAY_BE_GREEN = "(s.state = 'success' OR s.posting > s.answered OR s.unsure_until IS NOT NULL)";

/** The open pull requests of a repository on whose head a success may stand. */
export async function withPossibleSuccess(pool: pg.Pool, repository: string): Promise<readonly PullRequestRef[]> {
  const { rows } = await pool.query<PullRequestRef>(
    `SELECT repository, pull_request AS number FROM gatehouse.reviews r
      WHERE r.open AND r.verdict <> 'none' AND r.repository = $1
        AND EXISTS (SELECT FROM gatehouse.statuses s
                     WHERE s.repository = r.repository AND s.head_sha = r.head_sha AND ${MAY_BE_GREEN})
      ORDER BY 2`,
    [repository],
  );
  return rows;
}

/** What is stored of a commit that may have to show something else. */
export interface StoredCommit extends CommitState, RepositoryHead {
  /** The base branches of pull requests that leave it at this moment: their reviews publish what is left. */
  readonly leaving: readonly string[];
}

/**
 * The next commits, in their order, that open pull requests have or on which a success may stand that nobody has
 * merged. None of a repository that a resync has still to look at, such as an archived one, or that is forgotten: they
 * wait until a delivery comes from it.
 */
export async function nextCommits(
  pool: pg.Pool,
  after: RepositoryHead,
  limit: number,
): Promise<readonly StoredCommit[]> {
  const { rows } = await pool.query<StoredCommit>(
    `SELECT repository, head_sha AS "headSha", ${VERDICTS_ON('c.repository', 'c.head_sha')} AS verdicts,
            ${PLACES_ON('c.repository', 'c.head_sha')} AS places,
            ARRAY(SELECT base_branch FROM gatehouse.reviews r
                   WHERE r.repository = c.repository AND r.head_sha = c.head_sha AND NOT r.open) AS leaving
       FROM (SELECT repository, head_sha FROM gatehouse.reviews WHERE open AND verdict <> 'none'
             UNION
             SELECT repository, head_sha FROM gatehouse.statuses s
              WHERE takes <> 'nothing' AND NOT merged AND ${MAY_BE_GREEN}
                -- No group waits for longer.
                AND (merge_group IS NULL OR posted_at > now() - interval '1 day')) AS c
      WHERE (repository, head_sha) > ($1, $2)
        AND lower(repository) IN (SELECT lower(name) FROM gatehouse.repositories WHERE NOT due)
      ORDER BY repository, head_sha LIMIT $3`,
    [after.repository, after.headSha, limit],
  );
  return rows;
}

function keyOf({ repository, headSha, key }: Place): [string, string, string] {
  return [repository, headSha, key];
}
