/**
 * `npm run test:ledger`: people merge, push and force-push on a real Gitea while webhooks are lost and the worker is killed. Afterwards
 * the ledger is compared with `git log --first-parent`. It exits with 1 unless nothing is missing and no outcome is wrong. `--short` takes
 * a tenth. SEED repeats the draws of a run.
 */
import type pg from 'pg';
import type { LedgerEntry } from '../../src/audit/ledger/entry.ts';
import { recordDone } from '../../src/jobs/tables/progress.ts';
import { realForge } from '../forge/real.ts';
import type { TestForge } from '../forge/test-forge.ts';
import { makeMigratedDatabase, openPool, sharedRedisUrl } from '../helpers/database.ts';
import { SECRET } from '../helpers/door.ts';
import { freePort } from '../helpers/free-port.ts';
import { startGitea } from '../helpers/gitea.ts';
import type { Gitea } from '../helpers/gitea-container.ts';
import { type GatehouseProcess, gatehouse } from '../helpers/process.ts';
import { eventually } from '../helpers/until.ts';
import { git, POLICY, playScenario, type Scenario, type Truth } from './scenario.ts';

const REPOSITORIES = process.argv.includes('--short') ? 1 : 10;
const PARALLEL = 2;
/** In each repository: 200 merges in all, and 20 past a red status. */
const AMOUNTS = { merges: 20, bypasses: 2, pushes: 1, forcePushes: 1 };
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000);

interface Result {
  readonly commits: number;
  readonly missing: readonly string[];
  readonly wrong: readonly string[];
}

const started = await startGitea(true);
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
  const port = await freePort();
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
  const start = async (command: string, own: string): Promise<GatehouseProcess> => {
    const running = gatehouse([command], { ...environment, PORT: own, METRICS_PORT: '0' });
    await running.logged('Gatehouse is listening');
    return running;
  };
  const door = await start('serve', String(port));
  let worker = await start('work', '0');
  let killing = Promise.resolve();
  const killWorker = () => {
    killing = killing.then(async () => {
      worker.child.kill('SIGKILL');
      await worker.finished;
      worker = await start('work', '0');
    });
    return killing;
  };
  process.stdout.write(`SEED=${seed}\n`);
  const counts = new Map<string, number>();
  const results: Result[] = [];
  const waiting = Array.from({ length: REPOSITORIES }, (_, index) => index);
  const play = async () => {
    for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
      results.push(...(await playOne({ gitea, forge, pool, port, index, counts, killWorker })));
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

interface OneParts extends Pick<Scenario, 'gitea' | 'counts' | 'killWorker'> {
  readonly forge: TestForge;
  readonly pool: pg.Pool;
  readonly port: number;
  readonly index: number;
}

async function playOne({ forge, pool, port, index, ...parts }: OneParts): Promise<readonly Result[]> {
  const site = await forge.site({ '.gatehouse.yml': POLICY });
  await site.hook(port, SECRET);
  const scenario = { ...parts, site, random: randomOf(seed + index) };
  const truths = await playScenario(scenario, AMOUNTS);
  const results: Result[] = [];
  for (const truth of truths) {
    const tip = await git(scenario, 'rev-parse', `refs/heads/${truth.branch}`);
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
    results.push(await compare(scenario, pool, truth));
  }
  return results;
}

/** The last entry of each commit, and what git says. */
async function compare(scenario: Scenario, pool: pg.Pool, { branch, outcomes, lost }: Truth): Promise<Result> {
  const { rows } = await pool.query<{ entry: string }>(
    `SELECT entry FROM gatehouse.ledger JOIN gatehouse.ledger_chains c USING (chain)
      WHERE c.repository = $1 ORDER BY ledger.position`,
    [scenario.site.repository],
  );
  const entries = rows.map(({ entry }) => JSON.parse(entry) as LedgerEntry);
  const own = entries.filter((entry) => entry.kind !== 'anchor' && entry.branch === branch);
  const begun = own.find((entry) => entry.kind === 'started')?.sha ?? '';
  const log = (await git(scenario, 'log', '--first-parent', '--format=%H', `${begun}..refs/heads/${branch}`)).split(
    '\n',
  );
  const commits = own.filter((entry) => entry.kind === 'commit');
  const found = new Map(commits.map((entry) => [entry.sha, entry]));
  const rewritten = own.flatMap((entry) => (entry.kind === 'rewritten' ? [entry.lost?.join() ?? ''] : []));
  const twice = commits.length - found.size;
  return {
    commits: log.length,
    missing: [
      ...log.filter((sha) => !found.has(sha)),
      // A force-push whose webhook is lost may be seen together with what came before it.
      ...lost
        .map((shas) => shas.join())
        .filter((shas) => !rewritten.some((one) => shas.endsWith(one) || one.endsWith(shas))),
    ],
    wrong: [
      ...(twice > 0 ? [`${twice} commits have two entries`] : []),
      ...log.flatMap((sha) => {
        const entry = found.get(sha);
        const right = outcomes.get(sha) ?? ['a commit that nobody made'];
        const isTold = entry?.outcome === 'unknown' && entry.pushedBy !== null;
        return entry === undefined || (right.includes(entry.outcome) && !isTold)
          ? []
          : [
              `${scenario.site.repository} ${branch} ${sha}: ${entry.outcome} (${entry.why}), not ${right.join(' or ')}`,
            ];
      }),
    ],
  };
}

function report(counts: ReadonlyMap<string, number>, results: readonly Result[]): number {
  const sum = (of: (result: Result) => number) => results.reduce((total, result) => total + of(result), 0);
  for (const [what, amount] of [...counts].toSorted()) {
    process.stdout.write(`${String(amount).padStart(5)} ${what}\n`);
  }
  const [missing, wrong] = [results.flatMap((one) => one.missing), results.flatMap((one) => one.wrong)];
  for (const line of [...missing.map((sha) => `missing: ${sha}`), ...wrong.map((text) => `wrong: ${text}`)]) {
    process.stdout.write(`${line}\n`);
  }
  process.stdout.write(
    `${sum(({ commits }) => commits)} commits, ${missing.length} missing, ${wrong.length} wrong outcomes\n`,
  );
  return missing.length + wrong.length === 0 ? 0 : 1;
}

/** Mulberry32. */
function randomOf(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
