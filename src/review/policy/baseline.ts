import { hash } from 'node:crypto';
import { NO_PEOPLE_SETTINGS } from '../../facts/authors/people-settings.ts';
import type { Forge } from '../../forges/port/forge.ts';
import type { RepositoryIds, Visibility } from '../../forges/port/pull-request.ts';
import type { PolicySources, SourceFile } from '../sources.ts';
import type { Fault } from './faults.ts';
import {
  describeMisnamed,
  findPolicy,
  hiddenFaults,
  type LoadedPolicy,
  misnamedAt,
  type ParsePolicy,
  parseFile,
  parseFor,
} from './load.ts';
import { hideRules, mergeBaseline } from './merge.ts';
import type { PolicyWorkers } from './parse.ts';
import type { Policy } from './policy.ts';
import { sameRepository } from './same-repository.ts';

/** The organisation's baseline: the policy that comes before that of every repository of an owner. */
export type Baseline =
  /**
   * The owner has none. `repository`: where it would be; absent without POLICY_REPOSITORY. `reason`: why there is none,
   * where that was read now.
   */
  | { readonly kind: 'none'; readonly repository?: string; readonly reason?: string }
  /** There never was one that can be used: nothing can be judged. */
  | ({ readonly kind: 'broken'; readonly faults: readonly Fault[] } & BaselineSource)
  | ({ readonly kind: 'policy'; readonly policy: Policy; readonly file: SourceFile } & BaselineSource);

interface BaselineSource {
  readonly repository: string;
  readonly commit: string;
  /** The digest of its text, its path and its visibility. */
  readonly digest: string;
  readonly visibility: Visibility;
}

/** The baseline in force for a repository. Throws where that is not known. */
export type BaselineOf = (repository: string) => Promise<Baseline>;

/** What the policy repository has now. */
export type BaselineRead =
  /** `ids`: of the repository, where there is one of this name. */
  | { readonly kind: 'absent'; readonly reason: string; readonly ids?: RepositoryIds }
  /** There is a repository of this name, but not the one that is trusted. */
  | { readonly kind: 'replaced'; readonly reason: string; readonly ids: RepositoryIds }
  | ({ readonly kind: 'broken'; readonly faults: readonly Fault[] } & PolicyRead)
  | ({ readonly kind: 'policy'; readonly policy: Policy } & PolicyRead);

interface PolicyRead {
  readonly ids: RepositoryIds;
  readonly commit: string;
  readonly visibility: Visibility;
  readonly file: SourceFile;
}

/** What is cached from an earlier look. */
interface EarlierLook<Cached> {
  /** Whether it is the repository that the baseline in force was read from. */
  readonly isTrusted: (ids: RepositoryIds) => boolean;
  /** Whether this commit, with this visibility, need not be read again. */
  readonly unchanged: (commit: string, visibility: Visibility) => Cached | undefined;
}

/** The policy repository of the owner of a repository. */
export function policyRepositoryOf(repository: string, name: string): string {
  return `${repository.split('/')[0] ?? ''}/${name}`;
}

/** Whether a repository is the policy repository of its owner. */
export function isBaselineOf(baseline: Baseline, repository: string): boolean {
  return baseline.repository !== undefined && sameRepository(repository, baseline.repository);
}

/**
 * Reads the baseline at the tip of its repository's default branch. A repository that was renamed or transferred counts
 * as absent: the forge would answer with that of another name or owner.
 */
export async function readBaseline<Cached = never>(
  forge: Forge,
  parse: ParsePolicy,
  repository: string,
  { isTrusted, unchanged }: EarlierLook<Cached> = { isTrusted: () => true, unchanged: () => undefined },
): Promise<BaselineRead | Cached> {
  const found = await forge.repository(repository);
  if (found === undefined) {
    return { kind: 'absent', reason: `${repository} does not exist, or Gatehouse may not see it` };
  }
  if (!sameRepository(found.name, repository)) {
    return { kind: 'absent', reason: `${repository} was renamed to ${found.name}` };
  }
  const { id, ownerId, visibility = 'private', defaultBranch } = found;
  const ids = { id, ownerId };
  if (!isTrusted(ids)) {
    const reason = `${repository} is not known to be the repository that its baseline was read from: it may be another one of the same name`;
    return { kind: 'replaced', reason, ids };
  }
  const commit = await forge.branchCommit(repository, defaultBranch);
  if (commit === undefined) {
    return { kind: 'absent', reason: `${repository} has no commit in ${defaultBranch}`, ids };
  }
  const known = unchanged(commit, visibility);
  if (known !== undefined) {
    return known;
  }
  const file = await findPolicy(forge, repository, commit);
  if (file === undefined) {
    const [misnamed] = await misnamedAt(forge, repository, commit);
    const why = misnamed === undefined ? '' : `: ${describeMisnamed(misnamed)}`;
    return { kind: 'absent', reason: `${repository} has no policy in ${defaultBranch}${why}`, ids };
  }
  const parsed = await parseFile(parse, file, { path: file.path, repository }, 'baseline');
  const { path, text } = file;
  const read = { ids, commit, visibility, file: { path, text } };
  return parsed.ok
    ? { kind: 'policy', ...read, policy: parsed.policy }
    : { kind: 'broken', ...read, faults: parsed.faults };
}

