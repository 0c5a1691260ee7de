import { authorsOf } from '../facts/authors/authors.ts';
import type { Makers } from '../facts/authors/makers.ts';
import { operatorsPeople } from '../facts/authors/people-settings.ts';
import { gatherFacts, type Sources } from '../facts/gather.ts';
import { type FactName, type Facts, type Needs, unreadFacts } from '../facts/table.ts';
import { announcedFacts } from '../facts/webhooks.ts';
import { mayWrite } from '../facts/writers.ts';
import type {
  ChangedFiles,
  PullRequest,
  PullRequestNow,
  PullRequestRead,
  PullRequestRef,
  WriteAccess,
} from '../forges/port/pull-request.ts';
import type { Evaluation } from './evaluation/evaluation.ts';
import { readToObserve, rulesInForce } from './evaluation/observe.ts';
import { redacted } from './evaluation/redact.ts';
import { isCurrent } from './inputs.ts';
import type { RecordedComments } from './overrides/judge-overrides.ts';
import type { Overrides } from './overrides/override.ts';
import { readOverrides } from './overrides/read-overrides.ts';
import { type Comments, DEFAULT_COMMENTS } from './policy/comments.ts';
import type { Fault } from './policy/faults.ts';
import type { PolicyContext } from './policy/in-force.ts';
import type { LoadedPolicy, PolicyFile } from './policy/load.ts';
import { neededFacts, needsOnlyFiles } from './policy/needs.ts';
import { orProposed } from './policy/operator-policy.ts';
import { CASES_PATH, changesPolicy, misnamedBy, pathsAtBase } from './policy/paths.ts';
import type { Policy } from './policy/policy.ts';
import { readProposedPolicy } from './policy/proposed.ts';
import { type CurrentApproval, currentApprovals } from './predicates/current-approvals.ts';
import { hasCases, type RuleSources, type Rules, rulesOf } from './rules-of.ts';
import type { SourceText } from './sources.ts';
import { brokenPolicyVerdict, type Verdict, verdictOf, withProposedPolicyFaults } from './verdict.ts';
import type { ReviewWorkers } from './workers/review-workers.ts';

/** A review that came to its end. */
export type Concluded =
  /** No policy applies. */
  | { readonly kind: 'no-policy'; readonly pullRequest: PullRequestNow; readonly rules: RuleSources }
  | {
      readonly kind: 'judged';
      readonly pullRequest: PullRequestNow;
      readonly verdict: Verdict;
      readonly comments: Comments;
      readonly rules: RuleSources;
      /** What the digests in `rules` are of. */
      readonly texts: readonly SourceText[];
      /** The facts that rules ask for, where a webhook tells that they changed. */
      readonly asks: readonly FactName[];
      /** Absent: it does not matter who pushed. */
      readonly pushes?: UnseenPushes;
      /** Null when no rule in force asks for reviews. */
      readonly approvals: readonly CurrentApproval[] | null;
      /** Absent when the policy could not be used. */
      readonly evaluation?: Evaluation;
      /** Whether nothing was read for it but the rules, the pull request and its difference. */
      readonly isFixed: boolean;
    };

/** The result of reviewing a pull request. */
export type ReviewResult =
  /** It does not exist, or is closed: there is nothing to review. */
  | { readonly kind: 'over' }
  /** Its repository can only be read, until it is unarchived. */
  | { readonly kind: 'archived'; readonly pullRequest: PullRequest }
  | Concluded;

/** Stored as JSON with the verdict: a webhook may still tell who pushed. */
export interface UnseenPushes {
  /** Ids of commits whose push was not seen. */
  readonly unseen: readonly string[];
  /** Where they are pushed to, as in PullRequest. */
  readonly to: string | null;
}

/** How often a pull request is judged at most, when it changes meanwhile. */
const MAX_ATTEMPTS = 3;

/** What pull requests are judged with. */
export interface JudgeContext extends PolicyContext {
  readonly workers: ReviewWorkers;
  /** The name of the commit status, `{base}` for the base branch. */
  readonly statusContext: string;
  /** Read instead of the policy of the base branch. Never that of the setting POLICY_FILE, which is `fallback`. */
  readonly replacementPolicy?: PolicyFile | undefined;
  /** Called as soon as it is known that there will be a verdict, by a policy in force or of one that is proposed. */
  readonly onWillJudge?: (pullRequest: PullRequest, policy: 'in-force' | 'proposed') => Promise<void>;
  /** Called before facts are read of which webhooks are sent, and only if the policy asks for some. */
  readonly onWillAsk?: (facts: readonly FactName[]) => Promise<void>;
  /**
   * What webhooks have recorded of comments with commands to override, beside what the forge says. Called after they
   * were read, and only if there may be some.
   */
  readonly recordedComments: (repository: string, commentIds: readonly string[]) => Promise<RecordedComments>;
  /** Absent: it is not known who pushed, nor who made commits that a force-push has taken away. */
  readonly makers?: Makers;
  /** Whether what only observed rules need is read. Absent: yes. */
  readonly observes?: boolean;
}

