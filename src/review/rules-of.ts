import { hash } from 'node:crypto';
import { canonicalJson } from '../common/canonical-json.ts';
import { readCodeOwners } from '../facts/code-owners.ts';
import type { Needs } from '../facts/table.ts';
import type { Forge } from '../forges/port/forge.ts';
import { ForgeError } from '../forges/port/forge-error.ts';
import type { RepositoryNow } from '../forges/port/pull-request.ts';
import { rulesInForce } from './evaluation/observe.ts';
import { canBeOverridden } from './overrides/override.ts';
import { digestOfBaseline } from './policy/baseline.ts';
import { type PolicyContext, type PolicyInForce, type PolicyPlace, policyInForce } from './policy/in-force.ts';
import { extendedDigest, findPolicy } from './policy/load.ts';
import { neededFacts } from './policy/needs.ts';
import { operatorPolicyDigest } from './policy/operator-policy.ts';
import { CASES_PATH } from './policy/paths.ts';
import { codeOwnersText, digestOf, type PolicySources, type SourceText } from './sources.ts';

/** By what pull requests into a branch are judged, beside what they and people say. */
export interface Rules extends PolicyInForce {
  readonly sources: RuleSources;
  /** What the digests in `sources` are of. */
  readonly texts: readonly SourceText[];
}

/**
 * The same as SHA-256 digests in hexadecimal, stored with each verdict. Absent is what there was not, or what no rule
 * needs.
 */
export interface RuleSources extends PolicySources {
  /** {@link FORMAT} when it was stored. */
  readonly format: number;
  /** The base branch's commit that the policy and CODEOWNERS were read at. */
  readonly baseSha: string;
  readonly codeOwnersDigest?: string;
  /** Of the operator's machine accounts. Absent: it does not matter who is one. */
  readonly machineAccountsDigest?: string;
  /** Whether the base has a file of cases. Absent: the change has none under nearly its name, to compare it with. */
  readonly casesAtBase?: boolean;
}

/** Raised when what is stored changes: a verdict by rules of another format is judged again. */
const FORMAT = 1;

/** What texts are read with. */
export type RulesContext = Omit<PolicyContext, 'workers'>;

/** The only one who says by which texts a pull request is judged. */
export async function rulesOf(
  context: PolicyContext,
  { repository, commit, file }: Pick<PolicyPlace, 'repository' | 'file'> & { readonly commit: string },
): Promise<Rules> {
  const { forge } = context;
  const inForce = await policyInForce(context, { repository, commit, file, shown: true });
  const { policy } = inForce;
  const { sources, texts } = policy.kind === 'absent' ? { sources: {}, texts: [] } : policy;
  const needed = policy.kind === 'policy' ? neededFacts(rulesInForce(policy.policy)) : {};
  const codeOwners =
    needed.codeOwners === undefined ? undefined : codeOwnersText(await readCodeOwners(forge, repository, commit));
  const asksWho = policy.kind === 'policy' && (needsPeople(needed) || canBeOverridden(policy.policy));
  return {
    ...inForce,
    texts: codeOwners === undefined ? texts : [...texts, codeOwners],
    sources: {
      ...sources,
      format: FORMAT,
      baseSha: commit,
      ...(codeOwners && { codeOwnersDigest: codeOwners.digest }),
      ...(asksWho && { machineAccountsDigest: machineAccountsDigest(forge) }),
    },
  };
}

/** The same, as far as it is known. */
type KnownSources = { readonly [Name in keyof RuleSources]: RuleSources[Name] | undefined };

/** One digest of all of them: wherever it is the same, so are the rules. */
export function rulesDigest({ baseSha, baselineCommit, ...texts }: KnownSources): string {
  return hash('sha256', canonicalJson(texts));
}

/**
 * Whether pull requests into a branch are still judged by these rules, now that it is at this commit. Nothing is parsed:
 * where all texts are the same, so is what they ask for. Who can see them is not asked again.
 */
export async function areRules(
  context: RulesContext,
  { repository, commit }: { readonly repository: string; readonly commit: string },
  rules: RuleSources,
): Promise<boolean> {
  // At the same commit, the repository has the same files.
  const own = commit === rules.baseSha ? {} : await ownTexts(context.forge, repository, commit, rules);
  const now = { ...rules, format: FORMAT, ...own, ...(await namedTexts(context, repository, rules)) };
  return rulesDigest(now) === rulesDigest(rules);
}

async function ownTexts(
  forge: Forge,
  repository: string,
  commit: string,
  { codeOwnersDigest: owners, casesAtBase }: RuleSources,
): Promise<Pick<KnownSources, 'policyDigest' | 'codeOwnersDigest' | 'casesAtBase'>> {
  const policy = await findPolicy(forge, repository, commit);
  return {
    policyDigest: policy && digestOf(policy),
    codeOwnersDigest: owners && codeOwnersText(await readCodeOwners(forge, repository, commit))?.digest,
    casesAtBase: casesAtBase === undefined ? undefined : await hasCases(forge, repository, commit),
  };
}

/** Also where something there cannot be read as a file. */
export async function hasCases(forge: Forge, repository: string, commit: string): Promise<boolean> {
  try {
    return (await forge.fileAt(repository, CASES_PATH, commit)) !== undefined;
  } catch (error) {
    if (error instanceof ForgeError && (error.kind === 'too-large' || error.kind === 'not-a-file')) {
      return true;
    }
    throw error;
  }
}

/** What is read by name, or set by the operator. */
async function namedTexts(
  { forge, fallback, baselineOf, isMeant }: RulesContext,
  repository: string,
  { policyDigest, extendsName, machineAccountsDigest: machines }: RuleSources,
): Promise<Omit<KnownSources, 'format' | 'baseSha' | 'policyDigest' | 'codeOwnersDigest'>> {
  const trusts = isMeant && ((now: RepositoryNow) => isMeant(now, false));
  return {
    // Where a repository has a policy of its own, the operator's does not matter.
    operatorPolicyDigest: policyDigest === undefined && fallback ? operatorPolicyDigest(fallback) : undefined,
    machineAccountsDigest: machines && machineAccountsDigest(forge),
    extendsDigest: extendsName && (await extendedDigest(forge, repository, extendsName, trusts)),
    baselineDigest: digestOfBaseline(await baselineOf(repository)),
  };
}

function machineAccountsDigest({ machineAccounts }: Pick<Forge, 'machineAccounts'>): string {
  return hash('sha256', JSON.stringify(machineAccounts.toSorted()));
}

/** Whether it matters which accounts are machines. */
function needsPeople({ reviews, conversations, commits }: Needs): boolean {
  return reviews !== undefined || conversations !== undefined || commits?.includes('authors') === true;
}
