import type pg from 'pg';
import { commitRows } from '../../audit/partitions.ts';
import { postingInsert, recordPosting } from '../../audit/record-posting.ts';
import { shorten } from '../../common/shorten.ts';
import { makeParameters } from '../../db/parameters.ts';
import { inTransaction, WITH_WARNINGS } from '../../db/transaction.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import {
  type CommitStatus,
  MAX_STATUS_DESCRIPTION_LENGTH,
  type PostedStatus,
  type StatusState,
} from '../../forges/port/postings.ts';
import type { PullRequest } from '../../forges/port/pull-request.ts';
import { sameContext, statusContext } from '../../review/status-context.ts';
import { dryRun } from '../../review/verdict.ts';
import type { Claim } from '../tables/claim.ts';
import { markReportedIfSame, readCommitState } from '../tables/commit-state.ts';
import {
  beginAgain,
  beginPosting,
  forgetWritten,
  type PostedBefore,
  type PostedRow,
  postedAt,
  postedBefore,
  postedUpsert,
  rememberAgain,
  type StatusPlace,
} from '../tables/posted-statuses.ts';
import {
  type HeadVerdict,
  markReported,
  type ReportedStatus,
  type VerdictOnHead,
  verdictsOnHead,
} from '../tables/reviews.ts';
import type { ForeignStatusDeps } from './foreign-status.ts';
import { statusRoom } from './status-room.ts';

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
  /** The same, and then remembers that it shows the verdict of the review with this claim. */
  report(place: StatusPlace, claim: Claim): Promise<void>;
  /** The same before there is a verdict: no success is written, the present status stays. */
  showPending(place: StatusPlace): Promise<void>;
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
  /** Whether a success may stand there, by what was set last and what was `seen`. Undefined: unknown. */
  recordedSuccess(place: StatusPlace, before: PostedBefore, seen?: readonly PostedStatus[]): boolean | undefined;
  /** The same. Where that is unknown, the forge is asked. */
  hasSuccess(place: StatusPlace, before: PostedBefore, seen?: readonly PostedStatus[]): Promise<boolean>;
}

export interface StatusOptions extends ForeignStatusDeps {
  readonly forge: Forge;
  readonly pool: pg.Pool;
  /** The name of the status, `{base}` for the base branch. */
  readonly statusContext: string;
  /** False: every status is `success`, whatever the verdict. */
  readonly enforce: boolean;
  /** Whether what is posted is recorded. */
  readonly keepsRecord: boolean;
}

/** Reviews of pull requests with one head may end at the same time, but not more often than this. */
const MAX_ROUNDS = 5;
const RECORD_TIMEOUT_MS = 10_000;

