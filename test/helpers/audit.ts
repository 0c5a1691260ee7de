import type pg from 'pg';
import type { MergeRow } from '../../src/audit/merges.ts';
import type { VerdictRecord } from '../../src/audit/verdict-record.ts';

export const TABLES = ['audit_verdicts', 'audit_postings', 'audit_texts', 'audit_rule_changes', 'merges'];

/** Every row of the record, as PostgreSQL writes it. */
export async function recordAsText(database: pg.Pool): Promise<string> {
  const parts = await Promise.all(
    TABLES.map(async (table) => {
      const body = table === 'audit_texts' ? ", convert_from(body, 'UTF8') AS plain" : '';
      const { rows } = await database.query<{ row: string }>(
        `SELECT row_to_json(rows)::text AS row FROM (SELECT *${body} FROM gatehouse.${table}) AS rows`,
      );
      return rows.map(({ row }) => row);
    }),
  );
  return parts.flat().join('\n');
}

export async function partitions(database: pg.Pool): Promise<readonly string[]> {
  const { rows } = await database.query<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits
      WHERE inhparent = ANY ($1::regclass[]) ORDER BY name`,
    [TABLES.map((table) => `gatehouse.${table}`)],
  );
  return rows.map(({ name }) => name);
}

/** The partitions of a month that was recorded before, named 2026_01. */
export async function addMonth(pool: pg.Pool | pg.ClientBase, month: string): Promise<void> {
  const first = `'${month.replace('_', '-')}-01 00:00:00+00'::timestamptz`;
  for (const table of TABLES) {
    await pool.query(
      `CREATE TABLE IF NOT EXISTS gatehouse.${table}_${month} PARTITION OF gatehouse.${table}
         FOR VALUES FROM (${first}) TO ((${first} AT TIME ZONE 'UTC' + interval '1 month') AT TIME ZONE 'UTC')`,
    );
  }
}

/** A verdict that passes, and has nothing to say. */
export const PASSED: VerdictRecord = {
  repository: 'acme/widgets',
  pullRequest: 1,
  mergeGroupSha: null,
  author: 'ann',
  headSha: 'a'.repeat(40),
  baseBranch: 'main',
  state: 'success',
  description: 'The rule that applies is met',
  enforced: true,
  sources: { format: 1, baseSha: 'b'.repeat(40), policyDigest: 'c'.repeat(64) },
  rules: [{ id: 'title', level: 'error', outcome: 'passed', source: { path: '.gatehouse.yml', line: 3 } }],
  faults: [],
  approvals: null,
  overrides: [],
};

export const MERGED: MergeRow = {
  mergedAt: new Date(Math.floor(Date.now() / 1_000) * 1_000 - 3_600_000),
  repositoryId: '7',
  repository: PASSED.repository,
  pullRequest: PASSED.pullRequest,
  baseBranch: PASSED.baseBranch,
  headSha: PASSED.headSha,
  mergeSha: 'b'.repeat(40),
  mergedBy: 'bob',
  outcome: 'passed',
  verdict: PASSED.state,
  overrides: [],
};
