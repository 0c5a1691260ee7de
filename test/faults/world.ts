import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { migrateStores } from '../../src/composition/migrate-stores.ts';
import { openPool } from '../helpers/database.ts';
import { type PgBouncer, startPgBouncer } from '../helpers/pgbouncer.ts';
import { CONVENTIONAL_TITLES } from '../helpers/policies.ts';
import { type PostgresServer, startPrimary } from '../helpers/postgres-server.ts';
import { type GatehouseProcess, gatehouse, portsOf } from '../helpers/process.ts';
import { startProxy, type TcpProxy } from '../helpers/proxy.ts';
import type { Stores } from '../helpers/stores.ts';
import { randomOf, SEED } from '../simulated-forge/api/seed.ts';
import { type SimulatedForge, startSimulatedForge } from '../simulated-forge/simulated-forge.ts';
import type { Webhook } from '../simulated-forge/webhooks.ts';
import { type Balancer, startBalancer } from './balancer.ts';
import { type Client, startClient } from './client.ts';
import { type SmallDisk, startSmallDisk } from './small-disk.ts';

const SECRET = 'a secret for faults, long enough';
export const REPOSITORY = 'acme/widgets';
const LANES = 8;
/** So many that none is changed 60 times in a case: more often, a pull request is not judged within an hour. */
const PULL_REQUESTS_PER_LANE = 8;
export const PULL_REQUESTS: readonly number[] = Array.from(
  { length: LANES * PULL_REQUESTS_PER_LANE },
  (_, index) => index + 1,
);
const READY_MS = 60_000;
const READY_POLL_MS = 50;

/** A running `gatehouse serve` or `gatehouse work`. */
export interface Running {
  readonly process: GatehouseProcess;
  readonly port: number;
}

/** The environment of one fault: its own database and forge, and real processes between them. */
export interface World {
  readonly stores: Stores;
  /** Where the case asked for it. */
  readonly smallDisk: SmallDisk | undefined;
  readonly primary: PostgresServer | undefined;
  readonly pooler: PgBouncer | undefined;
  /** Straight to the database, not over the proxy. Another one after a failover. */
  database: pg.Pool;
  readonly databaseUrl: string;
  /** What ends with the world. */
  readonly resources: AsyncDisposableStack;
  readonly forge: SimulatedForge;
  /** Before the database, as the processes see it. */
  readonly databaseProxy: TcpProxy;
  /** Before the doors, as the client sees them. */
  readonly balancer: Balancer;
  readonly client: Client;
  door: Running;
  worker: Running;
  startDoor(): Promise<Running>;
  startWorker(): Promise<Running>;
  close(): Promise<void>;
}

export interface WorldOptions {
  /** For the processes, such as NODE_OPTIONS. */
  readonly env?: Readonly<Record<string, string>>;
  /** The database has almost no disk space, in its own container. */
  readonly smallDisk?: boolean;
  /** A PostgreSQL of its own, which may have standbys. */
  readonly primary?: boolean;
  /** The processes reach the database over PgBouncer in session mode. */
  readonly pooler?: boolean;
}

