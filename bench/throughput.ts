import { cpuSecondsOf, usageOf } from '../test/helpers/usage.ts';
import { type Bench, CONTENDERS, type ContenderName, PATH, type Running, SECRET, start } from './contenders.ts';
import { type LoadResult, load } from './load.ts';
import { type Plan, type Say, TARGET_CONNECTIONS } from './plan.ts';
import { type Spread, spread } from './stats.ts';

/** About as many deliveries as a pull request has: opened, labelled, pushed to, reviewed, edited, merged. */
export const PER_PULL_REQUEST = 10;
const MICROSECONDS = 1_000_000;

export interface Throughput {
  readonly name: ContenderName;
  /** By connections: acknowledged deliveries a second. */
  readonly perSecond: ReadonlyMap<number, Spread>;
  /** Milliseconds, at {@link TARGET_CONNECTIONS} connections. */
  readonly p50: Spread;
  readonly p99: Spread;
  /** Of the server's process, of PostgreSQL and of the generator, for each delivery, in microseconds. */
  readonly cpu: Spread | undefined;
  readonly databaseCpu: Spread | undefined;
  readonly generatorCpu: Spread;
  readonly idleBytes: Spread | undefined;
  readonly loadedBytes: Spread | undefined;
  /** Answers that were not 200. */
  readonly failures: number;
}

interface Samples {
  readonly perSecond: Map<number, number[]>;
  readonly p50: number[];
  readonly p99: number[];
  readonly cpu: number[];
  readonly databaseCpu: number[];
  readonly generatorCpu: number[];
  readonly idleBytes: number[];
  readonly loadedBytes: number[];
  failures: number;
}

/** All contenders, one after the other, in a different order in each round, on empty tables. */
export async function measureThroughput(bench: Bench, plan: Plan, say: Say): Promise<readonly Throughput[]> {
  const samples = new Map(CONTENDERS.map(({ name }) => [name, emptySamples()]));
  for (let round = 0; round < plan.rounds; round++) {
    for (const name of rotated([...samples.keys()], round)) {
      await bench.clear(name);
      const server = await start(name, bench);
      try {
        const into = samples.get(name) ?? emptySamples();
        into.idleBytes.push(...(await residentBytes(server)));
        await loadOn(server, { ...plan, seconds: plan.warmupSeconds, connections: TARGET_CONNECTIONS });
        for (const connections of plan.connections) {
          const result = await measure(server, plan, connections, into);
          say(`round ${round + 1}/${plan.rounds}  ${name.padEnd(9)} ${connections} connections: ${result} a second`);
        }
      } finally {
        await server.stop();
      }
    }
  }
  return [...samples].map(([name, sample]) => summarize(name, sample));
}

async function measure(server: Running, plan: Plan, connections: number, into: Samples): Promise<string> {
  const [before, databaseBefore] = await Promise.all([usageOf(server.pid), cpuSecondsOf('postgres')]);
  const result = await loadOn(server, { ...plan, connections });
  const [after, databaseAfter] = await Promise.all([usageOf(server.pid), cpuSecondsOf('postgres')]);
  const each = (seconds: number) => (seconds / result.acknowledged) * MICROSECONDS;
  const known = into.perSecond.get(connections) ?? [];
  into.perSecond.set(connections, [...known, result.perSecond]);
  into.failures += failuresOf(result);
  if (connections === TARGET_CONNECTIONS) {
    into.p50.push(result.p50);
    into.p99.push(result.p99);
    into.generatorCpu.push(each(result.cpuSeconds));
    if (before !== undefined && after !== undefined) {
      into.cpu.push(each(after.cpuSeconds - before.cpuSeconds));
      into.loadedBytes.push(after.residentBytes);
    }
    if (databaseBefore !== undefined && databaseAfter !== undefined) {
      into.databaseCpu.push(each(databaseAfter - databaseBefore));
    }
  }
  return result.perSecond.toFixed(0);
}

export function loadOn(
  server: Running,
  options: { readonly connections: number; readonly seconds: number; readonly rate?: number; readonly repeat?: number },
): Promise<LoadResult> {
  const { connections, seconds, rate, repeat } = options;
  return load({
    port: server.port,
    path: PATH,
    secret: SECRET,
    connections,
    seconds,
    warmupSeconds: 0,
    perPullRequest: PER_PULL_REQUEST,
    ...(rate !== undefined && { rate }),
    ...(repeat !== undefined && { repeat }),
  });
}

function failuresOf({ statuses }: LoadResult): number {
  return Object.entries(statuses).reduce((sum, [status, times]) => (status === '200' ? sum : sum + times), 0);
}

async function residentBytes(server: Running): Promise<readonly number[]> {
  const usage = await usageOf(server.pid);
  return usage === undefined ? [] : [usage.residentBytes];
}

function emptySamples(): Samples {
  return {
    perSecond: new Map(),
    p50: [],
    p99: [],
    cpu: [],
    databaseCpu: [],
    generatorCpu: [],
    idleBytes: [],
    loadedBytes: [],
    failures: 0,
  };
}

function summarize(name: ContenderName, samples: Samples): Throughput {
  const ifAny = (values: readonly number[]) => (values.length > 0 ? spread(values) : undefined);
  return {
    name,
    perSecond: new Map([...samples.perSecond].map(([connections, values]) => [connections, spread(values)])),
    p50: spread(samples.p50),
    p99: spread(samples.p99),
    cpu: ifAny(samples.cpu),
    databaseCpu: ifAny(samples.databaseCpu),
    generatorCpu: spread(samples.generatorCpu),
    idleBytes: ifAny(samples.idleBytes),
    loadedBytes: ifAny(samples.loadedBytes),
    failures: samples.failures,
  };
}

export function rotated<T>(values: readonly T[], by: number): readonly T[] {
  const at = by % values.length;
  return [...values.slice(at), ...values.slice(0, at)];
}
