import type pg from 'pg';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import {
  type CommitStatus,
  type PostedStatus,
  type StatusState,
  statusDescription,
} from '../../forges/port/postings.ts';
import type { PullRequest } from '../../forges/port/pull-request.ts';
import { contextKey, statusContext } from '../../forges/port/status-context.ts';
import { NOTHING_REQUIRED } from '../../review/verdict.ts';
import type { Claim } from '../tables/claim.ts';
import { markReportedIfSame, readCommitState } from '../tables/commit-state.ts';
import {
  forgetWritten,
  type PostedBefore,
  postedAt,
  postedBefore,
  type StatusPlace,
  statusPlace,
} from '../tables/posted-statuses.ts';
import { markReported, type ReportedStatus, type VerdictOnHead, verdictsOnHead } from '../tables/reviews.ts';
import type { ForeignStatusDeps } from './foreign-status.ts';
import { sharedStatus } from './shared-status.ts';
import { statusRoom } from './status-room.ts';
import { statusWriter } from './status-writer.ts';

/**
 * What stands on a commit under the names of Gatehouse's statuses, and what may be written there. All statuses are
 * written here.
 */
export interface CommitStatuses {
  /** Where the status of a pull request is. */
  placeOf(pullRequest: Pick<PullRequest, 'repository' | 'head' | 'base'>): StatusPlace;
  /** Where the status of an earlier review is, which may have had another name. */
  placeBefore(repository: string, before: ReportedStatus): StatusPlace;
  /**
   * Makes a status show the worst verdict of all open pull requests that it names, from our own table. Afterwards the
   * table is read again: of two reviews that end at once, the one that writes later may have read earlier, and then
   * writes again. Resolves to false when no pull request is known that the status names.
   *
   * `seen` are the statuses that the commit has, where they have just been read with the pull request.
   */
  showVerdict(place: StatusPlace, seen?: readonly PostedStatus[]): Promise<boolean>;
  /** The same, whatever stands there: nothing is read at the forge. */
  replaceByVerdict(place: StatusPlace): Promise<void>;
  /** As {@link showVerdict}, and then remembers that it shows the verdict of the review with this claim. */
  report(place: StatusPlace, claim: Claim): Promise<void>;
  /**
   * The same before there is a verdict, and only where a success may stand, whoever has set it: it would let the pull
   * request be merged meanwhile. No success is written.
   */
  showPending(place: StatusPlace, before: PostedBefore, seen?: readonly PostedStatus[]): Promise<void>;
  /**
   * After the policy was deleted: what a verdict has blocked is free, unless another pull request's verdict still
   * blocks it.
   */
  release(place: StatusPlace): Promise<void>;
  /**
   * No open pull request is left that the status names: none has earned its success, which would count for the next one
   * with this commit. A pull request that is opened meanwhile has its verdict shown again.
   */
  withdrawSuccess(place: StatusPlace): Promise<void>;
  /** Sets the status of a commit that is no pull request's head, but that of a merge group. */
  write(place: StatusPlace, status: Omit<CommitStatus, 'context'>): Promise<void>;
  /**
   * Somebody else has set a status at a place that no open pull request has. Sets again what Gatehouse had set there,
   * unless that was a success: nobody gains by replacing one. False: it had set nothing else. Throws as `unavailable`
   * where Gatehouse sets another one at the same time.
   */
  setAgain(place: StatusPlace): Promise<boolean>;
  /**
   * `seen` are the statuses that the commit was read with: those of others count for the forge's limit. `before` is
   * what our table says. Resolves to whether that has changed.
   */
  noteOthers(place: StatusPlace, before: PostedBefore, seen: readonly PostedStatus[] | undefined): Promise<boolean>;
  /**
   * Whether a verdict can no longer be shown, because the commit has as many statuses as the forge takes, or nearly.
   */
  isUsedUp(place: StatusPlace, state: StatusState, before: PostedBefore): Promise<boolean>;
  /** Whether a success may stand there, by what was set last and what was `seen`. The forge is not asked. */
  recordedSuccess(place: StatusPlace, before: PostedBefore, seen: readonly PostedStatus[] | undefined): boolean;
}

export interface StatusOptions extends ForeignStatusDeps {
  readonly forge: Forge;
  readonly pool: pg.Pool;
  /** The name of the status, `{base}` for the base branch. */
  readonly statusContext: string;
  /** False: every status is `success`, whatever the verdict. */
  readonly enforce: boolean;
}

/** Reviews of pull requests with one head may end at the same time, but not more often than this. */
const MAX_ROUNDS = 5;

