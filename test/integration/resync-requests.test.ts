import type pg from 'pg';
import { readInstallation, saveInstallation } from '../../src/db/installations.ts';
import { makeForge } from '../../src/forges/make-forge.ts';
import type { Forge } from '../../src/forges/port/forge.ts';
import type { ForgeName } from '../../src/forges/port/forges.ts';
import type { ReviewRequest } from '../../src/forges/port/review-requests.ts';
import { readPresentRules } from '../../src/jobs/resync/other-rules.ts';
import { recoverDeliveries } from '../../src/jobs/resync/recover-deliveries.ts';
import { resync } from '../../src/jobs/resync/resync.ts';
import { makeLog } from '../../src/log.ts';
import { makeMetrics } from '../../src/metrics.ts';
import { makeMigratedDatabase, openPool } from '../helpers/database.ts';
import { NO_OPERATOR_POLICIES } from '../helpers/policies.ts';
import { sized } from '../helpers/size.ts';
import test from '../helpers/test.ts';
import { type SimulatedForge, startSimulatedForge } from '../simulated-forge/simulated-forge.ts';

interface Setting {
  readonly name: ForgeName;
  /** A GitHub App; otherwise a token. */
  readonly app: boolean;
  /** Of each owner. */
  readonly repositories: number;
}

const DAY_MS = 24 * 60 * 60_000;
const OWNERS = 2;
/** One repository in so many has an open pull request with a verdict. */
const OPEN_IN = 10;
const ROUND_MINUTES = 15;
/** Of each of the two owners, for the hour that is counted. */
const REPOSITORIES = sized([10], [10, 100]);

for (const { title, name, app, requests } of [
  { title: 'GitHub, with an App', name: 'github', app: true, requests: [19, 19] },
  { title: 'GitHub, with a token', name: 'github', app: false, requests: [9, 13] },
  { title: 'Gitea', name: 'gitea', app: false, requests: [25, 30] },
  { title: 'Forgejo', name: 'forgejo', app: false, requests: [25, 30] },
] as const) {
  test(`${title}: an hour of resyncs makes no more requests than expected`, async (t) => {
    for (const [index, repositories] of REPOSITORIES.entries()) {
      const expected = { requests: requests[index], reviewsRequested: 0 };
      t.deepEqual(await countHour({ name, app, repositories }), expected, 'one more is a cost for everybody');
    }
  });
}

/** The requests of all rounds of an hour, once the first of all is over, and the reviews that any of them requested. */
async function countHour(setting: Setting) {
  const simulated = await startSimulatedForge({ forge: setting.name });
  simulated.rateLimit.remaining = Number.MAX_SAFE_INTEGER;
  const database = await makeMigratedDatabase();
  const pool = openPool(database.url);
  try {
    await fill(setting, simulated, pool);
    let reviewsRequested = 0;
    const rounds = async (count: number) => {
      // The tokens of an App's installations last an hour.
      const forge = clientOf(setting, simulated, pool);
      simulated.forgetRequests();
      for (let round = 0; round < count; round++) {
        reviewsRequested += await runRound(forge, pool);
      }
      await forge.close();
      return simulated.seen.length;
    };
    await rounds(1);
    return { requests: await rounds(60 / ROUND_MINUTES), reviewsRequested };
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
  for (let owner = 0; owner < OWNERS; owner++) {
    for (let number = 0; number < setting.repositories; number++) {
      const name = `owner-${owner}/repository-${number}`;
      simulated.createRepository(name);
      if (names.length % OPEN_IN === 0) {
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
  await pool.query('INSERT INTO gatehouse.repositories (name) SELECT unnest($1::text[])', [names]);
  await pool.query(
    `INSERT INTO gatehouse.reviews
            (repository, pull_request, head_sha, verdict, description, base_branch, rules, pull_request_updated_at)
     SELECT repository, 1, head, 'none', 'No policy', 'main', jsonb_build_object('format', 1, 'baseSha', base), updated_at
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
async function runRound(forge: Forge, pool: pg.Pool): Promise<number> {
  const log = makeLog('warn');
  let reviewsRequested = 0;
  const deps = {
    forge,
    pool,
    access: { check: () => forge.checkAccess() },
    statusContext: 'gatehouse/{base}',
    enforce: true,
    rules: readPresentRules({ forge, ...NO_OPERATOR_POLICIES }),
    enqueue: async (requests: readonly ReviewRequest[]) => {
      reviewsRequested += requests.length;
    },
    minutes: ROUND_MINUTES,
    metrics: makeMetrics(),
    log,
  };
  const { rows } = await pool.query<{ now: Date }>('SELECT now()');
  const began = rows[0]?.now ?? new Date();
  if ((await resync(deps, { began, new: true }, Number.POSITIVE_INFINITY)) !== 'finished') {
    throw new Error('the resync was interrupted');
  }
  if (forge.deliveries !== undefined) {
    await recoverDeliveries(forge.deliveries, pool, log);
  }
  return reviewsRequested;
}
