import { cpuSecondsOf, usageOf } from '../test/helpers/usage.ts';
import { type Both, CONTENDERS, type ContenderName, PATH, type Running, SECRET, withServer } from './contenders.ts';
import type { BenchDatabase } from './databases.ts';
import { type LoadResult, load } from './load.ts';
import { type Plan, type Say, TARGET_CONNECTIONS } from './plan.ts';
import { rotated, type Spread, spread } from './stats.ts';

/** About as many deliveries as a pull request has: opened, labelled, pushed to, reviewed, edited, merged. */
export const PER_PULL_REQUEST = 10;
const MICROSECONDS = 1_000_000;

/** One measurement of one server. What the machine does not tell is undefined. */
interface Sample {
  readonly name: ContenderName;
  readonly connections: number;
  /** Acknowledged deliveries. */
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  /** Of the server's process, of PostgreSQL and of the generator, for each delivery, in microseconds. */
  readonly cpu: number | undefined;
  readonly databaseCpu: number | undefined;
  readonly generatorCpu: number;
  readonly idleBytes: number | undefined;
  readonly loadedBytes: number | undefined;
  /** Answers that were not 200. */
  readonly failures: number;
}

export type Throughput = readonly Sample[];

/** All contenders, one after the other, in a different order in each round, on empty tables. */
export async function measureThroughput(databases: Both<BenchDatabase>, plan: Plan, say: Say): Promise<Throughput> {
  const stored: Partial<Record<ContenderName, BenchDatabase>> = databases;
  const samples: Sample[] = [];
  for (let round = 0; round < plan.rounds; round++) {
    for (const { name } of rotated(CONTENDERS, round)) {
      await stored[name]?.clear();
      await withServer(name, stored[name], async (server) => {
        const idleBytes = (await usageOf(server.pid))?.residentBytes;
        await loadOn(server, { connections: TARGET_CONNECTIONS, seconds: plan.warmupSeconds });
        for (const connections of plan.connections) {
          const sample = { name, connections, idleBytes, ...(await measure(server, connections, plan.seconds)) };
          samples.push(sample);
          const rate = sample.perSecond.toFixed(0);
          say(`round ${round + 1}/${plan.rounds}  ${name.padEnd(9)} ${connections} connections: ${rate} a second`);
        }
      });
    }
  }
  return samples;
}

async function measure(server: Running, connections: number, seconds: number) {
  const used = () => Promise.all([usageOf(server.pid), cpuSecondsOf('postgres')]);
  const [before, databaseBefore] = await used();
  const result = await loadOn(server, { connections, seconds });
  const [after, databaseAfter] = await used();
  const each = (from: number | undefined, to: number | undefined) =>
    from === undefined || to === undefined ? undefined : ((to - from) / result.acknowledged) * MICROSECONDS;
  return {
    perSecond: result.perSecond,
    p50: result.p50,
    p99: result.p99,
    cpu: each(before?.cpuSeconds, after?.cpuSeconds),
    databaseCpu: each(databaseBefore, databaseAfter),
    generatorCpu: (result.cpuSeconds / result.acknowledged) * MICROSECONDS,
    loadedBytes: after?.residentBytes,
    failures: Object.entries(result.statuses).reduce((sum, [status, n]) => (status === '200' ? sum : sum + n), 0),
  };
}

/** All rounds of one server at so many connections. Undefined when it was not measured. */
export function spreadOf(
  throughput: Throughput,
  name: ContenderName,
  figure: Exclude<keyof Sample, 'name' | 'connections'>,
  connections = TARGET_CONNECTIONS,
): Spread | undefined {
  const rounds = throughput.filter((sample) => sample.name === name && sample.connections === connections);
  const values = rounds.map((sample) => sample[figure]).filter((value) => value !== undefined);
  return values.length > 0 ? spread(values) : undefined;
}

/** `rate`: deliveries a second; by default as fast as it goes. */
export function loadOn(
  { port }: Running,
  options: { readonly connections: number; readonly seconds: number; readonly rate?: number },
): Promise<LoadResult> {
  return load({ port, path: PATH, secret: SECRET, perPullRequest: PER_PULL_REQUEST, ...options });
}
