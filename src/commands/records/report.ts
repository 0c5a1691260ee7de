import { countMerges, type MergeCount } from '../../audit/merges.ts';
import { type ObservedReport, readObserved } from '../../audit/read-observed.ts';
import { type RuleReport, readReport } from '../../audit/read-report.ts';
import { parseDatabaseConfig } from '../../config/config.ts';
import { defineCommand, UNUSABLE_DATABASE } from '../command.ts';
import { withDatabase } from '../database.ts';
import { configured } from '../failures.ts';
import { parseNumber, parseTime, TIME_HELP } from '../options.ts';
import { columns } from '../terminal.ts';

const DEFAULT_SINCE = '30d';
const DEFAULT_RULES = 20;
const MAX_RULES = 10_000;

export const report = defineCommand({
  name: 'report',
  usage: ['[options]'],
  text: `Prints, for each rule, how often it started to fail, was overridden, and held again, and how long that took. The rules
that failed most come first. A rule that waits for people hasn't failed, but the time until it holds counts. A second
table shows rules of level observe: how many pull requests each would have failed, or left waiting. A third table counts
merges by outcome.`,
  options: {
    since: { type: 'string', default: DEFAULT_SINCE, value: 'when', help: `${TIME_HELP}; ${DEFAULT_SINCE} by default` },
    repository: { type: 'string', value: 'owner/name', help: 'only this repository' },
    limit: {
      type: 'string',
      default: String(DEFAULT_RULES),
      value: 'count',
      help: `at most this many rules of each kind, up to ${MAX_RULES}; ${DEFAULT_RULES} by default`,
    },
    json: {
      type: 'boolean',
      default: false,
      help: 'print one JSON object per line, for programs; times are in seconds',
    },
  },
  settings: 'DATABASE_URL',
  exitCodes: { 0: 'done, even if nothing was found', 1: 'failed', ...UNUSABLE_DATABASE },
  async run({ values }, terminal) {
    const since = parseTime('--since', values.since, Date.now());
    const filter = { repository: values.repository, since };
    const limit = parseNumber('--limit', values.limit, MAX_RULES);
    const { databaseUrl } = configured(parseDatabaseConfig(terminal.env));
    const { rules, observed, merges } = await withDatabase(databaseUrl, async (pool) => ({
      rules: await readReport(pool, filter, limit),
      observed: await readObserved(pool, filter, limit),
      merges: await countMerges(pool, filter),
    }));
    const tables = [...tableOf(rules, table), ...tableOf(observed, observedTable), ...tableOf(merges, mergesTable)];
    if (values.json) {
      terminal.stdout.write([...rules, ...observed, ...merges].map((rule) => `${JSON.stringify(rule)}\n`).join(''));
    } else if (tables.length > 0) {
      terminal.stdout.write(tables.join('\n'));
    } else {
      terminal.stderr.write('No rule failed, was overridden, held again or was observed, and nothing was merged.\n');
    }
    return 0;
  },
});

function tableOf<T>(rows: readonly T[], render: (rows: readonly T[]) => string): readonly string[] {
  return rows.length === 0 ? [] : [render(rows)];
}

function mergesTable(counts: readonly MergeCount[]): string {
  return columns([['OUTCOME', 'MERGES'], ...counts.map(({ outcome, merges }) => [outcome, String(merges)])]);
}

function observedTable(rules: readonly ObservedReport[]): string {
  return columns([
    ['OBSERVED RULE', 'PULL REQUESTS', 'WOULD FAIL', 'WOULD WAIT', 'NOT JUDGED'],
    ...rules.map(({ rule, pullRequests, wouldFail, wouldWait, notJudged }) => [
      rule,
      ...[pullRequests, wouldFail, wouldWait, notJudged].map(String),
    ]),
  ]);
}

function table(rules: readonly RuleReport[]): string {
  return columns([
    ['RULE', 'FAILED', 'OVERRIDDEN', 'PASSED AFTERWARDS', 'MEDIAN TIME', 'LONGEST TIME'],
    ...rules.map(({ rule, failed, overridden, passed, medianSeconds, longestSeconds }) => [
      rule,
      ...[failed, overridden, passed].map(String),
      duration(medianSeconds),
      duration(longestSeconds),
    ]),
  ]);
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** In the two largest units that are not zero: `3h 20m`. */
function duration(seconds: number | null): string {
  if (seconds === null) {
    return '-';
  }
  const parts = [
    [Math.floor(seconds / DAY), 'd'],
    [Math.floor((seconds % DAY) / HOUR), 'h'],
    [Math.floor((seconds % HOUR) / MINUTE), 'm'],
    [seconds % MINUTE, 's'],
  ] as const;
  const from = parts.findIndex(([amount]) => amount > 0);
  const shown = parts.slice(from, from + 2).filter(([amount]) => amount > 0);
  return from === -1 ? '0s' : shown.map(([amount, unit]) => `${amount}${unit}`).join(' ');
}
