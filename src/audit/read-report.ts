import type pg from 'pg';
import type { RecordFilter } from './read-record.ts';

/** What happened to a rule in force in a time. */
export interface RuleReport {
  readonly rule: string;
  /** How often it began to fail, on any pull request. */
  readonly failed: number;
  readonly overridden: number;
  /** How often it held after it had not. */
  readonly passed: number;
  /** How long it had not held then; null when it never did. */
  readonly medianSeconds: number | null;
  readonly longestSeconds: number | null;
}

/** First those that failed most. */
export async function readReport(
  pool: pg.Pool,
  { repository, since }: RecordFilter,
  limit: number,
): Promise<readonly RuleReport[]> {
  const { rows } = await pool.query<RuleReport>(
    `SELECT rule, count(*) FILTER (WHERE change = 'failed')::int AS failed,
            count(*) FILTER (WHERE change = 'overridden')::int AS overridden,
            count(*) FILTER (WHERE change = 'passed')::int AS passed,
            (percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds))::int AS "medianSeconds", max(seconds) AS "longestSeconds"
       FROM gatehouse.audit_rule_changes
      WHERE changed_at >= coalesce($1::timestamptz, '-infinity') AND ($2::text IS NULL OR lower(repository) = lower($2))
        AND change IN ('failed', 'overridden', 'passed')
      GROUP BY rule ORDER BY failed DESC, rule LIMIT $3`,
    [since ?? null, repository ?? null, limit],
  );
  return rows;
}
