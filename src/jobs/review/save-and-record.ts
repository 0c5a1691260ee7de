import { type Concluded, recordOf, textsOf } from '../../audit/record-of.ts';
import { recordVerdict } from '../../audit/record-verdict.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { PullRequest } from '../../forges/port/pull-request.ts';
import { type Claim, type SavedVerdict, saveVerdict } from '../tables/reviews.ts';
import type { OpenReviewParts } from './open-review.ts';

const TIMEOUT_MS = 10_000;

interface Conclusion extends SavedVerdict {
  /** Undefined: the review was given up. */
  readonly result: Concluded | undefined;
  readonly judgedState?: string | null;
  readonly askedAt: Date;
}

/**
 * Saves a verdict together with its row in the record, in one transaction: the status of any pull request with this head is
 * computed from what is saved here, so that none is ever posted whose verdict is not in the record.
 */
export async function saveAndRecord(
  { pool, enforce, keepsRecord }: Pick<OpenReviewParts, 'pool' | 'enforce' | 'keepsRecord'>,
  claim: Claim,
  pullRequest: PullRequest,
  { result, judgedState, askedAt, ...verdict }: Conclusion,
): Promise<void> {
  if (!keepsRecord) {
    await saveVerdict(pool, claim, verdict, result?.sources, judgedState);
    return;
  }
  const record = recordOf(pullRequest, verdict, result, { enforced: enforce });
  await inTransaction(pool, TIMEOUT_MS, async (client) => {
    // First: its row is locked until the end, so that no other review of this pull request is recorded meanwhile.
    await saveVerdict(client, claim, verdict, result?.sources, judgedState);
    await recordVerdict(client, record, { askedAt, texts: textsOf(result) });
  });
}
