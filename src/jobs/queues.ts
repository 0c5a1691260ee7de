import type { ReviewRequest } from '../forges/port/review-requests.ts';
import type { ForgeAccess } from './forge-access.ts';
import { secondsSinceQueued } from './queue/job-age.ts';
import { DEAD_LETTERS, type Jobs, type Queues, RETENTION_SECONDS, reviewKey } from './queue/queue.ts';
import type { Baselines } from './resync/baselines.ts';
import type { PresentRules } from './resync/other-rules.ts';
import type { ReviewDeps } from './review/review-deps.ts';

/** What a worker hands to its jobs. */
export interface JobDeps extends ReviewDeps {
  readonly baselines: Baselines;
  /** What the rules are from now on: each time read anew. */
  readonly presentRules: () => PresentRules;
  readonly resyncMinutes: number;
  readonly retentionDays: number;
  readonly access: ForgeAccess;
  /** Puts jobs in, and wakes the workers. */
  readonly enqueue: (requests: readonly ReviewRequest[]) => Promise<void>;
  /** Requests a job of a queue with one key. `data`: of the job that it goes on with. */
  readonly requestPeriodic: <K extends 'resync' | 'retention'>(kind: K, data?: Jobs[K]) => Promise<void>;
  readonly requestResync: () => Promise<void>;
  /** Aborted when the worker stops. */
  readonly stopping: AbortSignal;
}

const COMMON = {
  // At most one waiting and one active job per key.
  policy: 'stately',
  retryLimit: 5,
  retryDelay: 5,
  retryBackoff: true,
  retryDelayMax: 300,
  /** A worker that was killed is noticed when its job has had no heartbeat for this long. */
  heartbeatSeconds: 15,
  expireInSeconds: 15 * 60,
  retentionSeconds: RETENTION_SECONDS,
  // Finished jobs say nothing that the deliveries and reviews do not say, and the engine reads all its jobs to count
  // them.
  deleteAfterSeconds: 5 * 60,
} as const;

const WITH_DEAD_LETTERS = { ...COMMON, deadLetter: DEAD_LETTERS };

/**
 * Every queue. What runs a job is loaded with the first one: a process without a worker needs no forge client, rules or
 * YAML, nor the memory for them.
 */
