/**
 * `npm test`: one pair of stores and one real Gitea for all test files, then AVA with the arguments given, then one
 * closing line, `N passed, N failed`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GITEA_VARIABLE, insistsOnGitea, type OwnGitea, startGitea } from './helpers/gitea.ts';
import { type Stores, startStores } from './helpers/stores.ts';
import { type Counts, summarize } from './helpers/summary.ts';
import { summarizeExchanges } from './simulated-forge/api/exchanges.ts';

/**
 * What Node has compiled, for every process and thread of the run: half of what it costs to start one. Not while coverage
 * is counted, which is less exact for functions from a cache.
 */
if (process.env['NODE_V8_COVERAGE'] === undefined) {
  process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url));
} else {
  process.env['NODE_DISABLE_COMPILE_CACHE'] = '1';
}
// A shell's exit code for a process that a signal ended.
const SIGNALLED = 128;

/** What the simulated forges checked against their published descriptions. */
const exchanges = join(mkdtempSync(join(tmpdir(), 'exchanges-')), 'checked.jsonl');

let counts: Counts | undefined;
let exitCode = 1;
try {
  const [stores, gitea] = await Promise.all([startStores({ inMemory: true }), giteaOfTheRun()]);
  exitCode = await runAva(stores, gitea);
  await Promise.all([stores.close(), gitea?.close()]);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  exitCode = exitCode === 0 ? 1 : exitCode;
}
process.stdout.write(summarizeExchanges(exchanges));
const summary = summarize(counts, exitCode);
process.stdout.write(`${summary.line}\n`);
process.exitCode = summary.exitCode;

/** Not started for a run of files that have no use for it. */
async function giteaOfTheRun(): Promise<OwnGitea | undefined> {
  const insists = insistsOnGitea();
  const files = process.argv.slice(2).filter((argument) => argument.endsWith('.ts'));
  if (files.length > 0 && !files.some((file) => file.includes('test/forge'))) {
    return undefined;
  }
  const outcome = await startGitea(insists);
  if (typeof outcome !== 'string') {
    process.stderr.write(`forge: Gitea ${outcome.gitea.version} in a container\n`);
    return outcome;
  }
  if (insists) {
    throw new Error(`TEST_FORGE=gitea, but ${outcome}`);
  }
  process.stderr.write(`forge: the tests on a real Gitea are left out, because ${outcome}\n`);
  return undefined;
}

async function runAva(stores: Stores, gitea: OwnGitea | undefined): Promise<number> {
  const ava = fileURLToPath(new URL('cli.js', import.meta.resolve('ava')));
  const child = spawn(process.execPath, [ava, ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: {
      ...process.env,
      TEST_STORES: stores.kind,
      TEST_EXCHANGES: exchanges,
      TEST_DATABASE_URL: stores.database.url,
      TEST_REDIS_URL: stores.redis.url,
      ...(gitea === undefined ? {} : { [GITEA_VARIABLE]: JSON.stringify(gitea.gitea) }),
    },
  });
  child.on('message', (message: Counts) => {
    counts = message;
  });
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  process.on('SIGINT', forward);
  process.on('SIGTERM', forward);
  const [code, signal]: [number | null, NodeJS.Signals | null] = await once(child, 'close').then(([code, signal]) => [
    code,
    signal,
  ]);
  return code ?? SIGNALLED + (signal === null ? 0 : constants.signals[signal]);
}
