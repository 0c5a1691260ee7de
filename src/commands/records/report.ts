import { parseArgs } from 'node:util';
import { type ObservedReport, readObserved } from '../../audit/read-observed.ts';
import { type ReportOrder, type RuleReport, readReport } from '../../audit/read-report.ts';
import { parseDatabaseConfig } from '../../config/config.ts';
import { columns } from '../columns.ts';
import { withDatabase } from '../database.ts';
import { configured, UsageError } from '../failures.ts';
import { moment, number } from '../options.ts';
import type { Terminal } from '../terminal.ts';

const DEFAULT_SINCE = '30d';
const DEFAULT_RULES = 20;
const MAX_RULES = 10_000;
const ORDERS: readonly ReportOrder[] = ['failed', 'overridden', 'slowest'];

const HELP = `Usage: gatehouse report [options]

Says from the record of verdicts, rule by rule, how often a rule began to fail, was overridden, and passed after it had not
held, and how long that took. A rule that waits for people has not failed, but the time until it passes counts.
Below, for rules of level observe: how many pull requests each would have failed, or left waiting.

Options:
  --since <when>             30m, 12h, 7d, or a time such as 2026-01-31T12:00Z; by default ${DEFAULT_SINCE}
  --repository <owner/name>  only of this repository
  --by <order>               first those that failed most (failed, the default), that were overridden most (overridden),
                             or that took longest to pass (slowest, by the median)
  --limit <count>            at most so many rules of each kind, by default ${DEFAULT_RULES}, up to ${MAX_RULES}
  --json                     one JSON object a line, for programs; times are in seconds
  --help                     print this

Settings: DATABASE_URL. Exit codes: 0 done, also when nothing was found; 1 failed; 64 wrong usage; 78 wrong configuration,
or a database schema that does not fit.
`;

export async function report(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      since: { type: 'string', default: DEFAULT_SINCE },
      repository: { type: 'string' },
      by: { type: 'string', default: 'failed' },
      limit: { type: 'string', default: String(DEFAULT_RULES) },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    terminal.stdout.write(HELP);
    return 0;
  }
  const order = ORDERS.find((known) => known === values.by);
  if (order === undefined) {
    throw new UsageError(`--by takes ${ORDERS.join(', ')}`);
  }
  const filter = { repository: values.repository, since: moment('--since', values.since, Date.now()) };
  const limit = number('--limit', values.limit, MAX_RULES);
  const { databaseUrl } = configured(parseDatabaseConfig(terminal.env));
  return withDatabase(databaseUrl, async (pool) => {
    const rules = await readReport(pool, filter, order, limit);
    const observed = await readObserved(pool, filter, limit);
    if (values.json) {
      terminal.stdout.write([...rules, ...observed].map((rule) => `${JSON.stringify(rule)}\n`).join(''));
    } else if (rules.length > 0 || observed.length > 0) {
      terminal.stdout.write([...tableOf(rules, table), ...tableOf(observed, observedTable)].join('\n'));
    } else {
      terminal.stderr.write('No rule has failed, was overridden, began to pass or was observed.\n');
    }
    return 0;
  });
}

function tableOf<T>(rows: readonly T[], render: (rows: readonly T[]) => string): readonly string[] {
  return rows.length === 0 ? [] : [render(rows)];
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
