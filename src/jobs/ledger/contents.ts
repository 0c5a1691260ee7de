import type pg from 'pg';
import type { Chain } from '../../audit/ledger/chains.ts';
import type { LedgerContent } from '../../audit/ledger/entry.ts';
import { type Judged, type MergedFacts, outcomeOf } from '../../audit/ledger/outcome.ts';
import { verdictsThen } from '../../audit/ledger/verdicts-then.ts';
import type { BranchCommit, BroughtBy } from '../../forges/port/branch-history.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import { statusContext } from '../../forges/port/status-context.ts';
import { type PolicyContext, policyInForce } from '../../review/policy/in-force.ts';
import { settlesAt } from '../tables/ledger.ts';
import { type Arrival, arrivalOf } from './arrival.ts';
import { type Arrived, makeAttribution } from './attribution.ts';
import { mergedContent } from './merged-content.ts';
import { type Attributed, pusherOf } from './walk.ts';

export interface ContentDeps extends PolicyContext {
  readonly pool: pg.Pool;
  /** The name of the commit status, `{base}` for the base branch. */
  readonly statusContext: string;
  readonly enforce: boolean;
  readonly ledgerSettleSeconds: number;
}

/** With each commit a request or two. Whoever pushes more at once gets `unknown` for the rest. */
const MAX_ASKED = 500;

type CommitContent = LedgerContent & { readonly kind: 'commit' };

/**
 * What the ledger says of each commit. Throws, to be tried again, while the forge may not know its pull request yet.
 */
export async function contentsOf(deps: ContentDeps, chain: Chain, moved: Arrived): Promise<readonly CommitContent[]> {
  const { branch, commits } = moved;
  const asked = commits.slice(-MAX_ASKED);
  const attribution = makeAttribution(deps.forge, chain, moved);
  const own = await attribution.attribute(asked);
  await settled(deps, chain, branch, own);
  const attributed = await attribution.withGoneLines(own);
  const judged = new Map<number, CommitContent['pullRequest'] & { readonly judged: Judged }>();
  const contents: CommitContent[] = commits
    .slice(0, -MAX_ASKED)
    .map((commit) => ({ ...plain(branch, commit), outcome: 'unknown', why: 'too many commits came at once' }));
  for (const one of attributed) {
    const { pullRequest } = one;
    if (pullRequest === undefined) {
      contents.push(withoutPullRequest(branch, one, moved.pushes));
      continue;
    }
    const arrival = arrivalOf(moved, one.commit.sha, pullRequest);
    if (arrival === undefined) {
      const { commit, method, base, push } = one;
      const direct = { commit, method, base, push, pullRequest: undefined };
      contents.push({
        ...withoutPullRequest(branch, direct, moved.pushes),
        why: `pull request ${pullRequest.number} had brought it before`,
      });
      continue;
    }
    const entry =
      judged.get(pullRequest.number) ?? (await judge(deps, chain, moved, one, { ...pullRequest, ...arrival }));
    judged.set(pullRequest.number, entry);
    const { judged: said, ...shown } = entry;
    const { outcome, why } = said;
    contents.push({
      ...plain(branch, one.commit),
      pushedBy: one.push?.pusher ?? null,
      outcome,
      why,
      pullRequest: shown,
    });
  }
  return contents;
}

function plain(branch: string, { sha, parents, committer }: BranchCommit) {
  return {
    kind: 'commit',
    branch,
    sha,
    parent: parents[0] ?? null,
    pullRequest: null,
    pushedBy: null,
    committer,
  } as const;
}

function withoutPullRequest(
  branch: string,
  { commit, push, unclear }: Attributed,
  pushes: Arrived['pushes'],
): CommitContent {
  const pushedBy = push?.pusher ?? null;
  return unclear === undefined
    ? { ...plain(branch, commit), pushedBy: pushedBy ?? pusherOf(pushes, commit.sha), outcome: 'direct', why: null }
    : { ...plain(branch, commit), pushedBy, outcome: 'unknown', why: unclear };
}

/** A forge may name the pull request of a commit some moments after the push. */
async function settled(
  { pool, ledgerSettleSeconds }: ContentDeps,
  chain: Chain,
  branch: string,
  attributed: readonly Attributed[],
): Promise<void> {
  const newest = attributed.findLast(({ pullRequest }) => pullRequest === undefined);
  if (newest === undefined) {
    return;
  }
  const retryAt = await settlesAt(pool, chain.chain, branch, newest.commit.sha, ledgerSettleSeconds);
  if (retryAt !== undefined) {
    const message = `${chain.repository}: a commit on ${branch} may get its pull request yet`;
    throw new ForgeError('unavailable', message, { retryAt });
  }
}

