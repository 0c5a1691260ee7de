import { parseArgs } from 'node:util';
import type pg from 'pg';
import { listRecord, type RecordEntry, readText, recordOfPullRequest } from '../../audit/read-record.ts';
import { parseDatabaseConfig } from '../../config/config.ts';
import { pullRequestAt } from '../../forges/port/addresses.ts';
import { withDatabase } from '../database.ts';
import { configured, UsageError } from '../failures.ts';
import { moment, number } from '../options.ts';
import type { Terminal } from '../terminal.ts';
import { entryTable, history } from './audit-text.ts';

const DEFAULT_ROWS = 100;
const MAX_ROWS = 10_000;

const HELP = `Usage: gatehouse audit <pull request URL> [options]
       gatehouse audit --since <when> [options]

Prints the record of verdicts, as long as AUDIT_DAYS keeps it: what each rule said, who approved, who overrode, by which
texts it was judged, and what was posted. Of one pull request oldest first and in full; otherwise newest first, a line each.

Options:
  --since <when>             only what was recorded since: 30m, 12h, 7d, or a time such as 2026-01-31T12:00Z
  --until <when>             only what was recorded before
  --repository <owner/name>  only of this repository
  --limit <count>            at most so many rows, the newest; by default ${DEFAULT_ROWS}, up to ${MAX_ROWS}
  --json                     one JSON object a line with all that is recorded, for programs
  --text <digest>            print the policy or CODEOWNERS that a digest is of, byte by byte
  --help                     print this

Settings: DATABASE_URL. Exit codes: 0 done, also when nothing was found; 1 failed, or no text has the digest; 64 wrong
usage; 78 wrong configuration, or a database schema that does not fit.
`;

export async function audit(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      since: { type: 'string' },
      until: { type: 'string' },
      repository: { type: 'string' },
      limit: { type: 'string', default: String(DEFAULT_ROWS) },
      json: { type: 'boolean', default: false },
      text: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    terminal.stdout.write(HELP);
    return 0;
  }
  const [address, ...more] = positionals;
  const { since, until, repository, text } = values;
  const asked = [address, since ?? until ?? repository, text].filter((value) => value !== undefined);
  if (asked.length !== 1 || more.length > 0) {
    throw new UsageError('expected a pull request URL, or --since, --until and --repository, or --text');
  }
  const ref = address === undefined ? undefined : pullRequestAt(address);
  if (address !== undefined && ref === undefined) {
    throw new UsageError(`${address} is not the page of a pull request`);
  }
  const filter = {
    repository,
    since: since === undefined ? undefined : moment('--since', since, Date.now()),
    until: until === undefined ? undefined : moment('--until', until, Date.now()),
  };
  const limit = number('--limit', values.limit, MAX_ROWS);
  const { databaseUrl } = configured(parseDatabaseConfig(terminal.env));

  return withDatabase(databaseUrl, async (pool) => {
    if (text !== undefined) {
      return printText(pool, text, terminal);
    }
    // One more, to know whether there are more.
    const found =
      ref === undefined ? await listRecord(pool, filter, limit + 1) : await recordOfPullRequest(pool, ref, limit + 1);
    const rows = found.slice(0, limit);
    const ordered = ref === undefined ? rows : rows.toReversed();
    terminal.stdout.write(values.json ? lines(ordered) : ref === undefined ? entryTable(ordered) : history(ordered));
    if (found.length === 0) {
      terminal.stderr.write('Nothing is recorded.\n');
    } else if (found.length > limit) {
      terminal.stderr.write(`There are more rows than ${limit}: these are the newest. See --limit and --until.\n`);
    }
    return 0;
  });
}

function lines(entries: readonly RecordEntry[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}

async function printText(pool: pg.Pool, digest: string, terminal: Terminal): Promise<number> {
  const found = await readText(pool, digest);
  if (found === undefined) {
    terminal.stderr.write(`gatehouse audit: ${digest}: no text with this digest is recorded\n`);
    return 1;
  }
  terminal.stdout.write(found.body);
  return 0;
}
