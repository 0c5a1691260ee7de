import { makePool } from '../src/db/pool.ts';
import { applyRetention } from '../src/jobs/retention.ts';
import { makeLog } from '../src/log.ts';
import { gatehouse } from '../test/helpers/process.ts';
import { start } from './contenders.ts';
import { atMost, type Compared, type GrowthBench, type GrowthPlan } from './growth-figures.ts';
import { RECORDED } from './growth-record.ts';
import { type Say, TARGET_CONNECTIONS } from './plan.ts';
import { spread } from './stats.ts';
import { loadOn } from './throughput.ts';

const MAX_COMMAND_MS = 1_000;
const RUNS = 3;

/** Each command that reads deliveries or the record, beside the start of its process. */
export async function measureCommands(bench: GrowthBench, size: number, say: Say): Promise<readonly Compared[]> {
  const pool = makePool(bench.databaseUrl('gatehouse'), makeLog('silent'));
  // The id of one that the door has stored, with others: only its body is what its SHA-256 says.
  const { rows } = await pool.query<{ id: string; repository: string }>(
    `SELECT (SELECT delivery_id FROM gatehouse.deliveries WHERE frame_id IS NOT NULL
              ORDER BY received_at DESC LIMIT 1) AS id,
            (SELECT repository FROM gatehouse.deliveries
              WHERE event = 'pull_request' AND repository LIKE 'acme/repository-%' LIMIT 1) AS repository`,
  );
  await pool.end();
  const { id = '', repository = '' } = rows[0] ?? {};
  const commands: readonly (readonly string[])[] = [
    ['deliveries'],
    ['deliveries', '--since', '7d'],
    ['deliveries', '--event', 'pull_request'],
    ['deliveries', '--event', 'none_has_this'],
    ['deliveries', '--repository', repository],
    ['deliveries', '--repository', 'acme/none-has-this'],
    ['deliveries', '--repository', repository, '--pull-request', '2147483647'],
    ['deliveries', '--limit', '10000', '--json'],
    ['deliveries', '--body', id],
    ['audit', `https://git.example.com/${RECORDED}/pulls/1`],
    ['audit', 'https://git.example.com/acme/none-has-this/pulls/1'],
    ['audit', '--since', '7d', '--json'],
    ['audit', '--since', '400d', '--repository', RECORDED, '--json'],
    ['report'],
    ['report', '--since', '400d'],
    ['replay', id],
    ['replay', 'none-has-this-id'],
    ['replay', '--dead-letters'],
  ];
  const compared: Compared[] = [];
  for (const command of commands) {
    const own = await medianMs(bench, [command[0] ?? '', '--help']);
    const whole = await medianMs(bench, command);
    const beside = whole - own;
    const what = `\`gatehouse ${command.join(' ').replace(id, '<id>')}\``;
    say(`${what}: ${beside.toFixed(0)} ms beside its start`);
    compared.push({
      size,
      what,
      before: '',
      after: `${beside.toFixed(0)} ms`,
      target: { wanted: `< ${MAX_COMMAND_MS} ms`, met: beside < MAX_COMMAND_MS },
    });
  }
  return compared;
}

async function medianMs(bench: GrowthBench, command: readonly string[]): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    const begin = performance.now();
    await gatehouse(command, { DATABASE_URL: bench.databaseUrl('gatehouse') }).finished;
    times.push(performance.now() - begin);
  }
  return spread(times).median;
}

/** Deliveries a second while retention runs, far below what the door can do. */
const RATE = 150;
const RETENTION_DAYS = 20;
const SECONDS = 8;

/** The latency before retention runs and while it does. */
export async function measureRetention(
  bench: GrowthBench,
  size: number,
  plan: GrowthPlan,
  say: Say,
): Promise<readonly Compared[]> {
  const server = await start('gatehouse', bench);
  const pool = makePool(bench.databaseUrl('gatehouse'), makeLog('silent'));
  const counted = async () => Number((await pool.query('SELECT count(*) AS n FROM gatehouse.deliveries')).rows[0]?.n);
  const stop = new AbortController();
  try {
    const measure = () => loadOn(server, { connections: TARGET_CONNECTIONS, seconds: SECONDS, rate: RATE });
    await loadOn(server, { connections: TARGET_CONNECTIONS, seconds: plan.warmupSeconds, rate: RATE });
    const before = await measure();
    const stored = await counted();
    const begin = performance.now();
    const log = makeLog('silent');
    const retention = applyRetention({ pool, days: RETENTION_DAYS, log, signal: stop.signal });
    const during = await measure();
    stop.abort();
    const state = await retention;
    const seconds = (performance.now() - begin) / 1_000;
    const deleted = stored + during.acknowledged - (await counted());
    say(`retention: ${(deleted / seconds).toFixed(0)} deliveries a second, ${state}`);
    const what = (share: string) =>
      `${share} at ${RATE} a second, before retention and while it deletes ${(deleted / seconds).toFixed(0)} a second`;
    return [
      atMost(size, what('p50'), spread([before.p50]), spread([during.p50])),
      { ...atMost(size, what('p99'), spread([before.p99]), spread([during.p99])), target: undefined },
    ];
  } finally {
    stop.abort();
    await pool.end();
    await server.stop();
  }
}
