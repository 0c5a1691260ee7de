import type { MergeMethod } from '../../audit/ledger/entry.ts';
import type { BranchCommit, BroughtBy } from '../../forges/port/branch-history.ts';
import type { SeenPush } from '../tables/ledger.ts';

export interface Walk {
  /** The first-parent commits that are new on the branch, oldest first. */
  readonly commits: readonly BranchCommit[];
  /** Whether the branch no longer has all that it had. */
  readonly rewritten: boolean;
}

/** From the commit that is known to the tip. `listed`: all that the tip has and the known commit has not. */
export function walkBranch(listed: readonly BranchCommit[], known: string, tip: string): Walk {
  const bySha = new Map(listed.map((commit) => [commit.sha, commit]));
  return {
    commits: firstParents(bySha, tip).toReversed(),
    rewritten: tip !== known && !listed.some(({ parents }) => parents.includes(known)),
  };
}

/** Newest first, as far as they are listed. */
export function firstParents(bySha: ReadonlyMap<string, BranchCommit>, tip: string): readonly BranchCommit[] {
  const found: BranchCommit[] = [];
  for (let next = bySha.get(tip); next !== undefined; next = bySha.get(next.parents[0] ?? '')) {
    found.push(next);
  }
  return found;
}

export interface Attributed {
  readonly commit: BranchCommit;
  /** Undefined: none brought it, or it is not known which. */
  readonly pullRequest: BroughtBy | undefined;
  readonly method: Exclude<MergeMethod, 'queue'>;
  /** The first parent of the oldest commit that came with the same pull request. */
  readonly base: string | undefined;
  /** Whose push it came with, if a webhook told. */
  readonly push: SeenPush | undefined;
  /** Why it is not known whether a pull request brought it. */
  readonly unclear?: string;
}

export interface AttributionFacts {
  readonly branch: string;
  /** The commit that the branch had before. */
  readonly known: string;
  /** What the forge says of each commit. */
  readonly brought: ReadonlyMap<string, readonly BroughtBy[]>;
  /** Whether the forge names the pull request of every commit, or only of the one that it became. */
  readonly namesEvery: boolean;
  readonly pushes: readonly SeenPush[];
  /** The commits that a pull request itself has, where that matters. */
  readonly ownCommits: ReadonlyMap<number, readonly OwnCommit[]>;
}

/** A commit of a pull request. A rebase makes another one of it, with the same message. */
export interface OwnCommit {
  readonly sha: string;
  readonly message: string;
}

/** Whether the commits of a pull request have to be known: the forge does not name it for the others. */
export function needsCommits(of: BroughtBy, { parents, sha }: BranchCommit): boolean {
  return of.mergeCommit === sha && (parents.length === 1 || of.head === sha);
}

interface Run {
  readonly pullRequest: BroughtBy;
  readonly isHead: boolean;
  readonly ownCommits: readonly OwnCommit[];
  readonly push: SeenPush | undefined;
  /** How many more commits it may have. */
  left: number;
}

/**
 * Which pull request brought each commit. One counts if it was merged into this branch and became a commit of it. The
 * commits before that one are its own if the forge says so, or if the webhook of the push shows that they came with it,
 * and the pull request has as many.
 */
