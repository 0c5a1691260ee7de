import type pg from 'pg';
import { openChain } from '../../audit/ledger/chains.ts';
import type { RepositoryOverview } from '../../forges/port/many-repositories.ts';
import type { ReviewRequest } from '../../forges/port/review-requests.ts';
import { addEntries, type EntriesDeps } from './add-entries.ts';

export interface ResyncLedgerDeps extends EntriesDeps {
  readonly keepsRecord: boolean;
  readonly enqueue: (requests: readonly ReviewRequest[]) => Promise<void>;
}

/** How often the watched branches are looked at that an overview does not show: those without open pull requests. */
const OTHER_BRANCHES_HOURS = 24;

interface Shown {
  readonly chain: string;
  readonly repository: string;
  readonly branch: string;
  readonly commit: string;
  readonly isDefault: boolean;
}

/**
 * By what an overview shows anyway: a repository that is new to the ledger begins at its present head, and one of which
 * a branch has moved is looked at. It asks the forge for nothing.
 */
export async function resyncLedger(
  deps: ResyncLedgerDeps,
  overviews: ReadonlyMap<string, RepositoryOverview>,
): Promise<void> {
  const { pool, keepsRecord, enqueue } = deps;
  const shown = keepsRecord ? [...overviews].flatMap(([name, overview]) => branchesOf(name, overview)) : [];
  if (shown.length === 0) {
    return;
  }
  const { rows } = await pool.query<Shown & { readonly isNew: boolean }>(
    `SELECT shown.*, b.chain IS NULL AS "isNew"
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::boolean[])
              AS shown (chain, repository, branch, commit, "isDefault")
       LEFT JOIN gatehouse.ledger_chains c ON c.chain = shown.chain
       LEFT JOIN gatehouse.ledger_branches b ON b.chain = shown.chain AND b.branch = shown.branch
      WHERE b.tip <> shown.commit
         OR (shown."isDefault" AND (
              b.tip IS NULL OR c.forgotten_at IS NOT NULL
              OR (c.looked_at < now() - make_interval(hours => $6)
                  AND EXISTS (SELECT FROM gatehouse.watched_branches w
                               WHERE w.repository = lower(shown.repository) AND w.branch <> shown.branch))))`,
    [
      shown.map(({ chain }) => chain),
      shown.map(({ repository }) => repository),
      shown.map(({ branch }) => branch),
      shown.map(({ commit }) => commit),
      shown.map(({ isDefault }) => isDefault),
      OTHER_BRANCHES_HOURS,
    ],
  );
  const requested = new Set<string>();
  for (const row of rows) {
    if (row.isNew && !(await hasPushes(pool, row))) {
      await begin(deps, row);
    } else {
      requested.add(row.repository);
    }
  }
  if (requested.size > 0) {
    await enqueue([...requested].map((repository) => ({ kind: 'ledger', repository })));
  }
}

function branchesOf(repository: string, { defaultBranch, baseCommits }: RepositoryOverview): readonly Shown[] {
  if (defaultBranch === undefined) {
    return [];
  }
  const { repositoryId: chain, name, commit } = defaultBranch;
  const others = [...baseCommits].flatMap(([branch, tip]) =>
    tip === null || branch === name ? [] : [{ chain, repository, branch, commit: tip, isDefault: false }],
  );
  return [{ chain, repository, branch: name, commit, isDefault: true }, ...others];
}

/** The job that such a push has requested knows an earlier commit to begin with. */
async function hasPushes(pool: pg.Pool, { chain, branch }: Shown): Promise<boolean> {
  const { rowCount } = await pool.query('SELECT FROM gatehouse.pushes WHERE chain = $1 AND branch = $2 LIMIT 1', [
    chain,
    branch,
  ]);
  return rowCount !== 0;
}

async function begin(deps: ResyncLedgerDeps, { chain, repository, branch, commit }: Shown): Promise<void> {
  const opened = await openChain(deps.pool, chain, repository);
  const started = { kind: 'started', branch, sha: commit } as const;
  // Or a job of the ledger has begun it meanwhile: the next resync sees whether the branch has moved since.
  await addEntries(deps, opened, branch, { from: undefined, to: commit, lookedAt: new Date(), pushes: [] }, [started]);
}
