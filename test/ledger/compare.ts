import type pg from 'pg';
import type { LedgerEntry } from '../../src/audit/ledger/entry.ts';
import { readStoredBodies } from '../helpers/stored-bodies.ts';
import type { Ground } from './ground.ts';
import type { Truth } from './scenario.ts';

type CommitEntry = LedgerEntry & { readonly kind: 'commit' };

export interface Result {
  readonly commits: number;
  /** Of force-pushes and deleted branches, as far as a webhook named what they took away. */
  readonly taken: number;
  readonly missing: readonly string[];
  readonly wrong: readonly string[];
}

/** The last entry of each commit, and what git says. */
export async function compare(ground: Ground, pool: pg.Pool, { branch, outcomes, lost }: Truth): Promise<Result> {
  const { rows } = await pool.query<{ entry: string }>(
    `SELECT entry FROM gatehouse.ledger JOIN gatehouse.ledger_chains c USING (chain)
      WHERE c.repository = $1 ORDER BY ledger.position`,
    [ground.site.repository],
  );
  const entries = rows.map(({ entry }) => JSON.parse(entry) as LedgerEntry);
  const own = entries.filter((entry) => 'branch' in entry && entry.branch === branch);
  const begun = own.find((entry) => entry.kind === 'started')?.sha;
  const log = await ground.commits(branch, begun);
  const commits = own.filter((entry) => entry.kind === 'commit');
  const found = new Map(commits.map((entry) => [entry.sha, entry]));
  const received = (await readStoredBodies(pool))
    .map(({ body }) => body.toString().replaceAll(/":\s+"/g, '":"'))
    .join();
  const rewritten = own.flatMap((entry) => (entry.kind === 'rewritten' ? [entry.lost?.join() ?? ''] : []));
  const twice = commits.length - found.size;
  const wrong = log.flatMap((sha) => {
    const entry = found.get(sha);
    const right = outcomes.get(sha) ?? ['a commit that nobody made'];
    const isTold = entry?.outcome === 'unknown' && entry.pushedBy !== null;
    return entry === undefined || (right.includes(entry.outcome) && !isTold) ? [] : [{ entry, right }];
  });
  // What no webhook named before it was taken away is nowhere to be seen: Gitea drops those that still wait when the
  // webhooks end.
  const taken = lost.filter(([newest]) => newest !== undefined && received.includes(`"after":"${newest}"`));
  return {
    commits: log.length,
    taken: taken.length,
    missing: [
      ...log.filter((sha) => !found.has(sha)).map((sha) => `${branch} has ${sha}`),
      // A force-push whose webhook is lost may be seen together with what came before it.
      ...taken
        .map((shas) => shas.join())
        .filter((shas) => !rewritten.some((one) => shas.endsWith(one) || one.endsWith(shas)))
        .map((shas) => `a force-push took ${shas} from ${branch}`),
    ],
    wrong: [
      ...(twice > 0 ? [`${twice} commits have two entries`] : []),
      ...(await Promise.all(wrong.map(({ entry, right }) => explain(pool, entry, right)))),
    ],
  };
}

/** With all that the record has of the head. */
async function explain(pool: pg.Pool, entry: CommitEntry, right: readonly string[]): Promise<string> {
  const { rows } = await pool.query<{ at: Date; what: string }>(
    `SELECT answered_at AS at, 'verdict ' || state AS what FROM gatehouse.audit_verdicts WHERE head_sha = $1
     UNION ALL SELECT posted_at, 'posted ' || state FROM gatehouse.audit_postings WHERE head_sha = $1
     UNION ALL SELECT received_at, 'push ' || before_sha || '..' || after_sha FROM gatehouse.pushes WHERE after_sha = $2
     ORDER BY at`,
    [entry.pullRequest?.head ?? '', entry.sha],
  );
  const record = rows.map(({ at, what }) => `    ${at.toISOString()} ${what}`);
  return [`${right.join(' or ')}, but the ledger says ${JSON.stringify(entry)}`, ...record].join('\n');
}
