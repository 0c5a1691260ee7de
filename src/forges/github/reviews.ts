import type { Octokit } from 'octokit';
import { z } from 'zod';
import { limitList, requireFound } from '../answer.ts';
import { GHOST } from '../port/accounts.ts';
import type { PersonReview, PullRequestRef, RequestedReviews } from '../port/pull-request.ts';
import { type YesNo, yesNo } from '../port/yes-no.ts';
import { ACTOR, actor } from './actor.ts';
import type { GitHubClient } from './client.ts';
import type { GraphqlFirst } from './graphql-first.ts';
import { address, repositoryAddress } from './read.ts';
import { ask, askAll, askGraphql, MAX_PAGES } from './request.ts';
import * as shapes from './shapes.ts';
import { reviewerEvents } from './timeline.ts';

const REVIEW_STATES = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes-requested',
  COMMENTED: 'commented',
  DISMISSED: 'dismissed',
} as const;

/** What a query asks of a review. */
export const REVIEW = `{ author ${ACTOR} state submittedAt authorCanPushToRepository commit { oid } }`;

/** GraphQL reports a 64-bit number as text, or as a number where it is a small one. */
export const bigId = z.union([z.string().regex(/^\d+$/), z.number().int().transform(String)]);

export const reviewNode = z.object({
  author: actor,
  state: z.enum(['APPROVED', 'CHANGES_REQUESTED', 'COMMENTED', 'DISMISSED', 'PENDING']),
  submittedAt: z.string().nullable(),
  authorCanPushToRepository: z.boolean().nullish(),
  commit: z.object({ oid: z.string() }).nullable(),
});
type ReviewNode = z.output<typeof reviewNode>;

/** Oldest first. Undefined where the login of an App matters: policies name it as REST does. */
export function reviewsIn(nodes: readonly ReviewNode[]): readonly PersonReview[] | undefined {
  if (nodes.some(({ author, state }) => author.bot && state !== 'COMMENTED' && state !== 'PENDING')) {
    return undefined;
  }
  return nodes
    .flatMap(({ author, state, submittedAt, authorCanPushToRepository, commit }): readonly PersonReview[] =>
      state === 'PENDING' || submittedAt === null
        ? []
        : [
            {
              author: author.login,
              state: REVIEW_STATES[state],
              sha: commit?.oid ?? '',
              submittedAt,
              mayWrite: mayWrite(author, authorCanPushToRepository),
              counted: 'unknown',
              bot: author.bot,
            },
          ],
    )
    .sort((one, other) => Date.parse(one.submittedAt) - Date.parse(other.submittedAt));
}

/** An App's permissions are not those of a person, and a deleted account has none. */
function mayWrite({ login, bot }: ReviewNode['author'], canPush: boolean | null | undefined): YesNo {
  return bot || login === GHOST ? 'no' : yesNo(canPush);
}

/** GraphQL alone tells whether their authors may write: one query for a hundred, once somebody has decided. */
export async function reviews(
  client: GitHubClient,
  ref: PullRequestRef,
  graphqlFirst: GraphqlFirst,
): Promise<readonly PersonReview[]> {
  const octokit = await client.forRepository(ref.repository);
  const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews';
  const answer = requireFound(await askAll(octokit, route, address(ref), shapes.reviews), route);
  const isDecided = answer.some(({ user, state }) => user.type !== 'Bot' && DECIDING.includes(state));
  const permissions: readonly Permission[] =
    octokit && isDecided
      ? await graphqlFirst(
          () => permissionsOf(octokit, ref),
          async () => [],
        )
      : [];
  const told = new Map(permissions.map((one) => [one.fullDatabaseId, one.authorCanPushToRepository]));
  return answer.flatMap(({ id, user, state, commit_id, submitted_at }) =>
    state === 'PENDING' || submitted_at === undefined
      ? []
      : [
          {
            author: user.login,
            state: REVIEW_STATES[state],
            sha: commit_id ?? '',
            submittedAt: submitted_at,
            mayWrite: mayWrite({ login: user.login, bot: user.type === 'Bot' }, told.get(id)),
            counted: 'unknown',
            bot: user.type === 'Bot',
          },
        ],
  );
}

const DECIDING: readonly string[] = ['APPROVED', 'CHANGES_REQUESTED'];
const WHAT = 'the reviews of a pull request';

export const REVIEWS_QUERY = `query ($owner: String!, $repo: String!, $number: Int!, $cursor: String) {
  repository(owner: $owner, name: $repo) {
    pullRequest(number: $number) {
      reviews(first: 100, after: $cursor) {
        nodes { fullDatabaseId authorCanPushToRepository }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}`;

/** Where the next page begins; null after the last one. Whoever promises another page has to say where it is. */
const nextPage = z.union([
  z.object({ hasNextPage: z.literal(false) }).transform(() => null),
  z.object({ hasNextPage: z.literal(true), endCursor: z.string() }).transform(({ endCursor }) => endCursor),
]);

const permission = z.object({ fullDatabaseId: bigId, authorCanPushToRepository: z.boolean().nullish() });
type Permission = z.output<typeof permission>;

const answer = z.object({
  repository: z.object({
    pullRequest: z.object({
      reviews: z.object({
        nodes: z.array(permission),
        pageInfo: nextPage,
      }),
    }),
  }),
});

async function permissionsOf(octokit: Octokit, { repository, number }: PullRequestRef): Promise<readonly Permission[]> {
  const all: Permission[] = [];
  const countPage = limitList(WHAT, MAX_PAGES);
  let cursor: string | null = null;
  do {
    const variables = { ...repositoryAddress(repository), number, cursor };
    const read: z.output<typeof answer> = await askGraphql(octokit, WHAT, REVIEWS_QUERY, variables, answer);
    const { nodes, pageInfo } = read.repository.pullRequest.reviews;
    countPage(nodes);
    all.push(...nodes);
    cursor = pageInfo;
  } while (cursor !== null);
  return all;
}

/** https://docs.github.com/en/rest/pulls/review-requests */
export async function requestedReviews(client: GitHubClient, ref: PullRequestRef): Promise<RequestedReviews> {
  const octokit = await client.forRepository(ref.repository);
  const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers';
  const { users, teams } = requireFound(await ask(octokit, route, address(ref), shapes.requestedReviewers), route);
  const history = await reviewerEvents(client, ref);
  const { owner } = address(ref);
  return {
    people: users.map(({ login }) => login),
    teams: teams.map(({ slug }) => `${owner}/${slug}`.toLowerCase()),
    history,
  };
}
