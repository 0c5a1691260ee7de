import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError, UnknownCommitError } from '../../forges/port/forge-error.ts';
import type { RepositoryNow, Visibility } from '../../forges/port/pull-request.ts';
import { MAX_POLICY_BYTES } from '../limits.ts';
import { digestOf, type PolicySources, type SourceFile, type SourceText, sourceText } from '../sources.ts';
import type { Fault } from './faults.ts';
import { hideRules, mergePolicies } from './merge.ts';
import type { ParsedPolicy, PolicyRole, PolicyWorkers } from './parse.ts';
import { type Misnamed, misnamedAmong, notRead, POLICY_PATHS } from './paths.ts';
import type { Policy, PolicyOrigin } from './policy.ts';
import { sameRepository } from './same-repository.ts';

/** What a repository asks of its pull requests, as a commit of it says. */
export type LoadedPolicy =
  | { readonly kind: 'absent' }
  | ({ readonly kind: 'broken'; readonly faults: readonly Fault[] } & ReadPolicy)
  | ({ readonly kind: 'policy'; readonly policy: Policy } & ReadPolicy);

interface ReadPolicy {
  readonly sources: PolicySources;
  /** What the digests in `sources` are of. */
  readonly texts: readonly SourceText[];
}

/** Parses one file of a policy, in a worker: the text may be anybody's. */
export type ParsePolicy = (text: string, origin: PolicyOrigin, role: PolicyRole) => Promise<ParsedPolicy>;

/** In the name of the repository under review, wherever the text comes from: forks are free. */
export function parseFor({ parsePolicy }: PolicyWorkers, repository: string): ParsePolicy {
  return (text, origin, role) => parsePolicy(repository, text, origin, role);
}

/**
 * Whether a repository is the one that was first extended under its name: a name can be given to another one. The first
 * is remembered, where that is asked for.
 */
export type IsMeant = (now: RepositoryNow, remembers: boolean) => Promise<boolean>;

/** The same, of one use. Absent where there is no memory: then the present one is meant. */
type Trusts = (now: RepositoryNow) => Promise<boolean>;

interface LoadOptions {
  readonly followExtends?: boolean;
  readonly role?: PolicyRole;
  /** The repository of the pull request under review: what it extends is hidden there if fewer people can read that. */
  readonly shownIn?: string;
  /** Used instead of the policy at the commit. */
  readonly file?: PolicyFile | undefined;
  readonly trusts?: Trusts | undefined;
}

/**
 * Reads the policy at a commit, and the one that it extends. Only the configured forge is ever asked, and of it
 * only repositories of the same owner: what Gatehouse may read and the readers of this repository may not
 * would otherwise come to light in a review.
 */
export async function loadPolicy(
  forge: Forge,
  parse: ParsePolicy,
  repository: string,
  commit: string,
  { followExtends = true, role = 'own', shownIn = repository, file: instead, trusts }: LoadOptions = {},
): Promise<LoadedPolicy> {
  const file = instead ?? (await findPolicy(forge, repository, commit));
  if (file === undefined) {
    return { kind: 'absent' };
  }
  const own = await parseFile(parse, file, { path: file.path }, role);
  const ownText = sourceText(file);
  const read = { sources: { policyDigest: ownText.digest }, texts: [ownText] };
  if (!own.ok) {
    return { kind: 'broken', faults: own.faults, ...read };
  }
  if (own.policy.extends === undefined || !followExtends) {
    return { kind: 'policy', policy: own.policy, ...read };
  }

  const extended = await loadExtended(forge, parse, own.policy.extends, {
    under: repository,
    shownIn,
    extending: file.path,
    trusts,
  });
  const { repository: extendedRepository, ref } = own.policy.extends;
  const extendedTexts = extended.file === undefined ? [] : [sourceText(extended.file)];
  const hidden = extended.file !== undefined && (await isHiddenIn(forge, extended.visibility, shownIn));
  const sources: PolicySources & { readonly extendsName: string } = {
    ...read.sources,
    extendsName: `${extendedRepository}@${ref}`,
    ...(extendedTexts[0] === undefined ? {} : { extendsDigest: extendedTexts[0].digest }),
    ...(hidden && { extendsHidden: true }),
  };
  const texts = [...read.texts, ...extendedTexts];
  if (!extended.parsed.ok) {
    const { faults } = extended.parsed;
    return { kind: 'broken', faults: hidden ? hiddenFaults(sources.extendsName, faults) : faults, sources, texts };
  }
  const first = hidden ? hideRules(extended.parsed.policy) : extended.parsed.policy;
  return { kind: 'policy', policy: mergePolicies(first, own.policy), sources, texts };
}

