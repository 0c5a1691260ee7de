import { randomBytes } from 'node:crypto';
import {
  BoundPorts,
  type ContainerRuntimeClient,
  GenericContainer,
  getContainerRuntimeClient,
  ImageName,
  Wait,
  waitForContainer,
} from 'testcontainers';
import { inTime, within } from './deadline.ts';
import { OWNER } from './docker.ts';
import { onFreePort } from './free-port.ts';
import type { Store, Stores } from './stores.ts';
import type { StoresOptions } from './stores-process.ts';

/** How long to wait, in milliseconds: for the engine to answer, for one image, for one container to be ready. */
export interface Limits {
  readonly engineMs: number;
  readonly imageMs: number;
  readonly readyMs: number;
}
/** Where embedded stores are at hand as well. */
export const PATIENCE: Limits = { engineMs: 5_000, imageMs: 20_000, readyMs: 30_000 };
/** Where containers were asked for: a slow line may pull the images. */
export const INSISTENT: Limits = { engineMs: 15_000, imageMs: 300_000, readyMs: 120_000 };

export interface Unavailable {
  readonly unavailable: string;
}

const NAME = 'gatehouse';
const LABEL = 'gatehouse.stores';
const STOP_MS = 20_000;
const MAX_CONNECTIONS = 500;

interface Spec {
  readonly image: string;
  readonly port: number;
  readonly environment: Record<string, string>;
  readonly command: readonly string[];
  /** Succeeds inside the container once it answers over TCP. */
  readonly probe: string;
  /** The signal that stops it cleanly without waiting for clients to leave. */
  readonly stopSignal: NodeJS.Signals;
}

/** It keeps nothing over a restart, as the embedded one: Redis is never the only copy. */
const REDIS_ARGUMENTS: readonly string[] = ['--save', '', '--appendonly', 'no'];

/** `inMemory` data survives no crash of the machine, and nothing waits for the disk. */
export async function startContainerStores(
  limits: Limits,
  { redisArguments = REDIS_ARGUMENTS, inMemory = false }: Pick<StoresOptions, 'redisArguments' | 'inMemory'> = {},
): Promise<Stores | Unavailable> {
  const password = randomBytes(16).toString('hex');
  const postgres: Spec = {
    image: 'postgres:17-alpine',
    port: 5432,
    environment: { POSTGRES_USER: NAME, POSTGRES_PASSWORD: password, POSTGRES_DB: NAME },
    // Compiling a query takes longer than any of these take to run, and not every build of the image can.
    command: [
      ...['postgres', '-c', `max_connections=${MAX_CONNECTIONS}`, '-c', 'jit=off'],
      ...(inMemory ? ['-c', 'fsync=off', '-c', 'full_page_writes=off'] : []),
    ],
    // While the image prepares its first database the server listens on a Unix socket only: ask over TCP.
    probe: `pg_isready --quiet --host=127.0.0.1 --username=${NAME}`,
    stopSignal: 'SIGINT',
  };
  const redis: Spec = {
    image: 'redis:8-alpine',
    port: 6379,
    environment: {},
    command: ['redis-server', ...redisArguments],
    probe: 'redis-cli ping',
    stopSignal: 'SIGTERM',
  };

  let client: ContainerRuntimeClient;
  try {
    client = await within(limits.engineMs, 'it took too long', getContainerRuntimeClient());
  } catch {
    return { unavailable: 'no container engine answered' };
  }
  for (const { image } of [postgres, redis]) {
    if (!(await haveImage(client, image, limits.imageMs))) {
      return { unavailable: `image ${image} could not be had` };
    }
  }

  const session = randomBytes(8).toString('hex');
  const close = () => removeContainers(client, session);
  const [database, cache] = await Promise.allSettled([
    // The engine would choose another port after a restart.
    onFreePort((port) => startContainer(client, postgres, { port, session, readyMs: limits.readyMs })),
    onFreePort((port) => startContainer(client, redis, { port, session, readyMs: limits.readyMs })),
  ]);
  if (database.status === 'rejected' || cache.status === 'rejected') {
    await close();
    const reason: unknown = [database, cache].find((outcome) => outcome.status === 'rejected')?.reason;
    return { unavailable: `the containers did not start: ${reason instanceof Error ? reason.message : reason}` };
  }
  return {
    kind: 'containers',
    description: 'PostgreSQL 17 and Redis 8 in containers',
    database: store(
      client,
      postgres,
      database.value,
      ({ address }) => `postgres://${NAME}:${password}@${address}/${NAME}`,
    ),
    redis: store(client, redis, cache.value, ({ address }) => `redis://${address}`),
    close,
  };
}

export async function haveImage(client: ContainerRuntimeClient, image: string, milliseconds: number): Promise<boolean> {
  const name = ImageName.fromString(image);
  try {
    await within(milliseconds, 'it took too long', client.image.pull(name));
    // A pull that fails half-way ends without an error.
    return await client.image.exists(name);
  } catch {
    return false;
  }
}

interface Started {
  readonly id: string;
  readonly address: string;
}

async function startContainer(
  client: ContainerRuntimeClient,
  spec: Spec,
  { port, session, readyMs }: { readonly port: number; readonly session: string; readonly readyMs: number },
): Promise<Started> {
  const container = await new GenericContainer(spec.image)
    .withEnvironment(spec.environment)
    .withCommand([...spec.command])
    .withExposedPorts({ container: spec.port, host: port })
    .withLabels({ ...OWNER, [LABEL]: session })
    .withWaitStrategy(Wait.forSuccessfulCommand(spec.probe))
    .withStartupTimeout(readyMs)
    // Cleaning up is this process's work already, and Testcontainers' reaper would be one more image to have.
    .withAutoCleanup(false)
    .start();
  const { host } = client.info.containerRuntime;
  return { id: container.getId(), address: `${host === 'localhost' ? '127.0.0.1' : host}:${port}` };
}

function store(client: ContainerRuntimeClient, spec: Spec, started: Started, url: (started: Started) => string): Store {
  const container = client.container.getById(started.id);
  const state = async () => (await container.inspect()).State;
  const end = async (signal: NodeJS.Signals) => {
    const { Paused, Running } = await state();
    // Not every engine signals a paused container.
    if (Paused) {
      await container.unpause();
    }
    if (Running) {
      await container.kill({ signal });
    }
    await within(STOP_MS, `it did not stop within ${STOP_MS} ms`, container.wait());
  };
  return {
    url: url(started),
    async pause() {
      await container.pause();
    },
    async resume() {
      await container.unpause();
    },
    async start() {
      if ((await state()).Running) {
        return;
      }
      await container.start();
      const ready = Wait.forSuccessfulCommand(spec.probe).withStartupTimeout(INSISTENT.readyMs);
      await waitForContainer(client, container, ready, new BoundPorts());
    },
    stop: () => end(spec.stopSignal),
    kill: () => end('SIGKILL'),
  };
}

/** By label, so that a container that never became ready is found as well. */
async function removeContainers(client: ContainerRuntimeClient, session: string): Promise<void> {
  const { dockerode } = client.container;
  const containers = await dockerode.listContainers({ all: true, filters: { label: [`${LABEL}=${session}`] } });
  const removed = containers.map(({ Id }) => dockerode.getContainer(Id).remove({ force: true, v: true }));
  await inTime('the containers of the stores are removed', Promise.all(removed));
}
