import { recordOf, textsOf } from '../../audit/record-of.ts';
import { copyVerdict, recordVerdict } from '../../audit/record-verdict.ts';
import { inTransaction } from '../../db/transaction.ts';
import { pullRequestOfGroup } from '../../forges/port/merge-queue.ts';
import type { Concluded } from '../../review/judge.ts';
import type { Jobs } from '../queue/queue.ts';
import type { ReviewDeps } from './review-deps.ts';
import type { StoredVerdict } from './stored-verdicts.ts';

/** A pull request of a merge group, with the verdict that is stored, or that it was given for the group. */
export type Member =
  | StoredVerdict
  | (Pick<StoredVerdict, 'number' | 'state' | 'description'> & { readonly result: Concluded });

const TIMEOUT_MS = 10_000;

/**
 * Records the verdict on a merge group: one row for each of its pull requests. Of an error, which is said in words, one
 * for the pull request that the group is named after, 0 where the name has none.
 */
export async function recordGroup(
  { pool, enforce: enforced }: Pick<ReviewDeps, 'pool' | 'enforce'>,
  job: Jobs['review-merge-group'],
  askedAt: Date,
  members: readonly Member[] | string,
): Promise<void> {
  const { repository, branch, headSha: mergeGroupSha } = job;
  const options = { enforced, mergeGroupSha };
  await inTransaction(pool, TIMEOUT_MS, async (client) => {
    if (typeof members === 'string') {
      const group = { repository, number: pullRequestOfGroup(job) ?? 0, author: '' };
      const subject = { ...group, head: { sha: mergeGroupSha }, base: { branch } };
      const record = recordOf(subject, { state: 'error', description: members }, undefined, options);
      await recordVerdict(client, record, { askedAt, texts: [] });
      return;
    }
    for (const member of members) {
      if ('result' in member) {
        const record = recordOf(member.result.pullRequest, member, member.result, options);
        await recordVerdict(client, record, { askedAt, texts: textsOf(member.result) });
      } else if (member.digest !== null) {
        await copyVerdict(client, { repository, number: member.number }, member.digest, { askedAt, ...options });
      }
    }
  });
}
