import { setTimeout as sleep } from 'node:timers/promises';
import { guardWrites } from '../../forges/guard-writes.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import { groupUpTo, pullRequestOfGroup, type QueuedPullRequest } from '../../forges/port/merge-queue.ts';
import { isCurrent } from '../../review/inputs.ts';
import { type JudgeContext, readAndJudge } from '../../review/judge.ts';
import { NOTHING_REQUIRED, type Verdict } from '../../review/verdict.ts';
import { makePublisher, placeOf } from '../publisher/publisher.ts';
import type { Jobs } from '../queue/queue.ts';
import { makersIn } from '../tables/makers.ts';
import { recordedComments } from '../tables/override-comments.ts';
import { markGoverned } from '../tables/repositories.ts';
import { forgetGroup, type GroupStatus, notePlace } from '../tables/statuses.ts';
import { isGoverned } from './governed.ts';
import { type Member, recordGroup } from './record-group.ts';
import { givenUpBecause } from './report-given-up.ts';
import type { ReviewDeps } from './review-deps.ts';
import { storedVerdicts } from './stored-verdicts.ts';

type Job = Jobs['review-merge-group'];

/** The members of a group, or why its verdict is an error. */
type Outcome = readonly Member[] | string;

const LOOK_AGAIN_MS = 2_000;

/**
 * Posts the status of a group of GitHub's merge queue on its commit: the worst verdict of the pull requests that the
 * commit merges. Which they are is read from the queue. What is not certain, also at a second look, is an error, never a
 * success.
 */
export async function reviewMergeGroup(deps: ReviewDeps, job: Job, asked: Date, signal: AbortSignal): Promise<void> {
  const { pool, log } = deps;
  const { forge } = guardWrites(deps.forge, async () => signal.throwIfAborted());
  const guarded = { ...deps, forge };
  const place = placeOf(deps, job, job.branch);
  if (job.isGone) {
    // It would count for whoever opens a pull request with this commit.
    await forgetGroup(pool, place);
    await makePublisher(guarded).publish(place);
    log.info({ ...job }, 'a merge group has left the queue: its success is withdrawn');
    return;
  }
  let found = await lookAt(guarded, job);
  if (typeof found?.outcome === 'string') {
    // The queue may be behind its webhook. Here, and not in another job: the group may be destroyed before that.
    await sleep(LOOK_AGAIN_MS, undefined, { signal });
    found = await lookAt(guarded, job);
  }
  if (found === undefined) {
    log.info({ ...job }, 'nothing to review: the merge group has its verdict, or its repository cannot be seen');
    return;
  }
  const { members, isTold, outcome } = found;
  const verdict = verdictOn(outcome)?.state ?? 'none';
  if (verdict !== 'none' || isTold) {
    await conclude(guarded, job, asked, outcome);
  }
  log.info({ ...job, members, verdict }, 'a merge group was reviewed');
}

interface Found {
  /** Its pull requests, where the queue tells them with certainty. */
  readonly members: readonly number[] | undefined;
  /** Whether a status of ours stands there. */
  readonly isTold: boolean;
  readonly outcome: Outcome;
}

/** Undefined: it has left the queue with its verdict, or its repository is gone or cannot be seen. */
async function lookAt(deps: ReviewDeps, job: Job): Promise<Found | undefined> {
  const { forge, pool } = deps;
  const entries = await forge.mergeQueue?.entries(job.repository, job.branch);
  if (entries === undefined) {
    return undefined;
  }
  const group = pullRequestOfGroup(job);
  if (group === undefined) {
    return { members: undefined, isTold: false, outcome: 'The merge group’s branch has an unexpected name' };
  }
  const place = placeOf(deps, job, job.branch);
  const queued = groupUpTo(entries, job.headSha, group);
  const present = await forge.status(job.repository, job.headSha, place.context);
  if (present?.own === false) {
    await notePlace(pool, place, 'uncounted', true);
  }
  const isTold = present?.own === true;
  if (queued === undefined && isTold && (present.state === 'success' || present.state === 'failure')) {
    return undefined;
  }
  const members = queued?.map(({ number }) => number);
  const outcome =
    queued === undefined
      ? `The merge queue has no certain entry of #${group} with this commit`
      : await judgeMembers(deps, job, queued);
  return { members, isTold, outcome };
}