/** `claimOf`: of the review that sets them. What belongs to no pull request has none. */
export function commitStatuses(
  { forge, pool, statusContext: template, enforce, metrics, log }: StatusOptions,
  claimOf: () => Claim | undefined = () => undefined,
): CommitStatuses {
  const room = statusRoom({ forge, pool, enforce, metrics, log });
  const { set, post, postAgain } = statusWriter({ forge, pool, enforce, log }, room, claimOf);

  const isAt = (place: StatusPlace, context: string) => contextKey(forge.name, context) === place.key;

  /** The open pull requests that a status names. */
  function sharing(verdicts: readonly VerdictOnHead[], place: StatusPlace) {
    return verdicts.filter(({ baseBranch }) => isAt(place, statusContext(template, baseBranch)));
  }

  /**
   * Resolves to whether any open pull request is known that the status names. `reported` is the claim of one of them,
   * which remembers that its verdict is shown.
   */
  async function show(
    place: StatusPlace,
    isFinal: boolean,
    { seen, reported }: { readonly seen?: readonly PostedStatus[] | undefined; readonly reported?: Claim } = {},
  ): Promise<boolean> {
    const { verdicts: first, posted } = await readCommitState(pool, place.repository, place.headSha);
    let verdicts = first;
    let shown: string | undefined;
    let isMarked = false;
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const named = sharing(verdicts, place);
      const wanted = sharedStatus(named, enforce);
      const isShown =
        wanted === undefined || (wanted.state === 'success' && !isFinal) || JSON.stringify(wanted) === shown;
      const before = async () => (round === 0 ? postedAt(posted, place) : postedBefore(pool, place));
      if (isShown || !(await set(place, { ...wanted, context: place.context }, await before(), seen))) {
        if (reported !== undefined && !isMarked) {
          await markReported(pool, reported, place.context);
        }
        return named.length > 0;
      }
      shown = JSON.stringify(wanted);
      if (reported === undefined) {
        ({ verdicts } = await readCommitState(pool, place.repository, place.headSha));
      } else {
        ({ verdicts, isMarked } = await markReportedIfSame(pool, reported, place, verdicts));
      }
    }
    throw new Error(
      `the verdicts on ${place.repository}@${place.headSha} kept changing while their status was written`,
    );
  }

  function recordedSuccess(
    place: StatusPlace,
    before: PostedBefore,
    seen: readonly PostedStatus[] | undefined,
  ): boolean {
    return (
      before.kind === 'unknown' ||
      (before.kind === 'status' && before.state === 'success') ||
      (seen ?? []).some((status) => status.state === 'success' && isAt(place, status.context))
    );
  }

  async function showsSuccess({ repository, headSha, context }: StatusPlace): Promise<boolean> {
    return (await forge.status(repository, headSha, context))?.state === 'success';
  }

  return {
    placeOf({ repository, head, base }) {
      return statusPlace(forge.name, { repository, headSha: head.sha, context: statusContext(template, base.branch) });
    },
    placeBefore(repository, { headSha, baseBranch, reportedAs }) {
      return statusPlace(forge.name, {
        repository,
        headSha,
        context: reportedAs ?? statusContext(template, baseBranch),
      });
    },
    showVerdict: (place, seen) => show(place, true, { seen }),
    async replaceByVerdict(place) {
      const { verdicts, posted } = await readCommitState(pool, place.repository, place.headSha);
      const wanted = sharedStatus(sharing(verdicts, place), enforce);
      if (wanted !== undefined) {
        await post(place, await room.fit(place, { ...wanted, context: place.context }, postedAt(posted, place)));
      }
    },
    async report(place, reported) {
      await show(place, true, { reported });
    },
    async showPending(place, before, seen) {
      if (recordedSuccess(place, before, seen) || (seen === undefined && (await showsSuccess(place)))) {
        await show(place, false);
      }
    },
    async release(place) {
      const { repository, headSha, context } = place;
      const named = sharing(await verdictsOnHead(pool, repository, headSha), place);
      const present = await forge.status(repository, headSha, context);
      if (sharedStatus(named, enforce) === undefined && present !== undefined && present.state !== 'success') {
        const free = { context, state: 'success', description: NOTHING_REQUIRED } as const;
        const before = await postedBefore(pool, place);
        await post(place, await room.fit(place, free, before));
      }
    },
    async withdrawSuccess(place) {
      const before = await postedBefore(pool, place);
      // A row of our table may be missing, as after a database was restored.
      if (!(recordedSuccess(place, before, undefined) || (before.kind === 'none' && (await showsSuccess(place))))) {
        return;
      }
      const { repository, headSha, context } = place;
      const description = statusDescription('No open pull request has this commit for this branch any more');
      try {
        await post(place, { context, state: 'pending', description });
      } catch (error) {
        // A commit that the forge has removed takes no status, and has none.
        if (!(error instanceof ForgeError) || (await forge.status(repository, headSha, context))?.state === 'success') {
          throw error;
        }
      }
      await show(place, true);
    },
    async write(place, status) {
      // Whoever may write statuses may have set some on a commit that no review has read.
      await forgetWritten(pool, place, false);
      await set(place, { ...status, context: place.context }, await postedBefore(pool, place));
    },
    async setAgain(place) {
      const before = await postedBefore(pool, place);
      if (before.kind !== 'status' || before.state === 'success') {
        return false;
      }
      const { state, description } = before;
      const isLast = await postAgain(place, { context: place.context, state, description });
      // For a pull request that was opened with this commit meanwhile.
      const isNamed = await show(place, true);
      if (!isLast && !isNamed) {
        throw new ForgeError('unavailable', `${place.repository}@${place.headSha} had another status set meanwhile`);
      }
      return true;
    },
    async noteOthers(place, before, seen) {
      const here = seen?.filter((status) => isAt(place, status.context));
      const isForeign = here?.some(({ own }) => !own) ?? false;
      const isRecorded = isForeign ? before.written === undefined : before.kind !== 'none' || before.written !== 0;
      if (forge.statusLimit === undefined || here?.length === 0 || isRecorded) {
        return false;
      }
      await forgetWritten(pool, place, isForeign);
      return true;
    },
    isUsedUp: (place, state, before) => room.isUsedUp(place, state, before),
    recordedSuccess,
  };
}
