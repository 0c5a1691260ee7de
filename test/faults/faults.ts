/**
 * `npm run test:faults`: each fault is made to the real processes on real stores, under load. Then it counts the
 * outcomes of all deliveries that were acknowledged. `--short` runs only the most important ones; `--only <text>`
 * those whose name contains it; `--large` plays the outage of the door at twice its size. Ends with 1 when anything was lost, doubled, left without its verdict or did not
 * recover.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { unavailable } from '../helpers/docker.ts';
import { type Stores, startStores } from '../helpers/stores.ts';
import { tableOf } from '../helpers/table.ts';
import { usageOf } from '../helpers/usage.ts';
import type { Case } from './case.ts';
import { CASES, untilRecovered } from './cases.ts';
import { OUTAGE, type Outage, playOutage } from './outage.ts';
import { countLosses } from './verify.ts';
import { watchHealth } from './watch-health.ts';
import { makeWorld, unsettledPullRequests, type World } from './world.ts';

const STEADY_MS = 2_000;
/** A job whose worker is gone is noticed after its heartbeat's 15 s, a supervisor's 10 s and a retry's delay. */
const VERDICTS_MS = 120_000;
const POLL_MS = 100;
const MIB = 1024 * 1024;

const COLUMNS = [
  ...['fault', 'acked', 'lost', 'doubled', 'no verdict', 'healthy after s'],
  ...['memory MiB', 'not acknowledged; health said meanwhile'],
];

const OUTAGE_NAME = 'the door is away for an hour';
/** Of GitHub's 5,000 in an hour. */
const MAX_OUTAGE_REQUESTS = 5_000;

interface Row {
  readonly name: string;
  readonly acknowledged: number;
  readonly lost: number;
  readonly duplicates: number;
  readonly withoutVerdict: number;
  readonly refused: string;
  /** What `/health` of the door said, from the fault to the end. */
  readonly health: string;
  readonly recoveredSeconds: number;
  readonly memory: string;
  readonly fault?: string;
}

