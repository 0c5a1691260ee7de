import { compileGlobs } from '../matching/glob.ts';
import { quotedList, say } from '../text.ts';
import { definePredicate } from './predicate.ts';
import { globs } from './values.ts';

/** The remedy for what nobody changes for one pull request. */
export const REPOSITORY_REMEDY = say`Ask those who maintain the policy: this rule is about the repository, and no change to a pull request meets it.`;

/** Forges compare the names of repositories without case. */
export const repository = definePredicate({
  description:
    'The name of the repository, without its owner, matches this glob, or one of a list; globs that start with ! exclude. In any case.',
  actor: 'author',
  schema: globs,
  needs: () => ({}),
  judge(given, _options, { pullRequest }) {
    const name = pullRequest.repository.slice(pullRequest.repository.indexOf('/') + 1);
    const matches = compileGlobs(given.map((glob) => glob.toLowerCase())).matches(name.toLowerCase());
    return {
      outcome: matches ? 'matched' : 'unmatched',
      expected: say`a repository whose name matches ${quotedList(given)}`,
      found: say`the repository ${name}`,
      remedy: { toMatch: REPOSITORY_REMEDY, toAvoid: REPOSITORY_REMEDY },
    };
  },
});
