import * as z from 'zod';
import { MAX_LIST_ENTRIES, MAX_NAME_LENGTH } from '../limits.ts';
import { globFault } from '../matching/glob.ts';
import { patternFault } from '../matching/pattern.ts';

/**
 * The kinds of value that predicates take. A schema's error says what was expected, as a noun; what was found
 * and where is added by the caller.
 */

/** One value or a list of them, seen as a list. */
export function oneOrMore<Item extends z.ZodType<string>>(item: Item, noun: string) {
  return z
    .union(
      [
        item,
        z
          .array(item)
          .min(1, { error: `at least ${noun}` })
          .max(MAX_LIST_ENTRIES, { error: `at most ${MAX_LIST_ENTRIES} of them` }),
      ],
      { error: `${noun}, or a list of them` },
    )
    .transform((value): readonly string[] => (typeof value === 'string' ? [value] : value));
}

export const checked = (noun: string, fault: (value: string) => string | undefined) =>
  z.string({ error: noun }).superRefine((value, context) => {
    const message = fault(value);
    if (message !== undefined) {
      context.addIssue({ code: 'custom', message, params: { sentence: true } });
    }
  });

const pattern = checked('a regular expression in quotes', patternFault);
export const patterns = oneOrMore(pattern, 'a regular expression in quotes');
const glob = checked('a glob in quotes', globFault);
export const globs = oneOrMore(glob, 'a glob in quotes');

export function nameFault(name: string): string | undefined {
  if (name.trim() === '') {
    return 'a name cannot be empty';
  }
  return name.length > MAX_NAME_LENGTH ? `a name may have ${MAX_NAME_LENGTH} characters` : undefined;
}

export const names = oneOrMore(checked('a name', nameFault), 'a name');

/** Whether binary files, which nothing can look into, are left out of what a predicate judges. */
export const binaryFiles = z.literal('ignore', { error: '"ignore"' });

/** `*` is everybody in the organisation. */
const TEAM = /^@([\w.-]+)\/([\w.-]+|\*)$/;

export const CODE_OWNERS = 'CODEOWNERS';

function personOrTeamFault(name: string): string | undefined {
  if (name.startsWith('@') && !TEAM.test(name)) {
    return 'a team is written "@organisation/team", and a person without the "@"';
  }
  if (name !== CODE_OWNERS && name.toUpperCase() === CODE_OWNERS) {
    return `did you mean "${CODE_OWNERS}"?`;
  }
  if (!name.startsWith('@') && name.includes('/')) {
    return `a team is written "@organisation/team"; did you mean "@${name}"?`;
  }
  return nameFault(name);
}

export const peopleOrTeams = oneOrMore(checked('a login or a team', personOrTeamFault), 'a login or a team');

/** The same, where the owners of files make no sense. */
export const peopleOrTeamsAlone = peopleOrTeams.refine((members) => !members.includes(CODE_OWNERS), {
  error: 'a login or a team, not CODEOWNERS',
});

function loginOrTeamFault(name: string): string | undefined {
  if (TEAM.test(name)) {
    return nameFault(name);
  }
  return /[@*/\s]/.test(name)
    ? 'a login, without "@" and "*", or a team ("@organisation/team"): no e-mail address'
    : nameFault(name);
}

/** The same, where a login is no pattern and an e-mail address is nobody's. */
export const loginsOrTeams = oneOrMore(checked('a login or a team', loginOrTeamFault), 'a login or a team');

/** Splits what {@link peopleOrTeams} accepted. Teams are without `@` and in lower case, as in Facts.teams. */
export function splitTeams(members: readonly string[]): { readonly people: string[]; readonly teams: string[] } {
  const people: string[] = [];
  const teams: string[] = [];
  for (const member of members) {
    if (TEAM.test(member)) {
      teams.push(member.slice(1).toLowerCase());
    } else {
      people.push(member.replace(/^@/, ''));
    }
  }
  return { people, teams };
}
