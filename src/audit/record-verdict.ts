import type pg from 'pg';
import { makeParameters, type Parameters } from '../db/parameters.ts';
import type { PullRequestRef } from '../forges/port/pull-request.ts';
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
  options: RecordOptions,
): Promise<void> {
  const recorded = await readRecorded(client, record, options.texts);
  const parameters = makeParameters();
  const inserts = verdictInserts(parameters, record, recorded, options, 'always');
  if (inserts.length > 0) {
    await ensurePartitions(client);
    await client.query(`WITH always AS (SELECT), ${inserts.join(', ')} SELECT`, parameters.values);
  }
}

/**
 * What adds a verdict to the record: parts of a `WITH` clause, none where it says what the one before says. `gate` is a
 * part before them that has one row where the verdict counts, else none.
 */
export function verdictInserts(
  parameters: Parameters,
  record: VerdictRecord,
  { now, digest: last, rules, overrides, texts: stored }: Recorded,
  { askedAt, texts }: RecordOptions,
  gate: string,
): readonly string[] {
  const digest = digestOfRecord(record);
  // Most pull requests of repositories without a policy: nothing was asked of them, and nothing has changed.
  const isFirst = last === null && record.state === 'none';
  if (isFirst || last?.equals(digest) === true) {
    return [];
  }
  const before = { rules: rules ?? [], overridden: (overrides ?? []).map(({ rule }) => rule) };
  const absent = texts.filter((text) => !stored.includes(text.digest));
  const changes = record.mergeGroupSha === null ? ruleChanges(record, before, now) : [];
  return [
    verdictInsert(parameters, record, record.rules && storedRules(record.rules, before, now), digest, askedAt, gate),
    ...(absent.length > 0 ? [textsInsert(parameters, absent, gate)] : []),
    ...(changes.length > 0 ? [ruleChangesInsert(parameters, record, changes, gate)] : []),
  ];
}

/**
 * Records for a merge group the verdict of a pull request that has this digest, unless it was recorded for it last. With
 * its texts, which may be of a month that is dropped earlier. Throws where the record has that verdict no more.
 */
export async function copyVerdict(
  client: pg.ClientBase,
  { repository, number }: PullRequestRef,
  digest: Buffer,
  group: { readonly askedAt: Date; readonly mergeGroupSha: string; readonly enforced: boolean },
): Promise<void> {
  await ensurePartitions(client);
  const { rows } = await client.query<{ isKnown: boolean }>(
    `WITH recorded AS (
       SELECT v AS row, v.* FROM gatehouse.audit_verdicts v WHERE lower(repository) = lower($1) AND pull_request = $2),
     own AS (SELECT row FROM recorded WHERE merge_group_sha IS NULL AND digest = $3 ORDER BY answered_at DESC LIMIT 1),
     last AS (SELECT digest, enforced FROM recorded WHERE merge_group_sha = $4 ORDER BY answered_at DESC LIMIT 1),
     copied AS (
       INSERT INTO gatehouse.audit_verdicts
       SELECT copy.* FROM own, jsonb_populate_record(own.row, jsonb_build_object(
           'asked_at', $5::timestamptz, 'answered_at', now(), 'merge_group_sha', $4::text, 'enforced', $6::boolean)) AS copy
        WHERE NOT EXISTS (SELECT FROM last WHERE digest = $3 AND enforced = $6)
       RETURNING policy_digest, operator_policy_digest, extends_digest, baseline_digest, code_owners_digest),
     texts AS (
       INSERT INTO gatehouse.audit_texts (month, digest, path, body)
       SELECT DISTINCT ON (digest) date_trunc('month', now() AT TIME ZONE 'UTC'), digest, path, body
         FROM copied JOIN gatehouse.audit_texts
           ON digest IN (policy_digest, operator_policy_digest, extends_digest, baseline_digest, code_owners_digest)
        ORDER BY digest ON CONFLICT DO NOTHING)
     SELECT EXISTS (SELECT FROM own) AS "isKnown"`,
    [repository, number, digest, group.mergeGroupSha, group.askedAt, group.enforced],
  );
  if (rows[0]?.isKnown !== true) {
    throw new Error(`the record has the verdict on ${repository}#${number} no more`);
  }
}

/** What the record has already. */
export interface Recorded {
  readonly now: Date;
  /** The digest of the last verdict; null: there is none. */
  readonly digest: Buffer | null;
  /** The rules of the last verdict that has some: what was given up in between has changed nothing. */
  readonly rules: readonly StoredRule[] | null;
  readonly overrides: readonly RecordedOverride[] | null;
  /** Digests of the texts that need not be sent: each is stored once a month. */
  readonly texts: readonly string[];
}

/** The verdict is recorded later than this is read, and perhaps in a month that does not have its texts yet. */
const UNTIL_RECORDED = '1 hour';

/**
 * What {@link verdictInserts} has to know. As long as a review has its claim, nobody else records a verdict on its pull
 * request.
 */
