import * as z from 'zod';
import { say } from '../text.ts';
import { definePredicate } from './predicate.ts';

const fromFork = say`Open the pull request from a fork.`;
const fromRepository = say`Push the branch to this repository itself, and open the pull request from there.`;

/** A fork that was deleted is one too, and so is a push to `refs/for/…`, which needs no permission to write. */
export const fork = definePredicate({
  description: 'Whether the pull request comes from another repository, such as a fork: true or false.',
  actor: 'author',
  schema: z.boolean({ error: 'true or false' }),
  needs: () => ({}),
  judge(wanted, _options, { pullRequest: { repository, head } }) {
    const name = (isFork: boolean) => (isFork ? say`a pull request from a fork` : say`a pull request from a branch`);
    const isFork = head.repository?.toLowerCase() !== repository.toLowerCase();
    return {
      outcome: isFork === wanted ? 'matched' : 'unmatched',
      expected: name(wanted),
      found: name(isFork),
      remedy: wanted ? { toMatch: fromFork, toAvoid: fromRepository } : { toMatch: fromRepository, toAvoid: fromFork },
    };
  },
});
