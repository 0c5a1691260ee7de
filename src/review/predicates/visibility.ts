import * as z from 'zod';
import { repository as repositoryFact } from '../../facts/repository.ts';
import type { Visibility } from '../../forges/port/pull-request.ts';
import { quotedList, say, unreadText } from '../text.ts';
import { definePredicate } from './predicate.ts';
import { REPOSITORY_REMEDY } from './repository.ts';

const VISIBILITIES = ['public', 'internal', 'private'] as const satisfies readonly Visibility[];
const one = z.enum(VISIBILITIES, { error: `one of ${VISIBILITIES.join(', ')}` });

export const visibility = definePredicate({
  description: 'Who can read the repository: public, internal or private, or a list of these.',
  actor: 'author',
  schema: z
    .union([one, z.array(one).min(1, { error: 'at least one' })], {
      error: `one of ${VISIBILITIES.join(', ')}, or a list`,
    })
    .transform((value): readonly Visibility[] => (typeof value === 'string' ? [value] : value)),
  needs: () => ({ repository: ['visibility'] }),
  judge(wanted, _options, { repository }) {
    const found = repository?.visibility;
    return {
      outcome: found === undefined ? 'undecided' : wanted.includes(found) ? 'matched' : 'unmatched',
      expected: say`a repository that is ${quotedList(wanted)}`,
      found: found === undefined ? unreadText(repositoryFact) : say`a repository that is ${found}`,
      remedy: { toMatch: REPOSITORY_REMEDY, toAvoid: REPOSITORY_REMEDY },
    };
  },
});