async function judge(
  deps: ContentDeps,
  chain: Chain,
  { branch, commits }: Arrived,
  { base, method }: Attributed,
  pullRequest: BroughtBy & Arrival,
): Promise<NonNullable<CommitContent['pullRequest']> & { readonly judged: Judged }> {
  const { number, author, head, mergedBy, mergedAt, byQueue, at, isPushed } = pullRequest;
  const shown = { number, author, head: head ?? null, mergedBy: mergedBy ?? null, mergedAt };
  if (head === undefined) {
    const why = 'the forge no longer has the head that was merged';
    return { ...shown, method, verdict: null, judged: { outcome: 'unknown', why, verdict: null } };
  }
  const { isQueue, ...then } = await verdictsThen(deps.pool, chain, {
    number,
    head,
    branch,
    at,
    byQueue,
    isPushed,
    mergeCommit: pullRequest.mergeCommit,
    groups: commits.map(({ sha }) => sha),
    context: statusContext(deps.statusContext, branch),
  });
  const facts = await factsOf(deps, chain, base, at, then.before === undefined && then.around.length === 0);
  const judged = await withContent(deps, chain, commits, { base, head, pullRequest }, outcomeOf(then, facts));
  return { ...shown, method: isQueue ? 'queue' : method, verdict: judged.verdict, judged };
}

/** A verdict is about the head of a pull request: whoever may push can push a merge of it that has more. */
async function withContent(
  { forge }: ContentDeps,
  { repository }: Chain,
  commits: readonly BranchCommit[],
  {
    base,
    head,
    pullRequest,
  }: { readonly base: string | undefined; readonly head: string; readonly pullRequest: BroughtBy },
  judged: Judged,
): Promise<Judged> {
  const { number, mergeCommit: commit } = pullRequest;
  if (!EARNED.has(judged.outcome) || commit === undefined || commit === head) {
    return judged;
  }
  const content = base === undefined ? 'undecided' : await mergedContent(forge, repository, { base, head, commit });
  if (content === 'other') {
    const why = `the commit has changes that pull request ${number} does not have`;
    return { ...judged, outcome: 'bypassed', why };
  }
  return content === 'same' || commits.some((one) => one.sha === commit && isSquashByForge(one))
    ? judged
    : { ...judged, outcome: 'unknown', why: `it cannot be told whether the commit has only pull request ${number}` };
}

/**
 * The forge alone makes a pull request another commit than a merge. A merge commit that it has signed proves nothing:
 * it signs what people decide on its pages where both sides changed the same lines.
 */
function isSquashByForge({ parents, byForge }: BranchCommit): boolean {
  return byForge && parents.length === 1;
}

const EARNED: ReadonlySet<Judged['outcome']> = new Set(['passed', 'overridden']);

const UNASKED: MergedFacts = { policy: undefined, enforce: true, watched: true };

/** Asked only where there is no verdict: the policy is read at the commit that the pull request was merged into. */
async function factsOf(
  deps: ContentDeps,
  { repository, forgottenAt }: Chain,
  base: string | undefined,
  mergedAt: string,
  isAsked: boolean,
): Promise<MergedFacts> {
  if (!isAsked) {
    return UNASKED;
  }
  const watched = forgottenAt === null || Date.parse(mergedAt) < forgottenAt.getTime();
  const { policy, own } = await policyInForce(deps, { repository, commit: base, shown: false });
  const isSure = own.kind !== 'absent' || !(await hasOtherBaseline(deps.pool, repository, mergedAt));
  return {
    policy: isSure ? (policy.kind === 'absent' ? 'absent' : 'present') : undefined,
    enforce: deps.enforce,
    watched,
  };
}

/** Whether the baseline of the owner has changed since. */
async function hasOtherBaseline(pool: pg.Pool, repository: string, since: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    `SELECT FROM gatehouse.baselines
      WHERE split_part(repository, '/', 1) = lower(split_part($1, '/', 1)) AND changed_at > $2`,
    [repository, since],
  );
  return rowCount !== 0;
}
