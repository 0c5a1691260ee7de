import { lookIntoMerges, readCleanMerges } from './clean-merge.ts';
import { commits, givenCommits, givenSha } from './commits.ts';
import { defineFact, NOTHING_MORE } from './fact.ts';
import { SHAS } from './given.ts';
import { reviews } from './reviews.ts';
import { readUpdatedFrom } from './updates.ts';

export interface Merges {
  /**
   * Ids of merge commits that are known to change nothing themselves: what git would have made of their parents.
   * Any other merge commit is a change by its author.
   */
  readonly clean: ReadonlySet<string>;
  /** Earlier heads that the head differs from by updates alone: merges of the base branch that change nothing else. */
  readonly updatedFrom: readonly string[];
}

/**
 * - `clean`: whether a merge commit that changes files itself counts for more than one that does not.
 * - `updates`: whether an approval of an earlier head counts where only the base branch came in since.
 */
type Part = 'clean' | 'updates';

const UNREAD: Merges = { clean: new Set(), updatedFrom: [] };

/** What merge commits of the pull request bring in. */
export const merges = defineFact({
  name: 'merges',
  unread: UNREAD,
  unreadAs: 'merge commits',
  unreadAfter: [],
  dependsOn: [commits, reviews],
  async read({ forge, pullRequest, baseSha, authorTrailers, before, of }, parts: readonly Part[]): Promise<Merges> {
    const [listed, { reviews: given }] = [await of(commits), await of(reviews)];
    const isClean = lookIntoMerges(forge, pullRequest.repository);
    return {
      clean: parts.includes('clean') ? await readCleanMerges(isClean, listed, authorTrailers, given) : before.clean,
      updatedFrom: parts.includes('updates')
        ? await readUpdatedFrom(forge, isClean, pullRequest, baseSha, listed, given)
        : before.updatedFrom,
    };
  },
  change: 'commits',
  // Merges are rare: a usual pull request has none to look into.
  forges: NOTHING_MORE,
  given: {
    shape: givenCommits,
    of: ({ commits: given = [] }) => ({
      clean: new Set(given.flatMap(({ clean }, index) => (clean === true ? [givenSha(index)] : []))),
      updatedFrom: [SHAS.updated],
    }),
  },
});
