import { setTimeout as sleep } from 'node:timers/promises';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { RepositoryHead } from '../../forges/port/many-repositories.ts';
import type { PostedStatus, StatusState } from '../../forges/port/postings.ts';
import type { PullRequest } from '../../forges/port/pull-request.ts';
import { sameContext, statusContext } from '../../forges/port/status-context.ts';
import { type CommitState, notePlace, type Place, type PlaceRow, placeAt, readCommit } from '../tables/statuses.ts';
import { type Look, lookAt } from './look.ts';
import { makePost, type PostDeps, statusAt } from './post.ts';
import { type PlaceState, type WantedStatus, wantedStatus } from './wanted-status.ts';

export interface PublisherDeps extends PostDeps {
  /** The name of the status, `{base}` for the base branch. */
  readonly statusContext: string;
  /** False: every status is `success`, whatever the verdict. */
  readonly enforce: boolean;
}

/** What the names of statuses depend on. */
export type Naming = Pick<PublisherDeps, 'statusContext'> & { readonly forge: Pick<Forge, 'name'> };

/** The only one who sets statuses. Whoever changes what one should say writes that into our tables, and publishes. */
export interface Publisher {
  /**
   * Makes a place show what it should, by {@link wantedStatus}. Where our tables say that it does, the forge is asked
   * whether that still stands. Returns what is stored of the place then.
   */
  publish(place: Place, options?: PublishOptions): Promise<PlaceRow | undefined>;
  /**
   * Whether a verdict of this state cannot be shown there, because the commit has as many statuses as the forge takes,
   * or nearly. The forge is asked before a success, where others may have used them up. `row` is what is stored.
   */
  isFull(place: Place, state: StatusState, row: PlaceRow | undefined): Promise<boolean>;
}

export interface PublishOptions {
  /** Statuses of the commit that were read, and how many posts had begun at the place before that. */
  readonly seen?: { readonly statuses: readonly PostedStatus[]; readonly posting: number } | undefined;
  /** No success is posted: what is stored is about to be judged again. */
  readonly withoutSuccess?: boolean;
  /** {@link Publisher.isFull} has just asked. */
  readonly isCounted?: boolean;
  /** Another status was found in the place of ours. */
  readonly onReplaced?: (() => Promise<void>) | undefined;
}

/** Reviews of pull requests with one head may end at the same time, but not more often than this. */
const MAX_ROUNDS = 5;
const PAUSE_MS = 250;
/** Longer than a request takes. */
const MAX_PAUSES = 60;
/** Kept of the limit: for taking a success back, however many reviews end at once. */
const RESERVE = 0.1;
/** From so many of its own on, the forge is asked how many there are. An author can cause one with each edit. */
const MANY = 100;

