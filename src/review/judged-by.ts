import { hash } from 'node:crypto';
import { canonicalJson } from '../common/canonical-json.ts';
import { readCodeOwners } from '../facts/code-owners.ts';
import { type JudgedFacts, type PresentFacts, presentFacts } from '../facts/compare.ts';
import { type FactName, isFactName } from '../facts/table.ts';
import type { Forge } from '../forges/port/forge.ts';
import type { PullRequestNow, RepositoryNow } from '../forges/port/pull-request.ts';
import { type BaselineOf, digestOfBaseline } from './policy/baseline.ts';
import { extendedDigest, type IsMeant, policyDigest } from './policy/load.ts';
import { operatorPolicyDigest } from './policy/operator-policy.ts';
import type { Policy } from './policy/policy.ts';
import { codeOwnersText, type PolicySources } from './sources.ts';

/**
 * By what a verdict was judged, as SHA-256 digests in hexadecimal: when one of them changes, the pull request must be
 * judged again. Stored as JSON with the verdict. Absent is what there was not, or what was not needed.
 */
export interface JudgedBy extends PolicySources {
  /** {@link JUDGED_BY_FORMAT} when it was stored. */
  readonly format: number;
  /** The digest of everything in the pull request that a verdict can depend on. */
  readonly pullRequest: string;
  /** The base branch's commit at which the policy and CODEOWNERS were read. */
  readonly baseSha: string;
  readonly codeOwnersDigest?: string;
  /** Facts that nothing else shows a change of. One that no rule asks for is not here. */
  readonly facts: JudgedFacts;
  /** The digest of the operator's machine accounts. Absent: it does not matter who is one. */
  readonly machineAccountsDigest?: string;
  /** Ids of commits whose push was not seen. Absent: it does not matter who pushed. */
  readonly unseenPushes?: readonly string[];
  /** Where it is pushed to, as in PullRequest: beside `unseenPushes`. */
  readonly headRepository?: string | null;
  /** Present where nothing else decides the verdict: then a pull request that is as it was is not judged again. */
  readonly alone?: Alone;
}

export interface Alone {
  /** The commit that the difference is computed from. */
  readonly differenceBase: string;
  /** {@link gatehouseDigest} */
  readonly gatehouse: string;
  /** The digest of the comments that the verdict left on the pull request, see posted-comments.ts. */
  readonly comments: string;
}

/** What is so now, of one pull request, read when it is asked for. What is absent is not compared. */
export interface Present {
  readonly pullRequest?: PullRequestNow;
  /** The base branch's commit; undefined: there is no such branch. */
  readonly baseCommit: () => Promise<string | undefined>;
  /** Absent: another commit of the base branch is a difference, whatever it contains. */
  readonly atBase?: {
    readonly policy: (commit: string) => Promise<string | undefined>;
    readonly codeOwners: (commit: string) => Promise<string | undefined>;
  };
  readonly operatorPolicy: string | undefined;
  readonly machineAccounts: string;
  readonly extended?: (name: string) => Promise<string | undefined>;
  /** The digest of a fact. */
  readonly fact?: (name: FactName, parts: readonly string[]) => Promise<string>;
  readonly baseline: () => Promise<string | undefined>;
  readonly gatehouse?: string;
}

/** Raised when what is stored changes: a verdict that was judged by another shape of this is judged again. */
export const JUDGED_BY_FORMAT = 3;

type Differs = (judged: JudgedBy, now: Present) => boolean | Promise<boolean>;

/**
 * In the order in which they are compared: what costs no request first, and the baseline last, which concerns all of an
 * owner.
 */
const COMPARISONS = {
  format: ({ format }) => format !== JUDGED_BY_FORMAT,
  'pull request': ({ pullRequest }, now) =>
    now.pullRequest !== undefined && pullRequestDigest(now.pullRequest) !== pullRequest,
  gatehouse: ({ alone }, now) =>
    now.gatehouse !== undefined &&
    (now.gatehouse !== alone?.gatehouse || now.pullRequest?.differenceBase !== alone.differenceBase),
  // Where a repository has a policy of its own, the operator's does not matter.
  'operator’s policy': ({ policyDigest: own, operatorPolicyDigest: operators }, now) =>
    own === undefined && operators !== now.operatorPolicy,
  'machine accounts': ({ machineAccountsDigest: machines }, now) =>
    machines !== undefined && machines !== now.machineAccounts,
  'base branch': async ({ baseSha }, now) => {
    const commit = await now.baseCommit();
    return commit === undefined || (commit !== baseSha && now.atBase === undefined);
  },
  // A base branch that moved did so mostly for another pull request that was merged: what counts is whether the rules
  // did.
  policy: ({ baseSha, policyDigest: own }, now) =>
    differsAt(now, baseSha, async (commit) => (await now.atBase?.policy(commit)) !== own),
  CODEOWNERS: ({ baseSha, codeOwnersDigest: owners }, now) =>
    owners !== undefined &&
    differsAt(now, baseSha, async (commit) => (await now.atBase?.codeOwners(commit)) !== owners),
  'extended policy': async ({ extendsName, extendsDigest }, now) =>
    extendsName !== undefined && now.extended !== undefined && (await now.extended(extendsName)) !== extendsDigest,
  facts: async ({ facts }, { fact }) => {
    for (const [name, { digest, parts }] of Object.entries(facts)) {
      if (fact !== undefined && (!isFactName(name) || (await fact(name, parts)) !== digest)) {
        return true;
      }
    }
    return false;
  },
  baseline: async ({ baselineDigest }, now) => (await now.baseline()) !== baselineDigest,
} satisfies Readonly<Record<string, Differs>>;

