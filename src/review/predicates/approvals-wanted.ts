import * as z from 'zod';
import { CODE_OWNERS, peopleOrTeams, peopleOrTeamsAlone, splitTeams } from './values.ts';

const MAX_APPROVALS = 20;

const amounts = z
  .int({ error: 'a whole number' })
  .min(1, { error: 'a whole number from 1' })
  .max(MAX_APPROVALS, { error: `a whole number up to ${MAX_APPROVALS}` });

const mapping = z
  .strictObject({
    count: amounts.optional().describe('How many are needed; 1 when left out.'),
    from: peopleOrTeams
      .optional()
      .describe(
        'Whose approvals count: logins, teams (@organisation/team), or CODEOWNERS. Default: anyone with write access.',
      ),
    each: amounts
      .optional()
      .describe(
        'With `from: CODEOWNERS`: how many of the owners of each changed file, no matter who else `from` names.',
      ),
    all_of: peopleOrTeamsAlone
      .optional()
      .describe('Each of these logins and teams (@organisation/team) has to approve; one member of a team is enough.'),
    not_from: peopleOrTeamsAlone
      .optional()
      .describe('Whose approvals do not count, even where `from` names them: logins and teams (@organisation/team).'),
    fresh: z
      .union([z.boolean(), z.literal('except-updates')], { error: 'true, false or except-updates' })
      .optional()
      .describe(
        'true: count only approvals of the newest commit that were given after the last force-push and change of base. except-updates: merges of the base branch that change nothing else do not matter.',
      ),
    committers: z
      .boolean({ error: 'true or false' })
      .optional()
      .describe(
        'true: also count approvals by people who committed to the pull request, or are named as co-authors. Never its author.',
      ),
    unknown_authors: z
      .literal('undecided', { error: '"undecided"' })
      .optional()
      .describe(
        'undecided: the rule cannot be judged while a commit has an author, committer or co-author without a known account. Left out: they are only named.',
      ),
  })
  .refine(({ each, from }) => each === undefined || from?.includes(CODE_OWNERS), {
    error: '`from: CODEOWNERS` next to `each`',
  });

type Given = z.output<typeof mapping>;

/** What a rule says of approvals, with what it leaves out filled in. */
export const approvalsWanted = z
  .union([amounts, mapping], {
    error:
      'a whole number, or a mapping with `count`, `from`, `each`, `all_of`, `not_from`, `fresh`, `committers` and `unknown_authors`',
  })
  .transform((value) => {
    const given: Given = typeof value === 'number' ? { count: value } : value;
    const { from, each = 0, all_of: allOf = [], not_from: notFrom = [] } = given;
    const amount = given.count ?? (from === undefined && allOf.length > 0 ? 0 : 1);
    return {
      /** 0: only those of `allOf` are needed. */
      count: Math.max(amount, each),
      from,
      ...splitTeams(from?.filter((member) => member !== CODE_OWNERS) ?? []),
      codeOwners: from?.includes(CODE_OWNERS) ?? false,
      each,
      allOf: allOf.map((name) => ({ name, ...splitTeams([name]) })),
      notFrom: { names: notFrom, ...splitTeams(notFrom) },
      fresh: given.fresh ?? false,
      committers: given.committers ?? false,
      strict: given.unknown_authors === 'undecided',
    };
  });

export type Wanted = z.output<typeof approvalsWanted>;

/** Whether it counts approvals of whoever may write to the repository. */
export function isOfWriters({ count, from }: Wanted): boolean {
  return count > 0 && from === undefined;
}

/** All that a rule wants approvals from, beside code owners. */
export function wantedGroup({ people, teams, allOf }: Wanted): { people: readonly string[]; teams: readonly string[] } {
  return {
    people: [...people, ...allOf.flatMap((group) => group.people)],
    teams: [...teams, ...allOf.flatMap((group) => group.teams)],
  };
}
