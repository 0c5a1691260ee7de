import { guardWrites } from '../../forges/guard-writes.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import { groupUpTo, pullRequestOfGroup } from '../../forges/port/merge-queue.ts';
import { isCurrent } from '../../review/inputs.ts';
import { type Concluded, type JudgeContext, readAndJudge } from '../../review/judge.ts';
import { NOTHING_REQUIRED, type Verdict } from '../../review/verdict.ts';
import { makePublisher, placeOf } from '../publisher/publisher.ts';
import type { Jobs } from '../queue/queue.ts';
import { makersIn } from '../tables/makers.ts';
import { recordedComments } from '../tables/override-comments.ts';
import { markGoverned } from '../tables/repositories.ts';
import { forgetGroup, type GroupStatus, notePlace } from '../tables/statuses.ts';
import { isGoverned } from './governed.ts';
import { recordGroup } from './record-group.ts';
import { givenUpBecause } from './report-given-up.ts';
import type { ReviewDeps } from './review-deps.ts';

/**
 * Posts the status of a group of GitHub's merge queue on its commit: the worst verdict of the pull requests that the
 * commit merges, each judged as it is now. Which they are is read from the queue. What is not certain is an error,
 * never a success.
 */
export async function reviewMergeGroup(
  deps: ReviewDeps,
  job: Jobs['review-merge-group'],
  askedAt: Date,
  signal: AbortSignal,
): Promise<void> {
  const { log } = deps;
  const { mergeQueue } = deps.forge;
  if (mergeQueue === undefined) {
    log.info({ ...job }, 'nothing to review: this forge has no merge queues');
    return;
  }
  const { forge } = guardWrites(deps.forge, async () => signal.throwIfAborted());
  if (job.isGone) {
    // It would count for whoever opens a pull request with this commit.
    await forgetGroup(deps.pool, placeOf(deps, job, job.branch));
    await makePublisher({ ...deps, forge }).publish(placeOf(deps, job, job.branch));
    log.info({ ...job }, 'a merge group has left the queue: its success is withdrawn');
    return;
  }
  const entries = await mergeQueue.entries(job.repository, job.branch);
  if (entries === undefined) {
    log.info({ ...job }, 'nothing to review: the repository of the merge group is gone, or cannot be seen');
    return;
  }
  const group = pullRequestOfGroup(job);
  if (group === undefined) {
    const description = 'The merge group’s branch has an unexpected name';
    await conclude({ ...deps, forge }, job, askedAt, { state: 'error', description });
    return;
  }
  const members = groupUpTo(entries, job.headSha, group);
  const place = placeOf(deps, job, job.branch);
  const present = await forge.status(job.repository, job.headSha, place.context);
  if (present?.own === false) {
    await notePlace(deps.pool, place, 'uncounted', true);
  }
  if (members === undefined && present?.own && (present.state === 'success' || present.state === 'failure')) {
    log.info({ ...job }, 'nothing to review: the merge group has its verdict and has left the queue');
    return;
  }
  const { verdict, results }: JudgedGroup =
    members === undefined
      ? unjudged(`The merge queue has no certain entry of #${group} with this commit`)
      : await judgeMembers({ ...deps, forge }, job, members);
  if (verdict !== undefined) {
    await conclude({ ...deps, forge }, job, askedAt, verdict, results);
  } else if (present?.own) {
    const free = { state: 'success', description: NOTHING_REQUIRED } as const;
    await conclude({ ...deps, forge }, job, askedAt, free, results);
  }
  log.info({ ...job, members, verdict: verdict?.state ?? 'none' }, 'a merge group was reviewed');
}

interface JudgedGroup {
  /** Undefined when no policy applies to any of its pull requests. */
  readonly verdict?: GroupStatus;
  /** Absent when not all of its pull requests could be judged. */
  readonly results?: readonly Concluded[];
}

function unjudged(description: string): JudgedGroup {
  return { verdict: { state: 'error', description } };
}