export type Difference = keyof typeof COMPARISONS;

/** What differs between then and now; undefined: nothing does. Everything after it is not read. */
export async function firstDifference(judged: JudgedBy, now: Present): Promise<Difference | undefined> {
  for (const [difference, differs] of Object.entries(COMPARISONS)) {
    if (await differs(judged, now)) {
      return isDifference(difference) ? difference : undefined;
    }
  }
  return undefined;
}

function isDifference(name: string): name is Difference {
  return Object.hasOwn(COMPARISONS, name);
}

async function differsAt(now: Present, baseSha: string, differs: (commit: string) => Promise<boolean>) {
  const commit = await now.baseCommit();
  return commit !== undefined && commit !== baseSha && differs(commit);
}

/**
 * The commits of the base, the counts and the time of the last change move for other reasons too. It may be read once by
 * GraphQL and then by REST, which order things differently.
 */
export function pullRequestDigest(pullRequest: PullRequestNow): string {
  const { updatedAt, baseCommit, differenceBase, commentCount, changedFileCount, firstTime, ...state } = pullRequest;
  return hash('sha256', canonicalJson({ ...state, labels: state.labels.toSorted() }));
}

export function machineAccountsDigest({ machineAccounts }: Pick<Forge, 'machineAccounts'>): string {
  return hash('sha256', JSON.stringify(machineAccounts.toSorted()));
}

/** Which Gatehouse judges: another one may judge otherwise. */
export interface GatehouseBuild {
  readonly version: string;
  readonly revision: string;
}

export function gatehouseDigest(
  { enforce }: { readonly enforce: boolean },
  { version, revision }: GatehouseBuild,
): string {
  return hash('sha256', JSON.stringify([version, revision, enforce]));
}

/** What the present is read with. */
export interface PresentContext {
  readonly forge: Forge;
  /** The operator's policy. */
  readonly fallback: Policy | undefined;
  readonly baselineOf: BaselineOf;
  /** The name of the commit status, `{base}` for the base branch. */
  readonly statusContext: string;
  readonly isMeant?: IsMeant;
}

/** Reads what is so now, for any number of pull requests: each thing once. */
export interface PresentReader {
  of(repository: string, baseBranch: string): Present;
  /** The digest of a fact of a pull request. */
  readonly fact: PresentFacts['digest'];
}

export function presentReader(context: PresentContext): PresentReader {
  const { forge, fallback, baselineOf, statusContext, isMeant } = context;
  const trusts = isMeant && ((now: RepositoryNow) => isMeant(now, false));
  const read = new Map<string, Promise<string | undefined>>();
  const operatorPolicy = fallback && operatorPolicyDigest(fallback);

  function once(key: readonly string[], work: () => Promise<string | undefined>): Promise<string | undefined> {
    const name = JSON.stringify(key);
    const reading = read.get(name) ?? work();
    read.set(name, reading);
    return reading;
  }

  return {
    of(repository, baseBranch) {
      const [owner = ''] = repository.split('/');
      return {
        operatorPolicy,
        machineAccounts: machineAccountsDigest(forge),
        baseCommit: () => once(['base', repository, baseBranch], () => forge.branchCommit(repository, baseBranch)),
        atBase: {
          policy: (commit) => once(['policy', repository, commit], () => policyDigest(forge, repository, commit)),
          codeOwners: (commit) =>
            once(
              ['owners', repository, commit],
              async () => codeOwnersText(await readCodeOwners(forge, repository, commit))?.digest,
            ),
        },
        extended: (name) => once(['extended', owner, name], () => extendedDigest(forge, repository, name, trusts)),
        baseline: () =>
          once(['baseline', owner.toLowerCase()], async () => digestOfBaseline(await baselineOf(repository))),
      };
    },
    fact: presentFacts(forge, statusContext).digest,
  };
}

/**
 * Whether everything is still as it was judged, except the facts that have to be read to be compared. One read, where
 * nothing moved.
 */
export async function isCurrent(
  context: PresentContext,
  { pullRequest, judgedBy }: { readonly pullRequest: PullRequestNow; readonly judgedBy: JudgedBy },
): Promise<boolean> {
  const now = await context.forge.pullRequest(pullRequest);
  if (now === undefined) {
    return false;
  }
  const present = presentReader(context).of(pullRequest.repository, pullRequest.base.branch);
  const asked: Present = { ...present, pullRequest: now, baseCommit: async () => now.baseCommit };
  return (await firstDifference(judgedBy, asked)) === undefined;
}
