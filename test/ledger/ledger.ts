/**
 * `npm run test:ledger`: people merge, push and force-push on a real Gitea while webhooks are lost and the worker is killed. Afterwards
 * the ledger is compared with `git log --first-parent`. It exits with 1 unless nothing is missing and no outcome is wrong. `--short` takes
 * a tenth. TEST_SEED draws other actions.
 */
import type pg from 'pg';
import { recordDone } from '../../src/jobs/tables/progress.ts';
import { realForge } from '../forge/real.ts';
import type { TestForge } from '../forge/test-forge.ts';
import { makeMigratedDatabase, openPool, sharedRedisUrl } from '../helpers/database.ts';
import { SECRET } from '../helpers/door.ts';
import { startGitea } from '../helpers/gitea.ts';
import type { Gitea } from '../helpers/gitea-container.ts';
import { type GatehouseProcess, gatehouse, portsOf } from '../helpers/process.ts';
import { eventually } from '../helpers/until.ts';
import { randomOf, SEED } from '../simulated-forge/api/seed.ts';
import { compare, type Result } from './compare.ts';
import { giteaGround } from './gitea-ground.ts';
import { POLICY, playScenario, type Scenario } from './scenario.ts';

const REPOSITORIES = process.argv.includes('--short') ? 1 : 10;
const PARALLEL = 2;
/** In each repository: 200 merges in all, and 20 past a red status. */
const AMOUNTS = { merges: 20, bypasses: 2, pushes: 1, forcePushes: 1 };
/** Beside the merges of all kinds: the release branch, and the renaming. */
const ACTIONS = REPOSITORIES * (Object.values(AMOUNTS).reduce((sum, amount) => sum + amount) + 2);
const ACTIONS_A_LINE = 20;

const started = await startGitea();
if (typeof started === 'string') {
  throw new Error(`there is no Gitea, because ${started}`);
}
try {
  process.exitCode = await run(started.gitea);
} finally {
  await started.close();
}

async function run(gitea: Gitea): Promise<number> {
  const forge = realForge(gitea);
  const database = await makeMigratedDatabase();
  const pool = openPool(database.url);
  await recordDone(pool, 'list-repositories');
  const environment = {
    DATABASE_URL: database.url,
    REDIS_URL: await sharedRedisUrl(),
    FORGE: 'gitea',
    FORGE_URL: gitea.url,
    FORGE_TOKEN: gitea.tokens.gatehouse,
    WEBHOOK_SECRET: SECRET,
    HOST: '0.0.0.0',
    DRAIN_SECONDS: '0',
    LEDGER_SETTLE_SECONDS: '3',
    RESYNC_MINUTES: '1',
  };
  const start = async (command: string): Promise<GatehouseProcess> => {
    const running = gatehouse([command], { ...environment, PORT: '0', METRICS_PORT: '0' });
    await portsOf(running);
    return running;
  };
  const door = await start('serve');
  const { port } = await portsOf(door);
  let worker = await start('work');
  let killing = Promise.resolve();
  const restartWorker = () => {
    killing = killing.then(async () => {
      worker.child.kill('SIGKILL');
      await worker.ended();
      worker = await start('work');
    });
    return killing;
  };
  process.stdout.write(`TEST_SEED=${SEED}\n`);
  const counts = new Map<string, number>();
  let done = 0;
  const acted = () => {
    done += 1;
    if (done % ACTIONS_A_LINE === 0 || done === ACTIONS) {
      process.stdout.write(`${done} of ${ACTIONS} actions\n`);
    }
  };
  const results: Result[] = [];
  const waiting = Array.from({ length: REPOSITORIES }, (_, index) => index);
  const play = async () => {
    for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
      results.push(...(await playOne({ gitea, forge, pool, port, index, counts, restartWorker, acted })));
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, play));
  for (const child of [door.child, worker.child]) {
    child.kill('SIGKILL');
  }
  await pool.end();
  await forge.close();
  return report(counts, results);
}

interface OneParts extends Pick<Scenario, 'counts' | 'restartWorker'> {
  readonly gitea: Gitea;
  readonly forge: TestForge;
  readonly pool: pg.Pool;
  readonly port: number;
  readonly index: number;
  readonly acted: () => void;
}

async function playOne({ gitea, forge, pool, port, index, acted, ...deps }: OneParts): Promise<readonly Result[]> {
  const site = await forge.site({ '.gatehouse.yml': POLICY });
  await site.hook(port, SECRET);
  const ground = giteaGround(gitea, site);
  const truths = await playScenario({ ...deps, ground, random: randomOf(SEED + index) }, AMOUNTS, acted);
  const results: Result[] = [];
  for (const truth of truths) {
    const tip = await ground.tip(truth.branch);
    await eventually(`the ledger of ${site.repository} has ${truth.branch} at ${tip}`, async () => {
      // As the next resync and its hour would.
      await pool.query('UPDATE gatehouse.repositories SET due = true, ledger_due = true');
      await pool.query("DELETE FROM gatehouse.progress WHERE task = 'resync'");
      const { rowCount } = await pool.query(
        `SELECT FROM gatehouse.ledger_branches b JOIN gatehouse.ledger_chains c USING (chain)
          WHERE c.repository = $1 AND branch = $2 AND tip = $3`,
        [site.repository, truth.branch, tip],
      );
      return rowCount === 1;
    });
    const result = await compare(ground, pool, truth);
    process.stdout.write(`${site.repository} ${truth.branch}: ${result.commits} commits compared\n`);
    results.push(result);
  }
  return results;
}

function report(counts: ReadonlyMap<string, number>, results: readonly Result[]): number {
  const sum = (of: (result: Result) => number) => results.reduce((total, result) => total + of(result), 0);
  for (const [what, amount] of [...counts].toSorted()) {
    process.stdout.write(`${String(amount).padStart(5)} ${what}\n`);
  }
  process.stdout.write(`${String(sum(({ taken }) => taken)).padStart(5)} taken away after a webhook had named it\n`);
  const [missing, wrong] = [results.flatMap((one) => one.missing), results.flatMap((one) => one.wrong)];
  for (const line of [...missing.map((sha) => `missing: ${sha}`), ...wrong.map((text) => `wrong: ${text}`)]) {
    process.stdout.write(`${line}\n`);
  }
  process.stdout.write(
    `${sum(({ commits }) => commits)} commits, ${missing.length} missing, ${wrong.length} wrong outcomes\n`,
  );
  return missing.length + wrong.length === 0 ? 0 : 1;
}
