import { CONTENDERS } from './contenders.ts';
import { type Plan, TARGET_CONNECTIONS } from './plan.ts';
import { AT_ONCE, FORGE_LATENCY_MS } from './slow-forge.ts';
import { cell, format, table } from './table.ts';
import { type Figures, judgeTargets } from './targets.ts';
import { PER_PULL_REQUEST, spreadOf } from './throughput.ts';

const MIB = 1024 * 1024;

/** The whole page docs/performance.md, which only the benchmark writes. */
export function renderReport(figures: Figures, plan: Plan): string {
  const { command, machine, stores, loads, reviews, slowForge, storage, half, idle } = figures;
  const { webhookToStatus } = reviews;
  return `# Performance

Measured by \`${command}\`, which wrote this page. Compare ratios within one run, not
figures of two machines.

- **Machine:** ${machine}. Server, load generator and database shared it.
- **Load average:** ${loads[0]} at the beginning, ${loads[1]} at the end.
- **Stores:** ${stores}, \`synchronous_commit\` on.
- **Deliveries:** GitHub's 29 published examples of \`pull_request\`, 21 to 27 KB, each with its own id, number and
  signature. ${PER_PULL_REQUEST} in a row are about one pull request; the next ones are in another repository. Only those answered 200 count.
- **Rounds:** ${plan.rounds}, interleaved, each server in a separate process on empty tables; ${plan.seconds} s measured after ${plan.warmupSeconds} s of warm-up.
  A cell is the median, and in parentheses the minimum and maximum of the rounds.

## Acknowledged deliveries a second

${throughputTable(figures, plan)}

The first three store nothing. The fourth stores the delivery and
creates no job. Gatehouse stores the exact bytes and the job, in one transaction, before it answers.

## What a delivery costs

At ${TARGET_CONNECTIONS} connections. PostgreSQL's processor time includes background work.

${costTable(figures)}

The load generator itself used ${generator(figures)} µs for a delivery. For bare
\`node:http\`, the deliveries a second are therefore a lower bound.

## Latency and the rest

| | One INSERT each | Gatehouse |
|---|--:|--:|
| Half load (${figures.halfRate.toFixed(0)} a second), p50 | ${cell(half.koa.p50, 1)} ms | ${cell(half.gatehouse.p50, 1)} ms |
| Half load, p99 | ${cell(half.koa.p99, 1)} ms | ${cell(half.gatehouse.p99, 1)} ms |
| Idle (20 a second), p50 | ${cell(idle.koa.p50, 2)} ms | ${cell(idle.gatehouse.p50, 2)} ms |
| Idle, p99 | ${cell(idle.koa.p99, 2)} ms | ${cell(idle.gatehouse.p99, 2)} ms |
| Write-ahead log for a delivery | ${bytes(storage.koa.wal)} | ${bytes(storage.gatehouse.wal)} |
| Tables and indexes for a delivery | ${bytes(storage.koa.tables)} | ${bytes(storage.gatehouse.tables)} |

Latency counts from when a delivery was due, so that a stalled server can't hide it. Half of Gatehouse's
maximum can be near the limit of one INSERT each, which then has a high latency.

## Reviews

Door and worker as two processes, against the tests' simulated forge, which answers without delay.

| | |
|---|--:|
| Webhook to final status, one at a time: median, p99 | ${webhookToStatus.median.toFixed(0)} ms, ${webhookToStatus.p99.toFixed(0)} ms |
| Reviews a second, ${plan.reviews} at once, the worker's start included | ${reviews.perSecond.toFixed(0)} |
| Time until the last of them | ${reviews.lastAfter.toFixed(1)} s |
| Processor time of the worker, a review | ${reviews.cpuMs?.toFixed(1) ?? 'not measured'} ms |
${slowForge.map(({ concurrency, p95 }) => `| ${AT_ONCE} at once, ${FORGE_LATENCY_MS} ms a request, \`WORKER_CONCURRENCY=${concurrency}\`: webhook to status, p95 | ${(p95 / 1_000).toFixed(1)} s |`).join('\n')}

## Targets

${targetTable(figures)}

Computed from the medians. An idle door answers 1 ms later than one INSERT, because the delivery
and its job take two round trips.
`;
}

function throughputTable({ throughput }: Figures, plan: Plan): string {
  const header = plan.connections.map((connections) => `${connections} connection${connections === 1 ? '' : 's'}`);
  const rows = CONTENDERS.map(({ name, title, durable }) => [
    title,
    durable ? 'yes' : 'no',
    ...plan.connections.map((connections) => cell(spreadOf(throughput, name, 'perSecond', connections), 0)),
  ]);
  return table(['', 'Kept', ...header], [0, 1], rows);
}

function costTable({ throughput }: Figures): string {
  const rows = CONTENDERS.map(({ name, title, durable }) => {
    const memory = (figure: 'idleBytes' | 'loadedBytes') => {
      const bytes = spreadOf(throughput, name, figure)?.median;
      return bytes === undefined ? '' : `${(bytes / MIB).toFixed(0)} MiB`;
    };
    const failures = throughput.reduce((sum, sample) => (sample.name === name ? sum + sample.failures : sum), 0);
    return [
      title,
      `${cell(spreadOf(throughput, name, 'cpu'), 0)} µs`,
      durable ? `${cell(spreadOf(throughput, name, 'databaseCpu'), 0)} µs` : '',
      `${cell(spreadOf(throughput, name, 'p50'), 1)} ms`,
      `${cell(spreadOf(throughput, name, 'p99'), 1)} ms`,
      memory('idleBytes'),
      memory('loadedBytes'),
      String(failures),
    ];
  });
  const header = ['', 'Processor time', 'PostgreSQL’s', 'p50', 'p99', 'Memory, idle', 'Memory, under load', 'Not 200'];
  return table(header, [0], rows);
}

function targetTable(figures: Figures): string {
  const rows = judgeTargets(figures).map(({ what, wanted, got, met }) => [
    what,
    wanted,
    got,
    met ? 'met' : '**missed**',
  ]);
  return table(['', 'Wanted', 'Measured', ''], [0, 3], rows);
}

function generator({ throughput }: Figures): string {
  const values = CONTENDERS.map(({ name }) => spreadOf(throughput, name, 'generatorCpu')?.median ?? 0);
  return `${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)}`;
}

function bytes(value: number): string {
  return `${format(value, 0)} bytes`;
}
