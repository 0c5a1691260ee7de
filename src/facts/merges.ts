import type { Forge } from '../forges/port/forge.ts';
import { lookIntoMerges, readCleanMerges } from './clean-merge.ts';
import { commits, givenCommits, givenSha } from './commits.ts';
import { type AtForge, defineFact, NO_PERMISSIONS, NO_WEBHOOKS, type Reading } from './fact.ts';
import { SHAS } from './given.ts';
import { type ReviewList, reviews } from './reviews.ts';
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

/** Merges are rare: a usual pull request has none to look into. */
const AT_FORGE: AtForge<Part> = { requests: { always: 0 }, permissions: NO_PERMISSIONS, webhooks: NO_WEBHOOKS };

async function readMerges(
  { pullRequest, authorTrailers, before, of }: Reading<Merges>,
  parts: readonly Part[],
  forge: Forge,
  baseSha: string,
  approvals: ReviewList['reviews'],
): Promise<Merges> {
  const listed = await of(commits);
  const isClean = lookIntoMerges(forge, pullRequest.repository);
  return {
    clean: parts.includes('clean') ? await readCleanMerges(isClean, listed, authorTrailers, approvals) : before.clean,
    updatedFrom: parts.includes('updates')
      ? await readUpdatedFrom(forge, isClean, pullRequest, baseSha, listed.commits, approvals)
      : before.updatedFrom,
  };
}

/** What merge commits of the pull request bring in. */
export const merges = defineFact({
  name: 'merges',
  unread: UNREAD,
  unreadAs: 'merge commits',
  unreadAfter: [],
  dependsOn: [commits, reviews],
  read: async (reading, parts: readonly Part[]) =>
    readMerges(reading, parts, reading.forge, reading.baseSha, (await reading.of(reviews)).reviews),
  change: { noticedBy: 'commits' },
  past: {
    atHead: false,
    asOfToday: () => [],
    /**
     * The base branch has the commits of the pull request now. What was brought into the pull request from the base
     * branch is known by what its list of commits leaves out: what the base branch had then.
     */
    async read(reading, parts) {
      const { commits: listed, complete } = await reading.of(commits);
      const own = new Set(listed.map(({ sha }) => sha));
      const then: Forge = { ...reading.forge, isAncestor: async (_, ancestor) => complete && !own.has(ancestor) };
      // An approval that was dismissed since may have counted.
      const approvals = (await reading.of(reviews)).reviews.map((review) =>
        review.state === 'dismissed' ? { ...review, state: 'approved' as const } : review,
      );
      return readMerges(reading, parts, then, '', approvals);
    },
  },
  forges: { github: AT_FORGE, gitea: AT_FORGE, forgejo: AT_FORGE },
  given: {
    shape: givenCommits,
    of: ({ commits: given = [] }) => ({
      clean: new Set(given.flatMap(({ clean }, index) => (clean === true ? [givenSha(index)] : []))),
      updatedFrom: [SHAS.updated],
    }),
  },
});
