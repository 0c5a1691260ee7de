import type pg from 'pg';
import {
  listRecord,
  type RecordEntry,
  type RecordFilter,
  readText,
  recordOfPullRequest,
} from '../../audit/read-record.ts';
import { parseDatabaseConfig } from '../../config/config.ts';
import { pullRequestAt } from '../../forges/port/addresses.ts';
import type { PullRequestRef } from '../../forges/port/pull-request.ts';
import { defineCommand, UNUSABLE_DATABASE } from '../command.ts';
import { withDatabase } from '../database.ts';
import { configured, UsageError } from '../failures.ts';
import { parseNumber, parseTime, TIME_HELP } from '../options.ts';
import type { Terminal } from '../terminal.ts';
import { entryTable, history } from './audit-text.ts';

const DEFAULT_ROWS = 100;
const MAX_ROWS = 10_000;
const EXPECTED = 'a pull request URL, or --since, --until and --repository, or --text';

export const audit = defineCommand({
  name: 'audit',
  usage: ['<pull request URL> [options]', '--since <when> [options]'],
  text: `Prints the recorded verdicts of the last AUDIT_DAYS: each rule's result, who approved, who overrode, the policy texts,
and what was posted. It prints one pull request in full, oldest first; otherwise one line per row, newest first.`,
  options: {
    since: { type: 'string', value: 'when', help: `only what was recorded since then: ${TIME_HELP}` },
    until: { type: 'string', value: 'when', help: 'only what was recorded before then' },
    repository: { type: 'string', value: 'owner/name', help: 'only this repository' },
    limit: {
      type: 'string',
      default: String(DEFAULT_ROWS),
      value: 'count',
      help: `at most this many rows, the newest, up to ${MAX_ROWS}; ${DEFAULT_ROWS} by default`,
    },
    json: {
      type: 'boolean',
      default: false,
      help: 'print one JSON object per line with everything recorded, for programs',
    },
    text: { type: 'string', value: 'digest', help: 'print the policy or CODEOWNERS with this digest, byte by byte' },
  },
  positionals: { most: 1, expected: EXPECTED },
  settings: 'DATABASE_URL',
  exitCodes: {
    0: 'done, even if nothing was found',
    1: 'failed, or there is no text with this digest',
    ...UNUSABLE_DATABASE,
  },
  async run({ values, positionals: [address] }, terminal) {
    const { since, until, repository, text, json } = values;
    const asked = [address, since ?? until ?? repository, text].filter((value) => value !== undefined);
    if (asked.length !== 1) {
      throw new UsageError(`expected ${EXPECTED}`);
    }
    const ref = address === undefined ? undefined : pullRequestAt(address);
    if (address !== undefined && ref === undefined) {
      throw new UsageError(`${address} is not a pull request URL`);
    }
    const filter = {
      repository,
      since: since === undefined ? undefined : parseTime('--since', since, Date.now()),
      until: until === undefined ? undefined : parseTime('--until', until, Date.now()),
    };
    const limit = parseNumber('--limit', values.limit, MAX_ROWS);
    const { databaseUrl } = configured(parseDatabaseConfig(terminal.env));
    return withDatabase(databaseUrl, (pool) =>
      text === undefined ? printRecord(pool, ref ?? filter, limit, json, terminal) : printText(pool, text, terminal),
    );
  },
});

/** Prints the rows of one pull request, or all that a filter lets through. */
async function printRecord(
  pool: pg.Pool,
  asked: PullRequestRef | RecordFilter,
  limit: number,
  json: boolean,
  { stdout, stderr }: Terminal,
): Promise<0> {
  const isOne = 'number' in asked;
  // One more than the limit shows whether there are more.
  const found = isOne ? await recordOfPullRequest(pool, asked, limit + 1) : await listRecord(pool, asked, limit + 1);
  const rows = found.slice(0, limit);
  const ordered = isOne ? rows.toReversed() : rows;
  stdout.write(json ? lines(ordered) : isOne ? history(ordered) : entryTable(ordered));
  if (found.length === 0) {
    stderr.write('Nothing is recorded.\n');
  } else if (found.length > limit) {
    stderr.write(`These are the newest ${limit} rows; there are more. See --limit and --until.\n`);
  }
  return 0;
}

function lines(entries: readonly RecordEntry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}

async function printText(pool: pg.Pool, digest: string, terminal: Terminal): Promise<0 | 1> {
  const found = await readText(pool, digest);
  if (found === undefined) {
    terminal.stderr.write(`gatehouse audit: ${digest}: no text with this digest is recorded\n`);
    return 1;
  }
  terminal.stdout.write(found.body);
  return 0;
}
