import { type Concluded, recordOf, textsOf } from '../../audit/record-of.ts';
import { recordVerdict } from '../../audit/record-verdict.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { PullRequest } from '../../forges/port/pull-request.ts';
import type { Alone } from '../../review/judged-by.ts';
import { type Claim, type Judged, type SavedVerdict, saveVerdict } from '../tables/reviews.ts';
import type { OpenReviewParts } from './open-review.ts';

const TIMEOUT_MS = 10_000;

interface Conclusion extends SavedVerdict {
  /** Undefined: the review was given up. */
  readonly result: Concluded | undefined;
  /** As in JudgedBy. */
  readonly alone?: Alone | undefined;
  readonly askedAt: Date;
}

/**
 * Saves a verdict together with its row in the record, in one transaction: the status of any pull request with this
 * head is computed from what is saved here, so that none is ever posted whose verdict is not in the record.
 */
export async function saveAndRecord(
  { pool, enforce, keepsRecord }: Pick<OpenReviewParts, 'pool' | 'enforce' | 'keepsRecord'>,
  claim: Claim,
  pullRequest: PullRequest,
  { result, alone, askedAt, ...verdict }: Conclusion,
): Promise<void> {
  const judged = result && judgedFrom(result, alone);
  if (!keepsRecord) {
    await saveVerdict(pool, claim, verdict, judged);
    return;
  }
  const record = recordOf(pullRequest, verdict, result, { enforced: enforce });
  await inTransaction(pool, TIMEOUT_MS, async (client) => {
    // First: its row is locked until the end, so that no other review of this pull request is recorded meanwhile.
    await saveVerdict(client, claim, verdict, judged);
    await recordVerdict(client, record, { askedAt, texts: textsOf(result) });
  });
}

function judgedFrom(result: Concluded, alone: Alone | undefined): Judged {
  const overrides =
    result.kind === 'judged' ? result.verdict.overrides?.inForce.map(({ commentId }) => commentId) : null;
  return {
    judgedBy: { ...result.judgedBy, ...(alone && { alone }) },
    asksOthers: result.kind === 'judged' && result.asksOthers,
    asksThreads: result.kind === 'judged' && result.asksThreads,
    overrides: overrides ?? null,
  };
}