/** What the policy repository has now is in force, for who has no memory of what was. */
async function presentBaseline(forge: Forge, parse: ParsePolicy, repository: string): Promise<Baseline> {
  const read = await readBaseline(forge, parse, repository);
  if (read.kind === 'absent' || read.kind === 'replaced') {
    return { kind: 'none', repository, reason: read.reason };
  }
  return { ...read, repository, digest: baselineDigest(read.file, read.visibility) };
}

/** The same for any repository. `name`: of each owner's policy repository; undefined without POLICY_REPOSITORY. */
export function presentBaselines(forge: Forge, workers: PolicyWorkers, name: string | undefined): BaselineOf {
  return async (repository) =>
    name === undefined
      ? { kind: 'none' }
      : presentBaseline(forge, parseFor(workers, repository), policyRepositoryOf(repository, name));
}

/** As before there were internal ones, so that the verdicts of others are not judged again. */
const KEYS = { public: true, internal: 'internal', private: false } as const;

export function baselineDigest({ path, text }: SourceFile, visibility: Visibility): string {
  return hash('sha256', JSON.stringify([KEYS[visibility], path, text]));
}

/** The digest that a verdict is stored with; undefined where there is no baseline. */
export function digestOfBaseline(baseline: Baseline): string | undefined {
  return baseline.kind === 'none' ? undefined : baseline.digest;
}

const NOTHING_READ = { sources: {}, texts: [] };

/**
 * What a pull request is judged by: the baseline, and then the repository's own policy, or the operator's. `hidden`:
 * the baseline is private, and the pull request is not. In the policy repository itself the policy of the base branch
 * is the baseline, which is judged by the one in force.
 */
export function withBaseline(
  baseline: Baseline,
  loaded: LoadedPolicy,
  { repository, hidden }: { readonly repository: string; readonly hidden: boolean },
): LoadedPolicy {
  if (baseline.kind === 'none') {
    return loaded;
  }
  const own = loaded.kind === 'absent' ? NOTHING_READ : loaded;
  const sources: PolicySources = {
    ...own.sources,
    baselineDigest: baseline.digest,
    baselineCommit: baseline.commit,
    ...(hidden && { baselineHidden: true }),
  };
  if (baseline.kind === 'broken') {
    const { faults } = baseline;
    return {
      kind: 'broken',
      sources,
      texts: own.texts,
      faults: hidden ? hiddenFaults(baseline.repository, faults) : faults,
    };
  }
  const isOwn = sameRepository(repository, baseline.repository);
  if (loaded.kind === 'broken' && !isOwn) {
    return { ...loaded, sources };
  }
  const texts = [...own.texts, { digest: baseline.digest, ...baseline.file }];
  const nothing: Policy = { origin: baseline.policy.origin, rules: [], ...NO_PEOPLE_SETTINGS };
  const first = hidden ? hideRules(baseline.policy) : baseline.policy;
  return {
    kind: 'policy',
    sources,
    texts,
    policy: mergeBaseline(first, loaded.kind === 'policy' && !isOwn ? loaded.policy : nothing),
  };
}

/**
 * A pull request that removes the organisation's baseline has a fault: it would change nothing but what people can
 * read.
 */
export function faultIfRemoved(proposed: LoadedPolicy, baseline: Baseline | undefined): LoadedPolicy {
  if (proposed.kind !== 'absent' || baseline?.kind !== 'policy') {
    return proposed;
  }
  const message =
    'this is the baseline of the organisation, and it stays in force when it is removed; to be without one, the operator of Gatehouse unsets POLICY_REPOSITORY';
  return { kind: 'broken', faults: [{ file: baseline.file.path, line: 1, column: 1, message }], ...NOTHING_READ };
}
