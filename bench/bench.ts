/**
 * `npm run bench`: compares Gatehouse's door with other servers, on this machine, in one run. Writes
 * docs/performance.md and docs/performance.svg; with `--quick` it is short, and prints the page instead. With `--kill` it counts
 * what each of them loses when it is killed, see kill.ts.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { startStores } from '../test/helpers/stores.ts';
import { renderChart } from './chart.ts';
import { prepareStores } from './contenders.ts';
import type { Figures } from './figures.ts';
import { benchKill } from './kill.ts';
import { killSectionOf, withKillSection } from './kill-report.ts';
import { describeMachine, load } from './machine.ts';
import { FULL, QUICK, TARGET_CONNECTIONS } from './plan.ts';
import { renderReport } from './report.ts';
import { measureReviews } from './reviews.ts';
import { measureDuplicates, measureIdle, measureLatency, measureStarts, measureStorage } from './side-figures.ts';
import { judgeTargets } from './targets.ts';
import { measureThroughput } from './throughput.ts';

const PAGE = new URL('../docs/performance.md', import.meta.url);

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, kill: { type: 'boolean', default: false } },
});
const plan = values.quick ? QUICK : FULL;
const began = performance.now();
const say = (text: string) => {
  process.stderr.write(`${((performance.now() - began) / 1_000).toFixed(0).padStart(5)} s  ${text}\n`);
};

await (values.kill ? benchKill(values.quick, say) : benchDoor());

async function benchDoor(): Promise<void> {
  const stores = await startStores();
  try {
    const bench = await prepareStores(stores);
    const figures = await measure(stores.description, bench);
    await bench.admin.end();
    const report = renderReport(figures, plan);
    if (values.quick) {
      process.stdout.write(report);
    } else {
      await writeFile(PAGE, withKillSection(report, killSectionOf(await readFile(PAGE, 'utf8'))));
      await writeFile(new URL('../docs/performance.svg', import.meta.url), renderChart(figures));
    }
    for (const { what, wanted, got, met } of judgeTargets(figures)) {
      say(`${met ? 'met   ' : 'MISSED'}  ${what}: ${got} (${wanted})`);
    }
  } finally {
    await stores.close();
  }
}

async function measure(description: string, bench: Awaited<ReturnType<typeof prepareStores>>): Promise<Figures> {
  const atBegin = load();
  const throughput = await measureThroughput(bench, plan, say);
  const most = throughput.find(({ name }) => name === 'gatehouse')?.perSecond.get(TARGET_CONNECTIONS)?.median ?? 0;
  const halfRate = most / 2;
  say('latency at half load');
  const half = await measureLatency(bench, plan, halfRate, say);
  say('latency when idle');
  const idle = await measureIdle(bench, plan, say);
  say('repeated deliveries');
  const duplicates = await measureDuplicates(bench, plan);
  say('bytes stored');
  const storage = await measureStorage(bench, plan);
  say('cold starts');
  const starts = await measureStarts(bench, plan);
  say('reviews');
  const reviews = await measureReviews(bench, plan, say);
  return {
    command: values.quick ? 'npm run bench -- --quick' : 'npm run bench',
    machine: describeMachine(),
    stores: description,
    loads: [atBegin, load()],
    throughput,
    halfRate,
    half,
    idle,
    duplicates,
    storage,
    starts,
    reviews,
  };
}
