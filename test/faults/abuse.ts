/**
 * `npm run test:abuse`: malicious requests to a real door on real stores, while an ordinary sender
 * delivers. Ends with 1 when an ordinary delivery was not acknowledged, when the door held or kept more memory than it
 * may, or when an answer was not a safe one. Then a process reviews hostile policies, and is asked whether it is live: how long that
 * took is a figure, and any answer but 200 ends with 1. `--short` leaves out what takes long, `--only <text>` plays the abuses
 * whose names have the text.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import pg from 'pg';
import { migrateStores } from '../../src/composition/migrate-stores.ts';
import { inTime } from '../helpers/deadline.ts';
import { SECRET, sign } from '../helpers/door.ts';
import { gatehouse, portsOf } from '../helpers/process.ts';
import { startStores } from '../helpers/stores.ts';
import { tableOf } from '../helpers/table.ts';
import { usageOf } from '../helpers/usage.ts';
import { ABUSES, type Abuse } from './abuses.ts';
import type { Answers } from './ask-liveness.ts';
import { type Liveness, measureLiveness } from './liveness.ts';
import { untilReady } from './world.ts';

const MIB = 1024 * 1024;
/** Of bodies in memory at once, by the door's own account: how much more it takes depends on when it collects garbage. */
const BODIES_BOUND = 64 * MIB;
/** What may be left of it all. */
const MEMORY_BOUND = 200 * MIB;
const SAMPLE_MS = 100;
const ORDINARY_EVERY_MS = 50;
const SETTLE_MS = 1_000;
/** Of each kind; each takes the 2 seconds of processor time of a thread. */
const PULL_REQUESTS = 10;
const SHORT_PULL_REQUESTS = 3;

const COLUMNS = [
  ...['abuse', 'ordinary 200', 'slowest ms', 'live p99/slowest ms, not 200'],
  ...['resident MiB before/most/after', 'bodies MiB', 'answers'],
];

interface Row {
  readonly name: string;
  readonly answers: string;
  readonly ordinary: string;
  readonly slowestMs: number;
  /** Of `GET /health/live` beside it. */
  readonly live: Answers;
  /** Resident. */
  readonly memory: readonly [before: number, most: number, after: number];
  readonly bodies: number;
  readonly bad: boolean;
}

