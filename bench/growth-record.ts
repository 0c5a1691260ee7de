import type pg from 'pg';
import { addMonth } from '../test/helpers/audit.ts';
import { onDatabase } from './databases.ts';
import { say } from './plan.ts';

const CHUNK_ROWS = 50_000;
/** Verdicts beside each hundred deliveries. */
const SHARE = 20;
/** What the record costs was measured with so many, and does not depend on deliveries. */
const MOST = 1_000_000;
/** All that AUDIT_DAYS keeps by default. */
const DAYS = 400;
const REPOSITORIES = 10_000;
const RULES = 8;

/** A repository that has verdicts. */
export const RECORDED = 'acme/repository-1';

/** Of each verdict, as jsonb: what passes, and one that fails at a line. */
const RULES_OF_A_VERDICT = JSON.stringify(
  Array.from({ length: RULES }, (_, index) => ({
    id: `rule-${index}`,
    level: 'error',
    outcome: index === 0 ? 'failed' : 'passed',
    source: { path: '.gatehouse.yml', line: 3 + 4 * index },
    ...(index === 0
      ? {
          reasons: [{ predicate: 'added_lines', wanted: false, expected: 'no such line …', found: '1 such line' }],
          places: [{ path: 'src/some/folder/file.ts', line: 12 }],
        }
      : {}),
  })),
);

/** Fills the record beside so many deliveries: each verdict with what was posted, and one change of a rule. */
export function fillRecord(databaseUrl: string, deliveries: number): Promise<void> {
  return onDatabase(databaseUrl, async (client) => {
    await addMonths(client);
    const size = Math.min((deliveries * SHARE) / 100, MOST);
    const { rows } = await client.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM gatehouse.audit_verdicts',
    );
    for (let first = rows[0]?.count ?? 0; first < size; first += CHUNK_ROWS) {
      await client.query(
        `WITH series AS (
           SELECT i, now() - make_interval(days => $3) * random() AS at, 'acme/repository-' || i % $4 AS repository,
                  1 + i / $4 AS number, encode(sha256(i::text::bytea), 'hex') AS head
             FROM generate_series($1::int, $2::int - 1) AS i),
         verdicts AS (
           INSERT INTO gatehouse.audit_verdicts
                  (asked_at, answered_at, repository, pull_request, author, head_sha, base_branch, base_sha, state, description,
                   policy_digest, rules, digest)
           SELECT at, at, repository, number, 'author', head, 'main', head, 'failure', '1 of 8 rules failed: rule-0', head, $5, ''
             FROM series),
         changes AS (
           INSERT INTO gatehouse.audit_rule_changes (changed_at, repository, pull_request, rule, change, seconds)
           SELECT at, repository, number, 'rule-' || i % $6, CASE WHEN i % 2 = 0 THEN 'failed' ELSE 'passed' END,
                  CASE WHEN i % 2 = 1 THEN i % 100000 END
             FROM series)
         INSERT INTO gatehouse.audit_postings (posted_at, repository, head_sha, context, state, description)
         SELECT at, repository, head, 'gatehouse/main', 'failure', '1 of 8 rules failed: rule-0' FROM series`,
        [first, Math.min(first + CHUNK_ROWS, size), DAYS, REPOSITORIES, RULES_OF_A_VERDICT, RULES],
      );
    }
    await client.query(
      'VACUUM (ANALYZE) gatehouse.audit_verdicts, gatehouse.audit_postings, gatehouse.audit_rule_changes',
    );
    await client.query('CHECKPOINT');
    say(`${size.toLocaleString('en')} verdicts are in the record`);
  });
}

async function addMonths(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ month: string }>(
    `SELECT to_char(month, 'YYYY_MM') AS month
       FROM generate_series(date_trunc('month', now() AT TIME ZONE 'UTC' - make_interval(days => $1)),
                            now() AT TIME ZONE 'UTC', interval '1 month') AS month`,
    [DAYS],
  );
  for (const { month } of rows) {
    await addMonth(client, month);
  }
}
