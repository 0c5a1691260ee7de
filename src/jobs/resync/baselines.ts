import type pg from 'pg';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { RepositoryIds } from '../../forges/port/pull-request.ts';
import type { Log } from '../../log.ts';
import {
  type Baseline,
  type BaselineOf,
  type BaselineRead,
  baselineDigest,
  policyRepositoryOf,
  readBaseline,
} from '../../review/policy/baseline.ts';
import { narrowerOf, parseFor } from '../../review/policy/load.ts';
import { sameRepository } from '../../review/policy/same-repository.ts';
import type { ReviewWorkers } from '../../review/workers/review-workers.ts';
import {
  type BaselineRow,
  forgetOtherBaselines,
  ownersWithDeliveries,
  storeBaseline,
  storedBaseline,
} from '../tables/baselines.ts';
import { makeParseBaseline } from './parsed-baselines.ts';

/**
 * The baselines in force, from our own table: the forge is read when its policy repository may have changed, not for
 * each review.
 */
export interface Baselines {
  /**
   * Reads the forge only for an owner of whom nothing is stored yet. Throws a {@link ForgeError} where that fails:
   * nothing is judged then.
   */
  readonly of: BaselineOf;
  /**
   * Looks at the policy repository of an owner, named by any repository of theirs. Whether another one is in force now.
   */
  refresh(repository: string): Promise<boolean>;
  /** The same of every owner that deliveries came from. */
  refreshAll(): Promise<void>;
  isPolicyRepository(repository: string): boolean;
}

/** Without POLICY_REPOSITORY. What was in force while it was set is forgotten. */
export function noBaselines(pool: pg.Pool): Baselines {
  return {
    of: async () => ({ kind: 'none' }),
    refresh: async () => false,
    refreshAll: () => forgetOtherBaselines(pool, undefined),
    isPolicyRepository: () => false,
  };
}

export interface BaselineDeps {
  readonly forge: Forge;
  readonly pool: pg.Pool;
  readonly workers: ReviewWorkers;
  /** The name of each owner's policy repository. */
  readonly name: string;
  readonly log: Log;
}

/** Workers that look at the same time may each store what they saw. */
const MAX_ATTEMPTS = 5;

export function makeBaselines({ forge, pool, workers, name, log }: BaselineDeps): Baselines {
  const parse = makeParseBaseline(workers);
  const looking = new Map<string, Promise<boolean>>();
  /** One look that starts when the one under way ends, which may have read what was before. */
  const following = new Map<string, Promise<boolean>>();

  async function of(repository: string): Promise<Baseline> {
    const key = policyRepositoryOf(repository, name);
    const stored = await storedBaseline(pool, key);
    if (stored !== undefined) {
      return inForce(stored.row);
    }
    await (looking.get(key.toLowerCase()) ?? refresh(repository));
    const found = await storedBaseline(pool, key);
    if (found === undefined) {
      throw new ForgeError('unavailable', `whether ${key} has a policy is unknown`);
    }
    return inForce(found.row);
  }

  async function inForce({ repository, inForce: stored, seen, problem, faults }: BaselineRow): Promise<Baseline> {
    if (stored === null) {
      return problem === 'broken' && seen !== null
        ? {
            kind: 'broken',
            repository,
            ...seen,
            faults,
            digest: baselineDigest({ path: '', text: seen.commit }, 'private'),
          }
        : { kind: 'none', repository };
    }
    const { commit, visibility, path, text } = stored;
    const digest = baselineDigest(stored, visibility);
    const source = { repository, commit, digest, visibility };
    const result = await parse(repository, digest, { path, text });
    if (!result.ok) {
      // Another version of Gatehouse stored it, or this time a limit was exceeded.
      return { kind: 'broken', ...source, faults: result.faults };
    }
    return { kind: 'policy', ...source, policy: result.policy, file: { path, text } };
  }

  function refresh(repository: string): Promise<boolean> {
    const key = policyRepositoryOf(repository, name).toLowerCase();
    const under = looking.get(key);
    if (under === undefined) {
      return startLook(key, repository);
    }
    const next =
      following.get(key) ??
      under
        .catch(() => false)
        .then(() => {
          following.delete(key);
          return startLook(key, repository);
        });
    following.set(key, next);
    return next;
  }

  function startLook(key: string, repository: string): Promise<boolean> {
    const started = look(repository).finally(() => looking.delete(key));
    looking.set(key, started);
    return started;
  }

  async function look(reviewed: string): Promise<boolean> {
    const repository = policyRepositoryOf(reviewed, name);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const before = await storedBaseline(pool, repository);
      const row = await rowOf(repository, before?.row);
      if (row === 'same' || JSON.stringify(row) === JSON.stringify(before?.row)) {
        return false;
      }
      if (await storeBaseline(pool, row, before)) {
        return report(row, before?.row);
      }
    }
    throw new Error(`what is stored of ${repository} kept changing while it was read`);
  }

  async function rowOf(repository: string, before: BaselineRow | undefined): Promise<BaselineRow | 'same'> {
    const settled = before?.problem === null || before?.problem === 'broken' ? before.seen : undefined;
    let read: BaselineRead | 'same';
    try {
      read = await readBaseline(forge, parseFor(workers, repository), repository, {
        isTrusted: (ids) => isTrusted(ids, before),
        unchanged: (commit, visibility) =>
          settled?.commit === commit && settled.visibility === visibility ? 'same' : undefined,
      });
    } catch (error) {
      // Without one in force there is nothing to go on with. A rate limit ends by itself.
      if (!(error instanceof ForgeError) || error.kind === 'rate-limited' || !before?.inForce) {
        throw error;
      }
      return { ...before, problem: 'unreadable', reason: error.message };
    }
    return read === 'same' ? 'same' : rowAfter(repository, read, stillInForce(read.ids, before));
  }

  /** Logs what has changed. Whether another baseline is in force now. */
  function report(row: BaselineRow, before: BaselineRow | undefined): boolean {
    const { repository, inForce: stored, problem, reason } = row;
    const changed = stateOf(row) !== (before && stateOf(before));
    const about = { repository, ...(stored && { commit: stored.commit }), ...(reason !== null && { reason }) };
    if (problem !== (before?.problem ?? null) || reason !== (before?.reason ?? null)) {
      if (problem !== null) {
        log.warn({ ...about, problem }, stored === null ? NOTHING_JUDGED : LAST_GOOD);
      } else if (stored === null) {
        log.warn(about, 'there is no baseline: pull requests of this owner are judged without one');
      }
    }
    if (changed && stored !== null) {
      log.info(about, 'a baseline is in force');
    }
    return changed && before !== undefined;
  }

  async function refreshAll(): Promise<void> {
    await forgetOtherBaselines(pool, name);
    const isOwnLimit = forge.overviews?.scope === 'owner';
    for (const repository of await ownersWithDeliveries(pool)) {
      try {
        await refresh(repository);
      } catch (err) {
        // Go on with the next owner, unless it concerns the forge as a whole.
        if (!(err instanceof ForgeError) || (err.kind === 'rate-limited' && !isOwnLimit)) {
          throw err;
        }
        log.warn({ repository, reason: err.message }, 'whether its owner has a baseline could not be read');
      }
    }
  }

  return {
    of,
    refresh,
    refreshAll,
    isPolicyRepository: (repository) => sameRepository(repository, policyRepositoryOf(repository, name)),
  };
}

