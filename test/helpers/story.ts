import type { ExecutionContext } from 'ava';
import { Redis } from 'ioredis';
import { WAKE_CHANNEL, wakeMessage } from '../../src/composition/shared-deps.ts';
import type { Roles } from '../../src/config/config.ts';
import type { ForgeName } from '../../src/forges/port/forges.ts';
import type { Changes } from '../simulated-forge/git.ts';
import { type SimulatedForge, startSimulatedForge } from '../simulated-forge/simulated-forge.ts';
import { type Door, type DoorOptions, openDoor, SECRET, WORKER } from './door.ts';
import { makeSimulatedSite } from './simulated-site.ts';
import { expectStatus } from './site.ts';
import { makeSlots } from './slots.ts';
import type { Test } from './test.ts';

export { ALL_FORGES, forgesOf } from './forges.ts';
export const REPOSITORY = 'acme/widgets';

export type Scene = ReturnType<typeof makeScene>;
export type Story = Awaited<ReturnType<typeof openStory>>;

/** Where a pull request itself is read: by REST, or on GitHub by GraphQL. */
export function pathsOfReads(repository: string, number: number): RegExp {
  return new RegExp(`^(?:/graphql)?/repos/${repository}/pulls/${number}(?:/facts)?$`);
}

type Environment = Readonly<Record<string, string>>;

/** Each is a Gatehouse and a forge in the same process, beside those that a file shares. */
const OWN_STORIES_AT_A_TIME = 4;

const slots = makeSlots(OWN_STORIES_AT_A_TIME);

/** A story of one test. It waits while too many others run; a test that took a second one could wait forever. */
export async function tellStory(
  name: ForgeName,
  files: Changes = {},
  env: Environment | ((forge: SimulatedForge) => Environment) = {},
  roles: Roles = { door: true, worker: true },
  options: DoorOptions = {},
): Promise<Story> {
  const free = await slots.take();
  try {
    const story = await openStory(name, files, env, roles, options);
    const close = story[Symbol.asyncDispose];
    return Object.assign(story, {
      async [Symbol.asyncDispose]() {
        try {
          await close();
        } finally {
          free();
        }
      },
    });
  } catch (error) {
    free();
    throw error;
  }
}

/** A forge, and Gatehouse beside it: door and worker, on real stores. */
async function openStory(
  name: ForgeName,
  files: Changes,
  env: Environment | ((forge: SimulatedForge) => Environment),
  roles: Roles,
  options: DoorOptions,
) {
  const forge = await startSimulatedForge({ forge: name });
  forge.createRepository(REPOSITORY, files);
  const environment: Environment = {
    FORGE: name,
    FORGE_URL: forge.url,
    FORGE_TOKEN: forge.token,
    ...(typeof env === 'function' ? env(forge) : env),
  };
  const started = new Date();
  const door = await openDoor(environment, roles, options);
  // So that a story of failures takes seconds: retries are immediate.
  await door.database.query('UPDATE gatehouse_jobs.queue SET retry_delay = 0, retry_backoff = false');
  let scenes = 0;
  // A worker queues a resync when it starts. It would find pull requests before the test sends their webhook.
  if (roles.worker) {
    try {
      await door.settling.resynced(started);
    } catch (error) {
      // Without it the file's worker would never end.
      await door[Symbol.asyncDispose]();
      await forge.stop();
      throw error;
    }
  }

  return Object.assign(makeScene(forge, door, REPOSITORY), {
    /** Waits for the end of a resync that began since then. A worker asks for one when it starts. */
    resynced: door.settling.resynced,
    /** Runs a resync now, instead of after RESYNC_MINUTES, and waits for its end. The reviews that it requests follow. */
    resyncAll: (options?: ResyncOptions) => resyncAll(door, options),
    settledFor: (repository: string) => settled(forge, door, repository),
    /** What a process of this installation is configured by, beside the stores. */
    environment: { ...environment, DATABASE_URL: door.databaseUrl, REDIS_URL: door.redisUrl } as Environment,
    openDoor: (others: Environment, otherRoles: Roles, opened = options) =>
      openDoor({ ...environment, DATABASE_URL: door.databaseUrl, ...others }, otherRoles, opened),
    scenes: () => scenes,
    /** A separate repository, so that several scenes can share one Gatehouse. */
    scene(sceneFiles: Changes) {
      scenes += 1;
      const repository = `acme/scene-${scenes}`;
      forge.createRepository(repository, sceneFiles);
      return makeScene(forge, door, repository);
    },
    async [Symbol.asyncDispose]() {
      await door[Symbol.asyncDispose]();
      await forge.stop();
    },
  });
}

