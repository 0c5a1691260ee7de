/**
 * `npm run bench:growth`: what one and what twenty million deliveries cost, beside an empty one, on this machine, in one
 * run. Prints a table, and exits with 1 when a target was missed. `--quick` uses fewer rows; its figures are no
 * evidence. `--size` measures one size alone.
 */
import { parseArgs } from 'node:util';
import { startStores } from '../test/helpers/stores.ts';
import { createMigrated } from './databases.ts';
import { measureCommands } from './growth-commands.ts';
import { type Compared, compareWithEmpty, type GrowthPlan } from './growth-figures.ts';
import { fillTo } from './growth-fill.ts';
import { fillRecord } from './growth-record.ts';
import { measureRetention } from './growth-retention.ts';
import { describeMachine, loadAverage } from './plan.ts';
import { table } from './table.ts';

const FULL: GrowthPlan = { sizes: [1_000_000, 20_000_000], rounds: 3, warmupSeconds: 2, seconds: 4, reviews: 20 };
const QUICK: GrowthPlan = { sizes: [100_000, 200_000], rounds: 1, warmupSeconds: 1, seconds: 2, reviews: 10 };

/** What a measurement must not find of the one before it, such as jobs for repositories that the simulated forge does not have. */
const BESIDE = [
  'gatehouse_jobs.job',
  'gatehouse.hooks',
  'gatehouse.repositories',
  'gatehouse.seen_authors',
  'gatehouse.reviews',
];

const STORED = ['gatehouse.deliveries', 'gatehouse.frames', 'gatehouse.delivery_keys'];

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, size: { type: 'string' } } });
const usual = values.quick ? QUICK : FULL;
const plan = values.size === undefined ? usual : { ...usual, sizes: [Number(values.size)] };
const loadAtBegin = loadAverage();
const stores = await startStores();
try {
  process.exitCode = (await run()) ? 0 : 1;
} finally {
  await stores.close();
}

/** True when every target was met. */
async function run(): Promise<boolean> {
  const empty = await createMigrated(stores, 'growth_empty', [...BESIDE, ...STORED]);
  const grown = await createMigrated(stores, 'growth_grown', BESIDE);
  const compared: (Compared & { readonly size: number })[] = [];
  for (const size of plan.sizes) {
    await fillTo(grown.url, size);
    await fillRecord(grown.url, size);
    const found = [
      ...(await compareWithEmpty({ empty, grown }, plan)),
      ...(await measureCommands(grown)),
      ...(await measureRetention(grown, plan)),
    ];
    compared.push(...found.map((one) => ({ ...one, size })));
  }
  const rows = compared.map(({ size, what, before, after, target }) => {
    const verdict = target === undefined ? ['', ''] : [target.wanted, target.met ? 'met' : '**missed**'];
    return [size.toLocaleString('en'), what, before, after, ...verdict];
  });
  process.stdout.write(
    `Machine: ${describeMachine()}\nStores: ${stores.description}\n` +
      `Command: npm run bench:growth${process.argv.length > 2 ? ` -- ${process.argv.slice(2).join(' ')}` : ''}\n` +
      `Load average: ${loadAtBegin} at the beginning, ${loadAverage()} at the end\n\n` +
      `${table(['Deliveries stored', '', 'Empty', 'Grown', 'Wanted', ''], [1, 5], rows)}\n`,
  );
  return compared.every(({ target }) => target?.met ?? true);
}
