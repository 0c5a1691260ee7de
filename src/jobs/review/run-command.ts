import type pg from 'pg';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PullRequest, PullRequestRef } from '../../forges/port/pull-request.ts';
import type { ReviewRequest } from '../../forges/port/review-requests.ts';
import type { Log } from '../../log.ts';
import { canBeOverridden } from '../../review/overrides/override.ts';
import { type PolicyContext, policyInForce } from '../../review/policy/in-force.ts';
import { COMMANDS_MARKER, renderCommands } from '../../review/rendering/commands.ts';
import type { Jobs } from '../queue/queue.ts';

const MIN_SECONDS_BETWEEN_RECHECKS = 60;

export interface CommandContext extends PolicyContext {
  readonly pool: pg.Pool;
  readonly enqueue: (requests: readonly ReviewRequest[]) => Promise<void>;
  readonly log: Log;
}

/**
 * Does what a comment tells Gatehouse to do. May be cut short anywhere and be repeated. Whether an override counts is
 * judged by the review that it starts, from the comments that are there then.
 */
export async function runCommand(context: CommandContext, job: Jobs['command']): Promise<void> {
  const pullRequest = await context.forge.pullRequest(job);
  if (pullRequest === undefined || pullRequest.state !== 'open' || pullRequest.archived) {
    return;
  }
  const { repository, baseCommit } = pullRequest;
  if (baseCommit === undefined) {
    return;
  }
  const { policy: present } = await policyInForce(context, { repository, commit: baseCommit, shown: false });
  if (present.kind === 'absent') {
    // Where no policy applies, Gatehouse says nothing.
    return;
  }
  switch (job.command) {
    case 'recheck':
      await recheck(context, pullRequest, job);
      break;
    case 'override': {
      const isJudged = present.kind === 'broken' || canBeOverridden(present.policy) || job.change !== 'posted';
      // All answers have one key, so that no two of them look for the other's comment at once.
      const { number } = pullRequest;
      const asAnswer = { kind: 'command', ...job, repository, number, command: 'unknown' } as const;
      await context.enqueue([isJudged ? requestOf(pullRequest) : asAnswer]);
      break;
    }
    case 'unknown':
      if (present.kind === 'broken' || present.policy.comments !== 'off') {
        await answer(context, pullRequest);
      }
  }
}

function requestOf({ repository, number }: PullRequest): ReviewRequest {
  return { kind: 'review', repository, number };
}

async function recheck(
  { forge, pool, enqueue, log }: CommandContext,
  pullRequest: PullRequest,
  job: Jobs['command'],
): Promise<void> {
  const { repository, number, author } = pullRequest;
  const isAuthor = author.toLowerCase() === job.author.toLowerCase();
  if (
    !(await mayRecheck(pool, pullRequest)) ||
    !(isAuthor || (await forge.writeAccess(repository)(job.author)) === 'yes')
  ) {
    log.info(
      { repository, number, by: job.author },
      'a recheck was not granted: too soon, or by somebody who may not write',
    );
    return;
  }
  await enqueue([requestOf(pullRequest)]);
  // Afterwards: if it is cut short between the two, the next attempt must not be too soon.
  await markRechecked(pool, pullRequest);
  log.info({ repository, number, by: job.author }, 'a pull request is judged again, as a comment asks');
}

/** Whether the last time is long enough ago. A verdict from before is then not taken for the present one. */
async function mayRecheck(pool: pg.Pool, { repository, number }: PullRequestRef): Promise<boolean> {
  const { rows } = await pool.query<{ soon: boolean }>(
    `UPDATE gatehouse.reviews r SET inputs_digest = CASE WHEN soon THEN inputs_digest END
       FROM (SELECT coalesce(rechecked_at > now() - make_interval(secs => $3), false) AS soon
               FROM gatehouse.reviews WHERE repository = $1 AND pull_request = $2) last
      WHERE repository = $1 AND pull_request = $2
      RETURNING soon`,
    [repository, number, MIN_SECONDS_BETWEEN_RECHECKS],
  );
  // One that was never reviewed may be.
  return rows.every(({ soon }) => !soon);
}

async function markRechecked(pool: pg.Pool, { repository, number }: PullRequestRef): Promise<void> {
  await pool.query('UPDATE gatehouse.reviews SET rechecked_at = now() WHERE repository = $1 AND pull_request = $2', [
    repository,
    number,
  ]);
}

/** Once for a pull request: the forge has it, so that the answer is not repeated when our database is lost. */
async function answer({ forge, log }: CommandContext, pullRequest: PullRequest): Promise<void> {
  const { repository, number } = pullRequest;
  try {
    const own = await forge.ownComments(pullRequest);
    if (!own.some(({ body }) => body.startsWith(COMMANDS_MARKER))) {
      await forge.createComment(pullRequest, renderCommands());
    }
  } catch (error) {
    if (!(error instanceof ForgeError) || (error.kind !== 'refused' && error.kind !== 'too-large')) {
      throw error;
    }
    // As of a locked conversation, or of comments that are too large to be read.
    log.warn({ repository, number, reason: error.message }, 'the forge refused the list of commands');
  }
}
