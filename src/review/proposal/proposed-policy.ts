import { hash } from 'node:crypto';
import type { NeededFacts } from '../facts.ts';
import type { LoadedPolicy } from '../policy/load.ts';
import { neededFacts } from '../policy/needs.ts';
import type { ProposedPolicy } from './proposal.ts';

const NOTHING: ProposedPolicy['present'] = { teams: [], codeOwners: false };

/**
 * The proposed policy, if other pull requests can be judged by it. `onTopOf`: all that the outcome depends on beside
 * the two policies.
 */
export function proposedPolicy(
  proposed: LoadedPolicy,
  present: LoadedPolicy,
  onTopOf: readonly (string | undefined)[],
): ProposedPolicy | undefined {
  const [own] = proposed.kind === 'policy' ? proposed.texts : [];
  if (proposed.kind !== 'policy' || own === undefined) {
    return undefined;
  }
  const { path, text } = own;
  const { teams, codeOwners }: Pick<NeededFacts, 'teams' | 'codeOwners'> =
    present.kind === 'policy' ? neededFacts(present.policy) : NOTHING;
  const digest = hash('sha256', JSON.stringify([proposed.texts.map((source) => source.digest), onTopOf]));
  return { file: { path, text, unusable: false }, digest, present: { teams, codeOwners } };
}
