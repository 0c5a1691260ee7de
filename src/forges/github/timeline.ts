import { requireFound, timeOf } from '../answer.ts';
import type { PullRequestRef } from '../port/pull-request.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { askAll } from './request.ts';
import * as shapes from './shapes.ts';

/** https://docs.github.com/en/rest/using-the-rest-api/issue-event-types */
const EVENTS: readonly string[] = ['head_ref_force_pushed', 'base_ref_changed', 'automatic_base_change_succeeded'];

export async function lastForcePushOrRetarget(client: GitHubClient, ref: PullRequestRef): Promise<string | undefined> {
  const octokit = await client.forRepository(ref.repository);
  const route = 'GET /repos/{owner}/{repo}/issues/{issue_number}/timeline';
  const parameters = { ...repositoryAddress(ref.repository), issue_number: ref.number };
  const answer = requireFound(await askAll(octokit, route, parameters, shapes.timeline), route);
  const times = answer
    .filter(({ event }) => EVENTS.includes(event))
    .map(({ created_at }) => timeOf(created_at ?? '', route));
  return times.length === 0 ? undefined : new Date(Math.max(...times)).toISOString();
}