const {
  values: { short: isShort, only },
} = parseArgs({
  options: { short: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const say = (text: string) => process.stdout.write(`${text}\n`);
const chosen = ABUSES.filter(
  ({ name, short }) => (!isShort || short === true) && (only === undefined || name.includes(only)),
);

const stores = await startStores();
await migrateStores(stores.database.url);
const env = {
  DATABASE_URL: stores.database.url,
  REDIS_URL: stores.redis.url,
  WEBHOOK_SECRET: SECRET,
  HOST: '127.0.0.1',
  DRAIN_SECONDS: '0',
};
const door = gatehouse(['serve'], { ...env, PORT: '0', METRICS_PORT: '0' });
const rows: Row[] = [];
let liveness: Liveness | undefined;
let lost = -1;
let port = 0;
let metricsPort = 0;
try {
  ({ port, metricsPort } = await portsOf(door));
  await untilReady(port);
  const acknowledged = new Set<string>();
  for (let index = 0; index < 200; index++) {
    await deliver(`warm-${index}`, acknowledged);
  }
  for (const [index, abuse] of chosen.entries()) {
    say(`${index + 1}/${chosen.length}  ${abuse.name}`);
    const row = await play(abuse, acknowledged);
    say(`      ${row.answers}`);
    rows.push(row);
  }
  lost = await countLost(acknowledged);
  if (only === undefined) {
    say('liveness while policies use up the time of the threads');
    liveness = await measureLiveness(env, port, isShort ? SHORT_PULL_REQUESTS : PULL_REQUESTS);
  }
} finally {
  door.child.kill('SIGTERM');
  await door.ended();
  await stores.close();
}
printTable();
printLiveness();
if (lost !== 0 || rows.some(({ bad }) => bad) || (only === undefined && liveness?.bad !== false)) {
  process.exitCode = 1;
}

async function play(abuse: Abuse, acknowledged: Set<string>): Promise<Row> {
  const before = await resident();
  let most = before;
  let bodies = 0;
  let slowestMs = 0;
  let sent = 0;
  let good = 0;
  let over = false;
  const watch = async () => {
    for (; !over; await sleep(SAMPLE_MS)) {
      most = Math.max(most, await resident());
      bodies = Math.max(bodies, await heldBodies());
    }
  };
  const ordinary = async () => {
    for (; !over; await sleep(ORDINARY_EVERY_MS)) {
      const begin = performance.now();
      sent += 1;
      if (await deliver(`${abuse.name}-${sent}`.replaceAll(/[^\w-]/g, '.'), acknowledged)) {
        good += 1;
      }
      slowestMs = Math.max(slowestMs, performance.now() - begin);
    }
  };
  const beside = Promise.all([watch(), ordinary()]);
  const asking = new Worker(new URL('./ask-liveness.ts', import.meta.url), { workerData: [port] });
  const answered = once(asking, 'message');
  let failed = false;
  const answers = await abuse.make(port).catch((error: Error) => {
    failed = true;
    return `UNSAFE: ${error.message}`;
  });
  await sleep(SETTLE_MS);
  over = true;
  asking.postMessage('stop');
  await beside;
  const [[live]] = (await inTime('the thread that asks has ended', answered)) as [[Answers]];
  const after = await resident();
  const bad = failed || good !== sent || isDown(live) || bodies > BODIES_BOUND || after - before > MEMORY_BOUND;
  return {
    name: abuse.name,
    answers,
    ordinary: `${good}/${sent}`,
    slowestMs,
    live,
    memory: [before, most, after],
    bodies,
    bad,
  };
}

/** A live process says so, always. */
function isDown({ times, others }: Answers): boolean {
  return times.length === 0 || others.length > 0;
}

async function deliver(id: string, acknowledged: Set<string>): Promise<boolean> {
  const body = JSON.stringify({ id });
  const status = await fetch(`http://127.0.0.1:${port}/webhook`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'ping',
      'x-github-delivery': id,
      'x-hub-signature-256': sign(body),
    },
    body,
    signal: AbortSignal.timeout(10_000),
  }).then(
    (response) => response.status,
    () => 0,
  );
  if (status === 200) {
    acknowledged.add(id);
  }
  return status === 200;
}

/** Bytes. */
async function heldBodies(): Promise<number> {
  const page = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return Number(/^gatehouse_inflight_bytes (\d+)$/m.exec(page)?.[1]);
}

async function resident(): Promise<number> {
  return (await usageOf(door.child.pid ?? 0))?.residentBytes ?? 0;
}

async function countLost(acknowledged: ReadonlySet<string>): Promise<number> {
  const database = new pg.Client({ connectionString: stores.database.url });
  await database.connect();
  const { rows: stored } = await database.query<{ id: string }>('SELECT delivery_id AS id FROM gatehouse.deliveries');
  await database.end();
  const ids = new Set(stored.map(({ id }) => id));
  return [...acknowledged].filter((id) => !ids.has(id)).length;
}

function p99Of({ times }: Answers): number {
  return times[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

function printTable(): void {
  const mib = (bytes: number) => Math.round(bytes / MIB);
  const lines = rows.map(({ name, answers, ordinary, slowestMs, live, memory, bodies, bad }) => [
    ...[`${name} ${bad ? '!' : ''}`, ordinary, slowestMs.toFixed(0)],
    `${p99Of(live).toFixed(0)}/${(live.times.at(-1) ?? Number.NaN).toFixed(0)}, ${live.others.length}`,
    ...[memory.map(mib).join('/'), mib(bodies), answers],
  ]);
  say(`\n${tableOf([COLUMNS, ...lines])}`);
  say(`ordinary deliveries that were acknowledged and are not stored: ${lost}`);
}

function printLiveness(): void {
  if (liveness === undefined) {
    return;
  }
  const { busy, idle, ended, otherReviewMs, bad } = liveness;
  say(`\nGET /health/live while hostile policies are parsed and evaluated${bad ? ' !' : ''} (tasks ended: ${ended})`);
  const line = (what: string, answers: Answers) => {
    const { times, others } = answers;
    const slowest = times.at(-1) ?? Number.NaN;
    const not200 = `not 200: ${others.length}${others.length > 0 ? ` (${others[0]})` : ''}`;
    say(
      `${what}  200: ${times.length}  p99 ${p99Of(answers).toFixed(1)} ms  slowest ${slowest.toFixed(1)} ms  ${not200}`,
    );
  };
  line('reviewing', busy);
  line('idle     ', idle);
  say(`another repository’s review beside them: ${(otherReviewMs / 1_000).toFixed(1)} s (wanted: under 5 s)`);
}
