import type pg from 'pg';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { Overviews, RepositoryOverview } from '../../forges/port/many-repositories.ts';
import type { ForgeAccess } from '../forge-access.ts';
import { publishAgain } from '../publisher/unpublished.ts';
import type { Jobs } from '../queue/queue.ts';
import { withPossibleSuccess } from '../tables/statuses.ts';
import type { Baselines } from './baselines.ts';
import { beginRound, type RoundDeps } from './due-repositories.ts';
import type { PresentRules } from './other-rules.ts';
import { recoverDeliveries } from './recover-deliveries.ts';
import { type Look, type RepositoryResyncDeps, resyncRepository } from './resync-repository.ts';
import { requestTurns } from './turns.ts';

/** What a job of the queue needs. */
export interface ResyncPieceDeps extends Omit<ResyncDeps, 'minutes' | 'rules'> {
  readonly baselines: Pick<Baselines, 'refreshAll'>;
  readonly presentRules: () => PresentRules;
  readonly resyncMinutes: number;
  readonly requestPeriodic: (kind: 'resync', data: Jobs['resync']) => Promise<void>;
}

/** Runs a resync until it ends, or until another job continues it. */
export async function resyncPiece(deps: ResyncPieceDeps, { round }: Jobs['resync'], createdOn: Date): Promise<void> {
  const { forge, resyncMinutes: minutes } = deps;
  const began = new Date(round ?? createdOn);
  const isNew = round === undefined;
  if (isNew) {
    await deps.baselines.refreshAll();
  }
  const state = await resync({ ...deps, minutes, rules: deps.presentRules() }, { began, new: isNew });
  if (state === 'unfinished') {
    await deps.requestPeriodic('resync', { round: began.toISOString() });
  } else if (state === 'finished') {
    await publishAgain(deps);
  }
  if (state !== 'interrupted') {
    // Not only at the end of a round: where there is much to look at, the next one begins before it.
    await requestTurns({ ...deps, minutes });
  }
  if (state !== 'interrupted' && isNew && forge.deliveries !== undefined) {
    await recoverDeliveries(forge.deliveries, deps.pool, deps.log);
  }
}

export interface ResyncDeps extends RepositoryResyncDeps, RoundDeps {
  readonly access: Pick<ForgeAccess, 'check'>;
}

/** A look at all repositories that are due. Its later pieces are not `new`. */
export interface Round {
  readonly began: Date;
  readonly new: boolean;
}

/** So that other work of the queue, and a worker that stops, waits no longer. */
const MAX_PIECE_MS = 60_000;
const MAX_NAMES_READ = 100;

/**
 * Finds what lost webhooks missed, in each repository that is due and was not looked at since the round began. Forges
 * do not send a webhook again by themselves, so this is how a lost one is recovered. `unfinished`: there are
 * repositories left for the next piece of the round. `interrupted`: the forge is not there, or accepts no request of
 * ours. {@link ForgeAccess} reports why, and has a resync queued when that has ended.
 */
export async function resync(
  deps: ResyncDeps,
  round: Round,
  maxPieceMs = MAX_PIECE_MS,
): Promise<'finished' | 'unfinished' | 'interrupted'> {
  const { access, pool, log } = deps;
  const { overviews } = deps.forge;
  const end = performance.now() + maxPieceMs;
  if (!(await canAsk(access))) {
    log.warn('a resync was skipped, because the forge cannot be asked: it follows when it can');
    return 'interrupted';
  }
  const since = await startOf(pool, round);
  if (round.new) {
    await beginRound(deps);
  }
  for (;;) {
    const names = await nextRepositories(pool, round.began, overviews);
    if (names.length === 0) {
      return 'finished';
    }
    const overviewByName = await overviewsOf(deps, overviews, names);
    const state = await resyncBatch(deps, recentFirst(names, overviewByName), overviewByName, { since, end });
    if (state !== 'finished') {
      return state;
    }
    // A batch may end before it looks at the time.
    if (performance.now() >= end) {
      return 'unfinished';
    }
  }
}

/** After an outage a forge's limits can make reviews wait: people do so where something has just been changed. */
function recentFirst(
  names: readonly string[],
  overviewByName: ReadonlyMap<string, RepositoryOverview>,
): readonly string[] {
  const changedAt = (name: string) =>
    Math.max(0, ...(overviewByName.get(name)?.pullRequests ?? []).map(({ updatedAt }) => Date.parse(updatedAt)));
  const dated = names.map((name) => ({ name, at: changedAt(name) }));
  return dated.toSorted((left, right) => right.at - left.at).map(({ name }) => name);
}

interface Piece {
  /**
   * By the clock of the database. What the resync reads may be as old as this; one that is requested later looks at its
   * repositories again.
   */
  readonly since: Date;
  /** By the clock of this process. */
  readonly end: number;
}