/** A worker of the installation that starts, resyncs, and is stopped when the jobs of these repositories are done. */
export async function workerComesBy(
  story: Story,
  env: Environment = {},
  repositories: readonly string[] = [story.repository],
): Promise<void> {
  const started = new Date();
  await using _worker = await story.openDoor(env, WORKER);
  await story.resynced(started);
  for (const repository of repositories) {
    await story.settledFor(repository);
  }
}

interface ResyncOptions {
  /** False: as right after another round, when nobody's turn has come. */
  readonly turns?: boolean;
  /** Whoever asks for one: each of several at once gets a round of its own. */
  readonly key?: string;
}

async function resyncAll(door: Door, { turns = true, key = 'test' }: ResyncOptions = {}): Promise<void> {
  const { database, redisUrl, settling } = door;
  const since = new Date();
  if (turns) {
    await database.query("DELETE FROM gatehouse.progress WHERE task = 'turns'");
  }
  await database.query(
    `INSERT INTO gatehouse_jobs.job (name, singleton_key, policy, data, retry_limit, retry_delay)
     VALUES ('resync', $1, 'stately', '{}', 0, 0)`,
    [key],
  );
  const redis = new Redis(redisUrl);
  await redis.publish(WAKE_CHANNEL, wakeMessage(['resync']));
  redis.disconnect();
  await settling.resynced(since);
}

async function resync(door: Door, repository: string): Promise<void> {
  await door.database.query(
    `INSERT INTO gatehouse.repositories (name) VALUES ($1)
     ON CONFLICT (name) DO UPDATE SET due = true, resynced_at = NULL`,
    [repository],
  );
  await resyncAll(door, { key: repository });
}

interface Sharing extends Pick<DoorOptions, 'maxTaskMs'> {
  readonly env?: Environment;
  /** For tests that leave their Gatehouse or its forge in another state: no other file gets it. */
  readonly own?: boolean;
}

/** Then the next file gets another: a forge answers 5,000 requests, and Gatehouse judges 300 times an hour for an author. */
const MAX_SCENES = 60;

const shared = new Map<string, Story>();

/**
 * A Gatehouse for each forge, shared by all tests of a file and, within a group, by all files with the same settings.
 * Returns the one of a forge; each test takes a scene.
 */
export function shareStories(
  test: Test,
  forges: readonly ForgeName[],
  { env = {}, own = false, ...options }: Sharing = {},
): (name: ForgeName) => Story {
  const stories = new Map<ForgeName, Story>();
  const keyOf = (name: ForgeName) => JSON.stringify([name, env, options]);
  const open = (name: ForgeName) => openStory(name, {}, env, { door: true, worker: true }, options);
  test.before(async () => {
    for (const name of new Set(forges)) {
      const story = (own ? undefined : shared.get(keyOf(name))) ?? (await open(name));
      stories.set(name, story);
      if (!own) {
        shared.set(keyOf(name), story);
      }
    }
  });
  test.after.always(async () => {
    for (const [name, story] of stories) {
      // What went wrong for this file goes wrong for no other.
      story.forge.clearFaults();
      if (own) {
        await story[Symbol.asyncDispose]();
      } else if (story.scenes() >= MAX_SCENES) {
        shared.delete(keyOf(name));
        await story[Symbol.asyncDispose]();
      } else {
        story.forge.assertValid();
      }
    }
  });
  test.afterAll(async () => {
    for (const [key, story] of shared) {
      shared.delete(key);
      await story[Symbol.asyncDispose]();
    }
  });
  return (name) => {
    const story = stories.get(name);
    if (story === undefined) {
      throw new Error(`there is no story of ${name}`);
    }
    return story;
  };
}

