import { type RequestLimit, withRequestLimit } from '../../forges/limits/spending.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { OpenPullRequest, PullRequest } from '../../forges/port/pull-request.ts';
import { type JudgeContext, type ReviewResult, readAndJudge } from '../../review/judge.ts';
import { MAX_PREVIEW_REQUESTS, MAX_PREVIEWED } from '../../review/limits.ts';
import { isByWriter, partsForOthers } from '../../review/proposal/judge-others.ts';
import type { Impact, ImpactOn, ProposedPolicy } from '../../review/proposal/proposal.ts';
import { decidingFindings } from '../../review/verdict.ts';
import type { ReviewWorkers } from '../../review/workers/review-workers.ts';
import { presentVerdicts } from '../tables/previews.ts';
import type { OpenReviewDeps } from './open-review.ts';

export interface PreviewDeps extends OpenReviewDeps {
  readonly workers: ReviewWorkers;
}

/** After this no other pull request is begun: a review of the one with the policy may wait. */
const MAX_PREVIEW_MS = 30_000;

/**
 * What a proposed policy would mean for the other open pull requests into the branch, the newest first. Undefined where
 * its author may not write to the repository: nobody else makes Gatehouse judge by a policy of theirs. Throws what may
 * be different at the next attempt.
 */
export async function previewPolicy(
  deps: PreviewDeps,
  pullRequest: PullRequest,
  proposed: ProposedPolicy,
  signal: AbortSignal,
): Promise<Impact | undefined> {
  // Before the limit begins: whoever else asks for it meanwhile waits for the same answer.
  const baseline = await deps.baselineOf(pullRequest.repository);
  return withRequestLimit(MAX_PREVIEW_REQUESTS, async (limit) => {
    if (!(await isByWriter(deps.forge, pullRequest))) {
      return undefined;
    }
    const others = await othersInto(deps.forge, pullRequest, limit);
    if (others === undefined) {
      return { judged: [], leftOut: 'too many to list' };
    }
    const context: JudgeContext = {
      ...partsForOthers(deps.forge, deps.workers, proposed),
      fallback: deps.fallback,
      statusContext: deps.statusContext,
      baselineOf: async () => baseline,
      replacementPolicy: proposed.file,
      recordedComments: async () => ({ posted: new Map() }),
      mayReadToObserve: () => false,
    };
    const judgeOther = (ref: OpenPullRequest) => readAndJudge(context, ref);
    const results = await judgeEach(others.slice(0, MAX_PREVIEWED), judgeOther, limit, signal);
    const judged = results.flatMap((result) => (result.kind === 'judged' ? [result] : []));
    const now = await presentVerdicts(deps.pool, pullRequest.repository, judged);
    return { judged: judged.map((result) => impactOn(result, now)), leftOut: others.length - results.length };
  });
}

/** The newest first. Undefined where listing them takes all requests. */
async function othersInto(
  forge: Forge,
  { repository, number, base }: PullRequest,
  limit: RequestLimit,
): Promise<readonly OpenPullRequest[] | undefined> {
  try {
    const open = await forge.openPullRequests(repository);
    return (open?.pullRequests ?? [])
      .filter((other) => other.number !== number && other.base.branch === base.branch)
      .toSorted((one, other) => other.number - one.number);
  } catch (error) {
    if (limit.exceeded) {
      return undefined;
    }
    throw error;
  }
}

/** Those that were judged within the limits. What is read after a limit was reached counts for nothing. */
async function judgeEach(
  others: readonly OpenPullRequest[],
  judgeOther: (other: OpenPullRequest) => Promise<ReviewResult>,
  limit: RequestLimit,
  signal: AbortSignal,
): Promise<readonly ReviewResult[]> {
  const results: ReviewResult[] = [];
  const end = performance.now() + MAX_PREVIEW_MS;
  for (const other of others) {
    signal.throwIfAborted();
    if (performance.now() > end) {
      break;
    }
    try {
      const result = await judgeOther(other);
      if (limit.exceeded) {
        break;
      }
      results.push(result);
      if (result.kind === 'judged' && result.evaluation?.ended) {
        // So would the next one.
        break;
      }
    } catch (error) {
      if (!(error instanceof ForgeError) || error.kind === 'rate-limited') {
        throw error;
      }
      if (limit.exceeded) {
        break;
      }
    }
  }
  return results;
}

function impactOn(
  { pullRequest: { number }, verdict }: Extract<ReviewResult, { kind: 'judged' }>,
  now: ReadonlyMap<number, string>,
): ImpactOn {
  const rules = decidingFindings(verdict).map(({ ruleId }) => ruleId);
  return { number, state: verdict.state, rules, now: now.get(number) ?? null };
}
