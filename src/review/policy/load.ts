import type { Forge } from '../../forges/forge.ts';
import type { Fault } from './faults.ts';
import { mergePolicies, type ParsedPolicy, parsePolicy } from './parse.ts';
import { POLICY_PATHS } from './paths.ts';
import type { Policy } from './schema.ts';

/** What a repository asks of its pull requests, as a branch or commit of it says. */
export type LoadedPolicy =
  | { readonly kind: 'absent' }
  | { readonly kind: 'broken'; readonly faults: readonly Fault[] }
  | { readonly kind: 'policy'; readonly policy: Policy };

/**
 * Reads the policy at a ref, and the one that it extends. Only the configured forge is ever asked, and of it
 * only repositories of the same owner: what Gatehouse may read and the readers of this repository may not
 * would otherwise come to light in a review.
 */
export async function loadPolicy(forge: Forge, repository: string, ref: string): Promise<LoadedPolicy> {
  const file = await findPolicy(forge, repository, ref);
  if (file === undefined) {
    return { kind: 'absent' };
  }
  const own = parsePolicy(file.text, { path: file.path });
  if (!own.ok) {
    return { kind: 'broken', faults: own.faults };
  }
  if (own.policy.extends === undefined) {
    return { kind: 'policy', policy: own.policy };
  }

  const extended = await loadExtended(forge, repository, own.policy.extends, file.path);
  if (!extended.ok) {
    return { kind: 'broken', faults: extended.faults };
  }
  return { kind: 'policy', policy: mergePolicies(extended.policy, own.policy) };
}

async function loadExtended(
  forge: Forge,
  under: string,
  { repository, ref }: NonNullable<Policy['extends']>,
  extending: string,
): Promise<ParsedPolicy> {
  const name = `${repository}@${ref}`;
  if (ownerOf(repository) !== ownerOf(under)) {
    return unusable(
      extending,
      `extends ${name}, which belongs to another owner; only a policy of the same owner may be extended`,
    );
  }
  const file = await findPolicy(forge, repository, ref);
  if (file !== undefined) {
    return parsePolicy(file.text, { path: file.path, repository: name }, 'extended');
  }
  return unusable(
    extending,
    `extends ${name}, where no policy can be read: the repository, the ref or the file is missing, or Gatehouse may not see it`,
  );
}

function unusable(file: string, message: string): ParsedPolicy {
  return { ok: false, faults: [{ file, line: 1, column: 1, message }] };
}

function ownerOf(repository: string): string | undefined {
  return repository.split('/')[0]?.toLowerCase();
}

async function findPolicy(forge: Forge, repository: string, ref: string) {
  for (const path of POLICY_PATHS) {
    const text = await forge.fileAt(repository, path, ref);
    if (text !== undefined) {
      return { path, text };
    }
  }
  return undefined;
}
