import type { Forge } from '../../forges/port/forge.ts';
import type { CommitStatus, PostedStatus } from '../../forges/port/postings.ts';
import { sameContext } from '../../forges/port/status-context.ts';
import { withoutDetails } from '../../review/verdict.ts';
import type { Place } from '../tables/statuses.ts';

/** What the forge shows at a place: as it was seen, or read when it is asked for. */
export interface Look {
  /** Those of somebody else, as far as was looked. */
  others(): readonly PostedStatus[];
  /** Whether any was found, as far as was looked. */
  areAny(): boolean;
  /** Whether there is any. */
  find(): Promise<boolean>;
  /** Whether a success was found. Looks only if `needed`. */
  isGreen(needed: boolean): Promise<boolean>;
  /** Whether this very status of ours stands there. */
  stands(status: CommitStatus): Promise<boolean>;
  /** Something was posted: what was seen does not count any more. */
  forget(): void;
}

export function lookAt(
  forge: Pick<Forge, 'name' | 'status'>,
  { repository, headSha, context }: Place,
  seen: readonly PostedStatus[] | undefined,
): Look {
  let here = seen?.filter((status) => sameContext(forge.name, status.context, context));

  async function lookAgain(): Promise<readonly PostedStatus[]> {
    const present = await forge.status(repository, headSha, context);
    here = present === undefined ? [] : [present];
    return here;
  }

  return {
    others: () => here?.filter(({ own }) => !own) ?? [],
    areAny: () => here !== undefined && here.length > 0,
    find: async () => (here ?? (await lookAgain())).length > 0,
    async isGreen(needed) {
      const found = here ?? (needed ? await lookAgain() : []);
      return found.some(({ state }) => state === 'success');
    },
    async stands(status) {
      const [only, ...others] = here ?? [];
      if (only !== undefined && others.length === 0 && (!only.own || isOurs(only, status))) {
        return only.own;
      }
      // It is not certain which of several spellings is in force, and another one of ours may have been posted since.
      return (await lookAgain()).some((one) => isOurs(one, status));
    },
    forget() {
      here = [];
    },
  };
}

/** One of the same words that somebody else set is not ours: a required status may be pinned to its author. */
function isOurs(present: PostedStatus, status: CommitStatus): boolean {
  return present.own && (isSame(present, status) || isSame(present, withoutDetails(status)));
}

type Words = Pick<PostedStatus, 'state' | 'description'>;

function isSame(one: Words, other: Words): boolean {
  return one.state === other.state && one.description === other.description;
}
