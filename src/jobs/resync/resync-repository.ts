import type { ListedPullRequest, RepositoryOverview } from '../../forges/port/many-repositories.ts';
import type { ReviewRequest } from '../../forges/port/review-requests.ts';
import { sameContext, statusContext } from '../../forges/port/status-context.ts';
import type { PublisherDeps } from '../publisher/publisher.ts';
import { forgetRepository, moveRepository } from '../tables/repositories.ts';
import { hasNoPolicy, notOpen, toReview } from '../tables/reviews.ts';
import { reviewsOf, withNewPusher } from './judged-reviews.ts';
import type { PresentRules } from './other-rules.ts';

export interface RepositoryResyncDeps extends PublisherDeps {
  /** What the rules are in this resync. */
  readonly rules: PresentRules;
  readonly enqueue: (requests: readonly ReviewRequest[]) => Promise<void>;
}

/** `later`: the next round has to look at the repository again. */
export type Look = 'done' | 'later';

/** Requests the reviews that a repository needs. `overview` is what it is like now, where that was read already. */
export async function resyncRepository(
  deps: RepositoryResyncDeps,
  asked: string,
  overview: RepositoryOverview | undefined,
): Promise<Look> {
  const { forge, pool, log } = deps;
  if (overview !== undefined) {
    return requestReviews(deps, asked, overview.pullRequests, overview);
  }
  const found = await forge.openPullRequests(asked);
  if (found === undefined) {
    await forgetRepository(pool, asked);
    log.info(
      { repository: asked },
      'a repository is gone, or hidden from Gatehouse: it is forgotten until its next delivery',
    );
    return 'done';
  }
  const { repository, pullRequests } = found;
  if (repository !== asked) {
    await moveRepository(pool, asked, repository);
    log.info({ repository, before: asked }, 'a repository was renamed: its old name is forgotten');
  }
  return requestReviews(deps, repository, pullRequests);
}

async function requestReviews(
  deps: RepositoryResyncDeps,
  repository: string,
  open: readonly ListedPullRequest[],
  overview?: RepositoryOverview,
): Promise<Look> {
  const { pool, rules, enqueue, log } = deps;
  if (open.some(({ archived }) => archived)) {
    // No list shows when it is unarchived.
    return 'later';
  }
  await requestGroups(deps, repository, overview);
  const missed = [...(await toReview(pool, open)), ...(await notOpen(pool, repository, open))];
  const requestedAnyway = new Set(missed.map(({ number }) => number));
  const judged = (await reviewsOf(pool, repository)).filter(({ number }) => !requestedAnyway.has(number));
  const outdated = await rules.outdated(judged, ({ baseBranch }) => overview?.baseCommits.get(baseBranch));
  const pushed = open.length === 0 ? [] : await withNewPusher(pool, repository);
  const requested = new Set([...missed, ...outdated, ...pushed].map(({ number }) => number));
  if (requested.size > 0) {
    await enqueue([...requested].map((number) => ({ kind: 'review', repository, number })));
    const pullRequests = [...requested];
    log.info({ repository, pullRequests }, 'a resync found pull requests whose verdict is missing or outdated');
  }
  return 'done';
}

/** The webhook of a merge group without a status of ours was lost: its queue would wait for it until a time-out. */
async function requestGroups(
  { forge, pool, statusContext: template, enqueue, log }: RepositoryResyncDeps,
  repository: string,
  overview: RepositoryOverview | undefined,
): Promise<void> {
  const groups = (overview?.mergeGroups ?? []).filter(({ branch, headSha }) => {
    const name = statusContext(template, branch);
    const statuses = overview?.statuses.get(headSha) ?? [];
    return !statuses.some(({ own, context }) => own && sameContext(forge.name, context, name));
  });
  // Without a policy none has a status.
  if (groups.length > 0 && !(await hasNoPolicy(pool, repository))) {
    await enqueue(groups.map((group) => ({ kind: 'review-merge-group', repository, ...group })));
    log.info(
      { repository, groups: groups.map(({ headSha }) => headSha) },
      'a resync found merge groups without a status',
    );
  }
}