/** `claimOf`: of the review that sets them. What belongs to no pull request has none. */
export function commitStatuses(
  { forge, pool, statusContext: template, enforce, keepsRecord, metrics, log }: StatusOptions,
  claimOf: () => Claim | undefined = () => undefined,
): CommitStatuses {
  const room = statusRoom({ forge, pool, enforce, metrics, log });

  /** The open pull requests that a status names. */
  function sharing(verdicts: readonly VerdictOnHead[], { context }: StatusPlace) {
    return verdicts.filter(({ baseBranch }) => sameContext(statusContext(template, baseBranch), context));
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
      const spellings = named.map(({ baseBranch }) => statusContext(template, baseBranch));
      if (isShown || !(await setAll(place, spellings, wanted, round === 0 ? posted : undefined, seen))) {
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

  /** In each spelling of its name. Resolves to whether one was set. `posted`: what our table says, if that was read. */
  async function setAll(
    place: StatusPlace,
    spellings: readonly string[],
    wanted: Omit<CommitStatus, 'context'>,
    posted: readonly PostedRow[] | undefined,
    seen: readonly PostedStatus[] | undefined,
  ): Promise<boolean> {
    let isSet = false;
    for (const context of new Set([place.context, ...spellings])) {
      const named = { ...place, context };
      const before: PostedBefore =
        posted === undefined || isSet ? await postedBefore(pool, named) : postedAt(posted, context);
      isSet = (await set(named, { ...wanted, context }, before, seen)) || isSet;
    }
    return isSet;
  }

  /**
   * Sets our status. Where the one set last was another, it is set without reading the present one. Nothing is
   * left unset without one: somebody else may have set theirs since. `seen` can only show that ours stands: where it
   * shows another one, the review of another pull request with the commit may have set ours since. Where it is not
   * known what was set last, `seen` may be older than that. Resolves to false when nothing had to be done.
   */
  async function set(
    place: StatusPlace,
    wanted: CommitStatus,
    before: PostedBefore,
    seen?: readonly PostedStatus[],
  ): Promise<boolean> {
    const status = await room.fit(place, wanted, before);
    const mayStand = before.kind === 'unknown' || (before.kind === 'status' && isSame(before, status));
    const newest = before.kind === 'status' ? onlyOf(seen, status.context) : undefined;
    const standsNow = async () =>
      (newest !== undefined && isOurs(newest, status)) || stands(forge, place.repository, place.headSha, status);
    if (!mayStand || !(await standsNow())) {
      await post(place, status);
      return true;
    }
    if (before.kind === 'unknown') {
      await rememberAndRecord(place, status);
      return true;
    }
    return false;
  }

  async function post(place: StatusPlace, status: CommitStatus): Promise<void> {
    await beginPosting(pool, place, enforce, claimOf());
    try {
      await forge.setStatus(place.repository, place.headSha, status);
    } catch (error) {
      await room.explain(place, status, error);
      return;
    }
    await rememberAndRecord(place, status);
  }

  /**
   * Posts what was set last. False: another write has begun meanwhile, and this one may have replaced what that set.
   */
  async function postAgain(place: StatusPlace, last: CommitStatus): Promise<boolean> {
    const began = await beginAgain(pool, place, last);
    if (began === undefined || (await stands(forge, place.repository, place.headSha, last))) {
      return true;
    }
    const status = await room.fit(place, last, await postedBefore(pool, place));
    try {
      await forge.setStatus(place.repository, place.headSha, status);
    } catch (error) {
      await room.explain(place, status, error);
      return true;
    }
    if (!keepsRecord) {
      return rememberAgain(pool, place, status, enforce, began);
    }
    return inTransaction(pool, RECORD_TIMEOUT_MS, async (client) => {
      await recordPosting(client, place.repository, place.headSha, status);
      return rememberAgain(client, place, status, enforce, began);
    });
  }

  /** Both or neither: as long as it is not known what stands, the next review finds out, and records it. */
  async function rememberAndRecord(place: StatusPlace, status: CommitStatus): Promise<void> {
    const parameters = makeParameters();
    const upsert = postedUpsert(parameters, place, status, enforce);
    if (!keepsRecord) {
      await pool.query(upsert, parameters.values);
      return;
    }
    const insert = postingInsert(parameters, place.repository, place.headSha, status);
    await commitRows(pool, RECORD_TIMEOUT_MS, {
      text: `WITH remembered AS (${upsert}), recorded AS (${insert}) SELECT ${WITH_WARNINGS}`,
      values: parameters.values,
    });
  }

  /** A row of our table may be missing, as after a database was restored. */
  function recordedSuccess(
    { context }: StatusPlace,
    before: PostedBefore,
    seen?: readonly PostedStatus[],
  ): boolean | undefined {
    return before.kind === 'none'
      ? seen?.some((status) => status.state === 'success' && sameContext(status.context, context))
      : before.kind === 'unknown' || before.state === 'success';
  }

  async function hasSuccess(
    place: StatusPlace,
    before: PostedBefore,
    seen?: readonly PostedStatus[],
  ): Promise<boolean> {
    const { repository, headSha, context } = place;
    const recorded = recordedSuccess(place, before, seen);
    return recorded ?? (await forge.status(repository, headSha, context))?.state === 'success';
  }

  return {
    placeOf: ({ repository, head, base }) => ({
      repository,
      headSha: head.sha,
      context: statusContext(template, base.branch),
    }),
    placeBefore: (repository, { headSha, baseBranch, reportedAs }) => ({
      repository,
      headSha,
      context: reportedAs ?? statusContext(template, baseBranch),
    }),
    showVerdict: (place, seen) => show(place, true, { seen }),
    async report(place, reported) {
      await show(place, true, { reported });
    },
    async showPending(place) {
      await show(place, false);
    },
    async release(place) {
      const { repository, headSha, context } = place;
      const named = sharing(await verdictsOnHead(pool, repository, headSha), place);
      const present = await forge.status(repository, headSha, context);
      if (sharedStatus(named, enforce) === undefined && present !== undefined && present.state !== 'success') {
        const description = 'The policy was deleted: nothing is required any more';
        const before = await postedBefore(pool, place);
        await post(place, await room.fit(place, { context, state: 'success', description }, before));
      }
    },
    async withdrawSuccess(place) {
      if (!(await hasSuccess(place, await postedBefore(pool, place)))) {
        return;
      }
      const { repository, headSha, context } = place;
      const description = 'No open pull request has this commit for this branch any more';
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
      const here = seen?.filter((status) => sameContext(status.context, place.context));
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
    hasSuccess,
  };
}

/** Undefined where it is not certain which one is in force: forges compare names without case. */
function onlyOf(seen: readonly PostedStatus[] | undefined, context: string): PostedStatus | undefined {
  const [only, ...others] = seen?.filter((status) => sameContext(status.context, context)) ?? [];
  return others.length === 0 ? only : undefined;
}

async function stands(forge: Forge, repository: string, headSha: string, status: CommitStatus): Promise<boolean> {
  const present = await forge.status(repository, headSha, status.context);
  return present !== undefined && isOurs(present, status);
}

/** One of the same words that somebody else set is not ours: a required status may be pinned to its author. */
function isOurs(present: PostedStatus, status: CommitStatus): boolean {
  return present.own && isSame(present, status);
}

type Words = Pick<CommitStatus, 'state' | 'description'>;

function isSame(one: Words, other: Words): boolean {
  return one.state === other.state && one.description === other.description;
}

/** The worst first. */
const ORDER: readonly HeadVerdict['state'][] = ['failure', 'error', 'pending', 'success'];
const MAX_NAMED = 3;

/**
 * A commit has one status of a name, and several pull requests can have that commit as their head. The status shows the
 * worst of their verdicts, and names the others. Undefined when nothing asks anything of any of them. Where rules are
 * not enforced, it is a success that says what it would be.
 */
export function sharedStatus(
  verdicts: readonly HeadVerdict[],
  enforce: boolean,
): Required<Pick<CommitStatus, 'state' | 'description' | 'targetUrl'>> | undefined {
  const judged = verdicts
    .filter(({ state }) => state !== 'none')
    .toSorted((left, right) => ORDER.indexOf(left.state) - ORDER.indexOf(right.state) || left.number - right.number);
  const [worst, ...others] = judged;
  if (worst === undefined || worst.state === 'none') {
    return undefined;
  }
  const { url: targetUrl } = worst;
  const free = verdicts.find(({ state }) => state === 'none');
  if (enforce && worst.state === 'success' && free !== undefined) {
    // The name has no base branch: the other branch's success would let this one be merged unjudged.
    const description = `No policy judges #${free.number}, which has this commit too: close it, or give its branch one`;
    return { state: 'error', targetUrl: free.url, description };
  }
  const state = enforce ? worst.state : 'success';
  const said = enforce ? worst.description : (worst.dryRun ?? dryRun(worst.description));
  if (others.length === 0) {
    return { state, targetUrl, description: said };
  }
  const named = others.slice(0, MAX_NAMED).map(({ number }) => `#${number}`);
  const more = others.length > MAX_NAMED ? ` and ${others.length - MAX_NAMED} more` : '';
  const suffix = ` (${named.join(', ')}${more} ${others.length === 1 ? 'has' : 'have'} this commit too)`;
  const own = shorten(`#${worst.number}: ${said}`, MAX_STATUS_DESCRIPTION_LENGTH - suffix.length);
  return { state, targetUrl, description: `${own}${suffix}` };
}
