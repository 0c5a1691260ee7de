import type pg from 'pg';
import type { PullRequestRef } from '../forges/port/pull-request.ts';
import type { StoredRule } from './rule-changes.ts';
import type { Place, RecordedApproval, RecordedOverride } from './verdict-record.ts';

/** A row of the record, as commands print it. */
export type RecordEntry = RecordedVerdict | RecordedPosting;

export interface RecordedVerdict {
  readonly kind: 'verdict';
  readonly askedAt: Date;
  readonly answeredAt: Date;
  readonly repository: string;
  /** 0: of a merge group that names none. */
  readonly pullRequest: number;
  readonly mergeGroupSha: string | null;
  readonly author: string;
  readonly headSha: string;
  readonly baseBranch: string;
  readonly baseSha: string | null;
  readonly state: string;
  readonly description: string;
  readonly enforced: boolean;
  readonly policyDigest: string | null;
  readonly operatorPolicyDigest: string | null;
  readonly extendsName: string | null;
  readonly extendsDigest: string | null;
  readonly baselineSha: string | null;
  readonly baselineDigest: string | null;
  readonly codeOwnersDigest: string | null;
  readonly rules: readonly StoredRule[] | null;
  readonly faults: readonly Place[];
  readonly approvals: readonly RecordedApproval[] | null;
  readonly overrides: readonly RecordedOverride[];
}

export interface RecordedPosting {
  readonly kind: 'posting';
  readonly postedAt: Date;
  readonly repository: string;
  readonly headSha: string;
  readonly context: string;
  readonly state: string;
  readonly description: string;
  readonly url: string | null;
}

/** All that is given must fit. Repositories are compared as forges do, in any case. */
export interface RecordFilter {
  readonly repository?: string | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

const VERDICT = `
  'verdict' AS kind, asked_at AS "askedAt", answered_at AS "answeredAt", repository, pull_request AS "pullRequest",
  merge_group_sha AS "mergeGroupSha", author, head_sha AS "headSha", base_branch AS "baseBranch", base_sha AS "baseSha", state,
  description, enforced, policy_digest AS "policyDigest", operator_policy_digest AS "operatorPolicyDigest",
  extends_name AS "extendsName", extends_digest AS "extendsDigest", baseline_sha AS "baselineSha",
  baseline_digest AS "baselineDigest", code_owners_digest AS "codeOwnersDigest", rules, faults, approvals, overrides`;

const POSTING = `
  'posting' AS kind, posted_at AS "postedAt", repository, head_sha AS "headSha", context, state, description, url`;

/** What was decided and posted, newest first. */
export async function listRecord(
  pool: pg.Pool,
  { repository, since, until }: RecordFilter,
  limit: number,
): Promise<readonly RecordEntry[]> {
  const filter = (time: string) => `
    WHERE ($1::text IS NULL OR lower(repository) = lower($1))
      AND ${time} >= coalesce($2::timestamptz, '-infinity') AND ${time} < coalesce($3::timestamptz, 'infinity')
    ORDER BY ${time} DESC LIMIT $4`;
  const values = [repository ?? null, since ?? null, until ?? null, limit];
  const verdicts = await pool.query<RecordedVerdict>(
    `SELECT ${VERDICT} FROM gatehouse.audit_verdicts ${filter('answered_at')}`,
    values,
  );
  const postings = await pool.query<RecordedPosting>(
    `SELECT ${POSTING} FROM gatehouse.audit_postings ${filter('posted_at')}`,
    values,
  );
  return newestFirst([...verdicts.rows, ...postings.rows]).slice(0, limit);
}

/** Those of one pull request, newest first, with what was posted on its heads and on its merge groups. */
export async function recordOfPullRequest(
  pool: pg.Pool,
  { repository, number }: PullRequestRef,
  limit: number,
): Promise<readonly RecordEntry[]> {
  const verdicts = await pool.query<RecordedVerdict>(
    `SELECT ${VERDICT} FROM gatehouse.audit_verdicts
      WHERE lower(repository) = lower($1) AND pull_request = $2 ORDER BY answered_at DESC LIMIT $3`,
    [repository, number, limit],
  );
  const heads = new Set(verdicts.rows.flatMap(({ headSha, mergeGroupSha }) => [headSha, mergeGroupSha ?? headSha]));
  const postings = await pool.query<RecordedPosting>(
    `SELECT ${POSTING} FROM gatehouse.audit_postings
      WHERE lower(repository) = lower($1) AND head_sha = ANY ($2) ORDER BY posted_at DESC LIMIT $3`,
    [repository, [...heads], limit],
  );
  return newestFirst([...verdicts.rows, ...postings.rows]).slice(0, limit);
}

export function timeOf(entry: RecordEntry): Date {
  return entry.kind === 'verdict' ? entry.answeredAt : entry.postedAt;
}

function newestFirst(entries: readonly RecordEntry[]): readonly RecordEntry[] {
  return entries.toSorted((a, b) => timeOf(b).getTime() - timeOf(a).getTime());
}

/** The text that a digest is of, by its own path; undefined when it is not, or no longer, recorded. */
export async function readText(
  pool: pg.Pool,
  digest: string,
): Promise<{ readonly path: string; readonly body: Buffer } | undefined> {
  const { rows } = await pool.query<{ path: string; body: Buffer }>(
    'SELECT path, body FROM gatehouse.audit_texts WHERE digest = $1 ORDER BY month DESC LIMIT 1',
    [digest],
  );
  return rows[0];
}
