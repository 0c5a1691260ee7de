import type { Forge } from '../forges/port/forge.ts';
import type { PullRequest, PullRequestNow, PullRequestRead, PullRequestRef } from '../forges/port/pull-request.ts';
import type { Evaluation } from './evaluation/evaluate.ts';
import { codeOwnersText, gatherFacts } from './evaluation/gather-facts.ts';
import { observe, rulesInForce, withObserved } from './evaluation/observe.ts';
import { checksDigest, readOthersChecks } from './evaluation/read-checks.ts';
import { redacted } from './evaluation/redact.ts';
import { brokenPolicyVerdict, type Verdict, verdictOf, withProposedPolicyFaults } from './evaluation/verdict.ts';
import { isCurrent, type JudgedBy, pullRequestDigest } from './judged-by.ts';
import type { KnownComments } from './overrides/judge-overrides.ts';
import { readOverrides } from './overrides/read-overrides.ts';
import { type BaselineOf, digestOfBaseline, orRemoval } from './policy/baseline.ts';
import { type Comments, DEFAULT_COMMENTS } from './policy/comments.ts';
import { policyInForce } from './policy/in-force.ts';
import { type LoadedPolicy, type PolicyFile, parseFor } from './policy/load.ts';
import { neededFacts, needsOnlyFiles } from './policy/needs.ts';
import { orProposed } from './policy/operator-policy.ts';
import { overruledRules } from './policy/overruled.ts';
import { changesCases, changesPolicy, pathsAtBase } from './policy/paths.ts';
import type { Policy } from './policy/schema.ts';
import { type CurrentApproval, currentApprovals } from './predicates/current-approvals.ts';
import { loadProposed } from './proposal/load-proposed.ts';
import type { ProposedPolicy } from './proposal/proposal.ts';
import { proposedPolicy } from './proposal/proposed-policy.ts';
import { judgeProposal } from './proposal/run-proposed-cases.ts';
import type { SourceText } from './sources.ts';
import type { ReviewThreads } from './threads/review-threads.ts';

/** The result of reviewing a pull request. */
export type ReviewResult =
  /** It does not exist, or is closed: there is nothing to review. */
  | { readonly kind: 'over' }
  /** Its repository can only be read, until it is unarchived. */
  | { readonly kind: 'archived'; readonly pullRequest: PullRequest }
  /** No policy applies. */
  | { readonly kind: 'no-policy'; readonly pullRequest: PullRequestNow; readonly judgedBy: JudgedBy }
  | {
      readonly kind: 'judged';
      readonly pullRequest: PullRequestNow;
      readonly verdict: Verdict;
      readonly comments: Comments;
      readonly judgedBy: JudgedBy;
      /** What the digests in `judgedBy` are of. */
      readonly texts: readonly SourceText[];
      /** Whether a rule asks for checks of others, or for requested reviews. */
      readonly asksOthers: boolean;
      /** Null when no rule in force asks for reviews. */
      readonly approvals: readonly CurrentApproval[] | null;
      /** Absent when the policy could not be used. */
      readonly evaluation?: Evaluation;
      /** It depends on nothing but the pull request as it was read, its commits' difference, and the base's commit. */
      readonly selfContained: boolean;
      /** What a review judges other pull requests by, to show what it would mean. */
      readonly proposed?: ProposedPolicy;
    };

/** How often a pull request is judged at most, when it changes meanwhile. */
const MAX_ATTEMPTS = 3;

export interface JudgeOptions {
  readonly threads: ReviewThreads;
  /** Read instead of the policy of the base branch. Never that of the setting POLICY_FILE, which is `fallback`. */
  readonly givenPolicy?: PolicyFile | undefined;
  /** The operator's policy, for repositories that have none of their own. */
  readonly fallback: Policy | undefined;
  readonly baselineOf: BaselineOf;
  /** The name of Gatehouse's own status, `{base}` for the base branch. */
  readonly statusContext: string;
  /** Called as soon as it is known that there will be a verdict. */
  readonly onWillJudge?: (pullRequest: PullRequest) => Promise<void>;
  /** Called before checks of others, or requested reviews, are read, and only if the policy asks for them. */
  readonly onWillReadOthers?: () => Promise<void>;
  /**
   * What is known of comments with commands to override, beside what the forge says. Called after they were read, and only if
   * there may be some.
   */
  readonly knownComments: (repository: string, commentIds: readonly string[]) => Promise<KnownComments>;
  /** Whether the forge may be asked for what only observed rules need: that must not use up its rate limit. Absent: yes. */
  readonly mayReadToObserve?: () => boolean;
  /** Whether it is shown what a pull request that changes the policy or its cases proposes: its cases are run. */
  readonly showsProposals?: boolean;
}

/**
 * Judges the present state of a pull request by the policy of its base branch. Should it change meanwhile,
 * what was read may be of two states at once, so it is read again; what changes after the last check
 * starts a review of its own.
 */
export async function judge(forge: Forge, ref: PullRequestRef, options: JudgeOptions): Promise<ReviewResult> {
  let result = await judgeOnce(forge, ref, options);
  for (let attempt = 1; attempt < MAX_ATTEMPTS && result.kind === 'judged'; attempt++) {
    if (await isCurrent({ forge, ...options }, result)) {
      break;
    }
    result = await judgeOnce(forge, ref, options);
  }
  return result;
}

/** Judges once. What it read may be of two states: {@link isCurrent} checks that. */
export async function judgeOnce(forge: Forge, ref: PullRequestRef, options: JudgeOptions): Promise<ReviewResult> {
  const read = await forge.pullRequestWithFacts(ref, pathsAtBase(forge.name));
  return read === undefined ? { kind: 'over' } : judgeRead(forge, read, options);
}

