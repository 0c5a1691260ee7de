import type { Octokit } from 'octokit';
import type { z } from 'zod';
import { requireFound } from '../answer.ts';
import {
  type AskedChecks,
  type Check,
  type CheckRun,
  type CheckSuite,
  type Checks,
  NOT_ENDED,
  newestOfEach,
  QUEUED,
} from '../port/checks.ts';
import type { GitHubClient } from './client.ts';
import { repositoryAddress } from './read.ts';
import { askAll } from './request.ts';
import * as shapes from './shapes.ts';

/** Commit statuses and check runs, which GitHub keeps apart: one of each may have the same name. */
export async function checks(
  client: GitHubClient,
  repository: string,
  sha: string,
  ask?: AskedChecks,
): Promise<Checks> {
  const octokit = await client.forRepository(repository);
  const parameters = { ...repositoryAddress(repository), ref: sha };
  const [statuses, runs, suites] = await Promise.all([
    statusesOf(octokit, parameters),
    checkRunsOf(octokit, parameters),
    ask?.suites ? checkSuitesOf(octokit, parameters) : undefined,
  ]);
  // Beyond 1,000 check suites GitHub lists the newest only.
  const complete = isWhole(runs) && (suites === undefined || isWhole(suites));
  return {
    checks: [...statuses, ...newestOfEach(runs.map(toRun).map(({ suite: _, ...check }) => check))],
    complete,
    ...(suites && { bySuite: { suites: suites.map(toSuite), runs: newestOfEachSuite(runs.map(toRun)) } }),
  };
}

type Address = Readonly<Record<string, string>>;

async function statusesOf(octokit: Octokit | undefined, parameters: Address): Promise<readonly Check[]> {
  // All of them, newest first: the combined status does not say who set one.
  const route = 'GET /repos/{owner}/{repo}/commits/{ref}/statuses';
  const answer = requireFound(await askAll(octokit, route, parameters, shapes.statuses), route);
  return newestOfEach(
    answer.map(({ context, creator, state, target_url: url }) => ({
      kind: 'status',
      name: context,
      reporter: creator,
      state,
      ...(url && { url }),
    })),
  );
}

type ListedRun = z.output<typeof shapes.checkRuns>[number];
type ListedSuite = z.output<typeof shapes.checkSuites>[number];

/** Newest first. */
async function checkRunsOf(octokit: Octokit | undefined, parameters: Address): Promise<readonly ListedRun[]> {
  // `latest` is that of each check suite: several suites can have a run of one name, as after a pull request was
  // reopened.
  const route = 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs';
  const answer = requireFound(
    await askAll(octokit, route, { ...parameters, filter: 'latest' }, shapes.checkRuns),
    route,
  );
  return answer.toSorted((one, other) => Number(BigInt(other.id) - BigInt(one.id)));
}

async function checkSuitesOf(octokit: Octokit | undefined, parameters: Address): Promise<readonly ListedSuite[]> {
  const route = 'GET /repos/{owner}/{repo}/commits/{ref}/check-suites';
  return requireFound(await askAll(octokit, route, parameters, shapes.checkSuites), route);
}

function isWhole(listed: readonly { readonly total: number }[]): boolean {
  return listed.every(({ total }) => total <= listed.length);
}

function toRun({ id, name, app, status, conclusion, html_url: url, check_suite }: ListedRun): CheckRun {
  return {
    kind: 'check-run',
    name,
    reporter: loginOf(app),
    state: stateOf(status, conclusion),
    ...(url && { url }),
    suite: check_suite?.id ?? `of run ${id}`,
  };
}

/** A suite that was queued and has runs has begun: they were made for it, and those that are not listed as well. */
function toSuite({ id, app, status, conclusion, latest_check_runs_count: runs }: ListedSuite): CheckSuite {
  const isEmpty = status === 'queued' && runs === 0;
  return { id, reporter: loginOf(app), state: isEmpty ? QUEUED : stateOf(status, conclusion) };
}

function stateOf(status: string | null, conclusion: string | null): string {
  return status === 'completed' ? (conclusion ?? NOT_ENDED) : NOT_ENDED;
}

function loginOf(app: ListedRun['app']): string {
  return app?.slug === undefined ? '' : `${app.slug}[bot]`;
}

/** A run that was started again replaces the one before in its suite. */
function newestOfEachSuite(newestFirst: readonly CheckRun[]): readonly CheckRun[] {
  const newest = new Map<string, CheckRun>();
  for (const run of newestFirst) {
    const key = JSON.stringify([run.suite, run.name]);
    if (!newest.has(key)) {
      newest.set(key, run);
    }
  }
  return [...newest.values()];
}
