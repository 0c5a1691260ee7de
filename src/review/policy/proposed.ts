import type { Forge } from '../../forges/port/forge.ts';
import { UnknownCommitError } from '../../forges/port/forge-error.ts';
import type { PullRequest, RepositoryNow } from '../../forges/port/pull-request.ts';
import { faultIfRemoved } from './baseline.ts';
import type { PolicyInForce } from './in-force.ts';
import { type IsMeant, type LoadedPolicy, loadPolicy, parseFor } from './load.ts';
import type { PolicyWorkers } from './parse.ts';

interface ProposalContext {
  readonly forge: Forge;
  readonly workers: PolicyWorkers;
  readonly isMeant?: IsMeant;
}

/** Reads and validates the policy of a pull request that changes it. */
export async function readProposedPolicy(
  context: ProposalContext,
  pullRequest: PullRequest,
  { baseline, role }: Pick<PolicyInForce, 'baseline' | 'role'>,
): Promise<LoadedPolicy> {
  const ofHead = await readAtHead(context, pullRequest, role);
  // In the policy repository, the baseline in force judges, whatever is proposed.
  return faultIfRemoved(ofHead, role === 'baseline' ? baseline : undefined);
}

/**
 * Reads from the repository of the head. The commits of a fork that is deleted, or that Gatehouse may not read, are in
 * the repository itself, too. What the policy extends is not read there: its author does not belong to the owner whose
 * other repositories it could then name, and quote from.
 */
async function readAtHead(
  { forge, workers, isMeant }: ProposalContext,
  { repository, head }: PullRequest,
  role: PolicyInForce['role'],
): Promise<LoadedPolicy> {
  const parse = parseFor(workers, repository);
  const inRepositoryItself = () => loadPolicy(forge, parse, repository, head.sha, { role, followExtends: false });
  if (head.repository === null) {
    return inRepositoryItself();
  }
  // Not remembered: anybody may propose to extend anything.
  const trusts = isMeant && ((now: RepositoryNow) => isMeant(now, false));
  try {
    return await loadPolicy(forge, parse, head.repository, head.sha, { role, shownIn: repository, trusts });
  } catch (error) {
    if (error instanceof UnknownCommitError && head.repository !== repository) {
      return inRepositoryItself();
    }
    throw error;
  }
}