export function makePublisher(deps: PublisherDeps): Publisher {
  const { forge, pool, enforce, metrics, log } = deps;
  const post = makePost(deps);

  async function read(place: Place): Promise<PlaceState> {
    return stateOf(deps, await readCommit(pool, place), place);
  }

  async function publish(
    place: Place,
    { seen, withoutSuccess = false, isCounted = false, onReplaced }: PublishOptions = {},
  ): Promise<PlaceRow | undefined> {
    let now = await read(place);
    // What was seen before somebody else has posted does not count any more.
    const look = lookAt(forge, place, seen?.posting === (now.row?.posting ?? 0) ? seen.statuses : undefined);
    let isPosted = false;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const wanted = await wantedNow(now, look);
      if (wanted?.state === 'success' && forge.statusLimit !== undefined && isBlank(now.row)) {
        await look.find();
      }
      now = await noteUncounted(place, now, look);
      if (wanted === undefined || (withoutSuccess && wanted.state === 'success')) {
        return now.row;
      }
      if (says(now.row, wanted)) {
        if (isPosted || (await stillStands(place, now.row, wanted, look))) {
          return now.row;
        }
        // What may still be carried out is posted again, whatever stands there.
        await (now.row.canBeKnown ? undefined : onReplaced?.());
      }
      if (!isCounted && (wanted.state === 'success' || isBlank(now.row)) && (await lacksRoom(place, now.row))) {
        now = await read(place);
        continue;
      }
      reportOthers(place, look);
      look.forget();
      const after = await post(place, wanted, now);
      if (after === undefined) {
        return undefined;
      }
      isPosted = after.place !== null;
      now = after.place === null ? await readEnded(place) : stateOf(deps, { ...after, places: [after.place] }, place);
    }
    const { repository, headSha } = place;
    throw new ForgeError('unavailable', `${repository}@${headSha} had other statuses posted meanwhile`);
  }

  /** Of two that post at once, it is not known whose status stands. The one that began later ends later. */
  async function readEnded(place: Place): Promise<PlaceState> {
    let now = await read(place);
    for (let pauses = 0; pauses < MAX_PAUSES && now.row?.isUnderWay && !now.row.canBeKnown; pauses++) {
      await sleep(PAUSE_MS);
      now = await read(place);
    }
    return now;
  }

  /** A post that was never answered is followed by another one, once it can be carried out no more. */
  async function stillStands(place: Place, row: PlaceRow, wanted: WantedStatus, look: Look): Promise<boolean> {
    return !row.canBeKnown && look.stands(statusAt(place, wanted));
  }

  /** By our tables, and by a look where these do not say enough. */
  async function wantedNow(now: PlaceState, look: Look): Promise<WantedStatus | undefined> {
    const ifGreen = wantedStatus(now, true, enforce);
    const otherwise = wantedStatus(now, false, enforce);
    if (mayBeGreen(now.row) || JSON.stringify(ifGreen) === JSON.stringify(otherwise)) {
      return ifGreen;
    }
    return (await look.isGreen(isBlank(now.row))) ? ifGreen : otherwise;
  }

  /** Somebody else’s statuses, or ours that we do not remember. */
  async function noteUncounted(place: Place, now: PlaceState, look: Look): Promise<PlaceState> {
    const isNew = look.others().length > 0 || (isBlank(now.row) && look.areAny());
    if (now.row?.uncounted === true || !isNew) {
      return now;
    }
    await notePlace(pool, place, 'uncounted', true);
    return read(place);
  }

  function reportOthers({ repository, headSha, context }: Place, look: Look): void {
    const [other] = look.others();
    if (other !== undefined) {
      const by = other.creator;
      metrics.foreignStatuses.inc({ by: metrics.foreignStatusLogin(by) });
      log.warn({ repository, headSha, context, by }, 'somebody else set a status under the name of Gatehouse');
    }
  }

  /** Whether no success can be posted any more. Notes that it is so. */
  async function lacksRoom(place: Place, row: PlaceRow | undefined): Promise<boolean> {
    const { statusLimit: limit } = forge;
    if (limit === undefined || (row !== undefined && row.takes !== 'all')) {
      return false;
    }
    const mayBeMany = row?.uncounted === true || (row?.posting ?? 0) >= MANY;
    const most = limit.most * (1 - RESERVE);
    if (!mayBeMany || (await limit.count(place.repository, place.headSha, place.context)) < most) {
      return false;
    }
    await notePlace(pool, place, 'takes', 'no success');
    return true;
  }

  return {
    publish,
    isFull: async (place, state, row) =>
      (row !== undefined && row.takes !== 'all') ||
      ((state === 'success' || !enforce) && (await lacksRoom(place, row))),
  };
}

/** What is stored of a place, of all that is stored of its commit. */
export function stateOf(
  { forge, statusContext: template }: Naming,
  { verdicts, places }: Pick<CommitState, 'verdicts' | 'places'>,
  { key, context }: Place,
): PlaceState {
  const isHere = (name: string) => sameContext(forge.name, name, context);
  return {
    verdicts: verdicts.filter(({ baseBranch }) => isHere(statusContext(template, baseBranch))),
    row: places.find((row) => row.key === key),
  };
}

/** Where the status of pull requests into a branch is. */
export function placeOf({ forge, statusContext: template }: Naming, commit: RepositoryHead, baseBranch: string): Place {
  return placeAt(forge.name, commit, statusContext(template, baseBranch));
}

/** Where the status of a pull request is. */
export function placeOfPullRequest(
  naming: Naming,
  { repository, head, base }: Pick<PullRequest, 'repository' | 'head' | 'base'>,
): Place {
  return placeOf(naming, { repository, headSha: head.sha }, base.branch);
}

/** Whether nothing of ours was ever posted there, as far as is known. */
function isBlank(row: PlaceRow | undefined): boolean {
  return row === undefined || (row.isKnown && row.state === null);
}

/** Whether a success of ours may stand there. */
export function mayBeGreen(row: PlaceRow | undefined): boolean {
  return row !== undefined && (!row.isKnown || row.state === 'success');
}

/** Whether it was posted last, and answered. */
export function says(row: PlaceRow | undefined, wanted: WantedStatus): row is PlaceRow {
  const { state, description, judgedBase = row?.judgedBase } = wanted;
  return row?.state === state && row.description === description && row.judgedBase === judgedBase;
}