/** A repository on a simulated forge, and the Gatehouse that reviews it. */
function makeScene(forge: SimulatedForge, door: Door, repository: string) {
  const site = makeSimulatedSite(forge, repository);
  site.sendTo(`${door.url}/webhook`, SECRET);
  /** Waits for what somebody does, if anything, and then until none of this repository's jobs waits or runs. */
  async function allSettled<T = void>(act?: Promise<T>): Promise<T> {
    const result = (await act) as T;
    // Jobs from before a rename have the old name.
    for (const name of new Set([repository, site.repository])) {
      await settled(forge, door, name);
    }
    return result;
  }

  /** The state of the newest status, once all is settled. */
  async function verdict(of: number | string, context?: string): Promise<string | undefined> {
    await allSettled();
    return site.status(of, context)?.state;
  }

  return Object.assign(site, {
    forge,
    door,
    settled: allSettled,
    verdict,
    /** The verdict after a webhook of the pull request. */
    async judge(number: number) {
      await site.tell({ kind: 'pull-request', number, action: 'synchronize' });
      return verdict(number);
    },
    /** What the metrics page says, of a name with its labels. 0: nothing. */
    async metric(metric: string) {
      const lines = (await (await fetch(door.metricsUrl)).text()).split('\n');
      return Number(lines.find((line) => line.startsWith(`${metric} `))?.slice(metric.length) ?? 0);
    },
    /** What the dead letters of this repository ask for. Which delivery queued them differs from run to run. */
    async deadLetters(): Promise<readonly unknown[]> {
      const { rows } = await door.database.query(
        `SELECT data - 'origin' AS data FROM gatehouse_jobs.job
          WHERE name = 'review-dead-letters' AND data->>'repository' = $1`,
        [site.repository],
      );
      return rows.map(({ data }) => data);
    },
    /** A status under Gatehouse's name by somebody else who may write, who loses its webhook. */
    impersonate(of: number | string, state: string, author = 'mallory') {
      const sha = typeof of === 'number' ? site.head(of) : of;
      const status = { context: 'gatehouse/main', state, author, description: '' };
      return forge.setStatus(site.repository, sha, status);
    },
    /**
     * A resync that looks at this repository, until it is over and all is settled. It finds what others
     * have missed as well: tests of it are serial.
     */
    async resync() {
      await resync(door, site.repository);
      await allSettled();
    },
    async expect(t: ExecutionContext, of: number | string, state: string, base?: string) {
      await allSettled();
      await expectStatus(t, site, of, state, base);
    },
    /** How many requests have tried to change something in this repository. */
    writes: () =>
      forge.seen.filter(({ method, path }) => WRITING.includes(method) && path.startsWith(`/repos/${repository}/`))
        .length,
    /**
     * The n-th request from now on that would change something about this pull request is never answered. It is
     * carried out first, or it is not.
     */
    trap(number: number, nth: number, carriedOut: boolean) {
      const trap = { sprung: false };
      let writes = 0;
      const nthWrite = Object.assign(/^/, {
        test(path: string) {
          if (trap.sprung || path.startsWith('/graphql') || !isAbout(forge.pull(repository, number), path)) {
            return false;
          }
          writes += 1;
          trap.sprung = writes === nth;
          return trap.sprung;
        },
      });
      for (const method of WRITING) {
        forge.fault({ method, path: nthWrite, afterwards: carriedOut, times: 1, fault: { kind: 'hang' } });
      }
      return trap;
    },
    /** Does something once, when the forge is asked for a path like this. The answer waits for it. */
    when(method: string | undefined, path: RegExp, act: () => unknown) {
      forge.watch({ method, path, act });
    },
  });
}

/** Both approve, one after the other: bob's approval counts for nothing, and carol's is enough. */
export async function onlyCarolCounts(t: ExecutionContext, scene: Scene, number: number): Promise<void> {
  await scene.review(number, 'bob', 'approved');
  t.is(await scene.verdict(number), 'pending');
  await scene.review(number, 'carol', 'approved');
  t.is(await scene.verdict(number), 'success');
}

/** Gatehouse's own posts come back as webhooks, which may start more jobs. */
async function settled(forge: SimulatedForge, { settling }: Door, repository: string): Promise<void> {
  let sent: number;
  do {
    await settling.settled(repository);
    sent = await forge.webhooksSent();
  } while (!(await settling.isSettled(repository)) || (await forge.webhooksSent()) !== sent);
  forge.assertValid(repository);
}

const WRITING: readonly string[] = ['POST', 'PUT', 'PATCH', 'DELETE'];

/** By its number, its head, or one of its comments. */
function isAbout(
  { number, headSha, comments, inlineComments }: ReturnType<SimulatedForge['pull']>,
  path: string,
): boolean {
  if (path.includes(headSha) || new RegExp(`/(?:issues|pulls)/${number}(?:/|$)`).test(path)) {
    return true;
  }
  return [...comments, ...inlineComments].some(({ id }) => path.endsWith(`/comments/${id}`));
}

/** Runs a resync now, and waits for it and for the reviews that it starts. */
export async function resyncNow(story: Story, options?: ResyncOptions): Promise<void> {
  await story.resyncAll(options);
  await story.settled();
}
