import type pg from 'pg';
import type { Forge } from '../forges/forge.ts';
import type { CommitStatus } from '../forges/postings.ts';
import { sharedStatus } from '../review/shared-status.ts';
import { sameContext, statusContext } from '../review/status-context.ts';
import { verdictsOnHead } from './reviews-table.ts';

export interface StatusParts {
  readonly forge: Forge;
  readonly pool: pg.Pool;
  /** The name of the status, `{base}` for the base branch. */
  readonly statusContext: string;
}

export interface StatusPlace {
  readonly repository: string;
  readonly headSha: string;
  readonly context: string;
}

/** Reviews of pull requests with one head end at one time now and then, and not more often than this. */
const MAX_ROUNDS = 5;

/**
 * Makes a status show the worst verdict of all open pull requests that it names, from our own table. Afterwards the table
 * is read again: of two reviews that end at once, the one that writes later may have read earlier, and then writes again.
 * Returns false when no pull request is known that the status names.
 *
 * Before a verdict (`final: false`) no success is written: the present status stays.
 */
export async function reportStatus(parts: StatusParts, place: StatusPlace, final: boolean): Promise<boolean> {
  const { repository, headSha, context } = place;
  let shown: string | undefined;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const known = await verdictsOnHead(parts.pool, repository, headSha);
    // A row that does not know its base yet may be of any.
    const sharing = known.filter(
      ({ baseBranch }) => baseBranch === null || sameContext(statusContext(parts.statusContext, baseBranch), context),
    );
    const wanted = sharedStatus(sharing);
    if (wanted === undefined || (wanted.state === 'success' && !final) || JSON.stringify(wanted) === shown) {
      return sharing.length > 0;
    }
    const spellings = sharing.flatMap(({ baseBranch }) =>
      baseBranch === null ? [] : [statusContext(parts.statusContext, baseBranch)],
    );
    for (const spelling of new Set([context, ...spellings])) {
      await writeStatus(parts.forge, place, { ...wanted, context: spelling });
    }
    shown = JSON.stringify(wanted);
  }
  throw new Error(`the verdicts on ${repository}@${headSha} kept changing while their status was written`);
}

/** After the policy was deleted: what a verdict has blocked is free, unless another pull request's verdict blocks it still. */
export async function releaseStatus(parts: StatusParts, place: StatusPlace): Promise<void> {
  const { repository, headSha, context } = place;
  const known = await verdictsOnHead(parts.pool, repository, headSha);
  const sharing = known.filter(
    ({ baseBranch }) => baseBranch === null || sameContext(statusContext(parts.statusContext, baseBranch), context),
  );
  const present = await parts.forge.status(repository, headSha, context);
  if (sharedStatus(sharing) === undefined && present !== undefined && present.state !== 'success') {
    const description = 'The policy was deleted: nothing is required any more';
    await parts.forge.setStatus(repository, headSha, { context, state: 'success', description });
  }
}

/** No open pull request is left that the status names. A green one would count for the next pull request with this commit. */
export async function withdrawSuccess(forge: Forge, { repository, headSha, context }: StatusPlace): Promise<void> {
  const present = await forge.status(repository, headSha, context);
  if (present?.state === 'success') {
    const description = 'No open pull request has this commit for this branch any more';
    await forge.setStatus(repository, headSha, { context, state: 'pending', description });
  }
}

/** Sets a status unless it is set already, and is ours. */
export async function writeStatus(
  forge: Forge,
  { repository, headSha }: StatusPlace,
  status: CommitStatus,
): Promise<void> {
  const present = await forge.status(repository, headSha, status.context);
  // One of the same words that somebody else set is not ours: a required status may be pinned to its author.
  if (!present?.own || present.state !== status.state || present.description !== status.description) {
    await forge.setStatus(repository, headSha, status);
  }
}
