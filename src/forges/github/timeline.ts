import type { z } from 'zod';
import { requireFound, timeOf } from '../answer.ts';
import { GHOST } from '../port/accounts.ts';
import { splitRepository } from '../port/names.ts';
import type { PullRequestRef, ReviewerEvent } from '../port/pull-request.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { askAll } from './request.ts';
import * as shapes from './shapes.ts';

/** https://docs.github.com/en/rest/using-the-rest-api/issue-event-types */
const EVENTS: readonly string[] = ['head_ref_force_pushed', 'base_ref_changed', 'automatic_base_change_succeeded'];

const ROUTE = 'GET /repos/{owner}/{repo}/issues/{issue_number}/timeline';

type Entry = z.output<typeof shapes.timeline>[number];

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
  const { owner } = splitRepository(ref.repository);
  const entries = await timeline(client, ref);
  // Where GitHub assigns the review of a team to members, it withdraws the request of the team in the same second, in
  // the name of whoever made it.
  const assignedAt = new Set(
    entries.flatMap((entry) =>
      entry.event === 'review_requested' && entry.requested_reviewer && entry.actor && entry.created_at
        ? [doneBy(entry)]
        : [],
    ),
  );
  const requesters = new Map<string, string>();
  return entries.flatMap((entry): readonly ReviewerEvent[] => {
    const { event, actor, user, requested_reviewer, requested_team: team } = entry;
    const kind = REVIEWER_EVENTS[event];
    const by = actor ?? user ?? GHOST;
    const reviewer = team ? `${owner}/${team.slug}`.toLowerCase() : (requested_reviewer ?? user ?? GHOST);
    if (kind === 'requested') {
      requesters.set(reviewer, by);
    }
    const isAssigned = team && kind === 'withdrawn' && requesters.get(reviewer) === by && assignedAt.has(doneBy(entry));
    return kind === undefined || isAssigned ? [] : [{ kind, reviewer, by }];
  });
}

/** What was done by one account in one second. */
function doneBy({ actor, created_at }: Entry): string {
  return `${actor} ${created_at}`;
}
