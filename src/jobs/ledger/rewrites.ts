import type { Chain } from '../../audit/ledger/chains.ts';
import type { LedgerContent } from '../../audit/ledger/entry.ts';
import { namesRewrite } from '../../audit/ledger/read-ledger.ts';
import type { ReceivedPush } from '../tables/ledger.ts';
import { listSince } from './attribution.ts';
import type { ContentDeps } from './contents.ts';
import { firstParents } from './walk.ts';

/** Tips that are compared with the present one, at a request each. */
const MAX_TIPS = 100;

export interface MovedBranch {
  readonly branch: string;
  readonly tip: string;
  /** The commit that the branch had before, where it does not have it any more. */
  readonly lostKnown: string | undefined;
  /** Commits that the branch has for certain. */
  readonly line: ReadonlySet<string>;
  readonly pushes: readonly ReceivedPush[];
  /** Those of them that the tip is as new as, and that were not looked at before. */
  readonly newPushes: readonly ReceivedPush[];
}

type Rewrite = LedgerContent & { readonly kind: 'rewritten' };

/**
 * What force-pushes took away from a branch. A webhook names the tip that it had for a while; one that the branch does
 * not have now is gone, also where it was gone before anybody looked.
 */
export async function findRewrites(
  deps: ContentDeps,
  chain: Chain,
  { branch, tip, lostKnown, line, pushes, newPushes }: MovedBranch,
): Promise<readonly Rewrite[]> {
  const tips = new Set(newPushes.map(({ after }) => after).filter((sha) => !line.has(sha) && sha !== lostKnown));
  const found: Rewrite[] = [];
  for (const from of [...(lostKnown === undefined ? [] : [lostKnown]), ...[...tips].slice(-MAX_TIPS)]) {
    const lost = await lostCommits(deps, chain.repository, tip, from);
    // The branch has what it lost nothing of. A webhook that comes late may tell of what is recorded already.
    if (from === lostKnown || (lost?.length !== 0 && !(await namesRewrite(deps.pool, chain.chain, from)))) {
      const pushedBy = pushes.findLast((push) => push.before === from)?.pusher ?? null;
      found.push({ kind: 'rewritten', branch, outcome: 'rewritten', from, to: tip, lost, pushedBy });
    }
  }
  const isPart = ({ from }: Rewrite) => found.some((other) => other.from !== from && other.lost?.includes(from));
  return found.filter((one) => !isPart(one));
}

/** The first-parent commits that the branch no longer has. Null: the forge does not list them any more. */
async function lostCommits(
  { forge }: ContentDeps,
  repository: string,
  tip: string,
  from: string,
): Promise<readonly string[] | null> {
  const listed = await listSince(forge, repository, tip, from);
  const bySha = listed && new Map(listed.map((commit) => [commit.sha, commit]));
  return bySha === undefined ? null : firstParents(bySha, from).map(({ sha }) => sha);
}
