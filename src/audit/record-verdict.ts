import type pg from 'pg';
import type { SourceText } from '../review/sources.ts';
import { ensurePartitions } from './partitions.ts';
import { type RuleChange, ruleChanges, type StoredRule, storedRules } from './rule-changes.ts';
import { digestOfRecord, kept, type RecordedOverride, type VerdictRecord } from './verdict-record.ts';

export interface RecordOptions {
  /** When the delivery was stored that the review began with. */
  readonly askedAt: Date;
  /** What the digests of the sources are of. */
  readonly texts: readonly SourceText[];
}

const MAX_LOGIN_CHARACTERS = 200;
const MAX_BRANCH_CHARACTERS = 300;
const MAX_DESCRIPTION_CHARACTERS = 300;

/**
 * Adds a verdict to the record, unless it says what the one before says. Call it in the transaction that makes the
 * verdict known to others: none is shown that is not in the record.
 */
export async function recordVerdict(
  client: pg.ClientBase,
  record: VerdictRecord,
  { askedAt, texts }: RecordOptions,
): Promise<void> {
  const digest = digestOfRecord(record);
  const last = await lastVerdict(client, record);
  // Most pull requests of repositories without a policy: nothing was asked of them, and nothing has changed.
  const isFirst = last.digest === null && record.state === 'none';
  if (isFirst || last.digest?.equals(digest) === true) {
    return;
  }
  await ensurePartitions(client);
  await addTexts(client, texts);
  const { now } = last;
  const before = { rules: last.rules ?? [], overridden: (last.overrides ?? []).map(({ rule }) => rule) };
  await addVerdict(client, record, record.rules && storedRules(record.rules, before, now), digest, askedAt);
  if (record.state !== 'none') {
    await watchBranch(client, record);
  }
  if (record.mergeGroupSha === null) {
    await addRuleChanges(client, record, ruleChanges(record, before, now));
  }
}

/** The ledger has what comes to a branch that a policy judges pull requests into. */
async function watchBranch(client: pg.ClientBase, { repository, baseBranch }: VerdictRecord): Promise<void> {
  await client.query(
    `INSERT INTO gatehouse.watched_branches (repository, branch)
     SELECT lower($1), $2
      WHERE NOT EXISTS (SELECT FROM gatehouse.watched_branches WHERE repository = lower($1) AND branch = $2)
     ON CONFLICT DO NOTHING`,
    [repository, kept(baseBranch, MAX_BRANCH_CHARACTERS)],
  );
}

interface LastVerdict {
  readonly now: Date;
  readonly digest: Buffer | null;
  readonly rules: readonly StoredRule[] | null;
  readonly overrides: readonly RecordedOverride[] | null;
}

/** The rules are those of the last verdict that has some: what was given up in between has changed nothing. */
async function lastVerdict(
  client: pg.ClientBase,
  { repository, pullRequest, mergeGroupSha }: VerdictRecord,
): Promise<LastVerdict> {
  const { rows } = await client.query<LastVerdict>(
    `WITH last AS (
       SELECT digest FROM gatehouse.audit_verdicts
        WHERE lower(repository) = lower($1) AND pull_request = $2 AND merge_group_sha IS NOT DISTINCT FROM $3
        ORDER BY answered_at DESC LIMIT 1),
     evaluated AS (
       SELECT rules, overrides FROM gatehouse.audit_verdicts
        WHERE lower(repository) = lower($1) AND pull_request = $2 AND merge_group_sha IS NOT DISTINCT FROM $3
          AND rules IS NOT NULL
        ORDER BY answered_at DESC LIMIT 1)
     SELECT now(), digest, rules, overrides FROM (SELECT) AS one LEFT JOIN last ON true LEFT JOIN evaluated ON true`,
    [repository, pullRequest, mergeGroupSha],
  );
  const [row] = rows;
  if (row === undefined) {
    throw new Error('the record could not be read');
  }
  return row;
}

/** Each text once a month. One that is stored already is not sent again. */
async function addTexts(client: pg.ClientBase, texts: readonly SourceText[]): Promise<void> {
  if (texts.length === 0) {
    return;
  }
  const { rows } = await client.query<{ digest: string }>(
    `SELECT digest FROM gatehouse.audit_texts
      WHERE month = date_trunc('month', now() AT TIME ZONE 'UTC')::date AND digest = ANY ($1)`,
    [texts.map(({ digest }) => digest)],
  );
  const stored = new Set(rows.map(({ digest }) => digest));
  // In one order, so that two reviews never wait for each other's texts crosswise.
  const absent = texts.filter(({ digest }) => !stored.has(digest)).toSorted((a, b) => (a.digest < b.digest ? -1 : 1));
  for (const { digest, path, text } of absent) {
    await client.query(
      `INSERT INTO gatehouse.audit_texts (month, digest, path, body)
       VALUES (date_trunc('month', now() AT TIME ZONE 'UTC'), $1, $2, $3) ON CONFLICT DO NOTHING`,
      [digest, path, Buffer.from(text)],
    );
  }
}

async function addVerdict(
  client: pg.ClientBase,
  record: VerdictRecord,
  rules: readonly StoredRule[] | null,
  digest: Buffer,
  askedAt: Date,
): Promise<void> {
  const { sources } = record;
  await client.query(
    `INSERT INTO gatehouse.audit_verdicts
            (asked_at, repository, pull_request, merge_group_sha, author, head_sha, base_branch, base_sha, state, description,
             enforced, policy_digest, operator_policy_digest, extends_name, extends_digest, code_owners_digest, rules, faults,
             approvals, overrides, digest, baseline_sha, baseline_digest)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23)`,
    [
      askedAt,
      record.repository,
      record.pullRequest,
      record.mergeGroupSha,
      kept(record.author, MAX_LOGIN_CHARACTERS),
      record.headSha,
      kept(record.baseBranch, MAX_BRANCH_CHARACTERS),
      sources?.baseSha ?? null,
      record.state,
      kept(record.description, MAX_DESCRIPTION_CHARACTERS),
      record.enforced,
      sources?.policyDigest ?? null,
      sources?.operatorPolicyDigest ?? null,
      sources?.extendsName ?? null,
      sources?.extendsDigest ?? null,
      sources?.codeOwnersDigest ?? null,
      jsonOrNull(rules),
      JSON.stringify(record.faults),
      jsonOrNull(record.approvals),
      JSON.stringify(record.overrides),
      digest,
      sources?.baselineCommit ?? null,
      sources?.baselineDigest ?? null,
    ],
  );
}

function jsonOrNull(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

async function addRuleChanges(
  client: pg.ClientBase,
  { repository, pullRequest }: VerdictRecord,
  changes: readonly RuleChange[],
): Promise<void> {
  if (changes.length > 0) {
    await client.query(
      `INSERT INTO gatehouse.audit_rule_changes (repository, pull_request, rule, change, seconds)
       SELECT $1, $2, * FROM unnest($3::text[], $4::text[], $5::int[])`,
      [
        repository,
        pullRequest,
        changes.map(({ rule }) => rule),
        changes.map(({ change }) => change),
        changes.map(({ seconds }) => seconds),
      ],
    );
  }
}
