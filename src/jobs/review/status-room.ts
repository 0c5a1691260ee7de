import type pg from 'pg';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import { type CommitStatus, type StatusState, statusDescription } from '../../forges/port/postings.ts';
import { meaningOfSuccess } from '../../review/verdict.ts';
import { type PostedBefore, postedBefore, rememberWritten, type StatusPlace } from '../tables/posted-statuses.ts';
import type { ForeignStatusDeps } from './foreign-status.ts';

/**
 * How many more statuses a commit takes. An author can use them up by changing a title again and again, and whoever may
 * set statuses can do so at once. A success that is the last one could never be taken back.
 */
export interface StatusRoom {
  /**
   * What is written for a status. From the reserve on it is always the same, so that it is written once: that the
   * author has to push a new commit. From a tenth of the limit on, other words of the same state are not written.
   */
  fit(place: StatusPlace, status: CommitStatus, before: PostedBefore): Promise<CommitStatus>;
  /** Whether a status of this state would not be written. */
  isUsedUp(place: StatusPlace, state: StatusState, before: PostedBefore): Promise<boolean>;
  /**
   * After the forge has refused a status. Throws, except when the place is known to take no more: then trying again
   * would not help, and the comment says so. Before that it throws as `unavailable`, so that the next attempt writes
   * this comment.
   */
  explain(place: StatusPlace, status: CommitStatus, error: unknown): Promise<void>;
}

export interface StatusRoomDeps extends ForeignStatusDeps {
  readonly forge: Pick<Forge, 'statusLimit' | 'status'>;
  readonly pool: pg.Pool;
  readonly enforce: boolean;
}

/** Kept of the limit: for taking a success back, however many reviews end at once. */
const RESERVE = 0.1;
const SAVING_FROM = 0.1;

export function statusRoom({ forge, pool, enforce, metrics, log }: StatusRoomDeps): StatusRoom {
  const limit = forge.statusLimit;

  /**
   * Asks the forge only where others may have set some. What is no success is not held back when it does not answer.
   */
  async function writtenAt(place: StatusPlace, state: StatusState, before: PostedBefore): Promise<number> {
    if (limit === undefined) {
      return 0;
    }
    if (before.written !== undefined) {
      return before.written;
    }
    try {
      const counted = await limit.count(place.repository, place.headSha, place.context);
      await rememberWritten(pool, place, counted);
      return counted;
    } catch (error) {
      if (error instanceof ForgeError && state !== 'success') {
        return 0;
      }
      throw error;
    }
  }

  function isUsedUp(written: number): boolean {
    return limit !== undefined && written >= limit.most * (1 - RESERVE);
  }

  return {
    async fit(place, status, before) {
      const written = await writtenAt(place, status.state, before);
      if (isUsedUp(written)) {
        const description = 'This commit has too many statuses to show a verdict: push a new commit';
        return enforce
          ? { ...status, state: 'error', description: statusDescription(description) }
          : { ...status, description: statusDescription(`Not enforced. ${description}`) };
      }
      const saves = limit !== undefined && written >= limit.most * SAVING_FROM;
      return saves && before.kind === 'status' && saysSame(before, status)
        ? { ...status, description: before.description }
        : status;
    },
    isUsedUp: async (place, state, before) => isUsedUp(await writtenAt(place, enforce ? state : 'success', before)),
    async explain(place, status, error) {
      const { repository, headSha, context } = place;
      const isRefused = error instanceof ForgeError && error.kind === 'invalid';
      if (limit === undefined || !isRefused || (await limit.count(repository, headSha, context)) < limit.most) {
        throw error;
      }
      const { written } = await postedBefore(pool, place);
      await rememberWritten(pool, place, limit.most);
      const present = await forge.status(repository, headSha, context);
      if (present?.state === 'success' && status.state !== 'success') {
        metrics.frozenSuccesses.inc();
        log.error(
          { repository, headSha, context },
          'a success cannot be taken back: the commit takes no more statuses',
        );
      }
      if (written === undefined || written < limit.most) {
        throw new ForgeError('unavailable', `${repository}@${headSha} takes no more statuses`, { cause: error });
      }
    },
  };
}

/** Whether two statuses differ in their words alone. A success that somebody overrode a rule for is another one. */
function saysSame(one: Words, other: Words): boolean {
  return (
    one.state === other.state &&
    (one.state !== 'success' || meaningOfSuccess(one.description) === meaningOfSuccess(other.description))
  );
}

type Words = Pick<CommitStatus, 'state' | 'description'>;
