/**
 * `npm test`: one pair of stores for all test files, and a real Gitea where TEST_FORGE asks for one, then AVA with the
 * arguments given, then one closing line, `N passed, N failed`. With `--second-run`, test files that failed run once more.
 * Where TEST_RESULT names a file, the closing lines are written to it, too.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { asksForGitea, GITEA_VARIABLE, type OwnGitea, startGitea } from './helpers/gitea.ts';
import { removeGroups, writeGroups } from './helpers/groups.ts';
import { runAva } from './helpers/run-ava.ts';
import { keepFindings, runAgain } from './helpers/second-run.ts';
import { type Stores, startStores } from './helpers/stores.ts';
import { type Outcome, summarize } from './helpers/summary.ts';
import { NOTHING } from './helpers/tally.ts';
import { summarizeExchanges } from './simulated-forge/api/exchanges.ts';

const SECOND_RUN = '--second-run';
const FINDINGS = fileURLToPath(new URL('../.findings', import.meta.url));

/**
 * What Node has compiled, for every process and thread of the run: half of what it costs to start one. Not while coverage
 * is counted, which is less exact for functions from a cache.
 */
if (process.env['NODE_V8_COVERAGE'] === undefined) {
  process.env['NODE_COMPILE_CACHE'] ??= fileURLToPath(new URL('../node_modules/.cache/compiled', import.meta.url));
} else {
  process.env['NODE_DISABLE_COMPILE_CACHE'] = '1';
}

/** What the simulated forges checked against their published descriptions. */
const exchanges = join(mkdtempSync(join(tmpdir(), 'exchanges-')), 'checked.jsonl');

let outcome: Outcome = { counts: NOTHING, exitCode: 1, closing: [] };
try {
  const [stores, gitea] = await Promise.all([startStores({ inMemory: true }), giteaOfTheRun()]);
  outcome = await run(stores, gitea);
  await Promise.all([stores.close(), gitea?.close()]);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  outcome = { ...outcome, exitCode: outcome.exitCode || 1 };
}
removeGroups();
process.stdout.write(summarizeExchanges(exchanges));
const summary = summarize(outcome);
process.stdout.write(summary.lines);
if (process.env['TEST_RESULT'] !== undefined) {
  writeFileSync(process.env['TEST_RESULT'], summary.lines);
}
// Whatever did not close may not keep this process.
process.exit(summary.exitCode);

async function giteaOfTheRun(): Promise<OwnGitea | undefined> {
  if (!asksForGitea()) {
    return undefined;
  }
  const outcome = await startGitea();
  if (typeof outcome === 'string') {
    throw new Error(`TEST_FORGE=gitea, but ${outcome}`);
  }
  process.stderr.write(`forge: Gitea ${outcome.gitea.version} in a container\n`);
  return outcome;
}

async function run(stores: Stores, gitea: OwnGitea | undefined): Promise<Outcome> {
  const args = process.argv.slice(2).filter((argument) => argument !== SECOND_RUN);
  const inGroups = args.length === 0 && process.env['TEST_FILES'] === undefined;
  const env = {
    TEST_STORES: stores.kind,
    TEST_EXCHANGES: exchanges,
    TEST_DATABASE_URL: stores.database.url,
    TEST_REDIS_URL: stores.redis.url,
    ...(gitea === undefined ? {} : { [GITEA_VARIABLE]: JSON.stringify(gitea.gitea) }),
  };
  const first = await runAva(args, inGroups ? { ...env, TEST_FILES: writeGroups().join(',') } : env);
  const findings = keepFindings(first.tally.failures(), about(stores), FINDINGS);
  const ended = first.endedBy === undefined ? findings : [first.endedBy, ...findings];
  if (first.exitCode === 0 || !process.argv.includes(SECOND_RUN)) {
    return { counts: first.tally.counts(), exitCode: first.exitCode, closing: ended };
  }
  const options = args.filter((argument) => !argument.endsWith('.ts'));
  const outcome = await runAgain(first, (file, signal) => {
    process.stdout.write(`\nonce more, by itself: ${file}\n`);
    return runAva([file, ...options], env, { signal });
  });
  return { ...outcome, closing: [...ended, ...outcome.closing] };
}

/** Of the machine and the run, for whoever looks into a finding. The variables that draw something are named after seeds. */
function about(stores: Stores): Readonly<Record<string, string>> {
  return {
    at: new Date().toISOString(),
    commit: spawnSync('git', ['describe', '--always', '--dirty'], { encoding: 'utf8' }).stdout?.trim() ?? 'unknown',
    stores: stores.description,
    node: process.version,
    load: loadavg()
      .map((load) => load.toFixed(1))
      .join(' '),
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => name.endsWith('_SEED'))),
  };
}
