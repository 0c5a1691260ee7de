import type pg from 'pg';
import { recordPosting } from '../../audit/record-posting.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Forge } from '../../forges/port/forge.ts';
import type { CommitStatus, PostedStatus } from '../../forges/port/postings.ts';
import { sharedStatus } from '../../review/shared-status.ts';
import { sameContext, statusContext } from '../../review/status-context.ts';
import { postedBefore, rememberPosted, type StatusPlace } from '../tables/posted-statuses.ts';
import { verdictsOnHead } from '../tables/reviews.ts';

export interface StatusParts {
  readonly forge: Forge;
  readonly pool: pg.Pool;
  /** The name of the status, `{base}` for the base branch. */
  readonly statusContext: string;
  /** False: every status is `success`, whatever the verdict. */
  readonly enforce: boolean;
  /** Whether what is posted is recorded. */
  readonly keepsRecord: boolean;
}

/** Reviews of pull requests with one head end at one time now and then, and not more often than this. */
const MAX_ROUNDS = 5;

/**
 * Makes a status show the worst verdict of all open pull requests that it names, from our own table. Afterwards the table
 * is read again: of two reviews that end at once, the one that writes later may have read earlier, and then writes again.
 * Returns false when no pull request is known that the status names.
 *
 * Before a verdict (`final: false`) no success is written: the present status stays.
 *
 * `seen` are the statuses that the commit has, where they have just been read with the pull request.
 */
export async function reportStatus(
  parts: StatusParts,
  place: StatusPlace,
  final: boolean,
  seen?: readonly PostedStatus[],
): Promise<boolean> {
  const { repository, headSha, context } = place;
  let shown: string | undefined;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const known = await verdictsOnHead(parts.pool, repository, headSha);
    const sharing = known.filter(({ baseBranch }) =>
      sameContext(statusContext(parts.statusContext, baseBranch), context),
    );
    const wanted = sharedStatus(sharing, parts.enforce);
    if (wanted === undefined || (wanted.state === 'success' && !final) || JSON.stringify(wanted) === shown) {
      return sharing.length > 0;
    }
    const spellings = sharing.map(({ baseBranch }) => statusContext(parts.statusContext, baseBranch));
    for (const spelling of new Set([context, ...spellings])) {
      await showStatus(parts, { ...place, context: spelling }, { ...wanted, context: spelling }, seen);
    }
    shown = JSON.stringify(wanted);
  }
  throw new Error(`the verdicts on ${repository}@${headSha} kept changing while their status was written`);
}

/** After the policy was deleted: what a verdict has blocked is free, unless another pull request's verdict blocks it still. */
export async function releaseStatus(parts: StatusParts, place: StatusPlace): Promise<void> {
  const { repository, headSha, context } = place;
  const known = await verdictsOnHead(parts.pool, repository, headSha);
  const sharing = known.filter(({ baseBranch }) =>
    sameContext(statusContext(parts.statusContext, baseBranch), context),
  );
  const present = await parts.forge.status(repository, headSha, context);
  if (sharedStatus(sharing, parts.enforce) === undefined && present !== undefined && present.state !== 'success') {
    const description = 'The policy was deleted: nothing is required any more';
    await post(parts, place, { context, state: 'success', description });
  }
}

/** No open pull request is left that the status names. A green one would count for the next pull request with this commit. */
export async function withdrawSuccess(parts: StatusParts, place: StatusPlace): Promise<void> {
  const { repository, headSha, context } = place;
  const present = await parts.forge.status(repository, headSha, context);
  if (present?.state === 'success') {
    const description = 'No open pull request has this commit for this branch any more';
    await post(parts, place, { context, state: 'pending', description });
  }
}

/** Whether a success that Gatehouse has set may stand there. Costs no request to the forge. */
export async function mayShowSuccess(pool: pg.Pool, place: StatusPlace): Promise<boolean> {
  const before = await postedBefore(pool, place);
  return before.kind === 'unknown' || (before.kind === 'status' && before.state === 'success');
}

/**
 * Sets a status of ours. Where the one set last was another, it is set without reading the present one. Nothing is left unset
 * without one: somebody else may have set theirs since. `seen` can only show that ours stands: where it shows another one, the
 * review of another pull request with the commit may have set ours since. Where it is not known what was set last, `seen` may be
 * older than that.
 */
async function showStatus(
  parts: StatusParts,
  place: StatusPlace,
  status: CommitStatus,
  seen: readonly PostedStatus[] | undefined,
): Promise<void> {
  const before = await postedBefore(parts.pool, place);
  const mayStand = before.kind === 'unknown' || (before.kind === 'status' && isSame(before, status));
  const known = before.kind === 'status' ? onlyOf(seen, status.context) : undefined;
  const standsNow = async () =>
    (known !== undefined && isOurs(known, status)) || stands(parts.forge, place.repository, place.headSha, status);
  if (!mayStand || !(await standsNow())) {
    await post(parts, place, status);
  } else if (before.kind === 'unknown') {
    await rememberAndRecord(parts, place, status);
  }
}

/** Undefined where it is not certain which one is in force: forges compare names without case. */
function onlyOf(seen: readonly PostedStatus[] | undefined, context: string): PostedStatus | undefined {
  const [only, ...others] = seen?.filter((status) => sameContext(status.context, context)) ?? [];
  return others.length === 0 ? only : undefined;
}

async function post(parts: StatusParts, place: StatusPlace, status: CommitStatus): Promise<void> {
  await rememberPosted(parts.pool, place, undefined, parts.enforce);
  await parts.forge.setStatus(place.repository, place.headSha, status);
  await rememberAndRecord(parts, place, status);
}

const RECORD_TIMEOUT_MS = 10_000;

/** Both or neither: as long as it is not known what stands, the next review finds out, and records it. */
async function rememberAndRecord(
  { pool, enforce, keepsRecord }: StatusParts,
  place: StatusPlace,
  status: CommitStatus,
): Promise<void> {
  if (!keepsRecord) {
    await rememberPosted(pool, place, status, enforce);
    return;
  }
  await inTransaction(pool, RECORD_TIMEOUT_MS, async (client) => {
    await rememberPosted(client, place, status, enforce);
    await recordPosting(client, place.repository, place.headSha, status);
  });
}

/** Sets a status of ours unless it stands already. Nothing is remembered of it: for commits that are no pull request's head. */
export async function writeStatus(
  { forge, pool, keepsRecord }: Omit<StatusParts, 'statusContext' | 'enforce'>,
  { repository, headSha }: Omit<StatusPlace, 'context'>,
  status: CommitStatus,
): Promise<void> {
  if (!(await stands(forge, repository, headSha, status))) {
    await forge.setStatus(repository, headSha, status);
  }
  if (keepsRecord) {
    // Of one that stood as well: the review that set it may have been cut short.
    await inTransaction(pool, RECORD_TIMEOUT_MS, (client) => recordPosting(client, repository, headSha, status));
  }
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
