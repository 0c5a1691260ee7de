import { defineFact, NOTHING_MORE, orUnread, type Reading } from './fact.ts';
import { flag, minute } from './given.ts';
import { givenReviews, reviews } from './reviews.ts';

/** When the base branch was last changed or the head force-pushed. An approval from before it is not fresh. */
export type LastChange =
  | { readonly kind: 'unread' }
  /** Neither, or there is no approval. */
  | { readonly kind: 'none' }
  | { readonly kind: 'change'; readonly at: string };

const UNREAD = { kind: 'unread' } as LastChange;
/** A missing permission, or a list that is too long. */
const UNREAD_AFTER = ['refused', 'invalid', 'too-large'] as const;

export const lastChange = defineFact({
  name: 'lastChange',
  unread: UNREAD,
  unreadAs: 'force-pushes and changes of base',
  unreadAfter: UNREAD_AFTER,
  dependsOn: [reviews],
  /** Only with an approval to compare with. */
  async read({ forge, pullRequest, of }): Promise<LastChange> {
    const list = await of(reviews);
    const none = list.complete && !list.reviews.some(({ state }) => state === 'approved');
    return none ? { kind: 'none' } : readLastChange({ forge, pullRequest });
  },
  change: 'updated-at',
  // The push itself, and the change of base, are events of every review.
  forges: NOTHING_MORE,
  given: {
    shape: {
      ...givenReviews,
      last_change_unread: flag.optional().describe('true: the last force-push and change of base could not be read.'),
    },
    /** In the very second of the last review that is outdated. */
    of({ reviews: given = [], last_change_unread }): LastChange {
      const last = given.findLastIndex(({ outdated }) => outdated === true);
      if (last_change_unread === true) {
        return UNREAD;
      }
      return last === -1 ? { kind: 'none' } : { kind: 'change', at: minute(last) };
    },
  },
});

export function readLastChange({
  forge,
  pullRequest,
}: Pick<Reading<unknown>, 'forge' | 'pullRequest'>): Promise<LastChange> {
  return orUnread({ unread: UNREAD, unreadAfter: UNREAD_AFTER }, async () => {
    const at = await forge.lastForcePushOrRetarget(pullRequest);
    return at === undefined ? { kind: 'none' } : { kind: 'change', at };
  });
}
