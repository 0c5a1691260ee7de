import type { Concluded } from '../review/judge.ts';
import type { SourceText } from '../review/sources.ts';
import {
  recordedApprovals,
  recordedFaults,
  recordedOverrides,
  recordedRules,
  type VerdictRecord,
} from './verdict-record.ts';

/** What is recorded of a pull request itself. */
export interface Subject {
  readonly repository: string;
  readonly number: number;
  readonly author: string;
  readonly head: { readonly sha: string };
  readonly base: { readonly branch: string };
}

/** The record of a verdict. Without `result` the review was given up, and nothing was read. */
export function recordOf(
  pullRequest: Subject,
  { state, description }: Pick<VerdictRecord, 'state' | 'description'>,
  result: Concluded | undefined,
  { enforced, mergeGroupSha = null }: { readonly enforced: boolean; readonly mergeGroupSha?: string | null },
): VerdictRecord {
  const judged = result?.kind === 'judged' ? result : undefined;
  return {
    repository: pullRequest.repository,
    pullRequest: pullRequest.number,
    mergeGroupSha,
    author: pullRequest.author,
    headSha: pullRequest.head.sha,
    baseBranch: pullRequest.base.branch,
    state,
    description,
    enforced,
    sources: result?.rules,
    rules: judged?.evaluation === undefined ? null : recordedRules(judged.evaluation),
    faults: judged === undefined ? [] : recordedFaults(judged.verdict),
    approvals: judged?.approvals == null ? null : recordedApprovals(judged.approvals),
    overrides: judged === undefined ? [] : recordedOverrides(judged.verdict),
  };
}

/** What the digests of its sources are of. */
export function textsOf(result: Concluded | undefined): readonly SourceText[] {
  return result?.kind === 'judged' ? result.texts : [];
}