async function judgeMembers(
  deps: ReviewDeps,
  job: Jobs['review-merge-group'],
  members: readonly number[],
): Promise<JudgedGroup> {
  const results: Concluded[] = [];
  const context: JudgeContext = {
    ...deps,
    recordedComments: (repository, commentIds) => recordedComments(deps.pool, repository, commentIds),
    makers: makersIn(deps.pool),
    // The reviews of the pull requests do; here the queue waits.
    observes: false,
    onWillJudge: async (_, policy) => {
      if (policy === 'in-force') {
        await markGoverned(deps.pool, job.repository);
      }
      // Without enforcement it would be a success, before anything was judged.
      if (results.length === 0 && deps.enforce) {
        await report(deps, job, { state: 'pending', description: `Reviewing ${counted(members.length)}` });
      }
    },
  };
  for (const number of members) {
    const result = await readAndJudge(context, { repository: job.repository, number });
    if (result.kind === 'over' || result.kind === 'archived') {
      return unjudged(`#${number} is closed, its base branch is gone, or the repository is archived`);
    }
    const { branch } = result.pullRequest.base;
    if (branch !== job.branch) {
      return unjudged(`#${number} goes into ${branch}, not into ${job.branch}`);
    }
    results.push(result);
  }
  for (const result of results) {
    if (!(await isCurrent(deps, result))) {
      const { repository, number } = result.pullRequest;
      throw new ForgeError('unavailable', `${repository}#${number} changed while its merge group was reviewed`);
    }
  }
  const verdict = worstOf(results);
  return { results, ...(verdict === undefined ? {} : { verdict }) };
}

function worstOf(results: readonly Concluded[]): GroupStatus | undefined {
  const judged = results.flatMap((result) => (result.kind === 'judged' ? [result] : []));
  const named = (state: Verdict['state'], reported: GroupStatus['state'], what: string) => {
    const worst = judged.find(({ verdict }) => verdict.state === state);
    return (
      worst && { state: reported, description: `#${worst.pullRequest.number} ${what}: ${worst.verdict.description}` }
    );
  };
  const bad =
    named('failure', 'failure', 'fails') ??
    named('error', 'error', 'could not be judged') ??
    // An approval starts no review of the group, so that GitHub would wait for a pending one until its time-out.
    named('pending', 'failure', 'is not ready');
  if (bad !== undefined || judged.length === 0) {
    return bad;
  }
  return { state: 'success', description: `${counted(results.length)} of this merge group passed` };
}

function counted(members: number): string {
  return members === 1 ? '1 pull request' : `${members} pull requests`;
}

/** Posts the verdict after it was recorded. Without `results` it is an error, of which no policy may have asked. */
async function conclude(
  deps: ReviewDeps,
  job: Jobs['review-merge-group'],
  askedAt: Date,
  verdict: GroupStatus,
  results?: readonly Concluded[],
): Promise<void> {
  if (results === undefined && !(await isGoverned(deps, placeOf(deps, job, job.branch)))) {
    deps.log.info({ ...job }, 'not reporting a failed merge group: the repository has no known policy');
    return;
  }
  await recordGroup(deps, job, askedAt, verdict, results);
  await report(deps, job, verdict);
}

async function report(deps: ReviewDeps, job: Jobs['review-merge-group'], verdict: GroupStatus): Promise<void> {
  const place = placeOf(deps, job, job.branch);
  await notePlace(deps.pool, place, 'merge_group', verdict);
  await makePublisher(deps).publish(place);
}

/**
 * After the last attempt: an error lets GitHub remove the group at once, instead of when it has waited for long enough.
 */
export async function reportGroupGivenUp(
  deps: ReviewDeps,
  job: Jobs['review-merge-group'],
  error: unknown,
  askedAt: Date,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { forge } = guardWrites(deps.forge, async () => signal.throwIfAborted());
    const verdict = { state: 'error', description: givenUpBecause(error) } as const;
    await conclude({ ...deps, forge }, job, askedAt, verdict);
  } catch (err) {
    deps.log.warn({ err, ...job }, 'could not set the status of a merge group to error');
  }
}
