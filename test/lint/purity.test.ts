import { readdir, readFile } from 'node:fs/promises';
import test from '../helpers/test.ts';

const src = new URL('../../src/', import.meta.url);

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

/** None of them imports anything: structure.test.ts. */
const IMPORT_NOTHING =
  /\/(forges\/port\/(?:accounts|checks|command|conversations|forge|forge-error|forges|merged|postings|pull-request|question|status-context|yes-no)|common\/[\w-]+)\.ts$/;
/** A worker measures the processor time of its task. */
const OUTSIDE = /\bprocess\.(?!threadCpuUsage\b)|\bfetch\(|\bDate\.now\(|\bnew Date\(\)|Math\.random|new RegExp\(/g;

test('what judges does no I/O and imports only what imports nothing itself', async (t) => {
  t.true(files.length > 20);
  t.deepEqual((await Promise.all(files.map(impureIn))).flat(), []);
});

/** What a file imports or uses that it must not. */
async function impureIn(path: string): Promise<readonly string[]> {
  const text = await readFile(new URL(path, src), 'utf8');
  const imported = [...text.matchAll(/^(?:import|export) [^;]*?from '([^']+)';/gm)].map(([, from = '']) => from);
  const used = [...text.matchAll(OUTSIDE)].map(([use]) => use);
  return [...imported.filter((from) => !mayImport(path, from)), ...used].map((what) => `${path}: ${what}`);
}

function mayImport(path: string, from: string): boolean {
  if (from.startsWith('node:')) {
    return (WORKERS.test(path) ? WORKER_MODULES : ['node:crypto']).includes(from);
  }
  const { href } = new URL(from, new URL(path, src));
  const isPure = ['facts/', 'review/'].some((room) => href.startsWith(src.href + room));
  return !from.startsWith('.') || isPure || IMPORT_NOTHING.test(from);
}
