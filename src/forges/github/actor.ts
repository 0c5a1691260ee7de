import { z } from 'zod';

/** What a query asks of an account. */
export const ACTOR = '{ __typename login }';

/** Null for a deleted account. REST calls it `ghost`, and appends `[bot]` to the login of an App. */
export const actor = z
  .object({ __typename: z.string(), login: z.string() })
  .nullable()
  .transform((user) => ({
    login:
      user === null ? 'ghost' : user.__typename === 'Bot' ? `${user.login.replace(/\[bot\]$/, '')}[bot]` : user.login,
    bot: user?.__typename === 'Bot',
  }));
