import type pg from 'pg';
import type { RecordFilter } from './read-record.ts';

/** What a rule of level observe would have done in a time, each as a number of pull requests. */
export interface ObservedReport {
  readonly rule: string;
  readonly observed: true;
  /** Those that it applied to. */
  readonly pullRequests: number;
  /** Those that it would have stopped at least once: the author would have had something to do. */
  readonly wouldFail: number;
  /** Those that would have waited for others. */
  readonly wouldWait: number;
  /** Those for which it could not be judged. */
  readonly notJudged: number;
}

/** First the rules that would have failed the most pull requests. */
export async function readObserved(
  pool: pg.Pool,
  { repository, since }: RecordFilter,
  limit: number,
): Promise<readonly ObservedReport[]> {
  const pullRequests = (change: string) =>
    `count(DISTINCT (lower(repository), pull_request)) FILTER (WHERE change ${change})::int`;
  const { rows } = await pool.query<ObservedReport>(
    `SELECT rule, true AS observed, ${pullRequests('IS NOT NULL')} AS "pullRequests",
            ${pullRequests("= 'would-fail'")} AS "wouldFail", ${pullRequests("= 'would-wait'")} AS "wouldWait",
            ${pullRequests("= 'not-judged'")} AS "notJudged"
       FROM gatehouse.audit_rule_changes
      WHERE changed_at >= coalesce($1::timestamptz, '-infinity') AND ($2::text IS NULL OR lower(repository) = lower($2))
        AND change IN ('would-pass', 'would-fail', 'would-wait', 'not-judged')
      GROUP BY rule ORDER BY "wouldFail" DESC, rule LIMIT $3`,
    [since ?? null, repository ?? null, limit],
  );
  return rows;
}