/**
 * Judges the present state of a pull request by the policy of its base branch. Should it change meanwhile,
 * what was read may be of two states at once, so it is read again; what changes after the last check
 * starts a review of its own.
 */
export async function judge(context: JudgeContext, ref: PullRequestRef): Promise<ReviewResult> {
  let result = await readAndJudge(context, ref);
  for (let attempt = 1; attempt < MAX_ATTEMPTS && result.kind === 'judged'; attempt++) {
    if (await isCurrent(context, result)) {
      break;
    }
    result = await readAndJudge(context, ref);
  }
  return result;
}

/** Reads a pull request and judges it once. What it read may be of two states: {@link isCurrent} checks that. */
export async function readAndJudge(context: JudgeContext, ref: PullRequestRef): Promise<ReviewResult> {
  const read = await context.forge.pullRequestWithFacts(ref, pathsAtBase(context.forge.name));
  if (read?.pullRequest.state !== 'open') {
    return { kind: 'over' };
  }
  const { pullRequest } = read;
  const { repository, baseCommit: commit, archived } = pullRequest;
  if (archived) {
    return { kind: 'archived', pullRequest };
  }
  // Without its base branch there is nothing to merge into.
  return commit === undefined
    ? { kind: 'over' }
    : judgeBy(context, read, await rulesOf(context, { repository, commit, file: context.replacementPolicy }));
}

/** Judges it by these rules: {@link readChange}, {@link readFacts}, the evaluation, the overrides, {@link conclude}. */
export async function judgeBy(
  context: JudgeContext,
  { pullRequest, preloaded }: Pick<PullRequestRead, 'pullRequest' | 'preloaded'>,
  rules: Rules,
): Promise<Concluded> {
  const { forge } = context;
  const subject: Subject = { pullRequest, preloaded, writeAccess: forge.writeAccess(pullRequest.repository) };
  if (rules.policy.kind !== 'absent') {
    // Before the changed files, which may take long to read: the present status may be of another pull request.
    await context.onWillJudge?.(pullRequest, 'in-force');
  }
  const change = await readChange(context, subject, rules);
  let casesAtBase: boolean | undefined;
  const misnamed = await misnamedBy(change.changedFiles, async (meant) => {
    if (meant !== CASES_PATH) {
      return rules.own.kind !== 'absent';
    }
    casesAtBase = await hasCases(forge, pullRequest.repository, rules.sources.baseSha);
    return casesAtBase;
  });
  const policy = orProposed(rules.policy, pullRequest, change.proposesPolicy || misnamed.length > 0);
  if (policy.kind === 'absent') {
    return { kind: 'no-policy', pullRequest, rules: rules.sources };
  }
  if (rules.policy.kind === 'absent') {
    await context.onWillJudge?.(pullRequest, 'proposed');
  }
  const proposed: LoadedPolicy = change.proposesPolicy
    ? await readProposedPolicy(context, pullRequest, rules)
    : { kind: 'absent' };
  const result =
    policy.kind === 'broken'
      ? notJudged(subject, policy.faults, rules, proposed)
      : await judgeByPolicy(context, subject, { ...rules, policy: policy.policy }, change, proposed);
  const verdict = withProposedPolicyFaults(result.verdict, misnamed);
  return casesAtBase === undefined
    ? { ...result, verdict }
    : { ...result, verdict, rules: { ...result.rules, casesAtBase }, isFixed: false };
}

/** Rules that can be used. */
type UsableRules = Omit<Rules, 'policy'> & { readonly policy: Policy };

/** The steps that need a policy that can be used. */
async function judgeByPolicy(
  context: JudgeContext,
  subject: Subject,
  rules: UsableRules,
  { changedFiles }: Change,
  proposed: LoadedPolicy,
): Promise<JudgedResult> {
  const { policy } = rules;
  const facts = await readFacts(context, subject, rules, changedFiles);
  const { observes = true } = context;
  const observed = observes ? await readToObserve(policy, facts, sourcesOf(context, subject, rules)) : facts;
  const evaluation = await context.workers.evaluate(policy, facts, observed);
  const overrides = await readOverridesNow(context, subject, policy, evaluation);
  return conclude(subject, rules, proposed, { facts, evaluation, overrides });
}

/** What a pull request changes. */
interface Change {
  readonly changedFiles: ChangedFiles;
  readonly proposesPolicy: boolean;
}

/** The pull request that is judged, as it was read. */
interface Subject extends Pick<PullRequestRead, 'pullRequest' | 'preloaded'> {
  readonly writeAccess: WriteAccess;
}

type JudgedResult = Extract<ReviewResult, { kind: 'judged' }>;