/** Takes the verdicts that are stored, and judges the others. All have to be so still when the last one is judged. */
async function judgeMembers(deps: ReviewDeps, job: Job, queued: readonly QueuedPullRequest[]): Promise<Outcome> {
  const context = contextOf(deps, job, `Reviewing ${counted(queued.length)}`);
  const stored = await storedVerdicts(deps, job, queued);
  const members: Member[] = [];
  for (const { number } of queued) {
    const member = stored.get(number) ?? (await judgeMember(context, job, number));
    if (typeof member === 'string') {
      return member;
    }
    members.push(member);
  }
  const now = stored.size < members.length ? await storedVerdicts(deps, job, queued) : stored;
  for (const member of members) {
    const { number, state } = member;
    if (!('result' in member ? await isCurrent(deps, member.result) : now.get(number)?.state === state)) {
      throw new ForgeError('unavailable', `${job.repository}#${number} changed while its merge group was reviewed`);
    }
  }
  return members;
}

async function judgeMember(context: JudgeContext, job: Job, number: number): Promise<Member | string> {
  const result = await readAndJudge(context, { repository: job.repository, number });
  if (result.kind === 'over' || result.kind === 'archived') {
    return `#${number} is closed, its base branch is gone, or the repository is archived`;
  }
  const { branch } = result.pullRequest.base;
  if (branch !== job.branch) {
    return `#${number} goes into ${branch}, not into ${job.branch}`;
  }
  const { state, description } =
    result.kind === 'judged' ? result.verdict : ({ state: 'none', description: 'No policy' } as const);
  return { number, state, description, result };
}

function contextOf(deps: ReviewDeps, job: Job, description: string): JudgeContext {
  let isTold = false;
  return {
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
      if (!isTold && deps.enforce) {
        isTold = true;
        await report(deps, job, { state: 'pending', description });
      }
    },
  };
}

/** Undefined when no policy applies to any of its pull requests. */
function verdictOn(outcome: Outcome): GroupStatus | undefined {
  if (typeof outcome === 'string') {
    return { state: 'error', description: outcome };
  }
  const named = (state: Verdict['state'], reported: GroupStatus['state'], what: string) => {
    const worst = outcome.find((member) => member.state === state);
    return worst && { state: reported, description: `#${worst.number} ${what}: ${worst.description}` };
  };
  const bad =
    named('failure', 'failure', 'fails') ??
    named('error', 'error', 'could not be judged') ??
    // An approval starts no review of the group, so that GitHub would wait for a pending one until its time-out.
    named('pending', 'failure', 'is not ready');
  if (bad !== undefined || outcome.every(({ state }) => state === 'none')) {
    return bad;
  }
  return { state: 'success', description: `${counted(outcome.length)} of this merge group passed` };
}

function counted(members: number): string {
  return members === 1 ? '1 pull request' : `${members} pull requests`;
}

/** Posts the verdict after it was recorded. No policy may have asked for one where it is an error in words. */
async function conclude(deps: ReviewDeps, job: Job, askedAt: Date, outcome: Outcome): Promise<void> {
  if (typeof outcome === 'string' && !(await isGoverned(deps, placeOf(deps, job, job.branch)))) {
    deps.log.info({ ...job }, 'not reporting a failed merge group: the repository has no known policy');
    return;
  }
  await recordGroup(deps, job, askedAt, outcome);
  await report(deps, job, verdictOn(outcome) ?? { state: 'success', description: NOTHING_REQUIRED });
}

async function report(deps: ReviewDeps, job: Job, verdict: GroupStatus): Promise<void> {
  const place = placeOf(deps, job, job.branch);
  await notePlace(deps.pool, place, 'merge_group', verdict);
  await makePublisher(deps).publish(place);
}

/**
 * After the last attempt: an error lets GitHub remove the group at once, instead of when it has waited for long enough.
 */
export async function reportGroupGivenUp(
  deps: ReviewDeps,
  job: Job,
  error: unknown,
  askedAt: Date,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { forge } = guardWrites(deps.forge, async () => signal.throwIfAborted());
    await conclude({ ...deps, forge }, job, askedAt, givenUpBecause(error));
  } catch (err) {
    deps.log.warn({ err, ...job }, 'could not set the status of a merge group to error');
  }
}
