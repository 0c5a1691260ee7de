import { everybodyIn, teamsIn } from '../../facts/teams.ts';
import type { Forge } from '../../forges/port/forge.ts';
import type { PullRequest } from '../../forges/port/pull-request.ts';
import { sameRepository } from '../policy/same-repository.ts';
import type { ReviewWorkers } from '../workers/review-workers.ts';
import type { ProposedPolicy } from './proposal.ts';

/**
 * Whether the proposed policy is of somebody who may write to the repository. The author of a pull request may be
 * another one than the owner of the fork that it comes from.
 */
export async function isByWriter(forge: Forge, { repository, author, head }: PullRequest): Promise<boolean> {
  const from = head.repository;
  if (from === null || !(sameRepository(from, repository) || sameRepository(from.split('/')[0] ?? '', author))) {
    return false;
  }
  return (await forge.mayWrite(repository, author)) === true;
}

/**
 * What other pull requests are judged with. What is the same for all of them is read once; teams only as far as the
 * present policy names them, or reads CODEOWNERS, which names them; and no comments, so that nobody's override counts.
 */
export function partsForOthers(
  forge: Forge,
  workers: ReviewWorkers,
  { present }: ProposedPolicy,
): { readonly forge: Forge; readonly workers: ReviewWorkers } {
  const teams = new Set(teamsIn(present.teams ?? []));
  const teamMembers = once(forge.teamMembers);
  return {
    forge: {
      ...forge,
      repository: once(forge.repository),
      branchCommit: once(forge.branchCommit),
      tagCommit: once(forge.tagCommit),
      fileAt: once(forge.fileAt),
      teamMembers: async (team) => (teams.has(team) ? teamMembers(team) : undefined),
      organisationMembers: async (organisation, logins) =>
        teams.has(everybodyIn(organisation))
          ? forge.organisationMembers(organisation, logins)
          : { members: [], complete: false },
      comments: async () => [],
    },
    workers: {
      ...workers,
      async ownerTeams(facts) {
        const owners = await workers.ownerTeams(facts);
        if (present.codeOwners !== undefined) {
          for (const team of owners) {
            teams.add(team);
          }
        }
        return owners;
      },
    },
  };
}

/** Each answer is kept; a failure too, which ends the work soon anyway. */
function once<Arguments extends readonly string[], Result>(
  read: (...args: Arguments) => Promise<Result>,
): (...args: Arguments) => Promise<Result> {
  const answers = new Map<string, Promise<Result>>();
  return (...args) => {
    const key = JSON.stringify(args);
    const answer = answers.get(key) ?? read(...args);
    answers.set(key, answer);
    return answer;
  };
}
