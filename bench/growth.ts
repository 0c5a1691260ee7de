/**
 * `npm run bench:growth`: what a table of one and of five million deliveries costs, beside an empty one, on this machine, in one
 * run. Prints a table, and exits with 1 when a target was missed. `--quick` uses fewer rows; its figures are no evidence.
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { gatehouse } from '../test/helpers/process.ts';
import { type Stores, startStores } from '../test/helpers/stores.ts';
import { type Compared, compareWithEmpty, type GrowthBench, type GrowthPlan } from './growth-figures.ts';
import { fillTo } from './growth-fill.ts';
import { fillRecord } from './growth-record.ts';
import { measureCommands, measureRetention } from './growth-side-figures.ts';
import { describeMachine, load } from './machine.ts';

const FULL: GrowthPlan = { sizes: [1_000_000, 5_000_000], rounds: 3, warmupSeconds: 2, seconds: 4, reviews: 20 };
const QUICK: GrowthPlan = { sizes: [100_000, 200_000], rounds: 1, warmupSeconds: 1, seconds: 2, reviews: 10 };

/** What a measurement must not find of the one before it, such as jobs for repositories that the simulated forge does not have. */
const BESIDE = ['gatehouse_jobs.job', 'gatehouse.hooks', 'gatehouse.repositories', 'gatehouse.reviews'];

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const plan = values.quick ? QUICK : FULL;
const began = performance.now();
const say = (text: string) => {
  process.stderr.write(`${((performance.now() - began) / 1_000).toFixed(0).padStart(5)} s  ${text}\n`);
};
const loadAtBegin = load();
const stores = await startStores();
try {
  process.exitCode = (await run()) ? 0 : 1;
} finally {
  await stores.close();
}

/** True when every target was met. */
async function run(): Promise<boolean> {
  const empty = await prepare(stores, 'growth_empty', [...BESIDE, 'gatehouse.deliveries', 'gatehouse.frames']);
  const grown = await prepare(stores, 'growth_grown', BESIDE);
  const rows: Compared[] = [];
  for (const size of plan.sizes) {
    await fillTo(grown.databaseUrl('gatehouse'), size, say);
    await fillRecord(grown.databaseUrl('gatehouse'), size, say);
    rows.push(...(await compareWithEmpty({ empty, grown, size, plan, say })));
    rows.push(...(await measureCommands(grown, size, say)));
    rows.push(...(await measureRetention(grown, size, plan, say)));
  }
  const command = `npm run bench:growth${values.quick ? ' -- --quick' : ''}`;
  process.stdout.write(
    `Machine: ${describeMachine()}\nStores: ${stores.description}\nCommand: ${command}\n` +
      `Load average: ${loadAtBegin} at the beginning, ${load()} at the end\n\n` +
      '| Deliveries stored | | Empty | Grown | Wanted | |\n|--:|---|--:|--:|--:|---|\n' +
      rows
        .map(({ size, what, before, after, target }) => {
          const verdict = target === undefined ? '| ' : `${target.wanted} | ${target.met ? 'met' : '**missed**'}`;
          return `| ${size.toLocaleString('en')} | ${what} | ${before} | ${after} | ${verdict} |\n`;
        })
        .join(''),
  );
  return rows.every(({ target }) => target?.met ?? true);
}

/** A migrated database. */
async function prepare({ database, redis }: Stores, name: string, emptied: readonly string[]): Promise<GrowthBench> {
  const admin = new pg.Pool({ connectionString: database.url, max: 1 });
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  const url = new URL(database.url);
  url.pathname = name;
  const { code, stdout, stderr } = await gatehouse(['migrate'], { DATABASE_URL: url.href }).finished;
  if (code !== 0) {
    throw new Error(`gatehouse migrate failed: ${stdout}${stderr}`);
  }
  return {
    redisUrl: redis.url,
    databaseUrl: () => url.href,
    async clear() {
      const client = new pg.Client({ connectionString: url.href });
      await client.connect();
      await client.query(`TRUNCATE ${emptied.join(', ')}`);
      await client.end();
    },
  };
}