/**
 * Whether what a repository of this visibility says must not be shown in another one: more people can read that. Of one
 * that is not known, it counts as readable by everybody.
 */
export async function isHiddenIn(forge: Forge, visibility: Visibility, shownIn: string): Promise<boolean> {
  if (visibility === 'public') {
    return false;
  }
  const target = (await forge.repository(shownIn))?.visibility ?? 'public';
  return narrowerOf(visibility, target) !== target;
}

export function narrowerOf(one: Visibility, other: Visibility): Visibility {
  return FROM_NARROW.find((visibility) => visibility === one || visibility === other) ?? 'private';
}

const FROM_NARROW: readonly Visibility[] = ['private', 'internal', 'public'];

/** What a private policy says of its faults where everybody can read it. */
export function hiddenFaults(name: string, faults: readonly Fault[]): readonly Fault[] {
  const amount = `${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}`;
  const message = `the policy has ${amount}; it is private, so they are not shown here`;
  return faults.length === 0 ? [] : [{ file: name, line: 1, column: 1, message }];
}

type Extended =
  | { readonly parsed: ParsedPolicy; readonly file: SourceFile; readonly visibility: Visibility }
  | { readonly parsed: ParsedPolicy; readonly file?: undefined };

/** The policy that extends another one. */
interface Extending extends Required<Pick<LoadOptions, 'shownIn' | 'trusts'>> {
  /** The repository that it is of. */
  readonly under: string;
  readonly extending: string;
}

async function loadExtended(
  forge: Forge,
  parse: ParsePolicy,
  { repository, ref }: NonNullable<Policy['extends']>,
  { under, shownIn, extending, trusts }: Extending,
): Promise<Extended> {
  const name = `${repository}@${ref}`;
  if (!mayExtend(under, repository)) {
    return unusable(
      extending,
      `extends ${name}, which belongs to another owner; only a policy of the same owner may be extended`,
    );
  }
  const read = await readNamedPolicy(forge, repository, ref, trusts);
  switch (read.kind) {
    case 'policy': {
      const { file, visibility } = read;
      const parsed = await parseFile(parse, file, { path: file.path, repository: name }, 'extended');
      return { parsed, file, visibility };
    }
    case 'moved':
      return unusable(
        extending,
        `extends ${name}, but the repository of this name was renamed or transferred: name it as it is called now`,
      );
    case 'replaced':
      return unusable(
        extending,
        `extends ${name}, but another repository has this name now: the one that was read before was deleted, renamed or transferred. Give it its name back, or extend a policy under another name`,
      );
    case 'absent': {
      const [misnamed] = await shownMisnamed(forge, repository, read.commit, shownIn);
      const why =
        misnamed === undefined
          ? 'the repository, the ref or the file is missing, or Gatehouse may not see it'
          : describeMisnamed(misnamed);
      return unusable(extending, `extends ${name}, where no policy can be read: ${why}`);
    }
  }
}

/** The commit that the name behind an @ means: a whole commit id, a branch or a tag, in this order. */
async function commitNamed(forge: Forge, repository: string, name: string): Promise<string | undefined> {
  if (COMMIT_ID.test(name)) {
    return name;
  }
  return (await forge.branchCommit(repository, name)) ?? (await forge.tagCommit(repository, name));
}

const COMMIT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

function unusable(file: string, message: string): { readonly parsed: ParsedPolicy } {
  return { parsed: { ok: false, faults: [{ file, line: 1, column: 1, message }] } };
}

type NamedPolicy =
  | { readonly kind: 'policy'; readonly file: PolicyFile; readonly visibility: Visibility }
  /** The repository has another name now, and maybe another owner. */
  | { readonly kind: 'moved' }
  /** Another repository has the name than the one that was first read under it. */
  | { readonly kind: 'replaced' }
  /** `commit`: the one that has no policy, where there is one. */
  | { readonly kind: 'absent'; readonly commit?: string | undefined };

