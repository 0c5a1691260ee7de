import { commitRows } from '../../audit/partitions.ts';
import { recordOf, textsOf } from '../../audit/record-of.ts';
import { readRecorded, verdictInserts } from '../../audit/record-verdict.ts';
import { makeParameters } from '../../db/parameters.ts';
import { WITH_WARNINGS } from '../../db/transaction.ts';
import type { PullRequest } from '../../forges/port/pull-request.ts';
import type { Concluded } from '../../review/judge.ts';
import { type Claim, LostClaimError } from '../tables/claim.ts';
import { GOVERN } from '../tables/repositories.ts';
import { type HowJudged, type SavedVerdict, verdictUpdate } from '../tables/reviews.ts';
import type { ReviewDeps } from './review-deps.ts';

const TIMEOUT_MS = 10_000;

interface Conclusion extends SavedVerdict {
  /** Undefined: the review was given up. */
  readonly result: Concluded | undefined;
  /** The inputs' digest, where nothing else decides it. */
  readonly inputs?: string | undefined;
  readonly askedAt: Date;
}

/**
 * Saves a verdict together with its row in the record, in one statement: the status of any pull request with this head
 * is computed from what is saved here, so that none is ever posted whose verdict is not in the record.
 */
export async function saveAndRecord(
  { pool, enforce }: Pick<ReviewDeps, 'pool' | 'enforce'>,
  claim: Claim,
  pullRequest: PullRequest,
  { result, inputs, askedAt, ...verdict }: Conclusion,
): Promise<void> {
  const judged = result && howJudged(result, inputs);
  const record = recordOf(pullRequest, verdict, result, { enforced: enforce });
  const options = { askedAt, texts: textsOf(result) };
  const recorded = await readRecorded(pool, record, options.texts);
  const parameters = makeParameters();
  const parts = [
    `saved AS (${verdictUpdate(parameters, claim, verdict, judged)} RETURNING 1)`,
    ...verdictInserts(parameters, record, recorded, options, 'saved'),
    ...(isByPolicyInForce(result) ? [`governed AS (${GOVERN(parameters.add(pullRequest.repository))})`] : []),
  ];
  const [row] = await commitRows<{ readonly isSaved: boolean }>(pool, TIMEOUT_MS, {
    text: `WITH ${parts.join(', ')} SELECT ${WITH_WARNINGS}, EXISTS (SELECT FROM saved) AS "isSaved"`,
    values: parameters.values,
  });
  if (row?.isSaved !== true) {
    throw new LostClaimError(claim);
  }
}

/** And not by one that its pull request only proposes. */
function isByPolicyInForce(result: Concluded | undefined): boolean {
  const { policyDigest, operatorPolicyDigest, baselineDigest } = result?.rules ?? {};
  return (policyDigest ?? operatorPolicyDigest ?? baselineDigest) !== undefined;
}

function howJudged(result: Concluded, inputs: string | undefined): HowJudged {
  const { rules } = result;
  if (result.kind === 'no-policy') {
    return { rules, pushes: null, inputs: null, asks: [], overrides: null };
  }
  const { pushes = null, asks, verdict } = result;
  const overrides = verdict.overrides?.inForce.map(({ commentId }) => commentId) ?? null;
  return { rules, pushes, inputs: inputs ?? null, asks, overrides };
}
