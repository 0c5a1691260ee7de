import { readdir, readFile } from 'node:fs/promises';
import test from '../../helpers/test.ts';

const src = new URL('../../../src/', import.meta.url);

/** Written by others, and meant to talk to the forge. */
const POSTING = new Set(['review/report.ts']);

/** What hands the same pure work to workers. */
const WORKERS = /^review\/workers\//;
const WORKER_MODULES: readonly string[] = [
  'node:worker_threads',
  'node:timers/promises',
  'node:v8',
  'node:crypto',
  'node:path',
];

const files = (await readdir(src, { recursive: true })).filter(
  (path) => /^(?:facts|review)\/.*\.ts$/.test(path) && !POSTING.has(path),
);

for (const path of files) {
  test(`src/${path} does no I/O and imports only what imports nothing itself`, async (t) => {
    const text = await readFile(new URL(path, src), 'utf8');
    for (const [, from = ''] of text.matchAll(/^(?:import|export) [^;]*?from '([^']+)';/gm)) {
      if (from.startsWith('node:')) {
        t.true((WORKERS.test(path) ? WORKER_MODULES : ['node:crypto']).includes(from), from);
      }
      if (
        from.startsWith('.') &&
        !/^src\/(?:facts|review)\//.test(
          new URL(from, new URL(path, src)).href.split('/src/').at(-1)?.replace(/^/, 'src/') ?? '',
        )
      ) {
        // None of them imports anything: structure.test.ts.
        t.regex(
          from,
          /\/(forges\/port\/(?:accounts|checks|command|conversations|forge|forge-error|forges|merged|postings|pull-request|question|status-context|yes-no)|common\/[\w-]+)\.ts$/,
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
