import type { Octokit } from 'octokit';
import { requireFound } from '../answer.ts';
import { type Check, type Checks, NOT_ENDED, newestOfEach } from '../port/checks.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { askAll } from './request.ts';
import * as shapes from './shapes.ts';

/** Commit statuses and check runs, which GitHub keeps apart: one of each may have the same name. */
export async function checks(client: GitHubClient, repository: string, sha: string): Promise<Checks> {
  const octokit = await client.forRepository(repository);
  const parameters = { ...repositoryAddress(repository), ref: sha };
  const [statuses, runs] = await Promise.all([statusesOf(octokit, parameters), checkRunsOf(octokit, parameters)]);
  return { checks: [...statuses, ...runs.checks], complete: runs.complete };
}

type Address = Readonly<Record<string, string>>;

async function statusesOf(octokit: Octokit | undefined, parameters: Address): Promise<readonly Check[]> {
  // All of them, newest first: the combined status does not say who set one.
  const route = 'GET /repos/{owner}/{repo}/commits/{ref}/statuses';
  const answer = requireFound(await askAll(octokit, route, parameters, shapes.statuses), route);
  return newestOfEach(
    answer.map(({ context, creator, state }) => ({ kind: 'status', name: context, reporter: creator, state })),
  );
}

async function checkRunsOf(octokit: Octokit | undefined, parameters: Address): Promise<Checks> {
  // `latest` is that of each check suite: several suites can have a run of one name, as after a pull request was
  // reopened.
  const route = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs';
  const answer = requireFound(
    await askAll(octokit, route, { ...parameters, filter: 'latest' }, shapes.checkRuns),
    route,
  );
  const newestFirst = answer.toSorted((one, other) => Number(BigInt(other.id) - BigInt(one.id)));
  const runs = newestFirst.map(
    ({ name, app, status, conclusion }): Check => ({
      kind: 'check-run',
      name,
      reporter: app?.slug === undefined ? '' : `${app.slug}[bot]`,
      state: status === 'completed' ? (conclusion ?? NOT_ENDED) : NOT_ENDED,
    }),
  );
  // Beyond 1,000 check suites GitHub lists the newest only.
  return { checks: newestOfEach(runs), complete: answer.every(({ total }) => total <= answer.length) };
}
