import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execute } from '../helpers/execute.ts';
import test from '../helpers/test.ts';

/** Prints the folders of the process and of its thread. */
const PROGRAM = `
import { getCompileCacheDir } from 'node:module';
import { Worker } from 'node:worker_threads';
import { keepCompiled } from '${new URL('../../src/common/compile-cache.ts', import.meta.url)}';
keepCompiled(process.argv[1], process.env);
const ofThread = "import * as module from 'node:module'; import * as threads from 'node:worker_threads'; threads.parentPort.postMessage(module.getCompileCacheDir());";
new Worker(ofThread, { eval: true }).on('message', (folder) => console.log(JSON.stringify([getCompileCacheDir(), folder])));
`;

async function keepIn(folder: string, named: NodeJS.ProcessEnv = {}) {
  const args = ['--input-type=module', '-e', PROGRAM, '--', folder];
  const { stdout, stderr } = await execute(process.execPath, args, { env: { PATH: process.env['PATH'], ...named } });
  const [ofProcess = null, ofThread = null]: (string | null)[] = JSON.parse(stdout);
  return { ofProcess, ofThread, stderr };
}

let temporary: string;
test.before(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'gatehouse-compiled-'));
});
test.after.always(() => rm(temporary, { recursive: true }));

test('compiled modules are kept for a process and its threads, where the user wants them, or nowhere', async (t) => {
  const [folder, named, own] = [join(temporary, 'cache'), join(temporary, 'named'), join(temporary, 'own')];
  for (const [into, kept] of [
    [folder, await keepIn(folder)],
    [named, await keepIn(own, { NODE_COMPILE_CACHE: named })],
  ] as const) {
    t.true(kept.ofProcess?.startsWith(into));
    t.true(kept.ofThread?.startsWith(into));
    t.is(kept.stderr, '');
    t.true((await readdir(into)).length > 0);
  }
  t.like(await keepIn(own, { NODE_DISABLE_COMPILE_CACHE: '1' }), { ofProcess: null, ofThread: null });
  await t.throwsAsync(readdir(own), { code: 'ENOENT' });
});

test('a folder that cannot be written stops no command, and prints nothing', async (t) => {
  // A file in its place, and a file system of the kernel: root may write into any other folder.
  const file = join(temporary, 'file');
  await writeFile(file, '');
  for (const folder of [file, join(file, 'below'), '/sys/gatehouse']) {
    t.deepEqual(await keepIn(folder), { ofProcess: null, ofThread: null, stderr: '' }, folder);
  }
});