export async function readRecorded(
  client: pg.Pool | pg.ClientBase,
  { repository, pullRequest, mergeGroupSha }: VerdictRecord,
  texts: readonly SourceText[],
): Promise<Recorded> {
  const { rows } = await client.query<Recorded>(
    `WITH last AS (
       SELECT digest FROM gatehouse.audit_verdicts
        WHERE lower(repository) = lower($1) AND pull_request = $2 AND merge_group_sha IS NOT DISTINCT FROM $3
        ORDER BY answered_at DESC LIMIT 1),
     evaluated AS (
       SELECT rules, overrides FROM gatehouse.audit_verdicts
        WHERE lower(repository) = lower($1) AND pull_request = $2 AND merge_group_sha IS NOT DISTINCT FROM $3
          AND rules IS NOT NULL
        ORDER BY answered_at DESC LIMIT 1)
     SELECT now(), digest, rules, overrides,
            ARRAY (SELECT digest FROM gatehouse.audit_texts
                    WHERE month = date_trunc('month', (now() + $5::interval) AT TIME ZONE 'UTC')::date
                      AND digest = ANY ($4)) AS texts
       FROM (SELECT) AS one LEFT JOIN last ON true LEFT JOIN evaluated ON true`,
    [repository, pullRequest, mergeGroupSha, texts.map(({ digest }) => digest), UNTIL_RECORDED],
  );
  const [row] = rows;
  if (row === undefined) {
    throw new Error('the record could not be read');
  }
  return row;
}

function textsInsert({ add }: Parameters, texts: readonly SourceText[], gate: string): string {
  // In one order, so that two reviews never wait for each other's texts crosswise.
  const sorted = texts.toSorted((a, b) => (a.digest < b.digest ? -1 : 1));
  const [digests, paths, bodies] = [
    add(sorted.map(({ digest }) => digest)),
    add(sorted.map(({ path }) => path)),
    add(sorted.map(({ text }) => Buffer.from(text))),
  ];
  return `texts AS (
    INSERT INTO gatehouse.audit_texts (month, digest, path, body)
    SELECT date_trunc('month', now() AT TIME ZONE 'UTC'), text.*
      FROM ${gate}, unnest(${digests}::text[], ${paths}::text[], ${bodies}::bytea[]) AS text
    ON CONFLICT DO NOTHING)`;
}

function verdictInsert(
  { add }: Parameters,
  record: VerdictRecord,
  rules: readonly StoredRule[] | null,
  digest: Buffer,
  askedAt: Date,
  gate: string,
): string {
  const { sources } = record;
  const columns = {
    asked_at: `${add(askedAt)}::timestamptz`,
    repository: `${add(record.repository)}::text`,
    pull_request: `${add(record.pullRequest)}::int`,
    merge_group_sha: `${add(record.mergeGroupSha)}::text`,
    author: `${add(kept(record.author, MAX_LOGIN_CHARACTERS))}::text`,
    head_sha: `${add(record.headSha)}::text`,
    base_branch: `${add(kept(record.baseBranch, MAX_BRANCH_CHARACTERS))}::text`,
    base_sha: `${add(sources?.baseSha ?? null)}::text`,
    state: `${add(record.state)}::text`,
    description: `${add(kept(record.description, MAX_DESCRIPTION_CHARACTERS))}::text`,
    enforced: `${add(record.enforced)}::boolean`,
    policy_digest: `${add(sources?.policyDigest ?? null)}::text`,
    operator_policy_digest: `${add(sources?.operatorPolicyDigest ?? null)}::text`,
    extends_name: `${add(sources?.extendsName ?? null)}::text`,
    extends_digest: `${add(sources?.extendsDigest ?? null)}::text`,
    code_owners_digest: `${add(sources?.codeOwnersDigest ?? null)}::text`,
    rules: `${add(jsonOrNull(rules))}::jsonb`,
    faults: `${add(JSON.stringify(record.faults))}::jsonb`,
    approvals: `${add(jsonOrNull(record.approvals))}::jsonb`,
    overrides: `${add(JSON.stringify(record.overrides))}::jsonb`,
    digest: `${add(digest)}::bytea`,
    baseline_sha: `${add(sources?.baselineCommit ?? null)}::text`,
    baseline_digest: `${add(sources?.baselineDigest ?? null)}::text`,
  };
  return `verdict AS (
    INSERT INTO gatehouse.audit_verdicts (${Object.keys(columns).join(', ')})
    SELECT ${Object.values(columns).join(', ')} FROM ${gate})`;
}

function jsonOrNull(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

function ruleChangesInsert(
  { add }: Parameters,
  { repository, pullRequest }: VerdictRecord,
  changes: readonly RuleChange[],
  gate: string,
): string {
  const [rules, made, seconds] = [
    add(changes.map(({ rule }) => rule)),
    add(changes.map(({ change }) => change)),
    add(changes.map((change) => change.seconds)),
  ];
  return `changes AS (
    INSERT INTO gatehouse.audit_rule_changes (repository, pull_request, rule, change, seconds)
    SELECT ${add(repository)}::text, ${add(pullRequest)}::int, change.*
      FROM ${gate}, unnest(${rules}::text[], ${made}::text[], ${seconds}::int[]) AS change)`;
}
