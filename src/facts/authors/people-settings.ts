import type { Forge } from '../../forges/port/forge.ts';

/** How people are told apart from machines, beside what the forge says. */
export interface PeopleSettings {
  /** Keys of trailers that name a co-author, beside `Co-authored-by`. */
  readonly authorTrailers: readonly string[];
  /** Logins of programs, with `*` for any characters. */
  readonly machineAccounts: readonly string[];
}

export const NO_PEOPLE_SETTINGS: PeopleSettings = { authorTrailers: [], machineAccounts: [] };

/** Joins both: neither removes a machine account or a trailer of the other. */
export function joinPeople(one: PeopleSettings, other: PeopleSettings): PeopleSettings {
  return {
    authorTrailers: [...new Set([...one.authorTrailers, ...other.authorTrailers])],
    machineAccounts: [...new Set([...one.machineAccounts, ...other.machineAccounts])],
  };
}

/** What the operator says. */
export function operatorsPeople({ machineAccounts }: Pick<Forge, 'machineAccounts'>): PeopleSettings {
  return { ...NO_PEOPLE_SETTINGS, machineAccounts };
}
