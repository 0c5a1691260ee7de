import type pg from 'pg';
import { commitRows } from '../../audit/partitions.ts';
import { postingInsert, recordPosting } from '../../audit/record-posting.ts';
import { makeParameters } from '../../db/parameters.ts';
import { inTransaction, WITH_WARNINGS } from '../../db/transaction.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { CommitStatus, PostedStatus } from '../../forges/port/postings.ts';
import { sameContext } from '../../forges/port/status-context.ts';
import type { Log } from '../../log.ts';
import { withoutDetails } from '../../review/verdict.ts';
import type { Claim } from '../tables/claim.ts';
import {
  beginAgain,
  beginPosting,
  type PostedBefore,
  postedBefore,
  postedUpsert,
  rememberAgain,
  type StatusPlace,
} from '../tables/posted-statuses.ts';
import { requireClaim } from '../tables/reviews.ts';
import type { StatusRoom } from './status-room.ts';

/** Sets one status at the forge, and remembers and records that it was set. */
export interface StatusWriter {
  /**
   * Sets our status. Where the one set last was another, it is set without reading the present one. Nothing is
   * left unset without one: somebody else may have set theirs since. `seen` can only show that ours stands: where it
   * shows another one, the review of another pull request with the commit may have set ours since. Where it is not
   * known what was set last, `seen` may be older than that. Resolves to false when nothing had to be done.
   */
  set(place: StatusPlace, wanted: CommitStatus, before: PostedBefore, seen?: readonly PostedStatus[]): Promise<boolean>;
  /** Sets it whatever was set last. */
  post(place: StatusPlace, status: CommitStatus): Promise<void>;
  /**
   * Posts what was set last. False: another write has begun meanwhile, and this one may have replaced what that set.
   */
  postAgain(place: StatusPlace, last: CommitStatus): Promise<boolean>;
}

export interface StatusWriterOptions {
  readonly forge: Forge;
  readonly pool: pg.Pool;
  readonly enforce: boolean;
  readonly log: Log;
}

const RECORD_TIMEOUT_MS = 10_000;

export function statusWriter(
  { forge, pool, enforce, log }: StatusWriterOptions,
  room: StatusRoom,
  claimOf: () => Claim | undefined,
): StatusWriter {
  async function set(
    place: StatusPlace,
    wanted: CommitStatus,
    before: PostedBefore,
    seen?: readonly PostedStatus[],
  ): Promise<boolean> {
    const status = await room.fit(place, wanted, before);
    const mayStand = before.kind === 'unknown' || (before.kind === 'status' && isSame(before, status));
    const newest = before.kind === 'status' ? onlyNamed(seen, status.context) : undefined;
    const standsNow = async () =>
      (newest !== undefined && isOurs(newest, status)) || stands(forge, place.repository, place.headSha, status);
    if (!mayStand || !(await standsNow())) {
      await post(place, status);
      return true;
    }
    if (before.kind === 'unknown') {
      await rememberAndRecord(place, status, status);
      return true;
    }
    return false;
  }

  /** Undefined where it is not certain which one is in force: it may stand there in several spellings. */
  function onlyNamed(seen: readonly PostedStatus[] | undefined, context: string): PostedStatus | undefined {
    const [only, ...others] = seen?.filter((status) => sameContext(forge.name, status.context, context)) ?? [];
    return others.length === 0 ? only : undefined;
  }

  async function post(place: StatusPlace, status: CommitStatus): Promise<void> {
    await beginPosting(pool, place, enforce, claimOf());
    const posted = await send(place, status);
    if (posted !== undefined) {
      await rememberAndRecord(place, status, posted);
    }
  }

  /** Returns the status that was taken; undefined where the commit takes no more. */
  async function send(place: StatusPlace, status: CommitStatus): Promise<CommitStatus | undefined> {
    try {
      return await setInAnyWords(place, status);
    } catch (error) {
      await room.explain(place, status, error);
      return undefined;
    }
  }

  /**
   * Whatever the forge has against the words of a status, or its link: the state counts. What is remembered is what was
   * wanted, so that the same is not tried again, see {@link isOurs}.
   */
  async function setInAnyWords(
    { repository, headSha, context }: StatusPlace,
    status: CommitStatus,
  ): Promise<CommitStatus> {
    try {
      await forge.setStatus(repository, headSha, status);
      return status;
    } catch (error) {
      if (!(error instanceof ForgeError) || (error.status !== 422 && error.status !== 400)) {
        throw error;
      }
      const plain = withoutDetails(status);
      const claim = claimOf();
      if (claim !== undefined) {
        await requireClaim(pool, claim);
      }
      await forge.setStatus(repository, headSha, plain);
      log.warn(
        { repository, headSha, context, reason: error.message },
        'the forge refused a status’s text or link: it was set without them',
      );
      return plain;
    }
  }

  async function postAgain(place: StatusPlace, last: CommitStatus): Promise<boolean> {
    const began = await beginAgain(pool, place, last);
    if (began === undefined || (await stands(forge, place.repository, place.headSha, last))) {
      return true;
    }
    const status = await room.fit(place, last, await postedBefore(pool, place));
    const posted = await send(place, status);
    if (posted === undefined) {
      return true;
    }
    return inTransaction(pool, RECORD_TIMEOUT_MS, async (client) => {
      await recordPosting(client, place.repository, place.headSha, posted);
      return rememberAgain(client, place, status, enforce, began);
    });
  }

  /** Both or neither: as long as it is not known what stands, the next review finds out, and records it. */
  async function rememberAndRecord(place: StatusPlace, status: CommitStatus, posted: CommitStatus): Promise<void> {
    const parameters = makeParameters();
    const upsert = postedUpsert(parameters, place, status, enforce);
    const insert = postingInsert(parameters, place.repository, place.headSha, posted);
    await commitRows(pool, RECORD_TIMEOUT_MS, {
      text: `WITH remembered AS (${upsert}), recorded AS (${insert}) SELECT ${WITH_WARNINGS}`,
      values: parameters.values,
    });
  }

  return { set, post, postAgain };
}

async function stands(forge: Forge, repository: string, headSha: string, status: CommitStatus): Promise<boolean> {
  const present = await forge.status(repository, headSha, status.context);
  return present !== undefined && isOurs(present, status);
}

/** One of the same words that somebody else set is not ours: a required status may be pinned to its author. */
function isOurs(present: PostedStatus, status: CommitStatus): boolean {
  return present.own && (isSame(present, status) || isSame(present, withoutDetails(status)));
}

type Words = Pick<PostedStatus, 'state' | 'description'>;

function isSame(one: Words, other: Words): boolean {
  return one.state === other.state && one.description === other.description;
}
