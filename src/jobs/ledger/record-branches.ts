import { type Chain, openChain } from '../../audit/ledger/chains.ts';
import type { LedgerContent } from '../../audit/ledger/entry.ts';
import type { BranchCommit } from '../../forges/port/branch-history.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { Jobs } from '../queue/queue.ts';
import {
  databaseTime,
  ledgerTip,
  markLedgerDue,
  markLookedAt,
  newPushes,
  type SeenPush,
  seenPushes,
  watchedBranches,
} from '../tables/ledger.ts';
import { addEntries, type EntriesParts } from './add-entries.ts';
import { type ContentParts, contentsOf } from './contents.ts';
import { detours, firstParents, walkBranch } from './walk.ts';

export interface LedgerParts extends ContentParts, EntriesParts {
  readonly keepsRecord: boolean;
}

/** Brings the ledger of a branch, or of all that are watched, up to the tips that they have now. */
export async function recordBranches(parts: LedgerParts, { repository: asked, branch }: Jobs['ledger']): Promise<void> {
  const { forge, pool, keepsRecord } = parts;
  const now = keepsRecord ? await forge.repository(asked) : undefined;
  if (now === undefined) {
    return;
  }
  const chain = await openChain(pool, now.id, now.name);
  const watched = new Set([now.defaultBranch, ...(await watchedBranches(pool, chain))]);
  if (branch !== undefined) {
    if (watched.has(branch)) {
      await recordBranch(parts, chain, branch);
    }
    return;
  }
  await markLedgerDue(pool, asked, false);
  try {
    for (const each of watched) {
      await recordBranch(parts, chain, each);
    }
  } catch (error) {
    await markLedgerDue(pool, asked, true);
    throw error;
  }
  await markLookedAt(pool, chain.chain);
}

async function recordBranch(parts: LedgerParts, chain: Chain, branch: string): Promise<void> {
  const { forge, pool } = parts;
  const { repository } = chain;
  const lookedAt = await databaseTime(pool);
  const tip = await forge.branchCommit(repository, branch);
  if (tip === undefined) {
    // It is deleted. When it is made again, what it had is compared with what it has then.
    return;
  }
  const pushes = await seenPushes(pool, chain, branch);
  const known =
    (await ledgerTip(pool, chain.chain, branch)) ?? (await start(parts, chain, branch, { tip, lookedAt }, pushes));
  if (known === tip) {
    return;
  }
  const listed = await forge.history.since(repository, known, tip);
  if (listed === undefined) {
    const content = { kind: 'commit', branch, sha: tip, ...UNLISTED, pushedBy: pusherOf(pushes, tip) } as const;
    const why = `what came after ${known} cannot be listed`;
    await addEntries(parts, chain, branch, { from: known, to: tip, lookedAt }, [{ ...content, why }]);
    return;
  }
  const { commits, rewritten } = walkBranch(listed, known, tip);
  const before: LedgerContent[] = [];
  for (const from of rewritten ? [known] : detours(await newPushes(pool, chain, branch), known, commits)) {
    before.push({
      kind: 'rewritten',
      branch,
      outcome: 'rewritten',
      from,
      to: tip,
      lost: await lostCommits(parts, repository, tip, from),
      pushedBy: pushes.findLast((push) => push.before === from)?.pusher ?? null,
    });
  }
  const contents = await contentsOf(parts, chain, { branch, known, commits, pushes });
  await addEntries(parts, chain, branch, { from: known, to: tip, lookedAt }, [...before, ...contents]);
}

const UNLISTED = { parent: null, outcome: 'unknown', pullRequest: null, committer: '' } as const;

function pusherOf(pushes: readonly SeenPush[], tip: string): string | null {
  return pushes.findLast(({ after }) => after === tip)?.pusher ?? null;
}

/** With the commit that the branch had before the first push that was seen; without one with its present tip. */
async function start(
  parts: LedgerParts,
  chain: Chain,
  branch: string,
  { tip, lookedAt }: { readonly tip: string; readonly lookedAt: Date },
  pushes: readonly SeenPush[],
): Promise<string> {
  const before = pushes.find((push) => push.before !== '')?.before;
  const isThere =
    before !== undefined && (await parts.forge.history.since(chain.repository, before, tip)) !== undefined;
  const sha = isThere ? before : tip;
  await addEntries(parts, chain, branch, { from: undefined, to: sha, lookedAt: isThere ? new Date(0) : lookedAt }, [
    { kind: 'started', branch, sha },
  ]);
  return sha;
}

/** The first-parent commits that the branch no longer has. Null: the forge does not list them any more. */
async function lostCommits(
  { forge }: LedgerParts,
  repository: string,
  tip: string,
  known: string,
): Promise<readonly string[] | null> {
  let listed: readonly BranchCommit[] | undefined;
  try {
    listed = await forge.history.since(repository, tip, known);
  } catch (error) {
    if (!(error instanceof ForgeError) || error.kind !== 'invalid') {
      throw error;
    }
  }
  const bySha = listed && new Map(listed.map((commit) => [commit.sha, commit]));
  return bySha === undefined ? null : firstParents(bySha, known).map(({ sha }) => sha);
}