/** The same, of a pull request that has just been read. */
export async function judgeRead(
  forge: Forge,
  { pullRequest, known }: PullRequestRead,
  {
    threads,
    givenPolicy,
    fallback,
    baselineOf,
    statusContext,
    onWillJudge,
    onWillReadOthers,
    knownComments,
    mayReadToObserve = () => true,
    showsProposals = false,
  }: JudgeOptions,
): Promise<ReviewResult> {
  if (pullRequest.state === 'closed') {
    return { kind: 'over' };
  }
  if (pullRequest.archived) {
    return { kind: 'archived', pullRequest };
  }
  // Everything of the base is read at this commit: what is read at the branch's name could be of two.
  const { baseCommit: baseSha } = pullRequest;
  if (baseSha === undefined) {
    // The branch was deleted: there is nothing to merge into until the pull request gets another base.
    return { kind: 'over' };
  }
  const { repository } = pullRequest;
  const inForceNow = await policyInForce(
    { forge, threads, fallback, baselineOf },
    { repository, commit: baseSha, file: givenPolicy, shown: true },
  );
  const { baseline, beside, hidden, role } = inForceNow;
  const isBaseline = role === 'baseline';
  const certain = inForceNow.policy.kind !== 'absent';
  if (certain) {
    // Before the changed files, which may take long to read: the present status may be of another pull request.
    await onWillJudge?.(pullRequest);
  }
  const changedFiles =
    (inForceNow.policy.kind === 'policy' && neededFacts(inForceNow.policy.policy).lines
      ? undefined
      : known.changedFiles) ??
    (await forge.changedFiles(pullRequest, pullRequest.head.sha, pullRequest.changedFileCount));
  const proposes = changesPolicy(changedFiles);
  const present = orProposed(inForceNow.policy, pullRequest, proposes);
  if (present.kind === 'absent') {
    return { kind: 'no-policy', pullRequest, judgedBy: { pullRequest: pullRequestDigest(pullRequest), baseSha } };
  }
  if (!certain) {
    await onWillJudge?.(pullRequest);
  }

  const ofHead = () => loadProposed(forge, parseFor(threads, repository), pullRequest, role);
  const proposed: LoadedPolicy = proposes
    ? orRemoval(await ofHead(), isBaseline ? baseline : undefined)
    : { kind: 'absent' };
  const proposal =
    showsProposals && (proposes || changesCases(changedFiles))
      ? await judgeProposal(forge, threads, pullRequest, proposes ? proposed : await ofHead())
      : {};
  // In the policy repository, the baseline in force judges, whatever is proposed.
  const preview =
    showsProposals && !isBaseline
      ? proposedPolicy(proposed, present, [digestOfBaseline(baseline), pullRequest.base.branch])
      : undefined;
  if (present.kind === 'broken') {
    const verdict = { ...brokenPolicyVerdict(present.faults, proposed.kind === 'policy'), ...proposal };
    return {
      kind: 'judged',
      pullRequest,
      verdict,
      comments: DEFAULT_COMMENTS,
      judgedBy: { pullRequest: pullRequestDigest(pullRequest), baseSha, ...present.sources },
      asksOthers: false,
      texts: present.texts,
      approvals: null,
      selfContained: false,
      ...(preview && { proposed: preview }),
    };
  }
  const needed = neededFacts(present.policy);
  if (needed.requestedReviews) {
    await onWillReadOthers?.();
  }
  const readChecks = async () => {
    await onWillReadOthers?.();
    return readOthersChecks(forge, pullRequest.repository, pullRequest.head.sha, statusContext);
  };
  const { policy } = present;
  const inForce = rulesInForce(policy);
  const facts = await gatherFacts(forge, threads, inForce, { pullRequest, known }, changedFiles, baseSha, readChecks);
  const evaluated = await threads.evaluate(inForce, facts);
  const ofAll = withObserved(policy, evaluated, []);
  const overrides = await readOverrides(forge, policy, pullRequest, ofAll, knownComments);
  const more = { forge, threads, given: known, baseSha, readChecks, mayRead: mayReadToObserve };
  const observed = await observe(policy, facts, more);
  const evaluation = withObserved(policy, evaluated, observed.rules);
  const overruled = overruledRules(baseline, beside, proposed, { repository, hidden });
  const verdict = { ...verdictOf(redacted(evaluation), overrides), ...(overruled && { overruled }), ...proposal };
  const codeOwners = codeOwnersText(facts.codeOwners);
  return {
    kind: 'judged',
    pullRequest,
    evaluation,
    ...(preview && { proposed: preview }),
    comments: policy.comments ?? DEFAULT_COMMENTS,
    selfContained:
      !proposes &&
      proposal.proposal === undefined &&
      !hidden &&
      present.sources.extendsName === undefined &&
      overrides === undefined &&
      needsOnlyFiles(policy),
    asksOthers: needed.checks || needed.requestedReviews,
    judgedBy: {
      pullRequest: pullRequestDigest(pullRequest),
      baseSha,
      ...present.sources,
      ...(codeOwners === undefined ? {} : { codeOwnersDigest: codeOwners.digest }),
      ...(needed.checks ? { checksDigest: checksDigest(observed.facts.checks) } : {}),
    },
    texts: codeOwners === undefined ? present.texts : [...present.texts, codeOwners],
    approvals: neededFacts(inForce).reviews ? currentApprovals(facts.reviews.reviews, pullRequest.author) : null,
    verdict: proposed.kind === 'broken' ? withProposedPolicyFaults(verdict, proposed.faults) : verdict,
  };
}
