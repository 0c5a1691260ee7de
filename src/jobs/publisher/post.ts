import type pg from 'pg';
import { commitRows } from '../../audit/partitions.ts';
import { postingInsert } from '../../audit/record-posting.ts';
import { makeParameters } from '../../db/parameters.ts';
import { WITH_WARNINGS } from '../../db/transaction.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { CommitStatus } from '../../forges/port/postings.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import { withoutDetails } from '../../review/verdict.ts';
import {
  type AfterPost,
  answeredUpdate,
  beginPosting,
  endPosting,
  forgetPlace,
  notePlace,
  type Place,
} from '../tables/statuses.ts';
import type { PlaceState, WantedStatus } from './wanted-status.ts';

export interface PostDeps {
  readonly forge: Forge;
  readonly pool: pg.Pool;
  readonly metrics: Metrics;
  readonly log: Log;
}

const RECORD_TIMEOUT_MS = 10_000;
/** Answers after which a status was certainly not set: not authorized, no such commit, or not in these words. */
const REFUSALS: readonly number[] = [400, 401, 403, 404, 422];
const NOTHING = { state: null, description: null };

/**
 * Posts one status. Before that it is noted that one is under way, and afterwards that it was answered, together with
 * its row in the record. No connection or lock is held meanwhile.
 */
export function makePost({ forge, pool, metrics, log }: PostDeps) {
  /** Undefined: the commit is gone, and nothing is to be shown there. */
  async function post(place: Place, wanted: WantedStatus, before: PlaceState): Promise<AfterPost | undefined> {
    const posting = await beginPosting(pool, place);
    let posted: CommitStatus;
    try {
      posted = await setInAnyWords(place, statusAt(place, wanted));
    } catch (error) {
      const isRefused = error instanceof ForgeError && error.status !== undefined && REFUSALS.includes(error.status);
      const isNext = posting === (before.row?.posting ?? 0) + 1;
      await endPosting(pool, place, posting, isRefused && isNext ? (before.row ?? NOTHING) : undefined);
      await noteFull(place, wanted, error);
      const mayArrive = before.row !== undefined && !before.row.isKnown && !before.row.canBeKnown;
      if (!isRefused || before.verdicts.length > 0 || mayArrive || !(await isGone(place))) {
        throw error;
      }
      await forgetPlace(pool, place, posting);
      if (before.row?.group != null) {
        throw error;
      }
      return undefined;
    }
    const parameters = makeParameters();
    const { update, select } = answeredUpdate(parameters, place, posting, wanted);
    const recorded = postingInsert(parameters, place.repository, place.headSha, posted);
    const [row] = await commitRows<AfterPost>(pool, RECORD_TIMEOUT_MS, {
      text: `WITH ${update}, recorded AS (${recorded}) SELECT ${WITH_WARNINGS}, ${select}`,
      values: parameters.values,
    });
    return row ?? { verdicts: [], place: null };
  }

  /** Whatever the forge has against the words of a status, or its link: the state counts. */
  async function setInAnyWords(place: Place, status: CommitStatus): Promise<CommitStatus> {
    const { repository, headSha, context } = place;
    try {
      await forge.setStatus(repository, headSha, status);
      return status;
    } catch (error) {
      if (!(error instanceof ForgeError) || (error.status !== 422 && error.status !== 400)) {
        throw error;
      }
      const plain = withoutDetails(status);
      await forge.setStatus(repository, headSha, plain);
      log.warn(
        { repository, headSha, context, reason: error.message },
        'the forge refused a status’s text or link: it was set without them',
      );
      return plain;
    }
  }

  /** Where the forge refuses a status because the commit has as many as it takes. */
  async function noteFull(place: Place, { state }: WantedStatus, error: unknown): Promise<void> {
    const { repository, headSha, context } = place;
    const { statusLimit: limit } = forge;
    const isRefused = error instanceof ForgeError && error.kind === 'invalid';
    if (limit === undefined || !isRefused || (await limit.count(repository, headSha, context)) < limit.most) {
      return;
    }
    await notePlace(pool, place, 'takes', 'nothing');
    const present = await forge.status(repository, headSha, context);
    if (present?.state === 'success' && state !== 'success') {
      metrics.frozenSuccesses.inc();
      log.error({ repository, headSha, context }, 'a success cannot be taken back: the commit takes no more statuses');
    }
    // The next attempt's comment says so.
    throw new ForgeError('unavailable', `${repository}@${headSha} takes no more statuses`, { cause: error });
  }

  /** A commit that the forge has removed takes no status, and has none. A repository may be hidden for a while. */
  async function isGone({ repository, headSha, context }: Place): Promise<boolean> {
    return (
      (await forge.repository(repository)) !== undefined &&
      (await forge.status(repository, headSha, context)) === undefined
    );
  }

  return post;
}

export function statusAt({ context }: Place, { state, description, targetUrl }: WantedStatus): CommitStatus {
  return { context, state, description, ...(targetUrl !== undefined && { targetUrl }) };
}
