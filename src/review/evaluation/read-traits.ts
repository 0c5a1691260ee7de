import { hash } from 'node:crypto';
import type { Forge } from '../../forges/port/forge.ts';
import type { RepositoryTraits } from '../facts.ts';

/** Undefined when there is no such repository any more. */
export async function readTraits(forge: Forge, repository: string): Promise<RepositoryTraits | undefined> {
  const now = await forge.repository(repository);
  return now && { visibility: now.visibility, ...(now.topics && { topics: now.topics.toSorted() }) };
}

/** In hexadecimal. */
export function traitsDigest(traits: RepositoryTraits | undefined): string {
  return hash('sha256', JSON.stringify([traits?.visibility, traits?.topics]));
}