const { values } = parseArgs({
  options: {
    short: { type: 'boolean', default: false },
    large: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const chosen = CASES.filter(
  ({ name, short }) => (!values.short || short === true) && (values.only === undefined || name.includes(values.only)),
);
const say = (text: string) => process.stdout.write(`${text}\n`);

const rows: Row[] = [];
const leftOut: [name: string, reason: string][] = [];
const stores = await startStores();
let outage: Outage | undefined;
try {
  if (values.only === undefined || OUTAGE_NAME.includes(values.only)) {
    say(OUTAGE_NAME);
    Object.assign(process.env, { TEST_DATABASE_URL: stores.database.url, TEST_REDIS_URL: stores.redis.url });
    outage = await playOutage(OUTAGE[values.large ? 'large' : values.short ? 'short' : 'full']);
    say(`      ${describeOutage(outage)}`);
  }
  for (const [index, chosenCase] of chosen.entries()) {
    const lacking = await unavailable(chosenCase.images ?? [], { pulls: true });
    if (chosenCase.images !== undefined && lacking !== undefined) {
      say(`${index + 1}/${chosen.length}  ${chosenCase.name}: left out, because ${lacking}`);
      leftOut.push([chosenCase.name, lacking]);
      continue;
    }
    say(`${index + 1}/${chosen.length}  ${chosenCase.name}`);
    const row = await play(chosenCase, stores).catch((error: Error) => unfinished(chosenCase.name, error));
    say(`      ${sentence(row)}`);
    rows.push(row);
  }
} finally {
  await stores.close();
}
if (rows.length > 0) {
  printTable(rows);
}
if (outage !== undefined) {
  say(`${OUTAGE_NAME}: ${describeOutage(outage)}`);
}
// Whatever a fault may have left open must not keep the answer back.
process.exit(rows.some(isBad) || (outage !== undefined && isBadOutage(outage)) ? 1 : 0);

/** Of a case that could not be played to its end. The others are played all the same. */
function unfinished(name: string, { message }: Error): Row {
  const nothing = { acknowledged: 0, lost: 0, duplicates: 0, withoutVerdict: 0, recoveredSeconds: 0 };
  return { name, ...nothing, refused: '', health: '', memory: '', fault: message };
}

async function play({ name, options, make }: Case, on: Stores): Promise<Row> {
  const world = await makeWorld(on, options);
  try {
    await sleep(STEADY_MS);
    const before = await memoryOf(world);
    const health = watchHealth(world);
    await make(world);
    const over = performance.now();
    let fault: string | undefined;
    await untilRecovered(world).catch((error: Error) => {
      fault = error.message;
    });
    const recoveredSeconds = (performance.now() - over) / 1_000;
    await sleep(STEADY_MS);
    await world.client.finish();
    const withoutVerdict = await untilSettled(world);
    const after = await memoryOf(world);
    return {
      name,
      acknowledged: world.client.acknowledged.size,
      ...(await countLosses(world.database, world.client, world.forge)),
      withoutVerdict,
      refused: [...world.client.refusals].map(([what, times]) => `${times} × ${what}`).join(', ') || '0',
      health: await health.stop(),
      recoveredSeconds,
      memory: `${before} → ${after}`,
      ...(fault !== undefined && { fault }),
    };
  } finally {
    await world.close();
  }
}

/** How many pull requests still have no right verdict when there was time enough. */
async function untilSettled({ forge }: World): Promise<number> {
  const deadline = performance.now() + VERDICTS_MS;
  while (unsettledPullRequests(forge).length > 0 && performance.now() < deadline) {
    await sleep(POLL_MS);
  }
  return unsettledPullRequests(forge).length;
}

/** Door and worker, in MiB. */
async function memoryOf({ door, worker }: World): Promise<string> {
  const used = await Promise.all([door, worker].map(({ process }) => usageOf(process.child.pid ?? 0)));
  return used.map((usage) => (usage === undefined ? '?' : Math.round(usage.residentBytes / MIB))).join('+');
}

function isBad({ lost, duplicates, withoutVerdict, fault }: Row): boolean {
  return lost + duplicates + withoutVerdict > 0 || fault !== undefined;
}

function isBadOutage({ seconds, requests, falseGreen, recentFirst }: Outage): boolean {
  const isSlowOrWrong = seconds === undefined || requests >= MAX_OUTAGE_REQUESTS || falseGreen > 0;
  return isSlowOrWrong || recentFirst <= 1 / 2;
}

function describeOutage({ seconds, requests, writes, falseGreen, recentFirst, wrong, size }: Outage): string {
  const missed = `${size.deliveries} deliveries missed about ${size.pullRequests} pull requests in ${size.repositories} repositories`;
  const end = seconds === undefined ? `not right in time: ${wrong.join('; ')}` : `right after ${seconds.toFixed(1)} s`;
  return `${missed}: ${end}, ${requests} requests, ${writes} of them writes, ${falseGreen} false green, ${Math.round(recentFirst * 100)} % of the pairs of repositories in the order of the latest changes`;
}

function sentence({ acknowledged, lost, duplicates, withoutVerdict, fault }: Row): string {
  const counts = `${acknowledged} acknowledged, ${lost} lost, ${duplicates} doubled, ${withoutVerdict} without verdict`;
  return fault === undefined ? counts : `${counts}; did not recover: ${fault}`;
}

function printTable(all: readonly Row[]): void {
  const lines = all.map((row) => [
    ...[row.name, row.acknowledged, row.lost, row.duplicates, row.withoutVerdict],
    row.fault === undefined ? row.recoveredSeconds.toFixed(1) : 'never',
    ...[row.memory, `${row.refused}; ${row.health}`],
  ]);
  say(`\n${tableOf([COLUMNS, ...lines])}`);
  for (const [name, reason] of leftOut) {
    say(`${name}: left out, because ${reason}`);
  }
  say('lost: acknowledged and not stored, or with other bytes. memory: resident MiB of door+worker, before → after.');
  say('not acknowledged: what the client was answered instead, before it sent the same delivery again.');
}
