import { ForgeError } from '../../forges/port/forge-error.ts';
import type { RepositoryHead } from '../../forges/port/many-repositories.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import type { ReviewRequest } from '../../forges/port/review-requests.ts';
import { type CommitState, nextCommits, type Place, placeAt, type StoredCommit } from '../tables/statuses.ts';
import { makePublisher, mayBeGreen, type Naming, type PublisherDeps, placeOf, says, stateOf } from './publisher.ts';
import { wantedStatus } from './wanted-status.ts';

/** A place that shows something else than it should, by our tables. */
interface Unpublished {
  readonly place: Place;
  /** The open pull requests whose reviews publish it. */
  readonly pullRequests: readonly PullRequestRef[];
  /** When a post there last began; 0: none did. */
  readonly postedAt: number;
}

const MAX_COMMITS_READ = 1_000;
/** One resync posts so many by itself: each is a request or two. */
const MAX_POSTED = 100;

type Settings = Pick<PublisherDeps, 'forge' | 'pool' | 'statusContext' | 'enforce'>;

/**
 * A post that was refused, broke off, or may still be carried out, a process that died before one, and another
 * STATUS_CONTEXT or ENFORCE: the place is published again. Where it should show something else of open pull requests,
 * they are reviewed, which publishes it.
 */
export async function publishAgain(
  deps: PublisherDeps & { readonly enqueue: (requests: readonly ReviewRequest[]) => Promise<void> },
): Promise<void> {
  const { log, enqueue } = deps;
  const found: Unpublished[] = [];
  for await (const one of unpublished(deps)) {
    found.push(one);
  }
  const requested = found.flatMap(({ pullRequests }) => pullRequests);
  if (requested.length > 0) {
    await enqueue(requested.map(({ repository, number }) => ({ kind: 'review', repository, number })));
    log.info({ pullRequests: requested }, 'a resync found statuses that are not what they should be');
  }
  // Those first that were not tried for the longest time: commits that the forge refuses never keep back others.
  const left = found.filter(({ pullRequests }) => pullRequests.length === 0);
  const { publish } = makePublisher(deps);
  for (const { place } of left.sort(longestAgo).slice(0, MAX_POSTED)) {
    const { repository, headSha, context } = place;
    try {
      await publish(place);
      log.info({ repository, headSha, context }, 'a resync posted a status that was not what it should be');
    } catch (err) {
      if (!(err instanceof ForgeError)) {
        throw err;
      }
      const message = 'a status could not be set to what it should be: the next resync tries again';
      log.warn({ err, repository, headSha, context }, message);
      if (err.kind === 'rate-limited') {
        return;
      }
    }
  }
}

/** Whether there is a place to publish again. */
export async function isAnyUnpublished(settings: Settings): Promise<boolean> {
  const { done } = await unpublished(settings).next();
  return done !== true;
}

async function* unpublished(settings: Settings): AsyncGenerator<Unpublished> {
  let last: RepositoryHead = { repository: '', headSha: '' };
  for (;;) {
    const commits = await nextCommits(settings.pool, last, MAX_COMMITS_READ);
    for (const commit of commits) {
      const left = new Set(commit.leaving.map((base) => placeOf(settings, commit, base).key));
      for (const place of placesOn(settings, commit)) {
        yield* left.has(place.key) ? [] : unpublishedAt(settings, commit, place);
      }
    }
    const end = commits.at(-1);
    if (end === undefined) {
      return;
    }
    last = end;
  }
}

/** Nothing where the place shows what it should, or is posted now: whoever posts it looks again. */
function unpublishedAt(settings: Settings, commit: CommitState, place: Place): readonly Unpublished[] {
  const { verdicts, row } = stateOf(settings, commit, place);
  const wanted = wantedStatus({ verdicts, row }, mayBeGreen(row), settings.enforce);
  const isSaid = wanted !== undefined && says(row, wanted);
  if (wanted === undefined || (row?.canBeKnown !== true && (isSaid || row?.isUnderWay === true))) {
    return [];
  }
  // What is only to be posted once more is posted by one, or their posts would be under way at once again.
  const reviewed = isSaid ? [] : verdicts;
  const pullRequests = reviewed.map(({ number }) => ({ repository: place.repository, number }));
  return [{ place, pullRequests, postedAt: row?.postedAt ?? 0 }];
}

/** Where Gatehouse has spoken on a commit, and where its open pull requests' statuses are. */
function placesOn(deps: Naming, commit: StoredCommit): readonly Place[] {
  const { name } = deps.forge;
  const spoken = commit.places.map(({ context }) => placeAt(name, commit, context));
  const wanted = commit.verdicts.map(({ baseBranch }) => placeOf(deps, commit, baseBranch));
  const places = [...spoken, ...wanted];
  return places.filter((place, index) => places.findIndex(({ key }) => key === place.key) === index);
}

function longestAgo(one: Unpublished, other: Unpublished): number {
  return one.postedAt - other.postedAt;
}
