import type pg from 'pg';
import type { CommitStatus } from '../forges/port/postings.ts';
import { ensurePartitions } from './partitions.ts';

/** Adds a status that stands on a commit to the record, unless it is the one that was recorded last. */
export async function recordPosting(
  client: pg.ClientBase,
  repository: string,
  headSha: string,
  { context, state, description, targetUrl }: CommitStatus,
): Promise<void> {
  await ensurePartitions(client);
  await client.query(
    `WITH last AS (
       SELECT state, description, url FROM gatehouse.audit_postings
        WHERE lower(repository) = lower($1) AND head_sha = $2 AND lower(context) = lower($3)
        ORDER BY posted_at DESC LIMIT 1)
     INSERT INTO gatehouse.audit_postings (repository, head_sha, context, state, description, url)
     SELECT $1, $2, $3, $4, $5, $6
      WHERE NOT EXISTS (
        SELECT FROM last WHERE state = $4 AND description = $5 AND url IS NOT DISTINCT FROM $6)`,
    [repository, headSha, context, state, description, targetUrl ?? null],
  );
}
