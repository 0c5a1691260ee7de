import { z } from 'zod';

/** What a query asks of an account. */
export const ACTOR = '{ __typename login }';

/**
 * Whether the author of a pull request has committed nothing before, by what GraphQL and REST call the association.
 * `NONE`, which bots have too, does not say it.
 */
export function isFirstTime(association: string | undefined): boolean | undefined {
  return association === undefined || association === 'NONE' ? undefined : association.startsWith('FIRST_TIME');
}

/** What the site calls every deleted account. */
export const GHOST = 'ghost';

/** Null for a deleted account. REST appends `[bot]` to the login of an App. */
export const actor = z
  .object({ __typename: z.string(), login: z.string() })
  .nullable()
  .transform((user) => ({
    login:
      user === null ? GHOST : user.__typename === 'Bot' ? `${user.login.replace(/\[bot\]$/, '')}[bot]` : user.login,
    bot: user?.__typename === 'Bot',
  }));
