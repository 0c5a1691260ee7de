import type { Facts } from '../facts.ts';

/** People and teams as splitTeams makes them of a policy's list. */
export interface Group {
  readonly people: readonly string[];
  readonly teams: readonly string[];
}

/**
 * Whether somebody is one of these people or in one of these teams; undefined where a team that could not be read
 * decides it.
 */
export function isMember(login: string, { people, teams }: Group, members: Facts['teams']): boolean | undefined {
  const isLogin = (other: string) => other.toLowerCase() === login.toLowerCase();
  if (people.some(isLogin) || teams.some((team) => members.get(team)?.some(isLogin) ?? false)) {
    return true;
  }
  return unreadableTeams(teams, members).length > 0 ? undefined : false;
}

export function unreadableTeams(teams: readonly string[], members: Facts['teams']): readonly string[] {
  return teams.filter((team) => !members.has(team));
}
