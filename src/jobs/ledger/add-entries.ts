import type pg from 'pg';
import { append, type Chain } from '../../audit/ledger/chains.ts';
import type { LedgerContent, Outcome } from '../../audit/ledger/entry.ts';
import { mergesIn } from '../../audit/ledger/merges.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';
import { type LedgerMove, moveLedgerTip } from '../tables/ledger.ts';

export interface EntriesDeps {
  readonly pool: pg.Pool;
  readonly metrics: Metrics;
  readonly log: Log;
}

const TIMEOUT_MS = 30_000;

/**
 * Adds the entries of a branch's move, in the transaction that remembers it: all of them once, or none. False: another
 * worker has moved the branch on meanwhile.
 */
export async function addEntries(
  { pool, metrics, log }: EntriesDeps,
  { chain, repository }: Chain,
  branch: string,
  move: LedgerMove,
  contents: readonly LedgerContent[],
): Promise<boolean> {
  const added = await inTransaction(pool, TIMEOUT_MS, async (client) => {
    if (!(await moveLedgerTip(client, chain, branch, move))) {
      return false;
    }
    await append(client, chain, contents);
    return true;
  });
  if (!added) {
    return false;
  }
  for (const content of mergesIn(contents)) {
    const { outcome } = content;
    metrics.merges.inc({ outcome });
    const about = { repository, branch, outcome, ...aboutOf(content) };
    log[QUIET.has(outcome) ? 'info' : 'warn'](about, 'the ledger has a new entry');
  }
  return true;
}

const QUIET: ReadonlySet<Outcome> = new Set(['passed', 'overridden', 'no policy', 'not enforced']);

/** For the log. */
function aboutOf(content: ReturnType<typeof mergesIn>[number]): object {
  if (content.kind === 'rewritten') {
    const { from, to, lost, pushedBy } = content;
    return { from, to, lost: lost?.length, by: pushedBy };
  }
  const { sha, why, pullRequest, pushedBy, committer } = content;
  const by = pullRequest?.mergedBy ?? pushedBy;
  return {
    commit: sha,
    by,
    ...(by === null && { committer }),
    ...(why !== null && { why }),
    ...(pullRequest && { pullRequest: pullRequest.number }),
  };
}