const LAST_GOOD = 'a baseline cannot be used: the last good one stays in force until POLICY_REPOSITORY is unset';
const NOTHING_JUDGED = 'a baseline cannot be used, and there was none before: nothing of this owner can be judged';

/**
 * Whether the policy repository may decide what is in force. Not if another repository has its name: anybody who may
 * create repositories in an organisation can make one.
 */
function isTrusted(ids: RepositoryIds, before: BaselineRow | undefined): boolean {
  const last = stillInForce(ids, before);
  return last === null || last.ids.id === ids.id;
}

/**
 * The last good one. Null where the owner's name belongs to another account now, which the old owner's policy does not
 * concern.
 */
function stillInForce(ids: RepositoryIds | undefined, before: BaselineRow | undefined): BaselineRow['inForce'] {
  const last = before?.inForce ?? null;
  return ids === undefined || last?.ids.ownerId === ids.ownerId ? last : null;
}

/** What happened to the baseline: a bad one leaves the last good one in force. */
function rowAfter(repository: string, read: BaselineRead, last: BaselineRow['inForce']): BaselineRow {
  switch (read.kind) {
    case 'absent':
    case 'replaced': {
      const problem = read.kind === 'replaced' ? 'replaced' : 'missing';
      return {
        repository,
        inForce: last,
        seen: null,
        problem: last === null ? null : problem,
        reason: read.reason,
        faults: [],
      };
    }
    case 'broken': {
      const { ids, commit, visibility, faults } = read;
      const [first] = faults;
      const reason = first === undefined ? 'it has faults' : `${first.file}:${first.line}: ${first.message}`;
      // What is private now was public when it was good: from now on it is not shown any more.
      const inForce = last && { ...last, visibility: narrowerOf(last.visibility, visibility), ids };
      return { repository, inForce, seen: { commit, visibility }, problem: 'broken', reason, faults };
    }
    case 'policy': {
      const { ids, commit, visibility, file } = read;
      return {
        repository,
        inForce: { commit, visibility, ...file, ids },
        seen: { commit, visibility },
        problem: null,
        reason: null,
        faults: [],
      };
    }
  }
}

/** What verdicts depend on. */
function stateOf({ inForce, problem, seen }: BaselineRow): string {
  const broken = inForce === null && problem === 'broken' ? seen : null;
  return JSON.stringify([inForce && baselineDigest(inForce, inForce.visibility), broken]);
}