/** Step 1, the change. Its files are read, unless they came with the pull request and no rule looks at their lines. */
export async function readChange(
  { forge }: Pick<JudgeContext, 'forge'>,
  { pullRequest, preloaded }: Subject,
  { policy }: Pick<Rules, 'policy'>,
): Promise<Change> {
  const needsLines =
    policy.kind === 'policy' && neededFacts(rulesInForce(policy.policy)).changedFiles?.includes('lines') === true;
  const changedFiles =
    (needsLines ? undefined : preloaded.changedFiles) ??
    (await forge.changedFiles(pullRequest, pullRequest.head.sha, pullRequest.changedFileCount));
  return { changedFiles, proposesPolicy: changesPolicy(changedFiles) };
}

/** What facts are read with. */
type FactsContext = Pick<JudgeContext, 'forge' | 'workers' | 'statusContext' | 'onWillAsk' | 'makers'>;

function sourcesOf(
  { forge, workers, statusContext, makers }: FactsContext,
  { preloaded, writeAccess }: Subject,
  { sources: { baseSha }, policy: { authorTrailers } }: Pick<UsableRules, 'sources' | 'policy'>,
): Sources {
  const { ownerTeams } = workers;
  return { forge, statusContext, baseSha, preloaded, authorTrailers, makers, writeAccess, ownerTeams };
}

/** Step 2, the facts: what the rules in force need, and no more. */
export async function readFacts(
  context: FactsContext,
  subject: Subject,
  rules: Pick<UsableRules, 'sources' | 'policy'>,
  changedFiles: ChangedFiles,
): Promise<Facts> {
  const needed = neededFacts(rulesInForce(rules.policy));
  const asks = announcedFacts(needed);
  if (asks.length > 0) {
    await context.onWillAsk?.(asks);
  }
  const people = operatorsPeople(context.forge);
  const before = { ...unreadFacts(subject.pullRequest), changedFiles, people };
  return gatherFacts(sourcesOf(context, subject, rules), needed, before);
}

/** Step 3, the overrides. Undefined when the policy lets nobody override. */
function readOverridesNow(
  { forge, recordedComments, makers }: Pick<JudgeContext, 'forge' | 'recordedComments' | 'makers'>,
  { pullRequest, preloaded, writeAccess }: Subject,
  policy: Policy,
  evaluation: Evaluation,
): Promise<Overrides | undefined> {
  return readOverrides(forge, policy, pullRequest, evaluation, recordedComments, { preloaded, makers, writeAccess });
}

interface Findings {
  /** What the rules in force needed. */
  readonly facts: Facts;
  readonly evaluation: Evaluation;
  readonly overrides: Overrides | undefined;
}

/** Step 4, the verdict, and what it was judged by. */
export function conclude(
  { pullRequest }: Pick<Subject, 'pullRequest'>,
  { policy, sources, texts }: Pick<UsableRules, 'policy' | 'sources' | 'texts'>,
  proposed: LoadedPolicy,
  { facts, evaluation, overrides }: Findings,
): JudgedResult {
  const needed = neededFacts(rulesInForce(policy));
  const verdict = { ...verdictOf(redacted(evaluation), overrides), ...unseenIn(needed, facts) };
  return {
    kind: 'judged',
    pullRequest,
    evaluation,
    comments: policy.comments ?? DEFAULT_COMMENTS,
    rules: sources,
    texts,
    asks: announcedFacts(needed),
    ...(needed.commits?.includes('authors') && {
      pushes: { unseen: unseenPushes(facts.commits), to: pullRequest.head.repository },
    }),
    approvals: needed.reviews === undefined ? null : approvalsNow(facts),
    isFixed: proposed.kind === 'absent' && overrides === undefined && needsOnlyFiles(policy),
    verdict: proposed.kind === 'broken' ? withProposedPolicyFaults(verdict, proposed.faults) : verdict,
  };
}

/** With whether their authors may write, where it was asked. */
function approvalsNow({ reviews, pullRequest, writers }: Facts): readonly CurrentApproval[] {
  return currentApprovals(reviews.reviews, pullRequest.author).map((approval) => ({
    ...approval,
    mayWrite: approval.mayWrite === 'unknown' ? mayWrite(writers, approval.author) : approval.mayWrite,
  }));
}

function unseenIn({ commits: asked }: Needs, { commits, people, merges }: Facts): Pick<Verdict, 'unseenPushes'> {
  return asked?.includes('authors') ? { unseenPushes: authorsOf(commits, people, merges.clean).unseen } : {};
}

/** The newest of them. */
const MAX_UNSEEN = 1_000;

function unseenPushes({ commits, pushers }: Facts['commits']): readonly string[] {
  const unseen = commits.flatMap(({ sha }) => (pushers?.has(sha) ? [] : [sha]));
  return unseen.slice(-MAX_UNSEEN);
}

/** The policy of the base branch cannot be used: the verdict is an error. */
function notJudged(
  { pullRequest }: Subject,
  faults: readonly Fault[],
  { sources, texts }: Rules,
  proposed: LoadedPolicy,
): JudgedResult {
  return {
    kind: 'judged',
    pullRequest,
    verdict: brokenPolicyVerdict(faults, proposed.kind === 'policy'),
    comments: DEFAULT_COMMENTS,
    rules: sources,
    texts,
    asks: [],
    approvals: null,
    isFixed: false,
  };
}
