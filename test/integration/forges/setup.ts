import { inspect } from 'node:util';
import type { ExecutionContext } from 'ava';
import { Redis, type RedisOptions } from 'ioredis';
import { type ForgeDeps, makeForge } from '../../../src/forges/make-forge.ts';
import type { Forge } from '../../../src/forges/port/forge.ts';
import { ForgeError } from '../../../src/forges/port/forge-error.ts';
import { FORGE_NAMES, type ForgeName } from '../../../src/forges/port/forges.ts';
import type { PullRequestRef } from '../../../src/forges/port/pull-request.ts';
import { startEmbeddedValkey } from '../../helpers/embedded-valkey.ts';
import { PATIENCE } from '../../helpers/patience.ts';
import {
  type SimulatedForge,
  type SimulatedForgeOptions,
  startSimulatedForge,
} from '../../simulated-forge/simulated-forge.ts';

export const FORGES = FORGE_NAMES;
export const SITE = 'platform/site';

export interface Setup {
  readonly simulated: SimulatedForge;
  readonly forge: Forge;
  /** A second client of the same forge, as another replica would have. */
  another(deps?: ForgeDeps): Forge;
}

/** A simulated forge with one repository, and a client of it. Both end with the test. */
export async function setUp(
  t: ExecutionContext,
  name: ForgeName,
  deps: ForgeDeps = {},
  options: Partial<Pick<SimulatedForgeOptions, 'keepsInlineComments' | 'checked' | 'version' | 'hostile'>> = {},
): Promise<Setup> {
  const simulated = await startSimulatedForge({ forge: name, ...options });
  t.teardown(() => simulated.stop());
  simulated.createRepository(SITE, { 'README.md': 'Hello\n', 'src/app.ts': 'one\ntwo\nthree\n' });
  const another = (others: ForgeDeps = deps): Forge => {
    const credentials = { kind: 'token', token: simulated.token } as const;
    const forge = makeForge({ forge: name, url: simulated.url, credentials }, { patience: PATIENCE, ...others });
    t.teardown(() => forge.close());
    return forge;
  };
  return { simulated, forge: another(), another };
}

/** Opens a pull request that changes `src/app.ts`; its second and fourth lines are new. */
export function openPullRequest(simulated: SimulatedForge, details: { title?: string; draft?: boolean } = {}) {
  simulated.commit(SITE, 'topic', { 'src/app.ts': 'one\n2\nthree\nfour\n' }, { message: 'feat: count further' });
  const number = simulated.openPullRequest(SITE, { head: 'topic', ...details });
  const ref: PullRequestRef = { repository: SITE, number };
  return { ref, head: () => simulated.pull(SITE, number).headSha };
}

/** {@link setUp}, with that pull request. */
export async function setUpPull(...[t, name, deps, options]: Parameters<typeof setUp>) {
  const setup = await setUp(t, name, deps, options);
  const { ref, head } = openPullRequest(setup.simulated);
  return { ...setup, ref, head, sha: head() };
}

export function headOf(simulated: SimulatedForge, number: number): string {
  return simulated.pull(SITE, number).headSha;
}

export async function forgeError(t: ExecutionContext, failing: () => Promise<unknown>): Promise<ForgeError> {
  const error = await t.throwsAsync(failing, { instanceOf: ForgeError });
  return error ?? t.fail();
}

/** All that a log line or a person could ever be shown of an error. */
export function everythingIn(error: unknown): string {
  return inspect(error, { depth: 20, showHidden: true });
}

export interface TestRedis {
  connect(options?: Pick<RedisOptions, 'enableOfflineQueue'>): Redis;
  stop(): Promise<void>;
}

/** The Redis of the test run if there is one, else one of the test file. */
export async function startRedis(): Promise<TestRedis> {
  const shared = process.env['TEST_REDIS_URL'];
  if (shared !== undefined) {
    return connectionsTo(shared, () => Promise.resolve());
  }
  const redis = await startEmbeddedValkey();
  return connectionsTo(redis.url, () => redis.stop());
}

function connectionsTo(url: string, stop: () => Promise<void>): TestRedis {
  const connections: Redis[] = [];
  return {
    connect(options = {}) {
      const redis = new Redis(url, { commandTimeout: 30_000, ...options }).on('error', () => {});
      connections.push(redis);
      return redis;
    },
    async stop() {
      for (const redis of connections) {
        redis.disconnect();
      }
      await stop();
    },
  };
}
