import type { Facts } from '../facts.ts';
import { count, quotedList, say, type Text } from '../text.ts';
import type { Counted } from './approvals-counted.ts';
import { ownersOfChange } from './approvals-owners.ts';
import type { Wanted } from './approvals-wanted.ts';
import { bareOwner, isTeam, readCodeOwners } from './code-owners.ts';
import type { Outcome } from './predicate.ts';
import { type Group, isMember, unreadableTeams } from './team-members.ts';

export interface Weighed {
  readonly outcome: Outcome;
  readonly found: Text;
  /** How many of the approvals wanted are there; absent where each owned file needs its own. */
  readonly given?: number;
}

/** Whether the approvals that count are enough, from the people whom the rule wants. */
export function weigh(wanted: Wanted, counted: Counted, facts: Facts): Weighed {
  if (wanted.codeOwners) {
    return weighOwners(wanted, counted, facts);
  }
  const from = wanted.from === undefined ? undefined : { people: wanted.people, teams: wanted.teams };
  const { outcome, counting, unreadable } = enough(wanted, from, counted, facts);
  const found = say`${approvedBy(counting)}${couldNotRead(outcome, unreadable)}`;
  return { outcome, found, given: counting.length };
}

function weighOwners(wanted: Wanted, counted: Counted, facts: Facts): Weighed {
  const { codeOwners } = facts;
  if (codeOwners.kind === 'unread') {
    return { outcome: 'undecided', found: say`a CODEOWNERS file that could not be read` };
  }
  if (codeOwners.kind === 'unusable') {
    return { outcome: 'undecided', found: say`a CODEOWNERS file that cannot be read: ${[codeOwners.reason]}` };
  }
  if (codeOwners.kind === 'absent') {
    return {
      outcome: 'undecided',
      found: say`no CODEOWNERS file on the base branch, so the change has no known owners`,
    };
  }
  const ownersOf = readCodeOwners(codeOwners.text, codeOwners.dialect);
  if (ownersOf === undefined) {
    return { outcome: 'undecided', found: say`a CODEOWNERS file that is too large, or has a pattern that is too long` };
  }

  // Each owned file needs its own owners' approval; files with the same owners are one question.
  const groups = ownersOfChange(facts.changedFiles.files, ownersOf);
  const answers = groups.map(({ owners, paths }) => {
    const teams = [...wanted.teams, ...owners.filter(isTeam).map(bareOwner)];
    const people = [...wanted.people, ...owners.filter((owner) => !isTeam(owner)).map(bareOwner)];
    return { paths, owners, ...enough(wanted, { people, teams }, counted, facts) };
  });
  const failed =
    answers.find(({ outcome }) => outcome === 'unmatched') ?? answers.find(({ outcome }) => outcome === 'undecided');
  if (failed !== undefined) {
    const missing = say`${approvedBy(failed.counting)} for ${quotedList(failed.paths, 3)}, owned by ${quotedList(failed.owners)}`;
    return { outcome: failed.outcome, found: say`${missing}${couldNotRead(failed.outcome, failed.unreadable)}` };
  }
  const said = approvedBy(counted.certain);
  if (!facts.changedFiles.complete) {
    return { outcome: 'undecided', found: say`${said}; the list of changed files is not complete` };
  }
  if (groups.length === 0) {
    return { outcome: 'matched', found: say`no changed file that has an owner in ${codeOwners.path}` };
  }
  return { outcome: 'matched', found: say`${said}; every owned file has its owners' approval` };
}

interface Enough {
  readonly outcome: Outcome;
  /** Logins of those whose approval counts, and who are among the people wanted. */
  readonly counting: readonly string[];
  /** Teams whose members could have changed the answer. */
  readonly unreadable: readonly string[];
}

/** Whether enough of those who approved are wanted; undecided where it depends on a team that could not be read. */
function enough({ count, notFrom }: Wanted, from: Group | undefined, counted: Counted, { teams }: Facts): Enough {
  const isWanted = (login: string) => (from === undefined ? true : isMember(login, from, teams));
  const counting = counted.certain.filter((login) => isWanted(login) === true);
  const possible = [...counted.certain, ...counted.unknown].filter((login) => isWanted(login) !== false);
  const outcome = counting.length >= count ? 'matched' : possible.length >= count ? 'undecided' : 'unmatched';
  return { outcome, counting, unreadable: unreadableTeams([...(from?.teams ?? []), ...notFrom.teams], teams) };
}

function couldNotRead(outcome: Outcome, teams: readonly string[]): Text {
  return outcome !== 'undecided' || teams.length === 0
    ? []
    : say`; the members of ${quotedList(teams)} could not be read`;
}

function approvedBy(logins: readonly string[]): Text {
  return logins.length === 0
    ? say`no approval that counts`
    : say`${count(logins.length, 'approval')}, by ${quotedList(logins)}`;
}