export const QUEUES: Queues<JobDeps> = {
  review: {
    key: reviewKey,
    options: WITH_DEAD_LETTERS,
    needsForge: true,
    async run(deps, job) {
      const { data, createdOn, signal, retryCount, retryLimit } = job;
      const tries = { isRetry: retryCount > 0, isLastAttempt: retryCount >= retryLimit, isTurn: false };
      const asked = { at: createdOn, secondsAgo: secondsSinceQueued(job), ...tries };
      const { reviewPullRequest } = await import('./review/review-pull-request.ts');
      if ((await reviewPullRequest(deps, data, asked, signal)) === 'overtaken') {
        // The newer one may be cut short before it writes. When it was not, one more review writes nothing.
        await deps.enqueue([{ kind: 'review', ...data }]);
      }
    },
    async giveUp(deps, { data, createdOn, signal }, error) {
      const { reportGivenUp } = await import('./review/report-given-up.ts');
      await reportGivenUp(deps, data, error, createdOn, signal);
    },
  },
  /** Pull requests that are judged again although nothing tells that they have changed: each worker takes one at a time. */
  turn: {
    key: reviewKey,
    options: { ...COMMON, retryLimit: 1 },
    needsForge: true,
    async run(deps, { data, createdOn, signal }) {
      const { takeTurn } = await import('./review/take-turn.ts');
      await takeTurn(deps, data, createdOn, signal);
    },
  },
  /** All open pull requests into a branch, after its policy may have changed. */
  'review-repository': {
    key: ({ repository, branch }) => `${repository}@${branch}`,
    options: WITH_DEAD_LETTERS,
    needsForge: true,
    async run(deps, { data, retryCount }) {
      const { reviewRepository } = await import('./resync/review-repository.ts');
      await reviewRepository({ ...deps, rules: deps.presentRules() }, data, { again: retryCount > 0 });
    },
  },
  /**
   * A push to any branch: of commits of pull requests, and of the policy of those into it. Jobs of many pushes to one
   * become one that looks at the pull requests into it.
   */
  push: {
    key: ({ repository, branch, before = '', after }) => `${repository}@${branch}/${before}/${after}`,
    options: COMMON,
    needsForge: false,
    async run({ pool, enqueue }, { data, createdOn }) {
      const { repository, branch } = data;
      const { withNewPusher } = await import('./resync/judged-reviews.ts');
      const pushed = await withNewPusher(pool, repository);
      await enqueue([
        ...pushed.map((ref) => ({ kind: 'review' as const, ...ref })),
        { kind: 'review-repository', repository, branch },
        ...(data.isDefault ? [{ kind: 'default-push' as const, ...data, at: createdOn.toISOString() }] : []),
      ]);
    },
  },
  /** A push to a default branch: whether a pull request brought it. */
  'default-push': {
    key: ({ repository, branch, before = '', after }) => `${repository}@${branch}/${before}/${after}`,
    // Without dead letters: nobody can do more about it.
    options: COMMON,
    needsForge: true,
    async run(deps, { data, retryCount }) {
      const { recordDirectPush } = await import('./record-direct-push.ts');
      await recordDirectPush(deps, data, retryCount);
    },
  },
  /** Pull requests with a head about which others have changed a fact. */
  'review-commit': {
    /**
     * A status under Gatehouse's name has a key by who set it and by its context, and what Gatehouse may have caused
     * itself by who did: neither Gatehouse's own nor a status that no pull request has must keep back another.
     */
    key({ repository, headSha, ownName, facts, by }) {
      const told = ownName === undefined ? facts.join('+') : `status/${ownName.by.toLowerCase()}/${ownName.context}`;
      return `${repository}@${headSha}/${told}${by === undefined ? '' : `/by/${by.toLowerCase()}`}`;
    },
    options: WITH_DEAD_LETTERS,
    needsForge: true,
    async run(deps, { data }) {
      const { reviewCommit } = await import('./review/review-commit.ts');
      await reviewCommit(deps, data);
    },
  },
  /** Groups of GitHub's merge queues. */
  'review-merge-group': {
    key: ({ repository, headSha }) => `${repository}@${headSha}`,
    options: WITH_DEAD_LETTERS,
    needsForge: true,
    async run(deps, { data, createdOn, signal }) {
      const { reviewMergeGroup } = await import('./review/review-merge-group.ts');
      await reviewMergeGroup(deps, data, createdOn, signal);
    },
    async giveUp(deps, { data, createdOn, signal }, error) {
      const { reportGroupGivenUp } = await import('./review/review-merge-group.ts');
      await reportGroupGivenUp(deps, data, error, createdOn, signal);
    },
  },
  command: {
    /**
     * Each change of a command to override is recorded, whatever else is waiting. Of a recheck it matters who asks: one
     * of somebody who may not must not keep back that of somebody who may. Anything else is answered once, whoever
     * asks.
     */
    key({ command, change, commentId, author, ...ref }) {
      const which = { override: `${change}/${commentId}`, recheck: author.toLowerCase(), unknown: '' }[command];
      return `${reviewKey(ref)}/${command}/${which}`;
    },
    // Without dead letters: the review that a command starts is found by a resync too, and somebody can post it again.
    options: COMMON,
    needsForge: true,
    async run(deps, { data }) {
      const { runCommand } = await import('./review/run-command.ts');
      await runCommand(deps, data);
    },
  },
  resync: {
    key: () => 'resync',
    // A piece ends by itself after a minute and the repository that it is at. Its heartbeat tells when its worker is
    // gone.
    options: { ...COMMON, retryLimit: 1, expireInSeconds: 6 * 60 * 60 },
    // It reports when it cannot run.
    needsForge: false,
    async run(deps, { data, createdOn }) {
      const { resyncPiece } = await import('./resync/resync.ts');
      await resyncPiece(deps, data, createdOn);
    },
  },
  retention: {
    key: () => 'retention',
    options: { ...COMMON, retryLimit: 1 },
    needsForge: false,
    async run(deps) {
      const { retentionPiece } = await import('./retention.ts');
      await retentionPiece(deps);
    },
  },
};
