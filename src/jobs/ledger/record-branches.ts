import { type Chain, openChain } from '../../audit/ledger/chains.ts';
import type { Jobs } from '../queue/queue.ts';
import {
  databaseTime,
  type LedgerTip,
  ledgerTip,
  markLedgerDue,
  markLookedAt,
  type ReceivedPush,
  seenPushes,
  watchedBranches,
} from '../tables/ledger.ts';
import { addEntries, type EntriesDeps } from './add-entries.ts';
import { type ContentDeps, contentsOf } from './contents.ts';
import { findRewrites } from './rewrites.ts';
import { pusherOf, walkBranch } from './walk.ts';

export interface LedgerDeps extends ContentDeps, EntriesDeps {
  readonly keepsRecord: boolean;
}

/** Brings the ledger of a branch, or of all that are watched, up to the tips that they have now. */
export async function recordBranches(deps: LedgerDeps, { repository: asked, branch }: Jobs['ledger']): Promise<void> {
  const { forge, pool, keepsRecord } = deps;
  const now = keepsRecord ? await forge.repository(asked) : undefined;
  if (now === undefined) {
    return;
  }
  const chain = await openChain(pool, now.id, now.name, asked);
  const watched = new Set([now.defaultBranch, ...(await watchedBranches(pool, chain))]);
  if (branch !== undefined) {
    if (watched.has(branch)) {
      await recordBranch(deps, chain, branch);
    }
    return;
  }
  await markLedgerDue(pool, asked, false);
  try {
    for (const each of watched) {
      await recordBranch(deps, chain, each);
    }
  } catch (error) {
    await markLedgerDue(pool, asked, true);
    throw error;
  }
  await markLookedAt(pool, chain.chain);
}

/** Others may record the same branch: a job for it alone, one for the whole repository, and the resync. */
const MAX_TRIES = 5;

async function recordBranch(deps: LedgerDeps, chain: Chain, branch: string): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    if (await tryToRecord(deps, chain, branch)) {
      return;
    }
  }
  throw new Error(`${chain.repository}: other workers go on recording what comes to ${branch}`);
}

/** False: another worker has moved the branch on meanwhile, so that there may be more to record. */
async function tryToRecord(deps: LedgerDeps, chain: Chain, branch: string): Promise<boolean> {
  const { forge, pool } = deps;
  const { repository } = chain;
  const lookedAt = await databaseTime(pool);
  const tip = await forge.branchCommit(repository, branch);
  if (tip === undefined) {
    // It is deleted. When it is made again, what it had is compared with what it has then.
    return true;
  }
  const pushes = await seenPushes(pool, chain.chain, branch);
  const begun =
    (await ledgerTip(pool, chain.chain, branch)) ?? (await start(deps, chain, branch, { tip, lookedAt }, pushes));
  if (typeof begun === 'boolean') {
    return begun;
  }
  const { known, knownAt } = begun;
  // What is received from now on may be newer than the tip.
  const newPushes = pushes.filter(({ receivedAt, isInLedger }) => !isInLedger && receivedAt < lookedAt);
  if (known === tip && newPushes.every(({ after }) => after === tip)) {
    return true;
  }
  const listed = known === tip ? [] : await forge.history.since(repository, known, tip);
  const move = { from: begun, to: tip, lookedAt, pushes: newPushes };
  if (listed === undefined) {
    const content = { kind: 'commit', branch, sha: tip, ...UNLISTED, pushedBy: pusherOf(pushes, tip) } as const;
    const why = `what came after ${known} cannot be listed`;
    return addEntries(deps, chain, branch, move, [{ ...content, why }]);
  }
  const { commits, rewritten } = walkBranch(listed, known, tip);
  const lostKnown = rewritten ? known : undefined;
  const line = new Set([known, ...commits.map(({ sha }) => sha)]);
  const rewrites = await findRewrites(deps, chain, { branch, tip, lostKnown, line, pushes, newPushes });
  const goneTips = rewrites.map(({ from }) => from).filter((sha) => sha !== known);
  const contents = await contentsOf(deps, chain, { branch, known, knownAt, commits, pushes, goneTips });
  return addEntries(deps, chain, branch, move, [...rewrites, ...contents]);
}

const UNLISTED = { parent: null, outcome: 'unknown', pullRequest: null, committer: '' } as const;

/**
 * Begins with the commit that the branch had before the first push that was seen. True: there is none, and it has begun
 * with its present tip. False: another worker has begun it meanwhile.
 */
async function start(
  deps: LedgerDeps,
  chain: Chain,
  branch: string,
  { tip, lookedAt }: { readonly tip: string; readonly lookedAt: Date },
  pushes: readonly ReceivedPush[],
): Promise<LedgerTip | boolean> {
  const before = pushes.find((push) => push.before !== '')?.before;
  const isThere = before !== undefined && (await deps.forge.history.since(chain.repository, before, tip)) !== undefined;
  const known = isThere ? before : tip;
  const move = isThere ? { lookedAt: new Date(0), pushes: [] } : { lookedAt, pushes };
  const started = { kind: 'started', branch, sha: known } as const;
  const added = await addEntries(deps, chain, branch, { from: undefined, to: known, ...move }, [started]);
  return added && isThere ? { known, knownAt: move.lookedAt } : added;
}
