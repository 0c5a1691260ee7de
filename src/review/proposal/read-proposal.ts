import { hash } from 'node:crypto';
import type { Forge } from '../../forges/port/forge.ts';
import type { ChangedFiles, PullRequest, RepositoryNow } from '../../forges/port/pull-request.ts';
import { digestOfBaseline, faultIfRemoved } from '../policy/baseline.ts';
import type { PolicyInForce } from '../policy/in-force.ts';
import { type IsMeant, type LoadedPolicy, loadPolicy, type ParsePolicy, parseFor } from '../policy/load.ts';
import { neededFacts } from '../policy/needs.ts';
import type { PolicyRole } from '../policy/parse.ts';
import type { ReviewWorkers } from '../workers/review-workers.ts';
import type { ProposedPolicy, ReadProposal } from './proposal.ts';
import { atHead, readProposedCases } from './run-proposed-cases.ts';

/** What a pull request changes. */
export interface Change {
  readonly changedFiles: ChangedFiles;
  readonly proposesPolicy: boolean;
  readonly proposesCases: boolean;
}

/** What a pull request that changes the policy, or its cases, would bring in. */
export interface ProposedChange {
  /** Absent where it changes no policy. */
  readonly proposed: LoadedPolicy;
  /** What a review shows of it beside the verdict. Absent where that is nothing. */
  readonly shown?: ReadProposal;
}

interface ProposalContext {
  readonly forge: Forge;
  readonly workers: ReviewWorkers;
  /** Whether to read what a review shows of it beside the verdict. */
  readonly showsProposals?: boolean;
  readonly isMeant?: IsMeant;
}

/** Reads and validates it. */
export async function readProposal(
  { forge, workers, showsProposals = false, isMeant }: ProposalContext,
  pullRequest: PullRequest,
  { policy, baseline, role }: PolicyInForce,
  { proposesPolicy, proposesCases }: Change,
): Promise<ProposedChange> {
  if (!proposesPolicy && !(showsProposals && proposesCases)) {
    return { proposed: { kind: 'absent' } };
  }
  const ofHead = await loadProposed(forge, parseFor(workers, pullRequest.repository), pullRequest, role, isMeant);
  // In the policy repository, the baseline in force judges, whatever is proposed.
  const isBaseline = role === 'baseline';
  const withRemoval = faultIfRemoved(ofHead, isBaseline ? baseline : undefined);
  const proposed: LoadedPolicy = proposesPolicy ? withRemoval : { kind: 'absent' };
  const withCases = proposesPolicy ? withRemoval : ofHead;
  if (!showsProposals || withCases.kind !== 'policy') {
    return { proposed };
  }
  const cases = await readProposedCases(forge, pullRequest, withCases);
  const about = [
    withCases.texts.map((source) => source.digest),
    [digestOfBaseline(baseline), pullRequest.base.branch],
    cases.kind === 'faulty' ? cases.fault : cases.files,
  ];
  const others = isBaseline ? undefined : proposedPolicy(proposed, policy);
  return {
    proposed,
    shown: { digest: hash('sha256', JSON.stringify(about)), cases, ...(others && { policy: others }) },
  };
}

/**
 * Where it is read from the repository itself in place of a fork, what it extends is not read: its author does not
 * belong to the owner whose other repositories it could then name, and quote from.
 */
function loadProposed(
  forge: Forge,
  parse: ParsePolicy,
  pullRequest: PullRequest,
  role: PolicyRole,
  isMeant: IsMeant | undefined,
): Promise<LoadedPolicy> {
  // Not remembered: anybody may propose to extend anything.
  const trusts = isMeant && ((now: RepositoryNow) => isMeant(now, false));
  const { repository, head } = pullRequest;
  return atHead(pullRequest, (of) =>
    loadPolicy(
      forge,
      parse,
      of,
      head.sha,
      of === head.repository ? { role, shownIn: repository, trusts } : { role, followExtends: false },
    ),
  );
}

/** The proposed policy, if other pull requests can be judged by it. */
function proposedPolicy(proposed: LoadedPolicy, present: LoadedPolicy): ProposedPolicy | undefined {
  const [own] = proposed.kind === 'policy' ? proposed.texts : [];
  if (own === undefined) {
    return undefined;
  }
  const { path, text } = own;
  return {
    file: { path, text, unusable: false },
    present: present.kind === 'policy' ? neededFacts(present.policy) : {},
  };
}
