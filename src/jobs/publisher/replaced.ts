import { ForgeError } from '../../forges/port/forge-error.ts';
import type { ForgeName } from '../../forges/port/forges.ts';
import type { ListedPullRequest, Overviews, StatusesAt } from '../../forges/port/many-repositories.ts';
import type { PostedStatus } from '../../forges/port/postings.ts';
import { contextKey } from '../../forges/port/status-context.ts';
import { judgedCommits, type Place, type PlaceRow, placeAt } from '../tables/statuses.ts';
import { makePublisher, type PublisherDeps, stateOf } from './publisher.ts';

interface Shown {
  readonly place: Place;
  readonly row: PlaceRow;
}

/**
 * Publishes again where somebody else has set a status under Gatehouse’s name on the head of an open pull request: its
 * webhook was lost, or the forge sends none. `seen` are statuses that were read already.
 */
export async function publishReplaced(
  deps: PublisherDeps,
  repository: string,
  open: readonly ListedPullRequest[],
  seen: StatusesAt = new Map(),
): Promise<void> {
  const { forge, pool, log } = deps;
  const heads = new Set(open.map(({ head }) => head.sha));
  const commits = (await judgedCommits(pool, repository)).filter(({ headSha }) => heads.has(headSha));
  const shown = commits.flatMap((commit) =>
    commit.places
      .map((row): Shown => ({ row, place: placeAt(forge.name, commit, row.context) }))
      .filter(({ row, place }) => row.isKnown && stateOf(deps, commit, place).verdicts.length > 0),
  );
  const replaced =
    forge.overviews === undefined
      ? // One by one, and none with a success: no green can be taken from the others.
        shown.filter(({ row }) => row.state !== 'success')
      : differing(forge.name, shown, await statusesAt(forge.overviews, repository, shown, seen));
  const { publish } = makePublisher(deps);
  for (const { place } of replaced) {
    try {
      // It looks again: what was seen may be a minute old.
      await publish(place);
    } catch (err) {
      if (!(err instanceof ForgeError) || err.kind === 'rate-limited') {
        throw err;
      }
      log.warn(
        { err, repository, headSha: place.headSha },
        'a status under the name of Gatehouse could not be checked',
      );
    }
  }
}

/** Of Gatehouse's own, nothing but the state can differ. */
function differing(forge: ForgeName, shown: readonly Shown[], statuses: StatusesAt): readonly Shown[] {
  return shown.filter(({ place, row }) => {
    const here = statuses.get(place.headSha)?.filter(({ context }) => contextKey(forge, context) === place.key) ?? [];
    const newest = newestOf(here);
    return newest?.own !== true || newest.state !== row.state;
  });
}

async function statusesAt(
  overviews: Overviews,
  repository: string,
  shown: readonly Shown[],
  seen: StatusesAt,
): Promise<StatusesAt> {
  const unseen = new Set(shown.map(({ place }) => place.headSha).filter((sha) => !seen.has(sha)));
  return unseen.size === 0 ? seen : new Map([...seen, ...(await overviews.statuses(repository, [...unseen]))]);
}

/** A name can stand there in several spellings. */
function newestOf(statuses: readonly PostedStatus[]): PostedStatus | undefined {
  return statuses.toSorted((one, other) => Date.parse(other.updatedAt ?? '') - Date.parse(one.updatedAt ?? ''))[0];
}
