import * as z from 'zod';
import { names } from '../../facts/given.ts';
import { GIVEN_SHAPE } from '../../facts/table.ts';

/** A pull request in short: what a case, or a row of docs/rules.md, cares to say of it. The rest is ordinary. */
export const given = z
  .strictObject(
    {
      ...GIVEN_SHAPE,
      machine_accounts: names
        .optional()
        .describe('What the operator has set (MACHINE_ACCOUNTS), in addition to machine_accounts of the policy.'),
    },
    { error: 'a pull request, such as { title: Add docs }' },
  )
  .meta({ id: 'given', description: 'A pull request in short. What is left out is ordinary.' });
export type Given = z.input<typeof given>;
