import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../test/helpers/free-port.ts';
import { type GatehouseProcess, gatehouse } from '../test/helpers/process.ts';
import { usageOf } from '../test/helpers/usage.ts';
import { type SimulatedForge, startSimulatedForge } from '../test/simulated-forge/simulated-forge.ts';
import { SECRET } from './contenders.ts';
import { type BenchDatabase, clearRedis } from './databases.ts';
import type { Plan, Say } from './plan.ts';
import { percentile, type Spread, spread } from './stats.ts';

export interface Reviews {
  /** Milliseconds from sending the webhook to the final status at the forge, one at a time, with the 99th percentile. */
  readonly webhookToStatus: Spread & { readonly p99: number };
  /** Until 95 % had their status, when all are started at once. */
  readonly perSecond: number;
  /** Seconds until the last of them had it. */
  readonly lastAfter: number;
  /**
   * Processor time of the worker for one of them, in milliseconds, once it is warm. Undefined where the system does not
   * tell. The forge, the door and what waits for the status are not in it.
   */
  readonly cpuMs: number | undefined;
}

const REPOSITORY = 'acme/widgets';
const POLICY = `version: 1
rules:
  - id: conventional-title
    require: { title: '^(feat|fix|docs): ' }
  - id: no-debugger
    forbid: { added_lines: '\\bdebugger\\b', in: ['**/*.ts'] }
`;
const POLL_MS = 1;
/** The job engine may skip a job for a minute, if another one of its key was active when it last counted. */
const GIVE_UP_MS = 150_000;
const MOST = 0.95;
/** So that a review and its job are finished before the next starts. */
const PAUSE_MS = 30;
/** A worker that makes no request for this long has nothing more to do. */
const QUIET_MS = 2_000;
/** What a review does after its status. */
const CPU_QUIET_MS = 500;

/** Door and worker in separate processes, the forge in this one: its time is part of the measurement. */
export async function measureReviews(database: BenchDatabase, plan: Pick<Plan, 'reviews'>, say: Say): Promise<Reviews> {
  await database.clear();
  const forge = await startSimulatedForge({ forge: 'github' });
  // A thousand reviews would use up GitHub's hourly rate limit.
  forge.rateLimit.remaining = Number.MAX_SAFE_INTEGER;
  forge.createRepository(REPOSITORY, { '.gatehouse.yml': POLICY });
  const numbers = Array.from({ length: plan.reviews }, (_, index) => {
    forge.commit(REPOSITORY, `topic-${index}`, { [`src/${index}.ts`]: 'one\ntwo\n' });
    return forge.openPullRequest(REPOSITORY, { head: `topic-${index}`, title: 'feat: begin' });
  });
  const door = await run('serve', database, forge);
  let worker = await run('work', database, forge);
  const tell = async (number: number, title: string) => {
    forge.edit(REPOSITORY, number, { title });
    const event = { kind: 'pull-request', number, action: 'edited' } as const;
    const details = { secret: SECRET, deliveryId: randomUUID() };
    const { status } = await forge.deliver(`http://127.0.0.1:${door.port}/webhook`, REPOSITORY, event, details);
    if (status !== 200) {
      throw new Error(`the door answered ${status}`);
    }
  };
  try {
    // The first review, with everything that is done only once, is not measured.
    for (const number of numbers) {
      await tell(number, 'feat: warm up');
    }
    await settled(forge, numbers, 'success');
    await quiet(forge);
    // The answers of the forge that the warm-up cached.
    await clearRedis(database.redisUrl);

    const times: number[] = [];
    for (const [index, number] of numbers.entries()) {
      const begin = performance.now();
      await tell(number, 'bad');
      await settled(forge, [number], 'failure');
      times.push(performance.now() - begin);
      await sleep(PAUSE_MS);
      if (index % 50 === 49) {
        say(`${index + 1}/${numbers.length} reviews, one at a time`);
      }
    }

    worker.process.child.kill('SIGTERM');
    await worker.process.finished;
    for (const number of numbers) {
      await tell(number, 'feat: all at once');
    }
    const begin = performance.now();
    worker = await run('work', database, forge);
    const seconds = () => (performance.now() - begin) / 1_000;
    const most = Math.ceil(numbers.length * MOST);
    await settled(forge, numbers, 'success', numbers.length - most);
    const perSecond = most / seconds();
    await settled(forge, numbers, 'success');
    const lastAfter = seconds();
    await quiet(forge);
    const cpuMs = await cpuOf(worker, numbers.length, async () => {
      for (const number of numbers) {
        await tell(number, 'bad again');
      }
      await settled(forge, numbers, 'failure');
      await sleep(CPU_QUIET_MS);
    });
    const sorted = Float64Array.from(times).sort();
    return { webhookToStatus: { ...spread(times), p99: percentile(sorted, 0.99) }, perSecond, lastAfter, cpuMs };
  } finally {
    for (const { process } of [door, worker]) {
      process.child.kill('SIGTERM');
      await process.finished;
    }
    await forge.stop();
  }
}

async function cpuOf(
  { process: { child } }: { readonly process: GatehouseProcess },
  reviews: number,
  act: () => Promise<void>,
): Promise<number | undefined> {
  const used = async () => (child.pid === undefined ? undefined : (await usageOf(child.pid))?.cpuSeconds);
  const before = await used();
  await act();
  const after = await used();
  return before === undefined || after === undefined ? undefined : ((after - before) / reviews) * 1_000;
}

async function run(
  role: 'serve' | 'work',
  database: BenchDatabase,
  forge: SimulatedForge,
): Promise<{ readonly process: GatehouseProcess; readonly port: number }> {
  const port = await freePort();
  const process = gatehouse([role], {
    DATABASE_URL: database.url,
    REDIS_URL: database.redisUrl,
    PORT: String(port),
    METRICS_PORT: '0',
    HOST: '127.0.0.1',
    DRAIN_SECONDS: '0',
    ...(role === 'serve' && { WEBHOOK_SECRET: SECRET }),
    ...(role === 'work' && { FORGE_URL: forge.url, FORGE_TOKEN: forge.token, RESYNC_MINUTES: '1440' }),
  });
  await process.logged('Gatehouse is listening');
  return { process, port };
}

function unsettled(forge: SimulatedForge, numbers: readonly number[], state: string): readonly number[] {
  return numbers.filter((number) => {
    const { headSha } = forge.pull(REPOSITORY, number);
    return forge.statuses(REPOSITORY, headSha).at(-1)?.state !== state;
  });
}

async function quiet(forge: SimulatedForge): Promise<void> {
  let before = -1;
  while (forge.count() !== before) {
    before = forge.count();
    await sleep(QUIET_MS);
  }
}

/** Waits until all but so many have this state. */
async function settled(forge: SimulatedForge, numbers: readonly number[], state: string, allBut = 0): Promise<void> {
  const deadline = performance.now() + GIVE_UP_MS;
  // The forge runs on this event loop, so polling must be cheap.
  while (unsettled(forge, numbers, state).length > allBut) {
    if (performance.now() > deadline) {
      throw new Error(`no ${state} within ${GIVE_UP_MS} ms`);
    }
    await sleep(numbers.length > 1 ? 50 : POLL_MS);
  }
}