export function attribute(commits: readonly BranchCommit[], parts: AttributionFacts): readonly Attributed[] {
  const pushOf = pushFinder(commits, parts);
  const found: Attributed[] = [];
  let run: Run | undefined;
  for (const commit of commits.toReversed()) {
    const push = pushOf(commit.sha);
    const named = (parts.brought.get(commit.sha) ?? []).filter(({ baseBranch }) => baseBranch === parts.branch);
    const own = broughtOf(commit, named);
    const base = commit.parents[0];
    if (own !== undefined) {
      const isHead = own.head === commit.sha;
      const isMerge = commit.parents.length > 1 && !isHead;
      const ownCommits = parts.ownCommits.get(own.number) ?? [];
      run = isMerge ? undefined : { pullRequest: own, isHead, ownCommits, push, left: ownCommits.length - 1 };
      const method = isMerge ? 'merge' : isHead ? 'fast-forward' : 'squash';
      found.push({ commit, pullRequest: own, method, base, push });
      continue;
    }
    const belongs = run === undefined ? 'no' : belongsTo(run, commit, named, push, parts.namesEvery);
    if (run !== undefined && belongs !== 'no') {
      run.left -= 1;
      const { pullRequest, isHead } = run;
      const method = isHead ? 'fast-forward' : 'rebase';
      const unclear = `it may have come with pull request ${pullRequest.number}: the webhook of the push is missing`;
      found.push(
        belongs === 'yes'
          ? { commit, pullRequest, method, base, push }
          : { commit, pullRequest: undefined, method, base, push, unclear },
      );
      continue;
    }
    run = undefined;
    const [other] = named;
    const unclear =
      other === undefined ? undefined : `the forge names pull request ${other.number}, which became another commit`;
    found.push({ commit, pullRequest: undefined, method: 'merge', base, push, ...(unclear && { unclear }) });
  }
  return withBases(found.toReversed());
}

/**
 * A forge may name several that became one commit: a merge brings what the pull request was stacked on, too. The one
 * whose head was merged is meant.
 */
function broughtOf({ sha, parents }: BranchCommit, named: readonly BroughtBy[]): BroughtBy | undefined {
  const became = named.filter(({ mergeCommit }) => mergeCommit === sha);
  return became.find(({ head }) => head !== undefined && (head === sha || parents.includes(head))) ?? became[0];
}

function belongsTo(
  { pullRequest, isHead, ownCommits, push: ofRun, left }: Run,
  { sha, message }: BranchCommit,
  named: readonly BroughtBy[],
  push: SeenPush | undefined,
  namesEvery: boolean,
): 'yes' | 'no' | 'unclear' {
  if (named.some(({ number }) => number === pullRequest.number)) {
    return 'yes';
  }
  if (namesEvery || named.length > 0 || left <= 0) {
    return 'no';
  }
  if (isHead) {
    return ownCommits.some((own) => own.sha === sha) ? 'yes' : 'no';
  }
  if (ofRun === undefined) {
    const isLike = ownCommits.some((own) => words(own.message) === words(message));
    return push === undefined && isLike ? 'unclear' : 'no';
  }
  return push === ofRun && ofRun.after === pullRequest.mergeCommit ? 'yes' : 'no';
}

/** Git and forges may change white space. */
const words = (message: string): string => message.split(/\s+/).join(' ').trim();

/**
 * A pull request is judged at the base that all its commits were put on. Several commits of one that is no merge are a
 * rebase.
 */
function withBases(attributed: readonly Attributed[]): readonly Attributed[] {
  return attributed.map((one) => {
    const { pullRequest, method } = one;
    const same =
      pullRequest === undefined
        ? [one]
        : attributed.filter((other) => other.pullRequest?.number === pullRequest.number);
    const isRebase = method === 'squash' && same.length > 1;
    return { ...one, base: same[0]?.base, method: isRebase ? 'rebase' : method };
  });
}

/** The push that a commit came with: the narrowest one whose both ends are known. */
function pushFinder(commits: readonly BranchCommit[], { known, pushes }: AttributionFacts) {
  const indices = new Map([[known, -1], ...commits.map(({ sha }, index) => [sha, index] as const)]);
  const ranges = pushes.flatMap((push) => {
    const [from, to] = [indices.get(push.before), indices.get(push.after)];
    return from === undefined || to === undefined || from >= to ? [] : [{ push, from, to }];
  });
  return (sha: string): SeenPush | undefined => {
    const at = indices.get(sha) ?? -1;
    return ranges.filter(({ from, to }) => from < at && at <= to).toSorted((a, b) => a.to - a.from - (b.to - b.from))[0]
      ?.push;
  };
}

/** Who put the branch at a commit last, if a webhook told: by force, too. */
export function pusherOf(pushes: readonly SeenPush[], tip: string): string | null {
  return pushes.findLast(({ after }) => after === tip)?.pusher ?? null;
}