export async function makeWorld(stores: Stores, options: WorldOptions = {}): Promise<World> {
  const name = `faults_${randomUUID().replaceAll('-', '')}`;
  await using opened = new AsyncDisposableStack();
  const smallDisk = options.smallDisk === true ? await startSmallDisk() : undefined;
  opened.defer(() => smallDisk?.close());
  const primary = options.primary === true ? await startPrimary() : undefined;
  opened.defer(() => primary?.destroy());
  const adminUrl = (smallDisk ?? primary)?.url ?? stores.database.url;
  const admin = new pg.Client({ connectionString: adminUrl });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  const url = new URL(adminUrl);
  url.pathname = name;
  await migrateStores(url.href);
  const pooler = options.pooler === true ? await startPgBouncer(url.href, 'session') : undefined;
  opened.use(pooler);
  const database = openPool(url.href);
  const databaseProxy = await startProxy(pooler?.url ?? url.href);
  const balancer = await startBalancer();
  const forge = await startSimulatedForge({ forge: 'github' });
  // GitHub's 5,000 an hour are less than this load asks for while it lasts; to wait for more is no fault.
  forge.rateLimit.remaining = Number.MAX_SAFE_INTEGER;
  forge.createRepository(REPOSITORY, { '.gatehouse.yml': CONVENTIONAL_TITLES, 'a.txt': 'a\n' });
  for (const number of PULL_REQUESTS) {
    forge.commit(REPOSITORY, `topic-${number}`, { [`b-${number}.txt`]: 'b\n' });
    // An author of its own for each: one is judged 300 times an hour at most.
    const author = `author-${number}`;
    forge.openPullRequest(REPOSITORY, { head: `topic-${number}`, title: 'feat: begin', author });
  }

  const started: GatehouseProcess[] = [];
  async function run(role: 'serve' | 'work'): Promise<Running> {
    const process = gatehouse([role], {
      DATABASE_URL: databaseProxy.url,
      REDIS_URL: stores.redis.url,
      PORT: '0',
      METRICS_PORT: '0',
      HOST: '127.0.0.1',
      DRAIN_SECONDS: '1',
      // As the chart sets it.
      ...(role === 'serve' && { WEBHOOK_SECRET: SECRET, READY_WITHOUT_REDIS: 'true' }),
      // A pull request that its webhook did not get reviewed must not be found by a resync.
      ...(role === 'work' && { FORGE_URL: forge.url, FORGE_TOKEN: forge.token, RESYNC_MINUTES: '1440' }),
      ...options.env,
    });
    started.push(process);
    const { port } = await portsOf(process);
    await untilReady(port);
    return { process, port };
  }

  const [door, worker] = await Promise.all([run('serve'), run('work')]);
  balancer.targets = [door.port];
  const resources = opened.move();
  const random = randomOf(SEED);
  const world: World = {
    stores,
    smallDisk,
    primary,
    pooler,
    resources,
    database,
    databaseUrl: url.href,
    forge,
    databaseProxy,
    balancer,
    client: startClient({ port: balancer.port, lanes: LANES, next: (lane) => nextDelivery(forge, lane, random) }),
    door,
    worker,
    startDoor: () => run('serve'),
    startWorker: () => run('work'),
    async close() {
      for (const { child } of started) {
        child.kill('SIGKILL');
      }
      await Promise.all(started.map(({ ended }) => ended()));
      await world.database.end();
      await balancer.close();
      await databaseProxy.close();
      await forge.stop();
      await resources.disposeAsync();
    },
  };
  return world;
}

const BAD_TITLE = 'something else';

/** The pull request is given another title, and the delivery says so: its verdict depends on the last of them. */
function nextDelivery(forge: SimulatedForge, lane: number, random: () => number): Webhook & { readonly id: string } {
  const number = 1 + lane * PULL_REQUESTS_PER_LANE + Math.floor(random() * PULL_REQUESTS_PER_LANE);
  forge.edit(REPOSITORY, number, { title: random() < 0.5 ? `feat: ${randomUUID()}` : BAD_TITLE });
  const id = randomUUID();
  const event = { kind: 'pull-request', number, action: 'edited' } as const;
  return { id, ...forge.webhook(REPOSITORY, event, { secret: SECRET, deliveryId: id }) };
}

/** Pull requests whose last status is not the one that their present title deserves. */
export function unsettledPullRequests(forge: SimulatedForge): readonly number[] {
  return PULL_REQUESTS.filter((number) => {
    const pull = forge.pull(REPOSITORY, number);
    const state = forge.statuses(REPOSITORY, pull.headSha).at(-1)?.state;
    return state !== (pull.title === BAD_TITLE ? 'failure' : 'success');
  });
}

export async function untilReady(port: number, path = '/health/ready'): Promise<void> {
  const deadline = performance.now() + READY_MS;
  for (;;) {
    const ready = await fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(5_000) }).then(
      (response) => response.ok,
      () => false,
    );
    if (ready) {
      return;
    }
    if (performance.now() > deadline) {
      throw new Error(`${path} is not good within ${READY_MS} ms`);
    }
    await sleep(READY_POLL_MS);
  }
}
