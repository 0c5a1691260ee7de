import { type MergeRow, readMerges } from '../../audit/merges.ts';
import { parseDatabaseConfig } from '../../config/config.ts';
import { visible } from '../../review/text.ts';
import { defineCommand, UNUSABLE_DATABASE } from '../command.ts';
import { withDatabase } from '../database.ts';
import { configured, UsageError } from '../failures.ts';
import { parseTime, TIME_HELP } from '../options.ts';
import { columns, shortTime } from '../terminal.ts';

const DEFAULT_SINCE = '90d';
const SHA_SHOWN = 10;

export const merges = defineCommand({
  name: 'merges',
  usage: ['[owner/name] [options]'],
  text: `Prints merged pull requests, and pushes to default branches without a pull request, oldest first: who merged or pushed,
Gatehouse's status at that moment, and who had overridden a rule.`,
  options: {
    since: { type: 'string', default: DEFAULT_SINCE, value: 'when', help: `${TIME_HELP}; ${DEFAULT_SINCE} by default` },
    json: { type: 'boolean', default: false, help: 'print one JSON object per line with everything recorded' },
    csv: { type: 'boolean', default: false, help: 'print comma-separated values, with a header line' },
  },
  positionals: { most: 1, expected: 'at most one repository, owner/name' },
  settings: 'DATABASE_URL',
  exitCodes: { 0: 'done, even if nothing was found', 1: 'failed', ...UNUSABLE_DATABASE },
  async run({ values: { since, json, csv }, positionals: [repository] }, { stdout, stderr, env }) {
    if (json && csv) {
      throw new UsageError('use --json or --csv, not both');
    }
    const filter = { repository, since: parseTime('--since', since, Date.now()) };
    const { databaseUrl } = configured(parseDatabaseConfig(env));
    const found = await withDatabase(databaseUrl, (pool) => readMerges(pool, filter));
    stdout.write(
      json ? found.map((merge) => `${JSON.stringify(merge)}\n`).join('') : csv ? csvOf(found) : table(found),
    );
    if (found.length === 0) {
      stderr.write('Nothing was merged.\n');
    }
    return 0;
  },
});

const COLUMNS: Readonly<Record<string, (merge: MergeRow) => string>> = {
  time: ({ mergedAt }) => shortTime(mergedAt),
  repository: ({ repository }) => repository,
  branch: ({ baseBranch }) => baseBranch,
  commit: ({ mergeSha }) => mergeSha ?? '',
  outcome: ({ outcome }) => outcome,
  pull: ({ pullRequest }) => (pullRequest === null ? '' : `#${pullRequest}`),
  by: ({ mergedBy }) => mergedBy ?? '',
  verdict: ({ verdict }) => verdict ?? '',
  overridden: ({ overrides }) =>
    overrides.map(({ rule, login, reason }) => `${rule} by ${login}: ${reason}`).join('; '),
};
const NAMES = Object.keys(COLUMNS);

function cellsOf(merge: MergeRow): readonly string[] {
  return Object.values(COLUMNS).map((cell) => cell(merge));
}

function table(found: readonly MergeRow[]): string {
  const rows = found.map((merge) => cellsOf({ ...merge, mergeSha: merge.mergeSha?.slice(0, SHA_SHOWN) ?? null }));
  return rows.length === 0 ? '' : columns([NAMES.map((name) => name.toUpperCase()), ...rows]);
}

/** RFC 4180. */
function csvOf(found: readonly MergeRow[]): string {
  return [NAMES, ...found.map(cellsOf)].map((cells) => `${cells.map(field).join(',')}\r\n`).join('');
}

/** A spreadsheet takes what begins with one of these for a formula. Anybody may name a branch so. */
const FORMULA = /^[=+\-@\t\r]/;

function field(value: string): string {
  const text = visible(value);
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
