import type pg from 'pg';
import { parseDatabaseConfig } from '../../config/config.ts';
import type { StoredDelivery } from '../../inbox/delivery.ts';
import { type DeliveryFilter, findDeliveries, listDeliveries } from '../../inbox/read-deliveries.ts';
import { defineCommand, UNUSABLE_DATABASE } from '../command.ts';
import { readBodyOf, withDatabase } from '../database.ts';
import { configured, UsageError } from '../failures.ts';
import { parseNumber, parseTime, TIME_HELP } from '../options.ts';
import { columns, shortTime, type Terminal } from '../terminal.ts';

const DEFAULT_ROWS = 20;
const MAX_ROWS = 10_000;

export const deliveries = defineCommand({
  name: 'deliveries',
  usage: ['[options]'],
  text: 'Lists the acknowledged deliveries of the last RETENTION_DAYS, newest first.',
  options: {
    event: { type: 'string', value: 'type', help: 'only these events, such as pull_request' },
    repository: { type: 'string', value: 'owner/name', help: 'only this repository' },
    'pull-request': { type: 'string', value: 'number', help: 'only this pull request of --repository' },
    since: { type: 'string', value: 'when', help: `only those received since then: ${TIME_HELP}` },
    limit: {
      type: 'string',
      default: String(DEFAULT_ROWS),
      value: 'count',
      help: `at most this many, up to ${MAX_ROWS}; ${DEFAULT_ROWS} by default`,
    },
    json: { type: 'boolean', default: false, help: 'print one JSON object per line, for programs' },
    body: {
      type: 'string',
      value: 'delivery id',
      help: 'print only the body of this delivery, byte by byte as received',
    },
  },
  settings: 'DATABASE_URL',
  exitCodes: {
    0: 'done, even if nothing was found',
    1: 'failed, or there is no delivery with this id',
    ...UNUSABLE_DATABASE,
  },
  async run({ values }, terminal) {
    const { event, repository, body, json } = values;
    const filter = {
      ...{ event, repository },
      pullRequest:
        values['pull-request'] === undefined ? undefined : parseNumber('--pull-request', values['pull-request']),
      since: values.since === undefined ? undefined : parseTime('--since', values.since, Date.now()),
    };
    const limit = parseNumber('--limit', values.limit, MAX_ROWS);
    if (filter.pullRequest !== undefined && repository === undefined) {
      throw new UsageError('--pull-request needs --repository');
    }
    const { databaseUrl } = configured(parseDatabaseConfig(terminal.env));
    return withDatabase(databaseUrl, (pool) =>
      body === undefined ? printList(pool, filter, limit, json, terminal) : printBody(pool, body, terminal),
    );
  },
});

async function printList(
  pool: pg.Pool,
  filter: DeliveryFilter,
  limit: number,
  json: boolean,
  { stdout, stderr }: Terminal,
): Promise<0> {
  const found = await listDeliveries(pool, filter, limit);
  if (json) {
    stdout.write(found.map((record) => `${JSON.stringify(record)}\n`).join(''));
  } else if (found.length > 0) {
    stdout.write(table(found));
  }
  // On standard error: a program that reads the rows must find none.
  else {
    stderr.write('No deliveries found.\n');
  }
  return 0;
}

/** Two hooks may have sent one id: that of the newest. */
async function printBody(pool: pg.Pool, id: string, terminal: Terminal): Promise<0 | 1> {
  const [newest] = await findDeliveries(pool, id);
  const read = newest === undefined ? { problem: 'no delivery has this id' } : await readBodyOf(pool, newest);
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
