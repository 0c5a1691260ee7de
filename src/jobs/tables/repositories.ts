import type pg from 'pg';
import { sqlState, UNIQUE_VIOLATION } from '../../db/sqlstate.ts';
import { NOT_JUDGED } from './reviews.ts';
import { REQUEST_ENDS } from './statuses.ts';

/** Those that are not stored yet. A forge's names are the same in any case. */
export async function addRepositories(client: pg.Pool | pg.ClientBase, names: readonly string[]): Promise<void> {
  await client.query(
    `INSERT INTO gatehouse.repositories (name)
     SELECT name FROM (
       SELECT DISTINCT ON (lower(name)) name FROM unnest($1::text[]) AS named (name)
        WHERE NOT EXISTS (SELECT FROM gatehouse.repositories stored WHERE lower(stored.name) = lower(named.name))
     ) AS added
      -- In the order in which doors insert them, or one of the two would end in a deadlock.
      ORDER BY name COLLATE "C"
     ON CONFLICT DO NOTHING`,
    [names],
  );
}

/** The statement that notes of a repository that a policy is in force there. Its name is an expression of SQL. */
export function GOVERN(name: string): string {
  return `UPDATE gatehouse.repositories SET governed = true WHERE name = ${name} AND NOT governed`;
}

export async function markGoverned(pool: pg.Pool, repository: string): Promise<void> {
  await pool.query(GOVERN('$1'), [repository]);
}

/** Whether one ever was. */
export async function wasGoverned(pool: pg.Pool, repository: string): Promise<boolean> {
  const { rows } = await pool.query<{ governed: boolean }>(
    'SELECT governed FROM gatehouse.repositories WHERE name = $1',
    [repository],
  );
  return rows[0]?.governed ?? false;
}

/**
 * Nothing is asked for it again, until a delivery comes from it. Some things are kept, because the repository may be
 * hidden only for a while. A success may still stand on the head of a review that is dropped: its row in the table of
 * statuses says so. Of override comments, no forge can tell afterwards that one was edited in its first second, nor of
 * commits that are gone who made them: these are left to the retention.
 */
export async function forgetRepository(pool: pg.Pool, repository: string): Promise<void> {
  await pool.query(
    `WITH reviews AS (
            DELETE FROM gatehouse.reviews WHERE repository = $1),
          makers AS (UPDATE gatehouse.makers SET seen_at = now() WHERE repository = $1 AND pull_request > 0)
     DELETE FROM gatehouse.repositories WHERE name = $1`,
    [repository],
  );
}

const MOVE = `WITH repositories AS (
     INSERT INTO gatehouse.repositories AS r (name, resynced_at, governed)
     VALUES ($2, now(), EXISTS (SELECT FROM gatehouse.repositories WHERE name = $1 AND governed))
     ON CONFLICT (name) DO UPDATE SET governed = true WHERE excluded.governed),
   comments AS (
     INSERT INTO gatehouse.override_comments (repository, pull_request, comment_id, digest, seen_at)
     SELECT $2, pull_request, comment_id, digest, seen_at FROM gatehouse.override_comments WHERE repository = $1
     ON CONFLICT (repository, comment_id) DO UPDATE SET digest = NULL WHERE excluded.digest IS NULL),
   said AS (DELETE FROM gatehouse.statuses WHERE repository = $1 RETURNING *),
   statuses AS (
     INSERT INTO gatehouse.statuses AS s (repository, head_sha, key, context, state, description, posting, answered,
                                          unsure_until, posted_at, judged_base, merged, merge_group, uncounted, takes)
     SELECT $2, head_sha, key, context, state, description, posting, answered, unsure_until, posted_at, judged_base, merged,
            merge_group, uncounted, takes
       FROM said
     ON CONFLICT (repository, head_sha, key)
     DO UPDATE SET state = NULL, description = NULL, posting = s.posting + excluded.posting,
                   answered = s.posting + excluded.posting, uncounted = s.uncounted OR excluded.uncounted,
                   unsure_until = greatest(s.unsure_until, excluded.unsure_until, now(), ${REQUEST_ENDS('s')},
                                           ${REQUEST_ENDS('excluded')}),
                   judged_base = coalesce(s.judged_base, excluded.judged_base),
                   takes = CASE WHEN s.takes = 'all' THEN excluded.takes ELSE s.takes END),
   made AS (
     DELETE FROM gatehouse.makers WHERE repository = $1
     RETURNING pull_request, base_branch, sha, login, pushed_from, is_update, seen_at),
   makers AS (
     INSERT INTO gatehouse.makers (repository, pull_request, base_branch, sha, login, pushed_from, is_update, seen_at)
     SELECT $2, made.* FROM made ORDER BY pull_request, base_branch, sha, login ON CONFLICT DO NOTHING),
   judged_without AS (
     UPDATE gatehouse.reviews SET ${NOT_JUDGED}, fence = nextval('gatehouse.review_fence')
      WHERE repository = $2 AND pull_request IN (SELECT pull_request FROM made))
   UPDATE gatehouse.reviews old SET repository = $2
    WHERE repository = $1
      AND NOT EXISTS (SELECT FROM gatehouse.reviews new WHERE new.repository = $2 AND new.pull_request = old.pull_request)`;

/**
 * After a rename: what is stored under the old name is kept under the new one, and nothing is asked for by the old name
 * until a delivery brings it again. Where something was posted under both names, what stands is unknown: a review under
 * the new name may have posted a shared status without these verdicts. A review that runs has not seen who made the
 * commits: it loses its claim, and is requested again. A merge group that is not known under the new name has left the
 * queue.
 */
export async function moveRepository(pool: pg.Pool, from: string, to: string): Promise<void> {
  try {
    await pool.query(MOVE, [from, to]);
  } catch (error) {
    // A review of the new name has begun meanwhile: its row stays, which is seen now.
    if (sqlState(error) !== UNIQUE_VIOLATION) {
      throw error;
    }
    await pool.query(MOVE, [from, to]);
  }
  // With the reviews that have begun anew under the new name: their heads may be others by now.
  await forgetRepository(pool, from);
}
