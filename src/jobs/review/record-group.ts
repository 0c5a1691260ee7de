import { recordOf, textsOf } from '../../audit/record-of.ts';
import { recordVerdict } from '../../audit/record-verdict.ts';
import { inTransaction } from '../../db/transaction.ts';
import { pullRequestOfGroup } from '../../forges/port/merge-queue.ts';
import type { PostedStatus } from '../../forges/port/postings.ts';
import type { Concluded } from '../../review/judge.ts';
import type { Jobs } from '../queue/queue.ts';
import type { ReviewDeps } from './review-deps.ts';

const TIMEOUT_MS = 10_000;

/**
 * Records the verdict on a merge group: one row for each pull request that was judged for it. Without `results`, one
 * for the pull request that the group is named after, 0 where the name has none.
 */
export async function recordGroup(
  { pool, enforce }: Pick<ReviewDeps, 'pool' | 'enforce'>,
  job: Jobs['review-merge-group'],
  askedAt: Date,
  verdict: Pick<PostedStatus, 'state' | 'description'>,
  results: readonly Concluded[] | undefined,
): Promise<void> {
  const { repository, branch, headSha } = job;
  const options = { enforced: enforce, mergeGroupSha: headSha };
  await inTransaction(pool, TIMEOUT_MS, async (client) => {
    if (results === undefined) {
      const group = { repository, number: pullRequestOfGroup(job) ?? 0, author: '' };
      const subject = { ...group, head: { sha: headSha }, base: { branch } };
      await recordVerdict(client, recordOf(subject, verdict, undefined, options), { askedAt, texts: [] });
      return;
    }
    for (const result of results) {
      const own = result.kind === 'judged' ? result.verdict : ({ state: 'none', description: 'No policy' } as const);
      const record = recordOf(result.pullRequest, own, result, options);
      await recordVerdict(client, record, { askedAt, texts: textsOf(result) });
    }
  });
}
