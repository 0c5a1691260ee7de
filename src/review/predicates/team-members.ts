import type { Facts, MemberRole, NeededFacts } from '../facts.ts';
import { quotedList, say, type Text } from '../text.ts';
import type { Outcome } from './predicate.ts';

/** People and teams as splitTeams makes them of a policy's list. */
export interface Group {
  readonly people: readonly string[];
  /** `organisation/team`, and `organisation/*` for all members of the organisation. */
  readonly teams: readonly string[];
}

const EVERYBODY = '/*';

/** The organisation of which this is every member; undefined for any other team. */
export function organisationOf(team: string): string | undefined {
  return team.endsWith(EVERYBODY) ? team.slice(0, -EVERYBODY.length) : undefined;
}

export function everybodyIn(organisation: string): string {
  return `${organisation}${EVERYBODY}`;
}

/** What has to be read to tell who of the people in this role is in these teams. */
export function neededMembers(role: MemberRole, teams: readonly string[]): Pick<NeededFacts, 'teams' | 'members'> {
  return {
    teams: teams.filter((team) => organisationOf(team) === undefined),
    members: teams.flatMap((team) => {
      const organisation = organisationOf(team);
      return organisation === undefined ? [] : [{ organisation, role }];
    }),
  };
}

/**
 * Whether somebody is one of these people or in one of these teams; undefined where a team that could not be read
 * decides it.
 */
export function isMember(login: string, { people, teams }: Group, members: Facts['teams']): boolean | undefined {
  if (includesLogin(people, login)) {
    return true;
  }
  const answers = teams.map((team) => isInTeam(login, team, members));
  return answers.includes(true) ? true : answers.includes(undefined) ? undefined : false;
}

/** Whether all of a team are in the group, whoever they are: teams have members of their organisation alone. */
export function includesTeam({ teams }: Group, team: string): boolean {
  return teams.includes(team) || teams.includes(everybodyIn(team.split('/')[0] ?? ''));
}

function isInTeam(login: string, team: string, teams: Facts['teams']): boolean | undefined {
  const known = teams.get(team);
  switch (known?.kind) {
    case undefined:
      return undefined;
    case 'team':
      return includesLogin(known.logins, login);
    case 'organisation':
      return includesLogin(known.members, login) || (includesLogin(known.others, login) ? false : undefined);
  }
}

function includesLogin(logins: readonly string[], login: string): boolean {
  return logins.some((other) => other.toLowerCase() === login.toLowerCase());
}

/** Those of which it is not known who is in them. */
export function unreadableTeams(teams: readonly string[], members: Facts['teams']): readonly string[] {
  return teams.filter((team) => {
    const known = members.get(team);
    return known === undefined || (known.kind === 'organisation' && known.unknown.length > 0);
  });
}

export function couldNotRead(outcome: Outcome, teams: readonly string[]): Text {
  return outcome !== 'undecided' || teams.length === 0
    ? []
    : say`; the members of ${quotedList(teams)} could not be read`;
}
