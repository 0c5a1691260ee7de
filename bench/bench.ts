/**
 * `npm run bench`: compares Gatehouse's door with other servers, on this machine, in one run. Writes docs/performance.md; with
 * `--quick` it is short, and prints the page instead. With `--kill` it counts what each of them loses when it is killed, see kill.ts.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { startStores } from '../test/helpers/stores.ts';
import { createDatabases } from './contenders.ts';
import { benchKill } from './kill.ts';
import { killSectionOf, withKillSection } from './kill-report.ts';
import { measureLatency, measureStorage } from './latency.ts';
import { describeMachine, FULL, loadAverage, QUICK, say } from './plan.ts';
import { renderReport } from './report.ts';
import { measureReviews } from './reviews.ts';
import { measureSlowForge } from './slow-forge.ts';
import { type Figures, judgeTargets } from './targets.ts';
import { measureThroughput, spreadOf } from './throughput.ts';

const PAGE = new URL('../docs/performance.md', import.meta.url);
const IDLE_PER_SECOND = 20;

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    kill: { type: 'boolean', default: false },
  },
});
const plan = values.quick ? QUICK : FULL;

if (values.kill) {
  await benchKill(values.quick);
} else {
  await benchDoor();
}

async function benchDoor(): Promise<void> {
  const figures = await measure();
  const report = renderReport(figures, plan);
  if (values.quick) {
    process.stdout.write(report);
  } else {
    await writeFile(PAGE, withKillSection(report, killSectionOf(await readFile(PAGE, 'utf8'))));
  }
  for (const { what, wanted, got, met } of judgeTargets(figures)) {
    say(`${met ? 'met   ' : 'MISSED'}  ${what}: ${got} (${wanted})`);
  }
}

async function measure(): Promise<Figures> {
  await using closers = new AsyncDisposableStack();
  const stores = await startStores();
  closers.defer(() => stores.close());
  const databases = await createDatabases(stores);
  const atBegin = loadAverage();
  const throughput = await measureThroughput(databases, plan, say);
  const halfRate = (spreadOf(throughput, 'gatehouse', 'perSecond')?.median ?? 0) / 2;
  say('latency at half load');
  const half = await measureLatency(databases, plan, halfRate, say);
  say('latency when idle');
  const idle = await measureLatency(databases, plan, IDLE_PER_SECOND, say);
  say('bytes stored');
  const storage = await measureStorage(databases, plan);
  say('reviews');
  const reviews = await measureReviews(databases.gatehouse, plan, say);
  say('reviews on a slow forge');
  const slowForge = await measureSlowForge(databases.gatehouse);
  return {
    command: values.quick ? 'npm run bench -- --quick' : 'npm run bench',
    machine: describeMachine(),
    stores: stores.description,
    loads: [atBegin, loadAverage()],
    throughput,
    halfRate,
    half,
    idle,
    storage,
    reviews,
    slowForge,
  };
}
