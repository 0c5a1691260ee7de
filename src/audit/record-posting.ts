import type pg from 'pg';
import { makeParameters, type Parameters } from '../db/parameters.ts';
import type { CommitStatus } from '../forges/port/postings.ts';
import { ensurePartitions } from './partitions.ts';

/** Adds a status that stands on a commit to the record, unless it is the one that was recorded last. */
export async function recordPosting(
  client: pg.ClientBase,
  repository: string,
  headSha: string,
  status: CommitStatus,
): Promise<void> {
  await ensurePartitions(client);
  const parameters = makeParameters();
  await client.query(postingInsert(parameters, repository, headSha, status), parameters.values);
}

/** The statement of {@link recordPosting}, for one that does more. */
export function postingInsert(
  { add }: Parameters,
  repository: string,
  headSha: string,
  { context, state, description, targetUrl }: CommitStatus,
): string {
  const [name, sha, named, is, says, url] = [repository, headSha, context, state, description, targetUrl ?? null].map(
    (value) => `${add(value)}::text`,
  );
  return `INSERT INTO gatehouse.audit_postings (repository, head_sha, context, state, description, url)
     SELECT ${name}, ${sha}, ${named}, ${is}, ${says}, ${url}
      WHERE NOT EXISTS (
        SELECT FROM (
          SELECT state, description, url FROM gatehouse.audit_postings
           WHERE lower(repository) = lower(${name}) AND head_sha = ${sha} AND lower(context) = lower(${named})
           ORDER BY posted_at DESC LIMIT 1) AS last
         WHERE state = ${is} AND description = ${says} AND url IS NOT DISTINCT FROM ${url})`;
}
