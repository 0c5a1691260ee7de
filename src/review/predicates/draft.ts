import * as z from 'zod';
import { yesNo } from '../../forges/port/yes-no.ts';
import { say } from '../text.ts';
import { definePredicate } from './predicate.ts';

const asDraft = say`Convert the pull request to a draft.`;
const asReady = say`Mark the pull request as ready for review.`;

const NAMES = {
  yes: say`a draft`,
  no: say`a pull request that is ready for review`,
  unknown: say`a pull request of which the forge does not say whether it is a draft`,
};

export const draft = definePredicate({
  description: 'Whether the pull request is a draft: true or false.',
  actor: 'author',
  schema: z.boolean({ error: 'true or false' }),
  needs: () => ({ pullRequest: ['draft'] }),
  judge(wanted, _options, facts) {
    const { draft: found } = facts.pullRequest;
    return {
      outcome: found === 'unknown' ? 'undecided' : found === yesNo(wanted) ? 'matched' : 'unmatched',
      expected: NAMES[yesNo(wanted)],
      found: NAMES[found],
      remedy: wanted ? { toMatch: asDraft, toAvoid: asReady } : { toMatch: asReady, toAvoid: asDraft },
    };
  },
});