/** By the name of a repository that was renamed or transferred, forges answer for what it is now, whoever owns it. */
async function readNamedPolicy(
  forge: Forge,
  repository: string,
  name: string,
  trusts: Trusts = async () => true,
): Promise<NamedPolicy> {
  const commit = await commitNamed(forge, repository, name);
  const file = commit === undefined ? undefined : await findNamed(forge, repository, name, commit);
  if (file === undefined) {
    return { kind: 'absent', commit };
  }
  // After the file, which may have been of another repository from the moment on in which this one was transferred.
  const now = await forge.repository(repository);
  if (now === undefined || !sameRepository(now.name, repository)) {
    return { kind: 'moved' };
  }
  return (await trusts(now)) ? { kind: 'policy', file, visibility: now.visibility ?? 'private' } : { kind: 'replaced' };
}

/** A commit that people wrote may not exist. One that the forge itself has named does. */
async function findNamed(forge: Forge, repository: string, name: string, commit: string) {
  try {
    return await findPolicy(forge, repository, commit);
  } catch (error) {
    if (name === commit && error instanceof UnknownCommitError) {
      return undefined;
    }
    throw error;
  }
}

function mayExtend(under: string, repository: string): boolean {
  return ownerOf(repository) === ownerOf(under);
}

function ownerOf(repository: string): string | undefined {
  return repository.split('/')[0]?.toLowerCase();
}

/**
 * The digest of an extended policy by its name, `owner/repository@ref`, as it is now; undefined when the repository
 * `under` it cannot use it. Another owner's is not looked at.
 */
export async function extendedDigest(
  forge: Forge,
  under: string,
  name: string,
  trusts?: Trusts,
): Promise<string | undefined> {
  const at = name.indexOf('@');
  const repository = name.slice(0, at);
  if (!mayExtend(under, repository)) {
    return undefined;
  }
  const read = await readNamedPolicy(forge, repository, name.slice(at + 1), trusts);
  return read.kind === 'policy' ? digestOf(read.file) : undefined;
}

export async function findPolicy(forge: Forge, repository: string, commit: string): Promise<PolicyFile | undefined> {
  for (const path of POLICY_PATHS) {
    const text = await readText(forge, repository, path, commit);
    if (text !== undefined) {
      return { path, ...text };
    }
  }
  return undefined;
}

/**
 * The policies, and files of cases, that a commit has under nearly the right name where the right one is missing. None
 * where the forge does not list its files: this only makes a message clearer.
 */
export function misnamedAt(forge: Forge, repository: string, commit: string): Promise<readonly Misnamed[]> {
  return unlessUnreadable(async () => {
    const tree = await forge.tree(repository, commit);
    return misnamedAmong([...(tree?.keys() ?? [])]);
  });
}

export function describeMisnamed({ path, meant }: Misnamed): string {
  return `it has ${path}, and ${notRead(meant)}`;
}

/** The same of the policy of a name, unless it belongs to another repository now, or not all may see it who see this. */
async function shownMisnamed(
  forge: Forge,
  repository: string,
  commit: string | undefined,
  shownIn: string,
): Promise<readonly Misnamed[]> {
  return unlessUnreadable(async () => {
    const now = commit === undefined ? undefined : await forge.repository(repository);
    if (commit === undefined || now === undefined || !sameRepository(now.name, repository)) {
      return [];
    }
    return (await isHiddenIn(forge, now.visibility ?? 'private', shownIn)) ? [] : misnamedAt(forge, repository, commit);
  });
}

async function unlessUnreadable(read: () => Promise<readonly Misnamed[]>): Promise<readonly Misnamed[]> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ForgeError) {
      return [];
    }
    throw error;
  }
}

/** `unusable`: the path exists, the forge has no text for it that we read, and `text` says why. */
export type PolicyFile = SourceFile & { readonly unusable: boolean };

async function readText(forge: Forge, repository: string, path: string, commit: string) {
  try {
    const text = await forge.fileAt(repository, path, commit);
    return text === undefined ? undefined : { text, unusable: false };
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'too-large') {
      return { text: `the file is too large: a policy has at most ${MAX_POLICY_BYTES} bytes`, unusable: true };
    }
    // If it counted as no policy, a pull request that replaces the policy by a link would turn the rules off.
    if (error instanceof ForgeError && error.kind === 'not-a-file') {
      return { text: `${error.message}; a policy must be a file`, unusable: true };
    }
    throw error;
  }
}

export async function parseFile(
  parse: ParsePolicy,
  file: PolicyFile,
  origin: PolicyOrigin,
  role: PolicyRole,
): Promise<ParsedPolicy> {
  return file.unusable ? unusable(file.path, file.text).parsed : parse(file.text, origin, role);
}
