import { requireFound, timeOf } from '../answer.ts';
import type { PullRequestRef, ReviewerEvent } from '../port/pull-request.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { askAll } from './request.ts';
import * as shapes from './shapes.ts';

/** https://docs.github.com/en/rest/using-the-rest-api/issue-event-types */
const EVENTS: readonly string[] = ['head_ref_force_pushed', 'base_ref_changed', 'automatic_base_change_succeeded'];

const ROUTE = 'GET /repos/{owner}/{repo}/issues/{issue_number}/timeline';

async function timeline(client: GitHubClient, ref: PullRequestRef) {
  const octokit = await client.forRepository(ref.repository);
  const parameters = { ...repositoryAddress(ref.repository), issue_number: ref.number };
  return requireFound(await askAll(octokit, ROUTE, parameters, shapes.timeline), ROUTE);
}

export async function lastForcePushOrRetarget(client: GitHubClient, ref: PullRequestRef): Promise<string | undefined> {
  const times = (await timeline(client, ref))
    .filter(({ event }) => EVENTS.includes(event))
    .map(({ created_at }) => timeOf(created_at ?? '', ROUTE));
  return times.length === 0 ? undefined : new Date(Math.max(...times)).toISOString();
}

const REVIEWER_EVENTS: Readonly<Record<string, ReviewerEvent['kind']>> = {
  review_requested: 'requested',
  review_request_removed: 'withdrawn',
  reviewed: 'reviewed',
};

export async function reviewerEvents(client: GitHubClient, ref: PullRequestRef): Promise<readonly ReviewerEvent[]> {
  return (await timeline(client, ref)).flatMap(({ event, actor, user, requested_reviewer }) => {
    const kind = REVIEWER_EVENTS[event];
    const reviewer = requested_reviewer ?? user;
    return kind === undefined || reviewer === undefined ? [] : [{ kind, reviewer, by: actor ?? reviewer }];
  });
}
