import { parseArgs } from 'node:util';
import type pg from 'pg';
import { parseDatabaseConfig } from '../../config/config.ts';
import type { StoredDelivery } from '../../inbox/delivery.ts';
import { type DeliveryFilter, listDeliveries } from '../../inbox/read-deliveries.ts';
import { columns, shortTime } from '../columns.ts';
import { findOneDelivery, readBodyOf, withDatabase } from '../database.ts';
import { configured, UsageError } from '../failures.ts';
import { moment, number } from '../options.ts';
import type { Terminal } from '../terminal.ts';

const DEFAULT_ROWS = 20;
const MAX_ROWS = 10_000;

const HELP = `Usage: gatehouse deliveries [options]

Lists the deliveries that were acknowledged, newest first, as long as RETENTION_DAYS keeps them.

Options:
  --event <type>             only these events, such as pull_request
  --repository <owner/name>  only of this repository
  --pull-request <number>    only of this pull request of the repository
  --since <when>             only those received since: 30m, 12h, 7d, or a time such as 2026-01-31T12:00Z
  --limit <count>            at most so many, by default ${DEFAULT_ROWS}, up to ${MAX_ROWS}
  --json                     one JSON object a line, for programs
  --body <delivery id>       list nothing, and print the body of one delivery, byte by byte as it came
  --hook <hook id>           which delivery is meant, where two hooks sent the same delivery id
  --help                     print this

Settings: DATABASE_URL. Exit codes: 0 done, also when nothing was found; 1 failed, or there is no delivery with the
id given; 64 wrong usage; 78 wrong configuration, or a database schema that does not fit.
`;

export async function deliveries(args: readonly string[], terminal: Terminal): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      event: { type: 'string' },
      repository: { type: 'string' },
      'pull-request': { type: 'string' },
      since: { type: 'string' },
      limit: { type: 'string', default: String(DEFAULT_ROWS) },
      json: { type: 'boolean', default: false },
      body: { type: 'string' },
      hook: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help === true) {
    terminal.stdout.write(HELP);
    return 0;
  }
  const filter: DeliveryFilter = {
    event: values.event,
    repository: values.repository,
    pullRequest: values['pull-request'] === undefined ? undefined : number('--pull-request', values['pull-request']),
    since: values.since === undefined ? undefined : moment('--since', values.since, Date.now()),
  };
  const limit = number('--limit', values.limit, MAX_ROWS);
  const { body, hook } = values;
  if (filter.pullRequest !== undefined && filter.repository === undefined) {
    throw new UsageError('--pull-request needs --repository');
  }
  if (hook !== undefined && body === undefined) {
    throw new UsageError('--hook needs --body');
  }
  const { databaseUrl } = configured(parseDatabaseConfig(terminal.env));

  return withDatabase(databaseUrl, async (pool) => {
    if (body !== undefined) {
      return printBody(pool, body, hook, terminal);
    }
    const found = await listDeliveries(pool, filter, limit);
    if (values.json) {
      terminal.stdout.write(found.map((record) => `${JSON.stringify(record)}\n`).join(''));
    } else if (found.length > 0) {
      terminal.stdout.write(table(found));
    }
    // On stderr: a program that reads the rows must find none.
    else {
      terminal.stderr.write('No deliveries found.\n');
    }
    return 0;
  });
}

async function printBody(pool: pg.Pool, id: string, hook: string | undefined, terminal: Terminal): Promise<number> {
  const found = await findOneDelivery(pool, id, hook);
  const read = 'problem' in found ? found : await readBodyOf(pool, found.delivery);
  if ('problem' in read) {
    terminal.stderr.write(`gatehouse deliveries: ${id}: ${read.problem}\n`);
    return 1;
  }
  terminal.stdout.write(read.body);
  return 0;
}

/** The hook's column only where one is named: not every forge has it. */
function table(records: readonly StoredDelivery[]): string {
  const named = records.some(({ hookId }) => hookId !== '');
  const rows = [
    ['RECEIVED', 'EVENT', 'ABOUT', 'DELIVERY', ...(named ? ['HOOK'] : [])],
    ...records.map(({ receivedAt, event, repository, pullRequest, deliveryId, hookId }) => [
      shortTime(receivedAt),
      event,
      `${repository ?? '-'}${pullRequest === null ? '' : `#${pullRequest}`}`,
      deliveryId,
      ...(named ? [hookId || '-'] : []),
    ]),
  ];
  return columns(rows);
}
