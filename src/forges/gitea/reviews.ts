import type { z } from 'zod';
import { requireFound } from '../answer.ts';
import { splitRepository } from '../port/names.ts';
import type { PersonReview, PullRequestRef, RequestedReviews } from '../port/pull-request.ts';
import { yesNo } from '../port/yes-no.ts';
import { type GiteaClient, SHORT } from './client.ts';
import { pullPath, utc } from './read.ts';
import * as shapes from './shapes.ts';
import { reviewerEvents } from './timeline.ts';

/** PENDING and REQUEST_REVIEW are not reviews that anyone gave. */
const REVIEW_STATES: Readonly<Record<string, PersonReview['state']>> = {
  APPROVED: 'approved',
  REQUEST_CHANGES: 'changes-requested',
  COMMENT: 'commented',
};
/** A review that was requested and has not been given: it goes with the person's next review, or comment. */
const REQUESTED = 'REQUEST_REVIEW';

type Listed = z.output<typeof shapes.reviews>;

async function reviews(client: GiteaClient, ref: PullRequestRef): Promise<readonly PersonReview[]> {
  const answer = await reviewList(client, ref);
  return answer
    .flatMap(({ user, state, dismissed, commit_id, submitted_at, official }): readonly PersonReview[] => {
      const mapped = REVIEW_STATES[state];
      const reported = mapped && dismissed ? 'dismissed' : mapped;
      return reported
        ? [
            {
              author: user,
              state: reported,
              sha: commit_id,
              submittedAt: utc(submitted_at),
              mayWrite: 'unknown',
              counted: yesNo(official),
              bot: false,
            },
          ]
        : [];
    })
    .toSorted((one, other) => one.submittedAt.localeCompare(other.submittedAt));
}

/** `requested_reviewers` of the pull request also names those who have given their review. */
async function requestedReviews(client: GiteaClient, ref: PullRequestRef): Promise<RequestedReviews> {
  const listed = await reviewList(client, ref);
  const requested = listed.filter(({ state }) => state === REQUESTED);
  const commentsAtLines = listed.reduce((sum, { comments_count }) => sum + comments_count, 0);
  const { owner } = splitRepository(ref.repository);
  const people = requested.flatMap(({ user, team }) => (team ? [] : [user]));
  return {
    people,
    teams: requested.flatMap(({ team }) => (team ? [`${owner}/${team.name}`.toLowerCase()] : [])),
    history: await reviewerEvents(client, ref, people, commentsAtLines),
  };
}

export async function reviewList(client: GiteaClient, ref: PullRequestRef): Promise<Listed> {
  const route = `${pullPath(ref)}/reviews`;
  return [...requireFound(await client.askAll(route, shapes.reviews, { maxStringBytes: SHORT }), route)];
}

/** The methods of a forge that are here. */
export const METHODS = { reviews, requestedReviews };
