import { readdir, readFile } from 'node:fs/promises';
import test from 'ava';

const review = new URL('../../../src/review/', import.meta.url);

/** Written by others, and meant to talk to the forge. */
const POSTING = new Set(['report.ts']);

/** What hands the same pure work to workers. */
const WORKERS = /^workers\//;
const WORKER_MODULES: readonly string[] = [
  'node:worker_threads',
  'node:timers/promises',
  'node:v8',
  'node:crypto',
  'node:path',
];

const files = (await readdir(review, { recursive: true })).filter((path) => path.endsWith('.ts') && !POSTING.has(path));

for (const path of files) {
  test(`src/review/${path} does no I/O and imports only what imports nothing itself`, async (t) => {
    const text = await readFile(new URL(path, review), 'utf8');
    for (const [, from = ''] of text.matchAll(/^(?:import|export) [^;]*?from '([^']+)';/gm)) {
      if (from.startsWith('node:')) {
        t.true((WORKERS.test(path) ? WORKER_MODULES : ['node:crypto']).includes(from), from);
      }
      if (from.startsWith('.') && !new URL(from, new URL(path, review)).href.startsWith(review.href)) {
        // None of them imports anything: structure.test.ts.
        t.regex(
          from,
          /\/(forges\/port\/(?:accounts|checks|command|conversations|forge|forge-error|forges|merged|postings|pull-request)|common\/[\w-]+)\.ts$/,
        );
      }
    }
    // A worker measures the processor time of its task.
    t.notRegex(
      text,
      /\bprocess\.(?!threadCpuUsage\b)|\bfetch\(|\bDate\.now\(|\bnew Date\(\)|Math\.random|new RegExp\(/,
    );
  });
}

test('there are files to look at', (t) => t.true(files.length > 20));
