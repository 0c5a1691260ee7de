import type pg from 'pg';
import type { ReviewRequest } from '../forges/events.ts';
import type { Forge } from '../forges/forge.ts';
import { ForgeError } from '../forges/forge-error.ts';
import type { Log } from '../log.ts';
import { statusContext } from '../review/status-context.ts';
import type { ForgeAccess } from './forge-access.ts';
import { withOtherChecks } from './other-checks.ts';
import { type PresentRules, reviewsOf } from './outdated-reviews.ts';
import { overriddenReviews } from './override-comments.ts';
import { setWithOtherEnforcement } from './posted-statuses.ts';
import { forgetRepository, moveRepository, notOpen, withoutVerdict } from './reviews-table.ts';

export interface ResyncParts {
  readonly forge: Forge;
  readonly access: Pick<ForgeAccess, 'check'>;
  readonly pool: pg.Pool;
  /** The name of the commit status, `{base}` for the base branch. */
  readonly statusContext: string;
  readonly enforce: boolean;
  /** What the rules are in this resync. */
  readonly rules: PresentRules;
  readonly enqueue: (requests: readonly ReviewRequest[]) => Promise<void>;
  readonly log: Log;
}

/** Well below the time after which the job engine takes a job for lost. */
const MAX_PIECE_MS = 10 * 60_000;
const MAX_NAMES_READ = 100;

/**
 * Finds what lost webhooks missed, in each repository that no resync has checked since `round` began. Forges do
 * not send a webhook again by themselves, so this is how a lost one is recovered. `unfinished`: there are
 * repositories left for the next piece of the round. `interrupted`: the forge is not there, or accepts no request of
 * ours. {@link ForgeAccess} reports why, and has a resync queued when that has ended.
 */
export async function resync(
  parts: ResyncParts,
  round: Date,
  maxPieceMs = MAX_PIECE_MS,
): Promise<'finished' | 'unfinished' | 'interrupted'> {
  const { access, pool, log } = parts;
  const end = performance.now() + maxPieceMs;
  if (!(await canAsk(access))) {
    log.warn('a resync was skipped, because the forge cannot be asked: it follows when it can');
    return 'interrupted';
  }
  await pool.query(
    'INSERT INTO gatehouse.repositories (name) SELECT DISTINCT repository FROM gatehouse.hooks ON CONFLICT DO NOTHING',
  );
  for (;;) {
    const names = await nextRepositories(pool, round);
    if (names.length === 0) {
      return 'finished';
    }
    for (const repository of names) {
      try {
        await resyncRepository(parts, repository);
      } catch (err) {
        // Go on with the next repository, unless it concerns the forge as a whole.
        if (!(err instanceof ForgeError) || err.kind === 'rate-limited') {
          throw err;
        }
        if (!(await canAsk(access))) {
          log.warn(
            { reason: err.message },
            'a resync ends early, because the forge cannot be asked: it follows when it can',
          );
          return 'interrupted';
        }
        log.warn({ repository, reason: err.message }, 'a repository could not be resynced');
      }
      await pool.query('UPDATE gatehouse.repositories SET resynced_at = now() WHERE name = $1', [repository]);
      if (performance.now() >= end) {
        return 'unfinished';
      }
    }
  }
}

async function canAsk(access: ResyncParts['access']): Promise<boolean> {
  const found = await access.check();
  return found?.kind !== 'not-accepted' && found?.kind !== 'unreachable';
}

async function resyncRepository(
  { forge, pool, statusContext: template, enforce, rules, enqueue, log }: ResyncParts,
  asked: string,
): Promise<void> {
  const found = await forge.openPullRequests(asked);
  if (found === undefined) {
    await forgetRepository(pool, asked);
    log.info(
      { repository: asked },
      'a repository is gone, or hidden from Gatehouse: it is forgotten until its next delivery',
    );
    return;
  }
  const { repository, pullRequests: open } = found;
  if (repository !== asked) {
    await moveRepository(pool, asked, repository);
    log.info({ repository, before: asked }, 'a repository was renamed: its old name is forgotten');
  }
  if (open.some(({ archived }) => archived)) {
    return;
  }
  const missed = await withoutVerdict(pool, open, (base) => statusContext(template, base));
  const closed = await notOpen(pool, repository, open);
  const outdated = await rules.outdated(open.length === 0 ? [] : await reviewsOf(pool, repository));
  const otherwise = await setWithOtherEnforcement(pool, repository, enforce);
  const known = [...missed, ...closed, ...outdated, ...otherwise];
  const rechecked = await withOtherChecks({ forge, pool, statusContext: template }, repository, open, known);
  // No forge shows in the pull request that a comment was edited or deleted.
  const overridden = await overriddenReviews(pool, repository);
  const numbers = new Set([...known, ...rechecked, ...overridden].map(({ number }) => number));
  if (numbers.size === 0) {
    return;
  }
  await enqueue([...numbers].map((number) => ({ kind: 'review', repository, number })));
  log.info(
    { repository, pullRequests: [...numbers] },
    'a resync found pull requests whose verdict is missing or outdated, or depends on an override',
  );
}

/** Those that have waited longest first. */
async function nextRepositories(pool: pg.Pool, round: Date): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `SELECT name FROM gatehouse.repositories
      WHERE resynced_at IS NULL OR resynced_at < $1
      ORDER BY resynced_at NULLS FIRST, name LIMIT $2`,
    [round, MAX_NAMES_READ],
  );
  return rows.map(({ name }) => name);
}
