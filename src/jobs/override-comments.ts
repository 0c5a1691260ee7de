import type pg from 'pg';
import type { PullRequestRef } from '../forges/pull-request.ts';
import type { KnownComments, PostedText } from '../review/overrides/judge-overrides.ts';

/** Remembers the text of a comment that was posted, unless it is known to have been edited since. */
export async function recordPosted(
  pool: pg.Pool,
  { repository, number }: PullRequestRef,
  commentId: string,
  digest: string,
): Promise<void> {
  await pool.query(
    `INSERT INTO gatehouse.override_comments (repository, pull_request, comment_id, digest)
     VALUES ($1, $2, $3, $4) ON CONFLICT (repository, comment_id) DO NOTHING`,
    [repository, number, commentId, digest],
  );
}

/** Remembers for good that a comment was edited. */
export async function recordEdited(
  pool: pg.Pool,
  { repository, number }: PullRequestRef,
  commentId: string,
): Promise<void> {
  await pool.query(
    `INSERT INTO gatehouse.override_comments (repository, pull_request, comment_id)
     VALUES ($1, $2, $3) ON CONFLICT (repository, comment_id) DO UPDATE SET digest = NULL`,
    [repository, number, commentId],
  );
}

/**
 * What is known from their webhooks of the comments with these ids. Whatever number a row has: who can send webhooks could name
 * another pull request, and the row of an id is taken once.
 */
export async function knownComments(
  pool: pg.Pool,
  repository: string,
  commentIds: readonly string[],
): Promise<KnownComments> {
  const { rows } = await pool.query<{ id: string; digest: string | null }>(
    'SELECT comment_id AS id, digest FROM gatehouse.override_comments WHERE repository = $1 AND comment_id = ANY ($2)',
    [repository, commentIds],
  );
  const posted = rows.map(({ id, digest }): readonly [string, PostedText] => [
    id,
    digest === null ? { kind: 'edited' } : { kind: 'as-posted', digest },
  ]);
  return { posted: new Map(posted), now: Date.now() };
}

/** The open pull requests of a repository on which an override counts. */
export async function overriddenReviews(pool: pg.Pool, repository: string): Promise<readonly PullRequestRef[]> {
  const { rows } = await pool.query<{ number: number }>(
    `SELECT pull_request AS number FROM gatehouse.reviews
      WHERE repository = $1 AND open AND cardinality(overrides) > 0 ORDER BY pull_request`,
    [repository],
  );
  return rows.map(({ number }) => ({ repository, number }));
}
