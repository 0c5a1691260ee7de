import { z } from 'zod';
import { GHOST } from '../port/accounts.ts';
import type { YesNo } from '../port/yes-no.ts';

/** What a query asks of an account. */
export const ACTOR = '{ __typename login }';

const FIRST_TIME: Readonly<Record<string, YesNo>> = {
  FIRST_TIMER: 'yes',
  FIRST_TIME_CONTRIBUTOR: 'yes',
  CONTRIBUTOR: 'no',
};

/**
 * Whether the author of a pull request has committed nothing before, by what GraphQL and REST call the association. No
 * other word says anything of commits: members, owners and collaborators may have none.
 */
export function isFirstTime(association: string | undefined): YesNo {
  return FIRST_TIME[association ?? ''] ?? 'unknown';
}

/** Null for a deleted account. REST appends `[bot]` to the login of an App. */
export const actor = z
  .object({ __typename: z.string(), login: z.string() })
  .nullable()
  .transform((user) => ({
    login:
      user === null ? GHOST : user.__typename === 'Bot' ? `${user.login.replace(/\[bot\]$/, '')}[bot]` : user.login,
    bot: user?.__typename === 'Bot',
  }));
