import type { Chain } from '../../audit/ledger/chains.ts';
import type { BranchCommit, BroughtBy } from '../../forges/port/branch-history.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { ReceivedPush } from '../tables/ledger.ts';
import { SKEW_MS } from './arrival.ts';
import { type Attributed, attribute, firstParents, needsCommits, type OwnCommit } from './walk.ts';

/** What is new on a branch. */
export interface Arrived {
  readonly branch: string;
  /** The commit that it had before. */
  readonly known: string;
  /** When that was read. */
  readonly knownAt: Date;
  /** Oldest first. */
  readonly commits: readonly BranchCommit[];
  readonly pushes: readonly ReceivedPush[];
  /** Tips that it had meanwhile, and that a force-push took away. */
  readonly goneTips: readonly string[];
}

/** What the forge was asked for, once for each commit. */
export interface Attribution {
  /** By the commits of a line alone. */
  attribute(line: readonly BranchCommit[]): Promise<readonly Attributed[]>;
  /**
   * The same, where a force-push took away what came after them: a rebase whose last commit is gone has left the
   * others, and only its last one leads to the pull request.
   */
  withGoneLines(attributed: readonly Attributed[]): Promise<readonly Attributed[]>;
}

/** Tips that are gone, and commits of each: one request for each of them. */
const MAX_GONE_TIPS = 20;
const MAX_GONE_COMMITS = 100;
/** Merged pull requests among which one may be that a force-push took away. */
const LAST_MERGED = 50;

export function makeAttribution(
  forge: Forge,
  { chain: id, repository }: Pick<Chain, 'chain' | 'repository'>,
  arrived: Omit<Arrived, 'commits'>,
): Attribution {
  const { branch, known, knownAt, pushes, goneTips } = arrived;
  const { namesEvery } = forge.history;
  const brought = new Map<string, readonly BroughtBy[]>();
  const ownCommits = new Map<number, readonly OwnCommit[]>();

  async function attributeLine(line: readonly BranchCommit[]): Promise<readonly Attributed[]> {
    for (const commit of line.filter(({ sha }) => !brought.has(sha))) {
      const found = await forge.history.broughtBy({ id, name: repository }, commit.sha);
      brought.set(commit.sha, found);
      for (const { number } of namesEvery ? [] : found.filter((by) => needsCommits(by, commit))) {
        ownCommits.set(number, await commitsOf(forge, repository, number));
      }
    }
    return attribute(line, { branch, known, brought, pushes, ownCommits, namesEvery });
  }

  /** The merge commits of pull requests that are not in the line. */
  async function mergesElsewhere(attributed: readonly Attributed[]): Promise<readonly string[]> {
    const named = attributed
      .flatMap(({ commit: { sha } }) => brought.get(sha) ?? [])
      .filter(({ baseBranch }) => baseBranch === branch)
      .flatMap(({ mergeCommit }) => mergeCommit ?? []);
    const isUncertain = attributed.some(({ pullRequest, push }) => pullRequest === undefined && push === undefined);
    return namesEvery || !isUncertain ? named : [...named, ...(await lastMerges())];
  }

  /** Since the known commit was read. */
  async function lastMerges(): Promise<readonly string[]> {
    const list = await forge.merged.list(repository, LAST_MERGED);
    return (list?.merged ?? [])
      .filter(({ mergedAt }) => Date.parse(mergedAt) >= knownAt.getTime() - SKEW_MS)
      .filter(({ pullRequest }) => pullRequest.base.branch === branch)
      .flatMap(({ mergeCommit }) => mergeCommit ?? []);
  }

  return {
    attribute: attributeLine,
    async withGoneLines(attributed) {
      if (attributed.every(({ pullRequest }) => pullRequest !== undefined)) {
        return attributed;
      }
      const line = new Set([known, ...attributed.map(({ commit: { sha } }) => sha)]);
      const tips = new Set([...goneTips, ...(await mergesElsewhere(attributed))].filter((sha) => !line.has(sha)));
      let found = attributed;
      for (const tip of [...tips].slice(0, MAX_GONE_TIPS)) {
        const listed = await listSince(forge, repository, known, tip);
        const gone = firstParents(new Map((listed ?? []).map((commit) => [commit.sha, commit])), tip).toReversed();
        if (gone.some(({ sha }) => line.has(sha))) {
          const other = new Map(
            (await attributeLine(gone.slice(-MAX_GONE_COMMITS))).map((one) => [one.commit.sha, one]),
          );
          found = found.map((one) => clearer(one, other.get(one.commit.sha)));
        }
      }
      return found;
    },
  };
}

/** What is known of a commit by two lines that it is in. */
function clearer(one: Attributed, other: Attributed | undefined): Attributed {
  if (one.pullRequest !== undefined || other === undefined) {
    return one;
  }
  return other.pullRequest !== undefined || (other.unclear !== undefined && one.push === undefined)
    ? other
    : { ...one, push: one.push ?? other.push };
}

/** {@link Forge.history}; undefined as well where the forge calls a commit invalid that it no longer has. */
export async function listSince(
  { history }: Forge,
  repository: string,
  base: string,
  head: string,
): Promise<readonly BranchCommit[] | undefined> {
  try {
    return await history.since(repository, base, head);
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'invalid') {
      return undefined;
    }
    throw error;
  }
}

async function commitsOf(forge: Forge, repository: string, number: number): Promise<readonly OwnCommit[]> {
  try {
    return await forge.commits({ repository, number });
  } catch (error) {
    if (error instanceof ForgeError && error.status === 404) {
      return [];
    }
    throw error;
  }
}
