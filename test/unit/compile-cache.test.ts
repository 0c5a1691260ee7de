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

test('compiled modules are kept for a process and its threads', async (t) => {
  const folder = join(temporary, 'cache');
  const { ofProcess, ofThread, stderr } = await keepIn(folder);
  t.true(ofProcess?.startsWith(folder));
  t.true(ofThread?.startsWith(folder));
  t.is(stderr, '');
  t.true((await readdir(folder)).length > 0);
});

test('compiled modules are kept where the user wants them, or nowhere', async (t) => {
  const folder = join(temporary, 'own');
  const named = await keepIn(folder, { NODE_COMPILE_CACHE: join(temporary, 'named') });
  t.true(named.ofProcess?.startsWith(join(temporary, 'named')));
  t.true(named.ofThread?.startsWith(join(temporary, 'named')));
  const { ofProcess, ofThread } = await keepIn(folder, { NODE_DISABLE_COMPILE_CACHE: '1' });
  t.is(ofProcess ?? ofThread, null);
  await t.throwsAsync(readdir(folder), { code: 'ENOENT' });
});

test('a folder that cannot be written stops no command, and prints nothing', async (t) => {
  // A file in its place, and a file system of the kernel: root may write into any other folder.
  const file = join(temporary, 'file');
  await writeFile(file, '');
  for (const folder of [file, join(file, 'below'), '/sys/gatehouse']) {
    t.deepEqual(await keepIn(folder), { ofProcess: null, ofThread: null, stderr: '' }, folder);
  }
});
