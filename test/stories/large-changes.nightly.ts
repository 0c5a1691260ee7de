import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { DOOR } from '../helpers/door.ts';
import { gatehouse } from '../helpers/process.ts';
import { tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { usageOf } from '../helpers/usage.ts';

const MIB = 1_048_576;
const MIB_IN: Readonly<Record<string, number>> = { Mi: 1, Gi: 1_024 };
const SAMPLE_MS = 50;

/** Just below the 16 MiB that are read of a list. One character outside Latin-1 doubles what a text takes in memory. */
const FILES = 1_500;
const TEXT = `語${'x'.repeat(90)}\n`.repeat(100);
const POLICY = `version: 1\nrules:\n  - { id: no-debugger, forbid: { added_lines: debugger } }\n`;

/** What a worker of the chart may use, and how many reviews it does at once. */
async function chartDefaults(): Promise<{ readonly limitMib: number; readonly concurrency: number }> {
  const values = parse(await readFile(new URL('../../charts/gatehouse/values.yaml', import.meta.url), 'utf8'));
  const { concurrency, resources } = values.worker;
  const [, amount, unit = ''] = /^(\d+)(\w+)$/.exec(resources.limits.memory) ?? [];
  return { limitMib: Number(amount) * (MIB_IN[unit] ?? Number.NaN), concurrency };
}

test('as many huge changes at once as a worker reviews stay within its memory limit', async (t) => {
  t.timeout(300_000);
  const { limitMib, concurrency } = await chartDefaults();
  await using story = await tellStory('github', { '.gatehouse.yml': POLICY }, {}, DOOR);
  const started = new Date();
  const env = { PORT: '0', METRICS_PORT: '0', HOST: '127.0.0.1', DRAIN_SECONDS: '0' };
  // In a container Node allows its heap half of the limit.
  const heap = { NODE_OPTIONS: `--max-old-space-size=${limitMib / 2}` };
  const limits = { WORKER_CONCURRENCY: String(concurrency), ...heap };
  const worker = gatehouse(['work'], { ...story.environment, ...env, ...limits });
  await worker.logged('Gatehouse is listening');
  await story.resynced(started);
  const numbers = Array.from({ length: concurrency }, (_, change) =>
    story.openSilently(
      Object.fromEntries(Array.from({ length: FILES }, (_, file) => [`src/${change}-${file}.ts`, TEXT])),
    ),
  );
  for (const number of numbers) {
    await story.tell({ kind: 'pull-request', number, action: 'opened' });
  }
  let over = false;
  let most = 0;
  const settled = story.settled().finally(() => {
    over = true;
  });
  while (!over) {
    most = Math.max(most, (await usageOf(worker.child.pid ?? 0))?.residentBytes ?? 0);
    await sleep(SAMPLE_MS);
  }
  await settled;
  t.log(`at most ${Math.round(most / MIB)} MiB`);
  t.true(most / MIB < limitMib, `${most / MIB} MiB of ${limitMib}`);
  t.deepEqual(
    numbers.map((number) => story.status(number)?.state),
    numbers.map(() => 'success'),
  );
  worker.child.kill('SIGTERM');
  t.is((await worker.ended()).code, 0);
});
