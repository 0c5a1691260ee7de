import * as z from 'zod';
import { peopleOrTeams, splitTeams } from './values.ts';

const MAX_APPROVALS = 20;
export const CODE_OWNERS = 'CODEOWNERS';

const amount = z
  .int({ error: 'a whole number' })
  .min(1, { error: 'a whole number from 1' })
  .max(MAX_APPROVALS, { error: `a whole number up to ${MAX_APPROVALS}` });

interface Given {
  readonly count?: number | undefined;
  readonly from?: readonly string[] | undefined;
  readonly not_from?: readonly string[] | undefined;
  readonly fresh?: boolean | 'except-updates' | undefined;
  readonly committers?: boolean | undefined;
}

/** What a rule says of approvals, with what it leaves out filled in. */
export const approvalsWanted = z
  .union(
    [
      amount,
      z.strictObject({
        count: amount.optional().describe('How many are needed; 1 when left out.'),
        from: peopleOrTeams
          .optional()
          .describe(
            'Whose approvals count: logins, teams (@organisation/team), or CODEOWNERS. Left out: whoever may write to the repository.',
          ),
        not_from: peopleOrTeams
          .refine((members) => !members.includes(CODE_OWNERS), { error: 'a login or a team, not CODEOWNERS' })
          .optional()
          .describe(
            'Whose approvals do not count, even where `from` names them: logins and teams (@organisation/team).',
          ),
        fresh: z
          .union([z.boolean(), z.literal('except-updates')], { error: 'true, false or except-updates' })
          .optional()
          .describe(
            'true: count only approvals of the newest commit that were given after the last force-push and change of base. except-updates: merges of the base branch that change nothing else do not matter.',
          ),
        committers: z
          .boolean({ error: 'true or false' })
          .optional()
          .describe('true: also count approvals by people who committed to the pull request. Never its author.'),
      }),
    ],
    { error: 'a whole number, or a mapping with `count`, `from`, `not_from`, `fresh` and `committers`' },
  )
  .transform((value) => {
    const given: Given = typeof value === 'number' ? { count: value } : value;
    const members = given.from?.filter((member) => member !== CODE_OWNERS);
    return {
      count: given.count ?? 1,
      from: given.from,
      notFrom: { names: given.not_from ?? [], ...splitTeams(given.not_from ?? []) },
      fresh: given.fresh ?? false,
      committers: given.committers ?? false,
      codeOwners: given.from?.includes(CODE_OWNERS) ?? false,
      ...splitTeams(members ?? []),
    };
  });

export type Wanted = z.output<typeof approvalsWanted>;
