import * as z from 'zod';
import { say } from '../text.ts';
import { definePredicate } from './predicate.ts';

const asDraft = say`Convert the pull request to a draft.`;
const asReady = say`Mark the pull request as ready for review.`;

export const draft = definePredicate({
  description: 'Whether the pull request is a draft: true or false.',
  actor: 'author',
  schema: z.boolean({ error: 'true or false' }),
  needs: () => ({ pullRequest: ['draft'] }),
  judge(wanted, _options, facts) {
    const name = (isDraft: boolean) => (isDraft ? say`a draft` : say`a pull request that is ready for review`);
    return {
      outcome: facts.pullRequest.draft === wanted ? 'matched' : 'unmatched',
      expected: name(wanted),
      found: name(facts.pullRequest.draft),
      remedy: wanted ? { toMatch: asDraft, toAvoid: asReady } : { toMatch: asReady, toAvoid: asDraft },
    };
  },
});
