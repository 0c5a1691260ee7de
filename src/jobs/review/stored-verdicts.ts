import type { QueuedPullRequest } from '../../forges/port/merge-queue.ts';
import { areRules, type RuleSources } from '../../review/rules-of.ts';
import type { Verdict } from '../../review/verdict.ts';
import { JOBS_SCHEMA, type Jobs, type Kind } from '../queue/queue.ts';
import type { ReviewDeps } from './review-deps.ts';

export interface StoredVerdict {
  readonly number: number;
  readonly state: Verdict['state'] | 'none';
  readonly description: string;
  readonly rules: RuleSources;
  /** Of its row in the record. Null: no policy has ever asked for a verdict, and it has none. */
  readonly digest: Buffer | null;
}

/** Those that may lead to another verdict. What a push does to the rules is compared. */
const MAY_CHANGE: readonly Kind[] = ['review', 'turn', 'review-commit', 'command', 'push'];

/**
 * By its number, the verdict of each pull request of a merge group that counts without being judged again: of the head
 * and base that the queue knows, by the present rules, recorded and no error, no success that may have ended unseen, and
 * no job is about to change it.
 */
export async function storedVerdicts(
  deps: ReviewDeps,
  { repository, branch }: Pick<Jobs['review-merge-group'], 'repository' | 'branch'>,
  queued: readonly QueuedPullRequest[],
): Promise<ReadonlyMap<number, StoredVerdict>> {
  const { rows } = await deps.pool.query<StoredVerdict>(
    `WITH waiting AS (
       SELECT data->>'number' AS number, data->>'headSha' AS head, data->>'after' AS pushed FROM ${JOBS_SCHEMA}.job
        WHERE name = ANY ($4) AND state <= 'active' AND policy = 'stately' AND data->>'repository' = $1)
     SELECT r.pull_request AS number, r.verdict AS state, r.description, r.rules, recorded.digest
       FROM jsonb_to_recordset($3) AS queued (number int, "headSha" text, "baseBranch" text)
       JOIN gatehouse.reviews r
         ON (r.pull_request, r.head_sha, r.base_branch) = (queued.number, queued."headSha", queued."baseBranch")
       -- What was recorded last is what is stored, unless that was under another name of the repository.
       LEFT JOIN LATERAL (
         SELECT v.head_sha, v.state, v.digest FROM gatehouse.audit_verdicts v
          WHERE lower(v.repository) = lower($1) AND v.pull_request = r.pull_request AND v.merge_group_sha IS NULL
          ORDER BY v.answered_at DESC LIMIT 1) AS recorded ON (recorded.head_sha, recorded.state) = (r.head_sha, r.verdict)
      WHERE r.repository = $1 AND r.base_branch = $2 AND r.open AND r.rules IS NOT NULL AND r.verdict <> 'error'
        AND (recorded.digest IS NOT NULL OR r.verdict = 'none')
        -- A merge is final, and no webhook tells that somebody may not write any more.
        AND (r.verdict <> 'success' OR r.inputs_digest IS NOT NULL OR r.reviewed_at > now() - interval '15 minutes')
        AND NOT EXISTS (SELECT FROM waiting WHERE number = r.pull_request::text OR r.head_sha IN (head, pushed))`,
    [repository, branch, JSON.stringify(queued), MAY_CHANGE],
  );
  // Afterwards: a push in between leads to another commit.
  const commit = rows.length > 0 ? await deps.forge.branchCommit(repository, branch) : undefined;
  const counting = new Map<number, StoredVerdict>();
  for (const row of rows) {
    if (commit !== undefined && (await areRules(deps, { repository, commit }, row.rules))) {
      counting.set(row.number, row);
    }
  }
  return counting;
}