/** Not `finished`: the end of the piece has come, or the forge cannot be asked. */
async function resyncBatch(
  deps: ResyncDeps,
  names: readonly string[],
  overviewByName: ReadonlyMap<string, RepositoryOverview>,
  { since, end }: Piece,
): Promise<'finished' | 'unfinished' | 'interrupted'> {
  const { access, pool, log } = deps;
  const isOwnLimit = deps.forge.overviews?.scope === 'owner';
  const looks = new Map(
    (await emptyOnes(pool, overviewByName)).map((repository): [string, Look] => [repository, 'done']),
  );
  try {
    for (const repository of names.filter((name) => !looks.has(name))) {
      try {
        looks.set(repository, await resyncRepository(deps, repository, overviewByName.get(repository)));
      } catch (err) {
        // Go on with the next repository, unless it concerns the forge as a whole.
        if (!(err instanceof ForgeError) || (err.kind === 'rate-limited' && !isOwnLimit)) {
          throw err;
        }
        if (err.kind === 'rate-limited') {
          log.warn(
            { repository, reason: err.message },
            'the rate limit of an owner is reached: the next resync tries again',
          );
          await leaveOwner(pool, repository, since);
          return 'finished';
        }
        if (!(await canAsk(access))) {
          log.warn(
            { reason: err.message },
            'a resync ends early, because the forge cannot be asked: it follows when it can',
          );
          return 'interrupted';
        }
        log.warn(
          { repository, reason: err.message },
          'the pull requests of a repository could not be listed: those with a success are looked at one by one',
        );
        await reviewSuccesses(deps, repository);
        looks.set(repository, 'later');
      }
      if (performance.now() >= end) {
        return 'unfinished';
      }
    }
    return 'finished';
  } finally {
    await recordLooks(pool, looks, since);
  }
}

/** What an author can make larger, a description, must not decide whether a change is seen of what may be merged. */
async function reviewSuccesses({ pool, enqueue }: ResyncDeps, repository: string): Promise<void> {
  const requested = await withPossibleSuccess(pool, repository);
  await enqueue(requested.map(({ number }) => ({ kind: 'review', repository, number })));
}

/** Those that have no open pull request, and had none: there is nothing to do, and most are such. */
async function emptyOnes(
  pool: pg.Pool,
  overviewByName: ReadonlyMap<string, RepositoryOverview>,
): Promise<readonly string[]> {
  const empty = [...overviewByName].filter(([, { pullRequests }]) => pullRequests.length === 0).map(([name]) => name);
  const { rows } = await pool.query<{ name: string }>(
    `SELECT name FROM unnest($1::text[]) AS name
      WHERE NOT EXISTS (SELECT FROM gatehouse.reviews WHERE repository = name)`,
    [empty],
  );
  return rows.map(({ name }) => name);
}

async function recordLooks(pool: pg.Pool, looks: ReadonlyMap<string, Look>, since: Date): Promise<void> {
  await pool.query(
    `UPDATE gatehouse.repositories r SET resynced_at = $3, due = look.due
       FROM unnest($1::text[], $2::boolean[]) AS look (name, due) WHERE r.name = look.name`,
    [[...looks.keys()], [...looks.values()].map((look) => look === 'later'), since],
  );
}

/**
 * Never before the round began, even after a failover to a database whose clock is behind: its repositories would be
 * looked at without end.
 */
async function startOf(pool: pg.Pool, { began }: Round): Promise<Date> {
  const { rows } = await pool.query<{ now: Date }>('SELECT greatest(now(), $1::timestamptz) AS now', [began]);
  return rows[0]?.now ?? began;
}

async function canAsk(access: ResyncDeps['access']): Promise<boolean> {
  const found = await access.check();
  return found?.kind !== 'not-accepted' && found?.kind !== 'unreachable';
}

/** Those that have waited longest first; where each owner is asked for by itself, those of the owner that has. */
async function nextRepositories(
  pool: pg.Pool,
  began: Date,
  overviews: Overviews | undefined,
): Promise<readonly string[]> {
  const { rows } = await pool.query<{ name: string }>(
    `WITH waiting AS (
       SELECT name, resynced_at, lower(split_part(name, '/', 1)) AS owner FROM gatehouse.repositories
        WHERE due AND (resynced_at IS NULL OR resynced_at < $1))
     SELECT name FROM waiting
      WHERE NOT $2 OR owner = (SELECT owner FROM waiting ORDER BY resynced_at NULLS FIRST, name LIMIT 1)
      ORDER BY resynced_at NULLS FIRST, name LIMIT $3`,
    [began, overviews?.scope === 'owner', overviews?.maxRepositories ?? MAX_NAMES_READ],
  );
  return rows.map(({ name }) => name);
}

/** Empty where they cannot be had: then each repository is looked at by itself. */
async function overviewsOf(
  { log }: Pick<ResyncDeps, 'log'>,
  overviews: Overviews | undefined,
  names: readonly string[],
): Promise<ReadonlyMap<string, RepositoryOverview>> {
  if (overviews === undefined) {
    return new Map();
  }
  try {
    return await overviews.read(names);
  } catch (err) {
    if (!(err instanceof ForgeError)) {
      throw err;
    }
    log.warn(
      { repositories: names.length, reason: err.message },
      'an overview of repositories cannot be read: each is looked at by itself',
    );
    return new Map();
  }
}

/** Until the next round: the limit of one owner must not keep the others waiting. */
async function leaveOwner(pool: pg.Pool, repository: string, since: Date): Promise<void> {
  await pool.query(
    `UPDATE gatehouse.repositories SET resynced_at = $2
      WHERE due AND lower(split_part(name, '/', 1)) = lower(split_part($1, '/', 1))`,
    [repository, since],
  );
}
