import type pg from 'pg';
import { hasMerge, lastVerdict, type MergeRow, outcomeOf, saveMerge } from '../../audit/merges.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { Merge } from '../../forges/port/merged.ts';
import type { PostedStatus } from '../../forges/port/postings.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import { statusContext } from '../../forges/port/status-context.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../metrics.ts';

export interface RecordMergeDeps {
  readonly forge: Forge;
  readonly pool: pg.Pool;
  /** The name of the commit status, `{base}` for the base branch. */
  readonly statusContext: string;
  readonly auditDays: number;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Records a pull request that was merged, whoever merged it and whatever its status was. */
export async function recordMerge(deps: RecordMergeDeps, { repository, number }: PullRequestRef): Promise<void> {
  const { forge, pool } = deps;
  const merge = await forge.merged.of({ repository, number });
  if (merge === undefined || (await hasMerge(pool, merge.repositoryId, number))) {
    return;
  }
  const own = await ownStatuses(deps, repository, merge);
  const outcome = own === undefined ? 'unclear' : outcomeOf(own, merge.mergedAt);
  const verdict = merge.head === undefined ? undefined : await lastVerdict(pool, { repository, number }, merge.head);
  await addMerge(deps, {
    mergedAt: new Date(merge.mergedAt),
    repositoryId: merge.repositoryId,
    repository,
    pullRequest: number,
    baseBranch: merge.baseBranch,
    headSha: merge.head ?? null,
    mergeSha: merge.mergeCommit ?? null,
    mergedBy: merge.mergedBy ?? null,
    outcome,
    verdict: verdict?.state ?? null,
    overrides: outcome === 'overridden' ? (verdict?.overrides ?? []) : [],
  });
}

/**
 * Ours on what was merged; a merge queue looks at the commit that it made. Undefined: the forge does not have that any
 * more, or others have set more statuses there than can be listed.
 */
async function ownStatuses(
  { forge, statusContext: template }: RecordMergeDeps,
  repository: string,
  { baseBranch, head, mergeCommit, mergedBy }: Merge,
): Promise<readonly PostedStatus[] | undefined> {
  const isQueued = mergedBy !== undefined && mergedBy === forge.mergeQueue?.account;
  const judged = isQueued ? mergeCommit : head;
  try {
    const all = judged && (await forge.statuses(repository, judged, statusContext(template, baseBranch)));
    return all ? all.filter(({ own }) => own) : undefined;
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'too-large') {
      return undefined;
    }
    throw error;
  }
}

/**
 * Each merge once: in the record, in the log and in the metrics. Whoever owns the database can rewrite the record, but
 * not a log that was shipped elsewhere.
 */
export async function addMerge(
  { pool, auditDays, metrics, log }: Pick<RecordMergeDeps, 'pool' | 'auditDays' | 'metrics' | 'log'>,
  merge: MergeRow,
): Promise<void> {
  if (await saveMerge(pool, merge, auditDays)) {
    metrics.merges.inc({ outcome: merge.outcome });
    log.info(
      { ...merge },
      merge.pullRequest === null ? 'a push came without a pull request' : 'a pull request was merged',
    );
  }
}
