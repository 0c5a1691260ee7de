import type pg from 'pg';
import type { Forge } from '../../forges/port/forge.ts';
import type { ListedPullRequest, StatusesAt } from '../../forges/port/many-repositories.ts';
import type { PostedStatus } from '../../forges/port/postings.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import { sameContext } from '../../forges/port/status-context.ts';
import { type ForeignStatusDeps, reportForeignStatus } from '../review/foreign-status.ts';
import { type ShownStatus, shownStatuses } from '../tables/posted-statuses.ts';

/**
 * Those of the open pull requests whose head has another status under Gatehouse's name than the one it set last: a
 * webhook was lost, or the forge sends none. `seen` are statuses that were read already. Not those in `due`, which
 * are reviewed anyway.
 */
export async function withOtherStatus(
  deps: ForeignStatusDeps & { readonly forge: Forge; readonly pool: pg.Pool },
  repository: string,
  open: readonly ListedPullRequest[],
  due: readonly PullRequestRef[],
  seen: StatusesAt = new Map(),
): Promise<readonly PullRequestRef[]> {
  const heads = new Map(open.map(({ number, head }) => [number, head.sha]));
  for (const { number } of due) {
    heads.delete(number);
  }
  const shown = (await shownStatuses(deps.pool, deps.forge.name, [repository])).filter(
    ({ number, headSha }) => heads.get(number) === headSha,
  );
  const others: PullRequestRef[] = [];
  for (const [status, present] of await presentStatuses(deps.forge, repository, shown, seen)) {
    if (present?.own === false) {
      reportForeignStatus(deps, status, present.creator);
    }
    // Somebody else's can be of any words. Of Gatehouse's own, nothing but the state can differ.
    if (present?.own !== true || (status.state !== null && present.state !== status.state)) {
      others.push({ repository, number: status.number });
    }
  }
  return others;
}

/**
 * Many at once where the forge can, else one by one. There only of pull requests without a success: no green can be
 * taken from the others.
 */
async function presentStatuses(
  forge: Forge,
  repository: string,
  shown: readonly ShownStatus[],
  seen: StatusesAt,
): Promise<readonly (readonly [ShownStatus, PostedStatus | undefined])[]> {
  if (forge.overviews !== undefined) {
    const unseen = new Set(shown.map(({ headSha }) => headSha).filter((sha) => !seen.has(sha)));
    const read = await forge.overviews.statuses(repository, [...unseen]);
    return shown.map((status) => {
      const statuses = seen.get(status.headSha) ?? read.get(status.headSha) ?? [];
      return [status, newestOf(statuses, (context) => sameContext(forge.name, context, status.context))] as const;
    });
  }
  const found: (readonly [ShownStatus, PostedStatus | undefined])[] = [];
  for (const status of shown.filter(({ state }) => state !== 'success')) {
    found.push([status, await forge.status(repository, status.headSha, status.context)]);
  }
  return found;
}

/** A name can stand there in several spellings. */
function newestOf(statuses: readonly PostedStatus[], isNamed: (context: string) => boolean): PostedStatus | undefined {
  return statuses
    .filter(({ context }) => isNamed(context))
    .toSorted((one, other) => Date.parse(other.updatedAt ?? '') - Date.parse(one.updatedAt ?? ''))[0];
}
