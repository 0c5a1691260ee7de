/**
 * `npm run test:merges`: people merge by all methods, past red statuses, by auto-merge and by pushing, on a real Gitea, while webhooks are
 * lost and the worker is killed. It exits with 1 if a merge is missing, recorded twice, or `passed` that was not. `--short` takes a fifth.
 * TEST_SEED draws other actions.
 */
import type pg from 'pg';
import { type MergeRow, type Outcome, readMerges } from '../../src/audit/merges.ts';
import { recordDone } from '../../src/jobs/tables/progress.ts';
import { realForge } from '../forge/real.ts';
import { makeMigratedDatabase, openPool, sharedRedisUrl } from '../helpers/database.ts';
import { SECRET } from '../helpers/door.ts';
import { startGitea } from '../helpers/gitea.ts';
import type { Gitea } from '../helpers/gitea-container.ts';
import { type GatehouseProcess, gatehouse, portsOf } from '../helpers/process.ts';
import { readStoredBodies } from '../helpers/stored-bodies.ts';
import { eventually } from '../helpers/until.ts';
import { randomOf, SEED } from '../simulated-forge/api/seed.ts';
import { POLICY, playScenario, type Truth } from './scenario.ts';

const REPOSITORIES = process.argv.includes('--short') ? 1 : 5;
const PARALLEL = 2;
/** In each repository: 100 merges in all, 20 past a red status, 50 by themselves, and 10 pushes. */
const AMOUNTS = { merges: 20, bypasses: 4, autoMerges: 10, pushes: 2 };
const ACTIONS = REPOSITORIES * Object.values(AMOUNTS).reduce((sum, amount) => sum + amount);
const ACTIONS_A_LINE = 20;

/** What may be recorded of each kind. A success and a merge of the same second cannot be told apart. */
const RIGHT: Readonly<Record<'green' | 'red' | 'auto', readonly Outcome[]>> = {
  green: ['passed', 'unclear'],
  auto: ['passed', 'unclear'],
  red: ['bypassed'],
};

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
  const installation = await startInstallation(gitea, database.url);
  process.stdout.write(`TEST_SEED=${SEED}\n`);
  let done = 0;
  const acted = () => {
    done += 1;
    if (done % ACTIONS_A_LINE === 0 || done === ACTIONS) {
      process.stdout.write(`${done} of ${ACTIONS} actions\n`);
    }
  };
  const faults: string[] = [];
  const counts = new Map<string, number>();
  const waiting = Array.from({ length: REPOSITORIES }, (_, index) => index);
  const play = async () => {
    for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
      const site = await forge.site({ '.gatehouse.yml': POLICY });
      await site.hook(installation.port, SECRET);
      const random = randomOf(SEED + index);
      const { restartWorker } = installation;
      const truth = await playScenario({ gitea, site, random, restartWorker, acted }, AMOUNTS);
      faults.push(...compare(await recorded(pool, site.repository, truth), truth, counts));
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, play));
  installation.end();
  await pool.end();
  await forge.close();
  for (const [what, amount] of [...counts].toSorted()) {
    process.stdout.write(`${String(amount).padStart(5)} ${what}\n`);
  }
  process.stdout.write(faults.map((fault) => `wrong: ${fault}\n`).join(''));
  process.stdout.write(`${ACTIONS} actions, ${faults.length} wrong\n`);
  return faults.length === 0 ? 0 : 1;
}

async function startInstallation(gitea: Gitea, databaseUrl: string) {
  const environment = {
    DATABASE_URL: databaseUrl,
    REDIS_URL: await sharedRedisUrl(),
    FORGE: 'gitea',
    FORGE_URL: gitea.url,
    FORGE_TOKEN: gitea.tokens.gatehouse,
    WEBHOOK_SECRET: SECRET,
    HOST: '0.0.0.0',
    DRAIN_SECONDS: '0',
    RESYNC_MINUTES: '1',
  };
  const start = async (command: string): Promise<GatehouseProcess> => {
    const running = gatehouse([command], { ...environment, PORT: '0', METRICS_PORT: '0' });
    await portsOf(running);
    return running;
  };
  const door = await start('serve');
  let worker = await start('work');
  let killing = Promise.resolve();
  return {
    port: (await portsOf(door)).port,
    restartWorker() {
      killing = killing.then(async () => {
        worker.child.kill('SIGKILL');
        await worker.ended();
        worker = await start('work');
      });
      return killing;
    },
    end() {
      for (const { child } of [door, worker]) {
        child.kill('SIGKILL');
      }
    },
  };
}

/** Once a resync has found what webhooks did not tell. Gitea drops those that still wait when webhooks end. */
async function recorded(pool: pg.Pool, repository: string, { pulls, pushes }: Truth): Promise<readonly MergeRow[]> {
  const received = (await readStoredBodies(pool)).map(({ body }) => body.toString()).join();
  const told = pushes.filter((sha) => new RegExp(`"after":\\s*"${sha}"`).test(received));
  const missing = (rows: readonly MergeRow[]) => [
    ...[...pulls.keys()].filter((number) => !rows.some(({ pullRequest }) => pullRequest === number)),
    ...told.filter((sha) => !rows.some(({ mergeSha }) => mergeSha === sha)),
  ];
  await eventually(`all merges of ${repository} are recorded`, async () => {
    await pool.query('UPDATE gatehouse.repositories SET due = true');
    await pool.query("DELETE FROM gatehouse.progress WHERE task = 'resync'");
    return missing(await readMerges(pool, { repository })).length === 0;
  });
  return readMerges(pool, { repository });
}

function compare(rows: readonly MergeRow[], { pulls, pushes }: Truth, counts: Map<string, number>): readonly string[] {
  const faults: string[] = [];
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1);
  const once = (what: string, right: readonly Outcome[], own: readonly MergeRow[]) => {
    const [row, ...others] = own;
    count(`${what}: ${row?.outcome ?? 'its webhook was lost'}`);
    if (others.length > 0 || (row !== undefined && !right.includes(row.outcome))) {
      faults.push(`${what}: ${JSON.stringify(own)}`);
    }
  };
  for (const [number, kind] of pulls) {
    once(
      kind,
      RIGHT[kind],
      rows.filter(({ pullRequest }) => pullRequest === number),
    );
  }
  for (const sha of pushes) {
    once(
      'pushed',
      ['direct'],
      rows.filter(({ pullRequest, mergeSha }) => pullRequest === null && mergeSha === sha),
    );
  }
  const strange = rows.filter(({ pullRequest, mergeSha }) =>
    pullRequest === null ? !pushes.includes(mergeSha ?? '') : !pulls.has(pullRequest),
  );
  return [...faults, ...strange.map((row) => `nobody did ${JSON.stringify(row)}`)];
}
