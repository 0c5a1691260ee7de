import type { ExecutionContext } from 'ava';
import type { Refusal } from '../../src/http/refusal.ts';
import { recordDone } from '../../src/jobs/tables/progress.ts';
import { makeMigratedDatabase, openPool } from '../helpers/database.ts';
import { openDoor, SECRET } from '../helpers/door.ts';
import type { Site } from '../helpers/site.ts';
import type { Test } from '../helpers/test.ts';
import { eventually } from '../helpers/until.ts';
import type { HookedSite, TestForge } from './test-forge.ts';

/** Gatehouse, door and worker, for a forge. */
export interface Gatehouse {
  /** A repository whose webhooks come here. */
  site(files: Readonly<Record<string, string>>): Promise<HookedSite>;
  /** Waits until a webhook of this event was taken. */
  received(site: Site, event: string): Promise<void>;
  /** How many webhooks of any repository were refused for this reason. */
  refused(reason: Refusal): Promise<number>;
  /** Waits until nothing is left to do for the repository. */
  settled(site: Site): Promise<void>;
  /** How many jobs of the repository have failed. */
  failures(site: Site): Promise<number>;
  /** Another worker, which looks for what was missed as soon as it starts. Ends with the test. */
  resync(t: ExecutionContext): Promise<void>;
}

/** One Gatehouse for each forge, shared by all tests of a file. */
export function shareGatehouse(test: Test): (forge: TestForge) => Promise<Gatehouse> {
  const opened = new Map<TestForge, Promise<{ gatehouse: Gatehouse; door: AsyncDisposable }>>();
  test.after.always(async () => {
    for (const opening of opened.values()) {
      await (await opening).door[Symbol.asyncDispose]();
    }
  });
  return async (forge) => {
    const opening = opened.get(forge) ?? open(forge, {});
    opened.set(forge, opening);
    return (await opening).gatehouse;
  };
}

/** A Gatehouse of one test. It ends with the test. */
export async function ownGatehouse(
  t: ExecutionContext,
  forge: TestForge,
  env: Readonly<Record<string, string>>,
): Promise<Gatehouse> {
  const { gatehouse, door } = await open(forge, env);
  t.teardown(() => door[Symbol.asyncDispose]());
  return gatehouse;
}

async function open(
  forge: TestForge,
  env: Readonly<Record<string, string>>,
): Promise<{ gatehouse: Gatehouse; door: AsyncDisposable }> {
  const database = await makeListedDatabase();
  const environment = {
    DATABASE_URL: database.url,
    FORGE: forge.name,
    FORGE_URL: forge.url,
    FORGE_TOKEN: forge.token,
    HOST: forge.listenOn,
    ...env,
  };
  const door = await openDoor(environment, { door: true, worker: true });
  const gatehouse: Gatehouse = {
    async site(files) {
      const site = await forge.site(files);
      await site.hook(door.service.port, SECRET);
      return site;
    },
    received: (site, event) =>
      eventually(`${event} of ${site.repository} has come`, async () => {
        const { rowCount } = await door.database.query(
          'SELECT 1 FROM gatehouse.deliveries WHERE repository = $1 AND event = $2',
          [site.repository, event],
        );
        return rowCount !== 0;
      }),
    async refused(reason) {
      const metrics = await (await fetch(door.metricsUrl)).text();
      const counted = new RegExp(`^gatehouse_rejections_total\\{reason="${reason}"\\} (\\d+)$`, 'm').exec(metrics);
      return Number(counted?.[1]);
    },
    settled: ({ repository }) => door.settling.settled(repository),
    async failures(site) {
      const { rowCount } = await door.database.query(
        // A push that no pull request has brought is looked at again.
        `SELECT FROM gatehouse_jobs.job
          WHERE data->>'repository' = $1 AND (state = 'failed' OR (state = 'retry' AND name <> 'default-push'))`,
        [site.repository],
      );
      return rowCount ?? 0;
    },
    async resync(t) {
      const worker = await openDoor({ ...environment, REDIS_URL: door.redisUrl }, { door: false, worker: true });
      t.teardown(() => worker[Symbol.asyncDispose]());
    },
  };
  const closing = {
    async [Symbol.asyncDispose]() {
      await door[Symbol.asyncDispose]();
      await database.drop();
    },
  };
  return { gatehouse, door: closing };
}

/**
 * Not new to Gatehouse, which would list and review the repositories of all other tests on the same forge, and set
 * statuses there.
 */
async function makeListedDatabase(): ReturnType<typeof makeMigratedDatabase> {
  const database = await makeMigratedDatabase();
  const pool = openPool(database.url);
  await recordDone(pool, 'list-repositories');
  await pool.end();
  return database;
}
