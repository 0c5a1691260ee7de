import type pg from 'pg';
import { readInstallation, saveInstallation } from '../src/db/installations.ts';
import { makeForge } from '../src/forges/make-forge.ts';
import type { Forge } from '../src/forges/port/forge.ts';
import type { ForgeName } from '../src/forges/port/forges.ts';
import { readPresentRules } from '../src/jobs/resync/outdated-reviews.ts';
import { recoverDeliveries } from '../src/jobs/resync/recover-deliveries.ts';
import { resync } from '../src/jobs/resync/resync.ts';
import { makeLog } from '../src/log.ts';
import { makeMetrics } from '../src/metrics.ts';
import { makeMigratedDatabase, openPool } from '../test/helpers/database.ts';
import { type SimulatedForge, startSimulatedForge } from '../test/simulated-forge/simulated-forge.ts';

export interface Setting {
  readonly name: ForgeName;
  /** A GitHub App, which has one webhook; otherwise a token, and a webhook for each repository. */
  readonly app: boolean;
  readonly owners: number;
  /** Of each owner. */
  readonly repositories: number;
  /** One repository in so many has an open pull request with a verdict. */
  readonly openIn: number;
  /** From one round to the next. */
  readonly minutes: number;
  /** Whether each repository is looked at by itself, as before there were lists. */
  readonly oneByOne: boolean;
}

/** Requests, most frequent first, by method and route. */
export type Requests = readonly (readonly [route: string, count: number])[];

export interface Hour {
  /** The first round of all. */
  readonly first: Requests;
  /** All rounds of an hour, once the first is over. */
  readonly hour: Requests;
  readonly reviewsRequested: number;
}

const DAY_MS = 24 * 60 * 60_000;
const CONTEXT = 'gatehouse/{base}';

export async function countHour(setting: Setting): Promise<Hour> {
  const simulated = await startSimulatedForge({ forge: setting.name });
  simulated.rateLimit.remaining = Number.MAX_SAFE_INTEGER;
  const database = await makeMigratedDatabase();
  const pool = openPool(database.url);
  try {
    await fill(setting, simulated, pool);
    let forge = clientOf(setting, simulated, pool);
    let reviewsRequested = 0;
    const round = async () => {
      simulated.forgetRequests();
      reviewsRequested += await runRound(setting, forge, pool);
      return simulated.seen.map(({ method, route }) => `${method} ${route}`);
    };
    const first = await round();
    // The tokens of an App's installations last an hour.
    await forge.close();
    forge = clientOf(setting, simulated, pool);
    const rounds: string[] = [];
    for (let number = 0; number < 60 / setting.minutes; number++) {
      rounds.push(...(await round()));
    }
    await forge.close();
    return { first: tally(first), hour: tally(rounds), reviewsRequested };
  } finally {
    await pool.end();
    await database.drop();
    await simulated.stop();
  }
}

/** As if all of it had been delivered and reviewed two days ago. */
async function fill(setting: Setting, simulated: SimulatedForge, pool: pg.Pool): Promise<void> {
  const names: string[] = [];
  const judged: string[] = [];
  for (let owner = 0; owner < setting.owners; owner++) {
    for (let number = 0; number < setting.repositories; number++) {
      const name = `owner-${owner}/repository-${number}`;
      simulated.createRepository(name);
      if (names.length % setting.openIn === 0) {
        simulated.commit(name, 'topic', { 'a.txt': 'a\n' });
        simulated.openPullRequest(name, { head: 'topic' });
        judged.push(name);
      }
      names.push(name);
    }
    if (setting.app) {
      simulated.app.install(`owner-${owner}`);
      await saveInstallation(pool, `owner-${owner}`, simulated.app.installations.get(`owner-${owner}`) ?? 0);
    }
  }
  simulated.age(2 * DAY_MS);
  await pool.query('INSERT INTO gatehouse.hooks SELECT unnest($1::text[]), $2', [
    names,
    setting.name === 'github' ? '1' : '',
  ]);
  await pool.query(
    `INSERT INTO gatehouse.reviews
            (repository, pull_request, head_sha, verdict, description, base_branch, base_sha, reported_as, pull_request_updated_at)
     SELECT repository, 1, head, 'none', 'No policy', 'main', base, 'gatehouse/main', updated_at
       FROM unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[]) AS judged (repository, head, base, updated_at)`,
    [
      judged,
      judged.map((name) => simulated.pull(name, 1).headSha),
      judged.map((name) => simulated.head(name, 'main')),
      judged.map((name) => timeOf(setting.name, simulated.pull(name, 1).updatedAt)),
    ],
  );
}

/** Gitea and Forgejo report whole seconds. */
function timeOf(name: ForgeName, time: string): string {
  return name === 'github' ? time : time.replace(/\.\d+Z$/, 'Z');
}

function clientOf(setting: Setting, simulated: SimulatedForge, pool: pg.Pool): Forge {
  const { url } = simulated;
  const token = { kind: 'token', token: simulated.token } as const;
  const app = { kind: 'app', appId: simulated.app.id, privateKey: simulated.app.privateKey } as const;
  const { name: forge } = setting;
  if (forge !== 'github') {
    return makeForge({ forge, url, credentials: token });
  }
  const installations = {
    find: (owner: string) => readInstallation(pool, owner),
    save: (owner: string, id: number) => saveInstallation(pool, owner, id),
  };
  return makeForge({ forge, url, credentials: setting.app ? app : token }, { installations });
}

/** As the worker's job does it, in all its pieces. Returns how many reviews it requested. */
async function runRound({ oneByOne, minutes }: Setting, forge: Forge, pool: pg.Pool): Promise<number> {
  const { overviews: _overviews, changeList: _changeList, ...alone } = forge;
  const log = makeLog('warn');
  let reviewsRequested = 0;
  const parts = {
    forge: oneByOne ? alone : forge,
    pool,
    access: { check: () => forge.checkAccess() },
    statusContext: CONTEXT,
    enforce: true,
    rules: readPresentRules(forge, null),
    enqueue: async (requests: readonly unknown[]) => {
      reviewsRequested += requests.length;
    },
    minutes,
    metrics: makeMetrics(),
    log,
  };
  const { rows } = await pool.query<{ now: Date }>('SELECT now()');
  const began = rows[0]?.now ?? new Date();
  if ((await resync(parts, { began, new: true }, Number.POSITIVE_INFINITY)) !== 'finished') {
    throw new Error('the resync was interrupted');
  }
  await recoverDeliveries({ deliveries: forge.deliveries, pool, minutes, metrics: makeMetrics(), log });
  return reviewsRequested;
}

function tally(requests: readonly string[]): Requests {
  return [...Map.groupBy(requests, (request) => request)]
    .map(([route, all]) => [route, all.length] as const)
    .toSorted(([, one], [, other]) => other - one);
}
