import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { onFreePort } from '../test/helpers/free-port.ts';
import type { Stores } from '../test/helpers/stores.ts';
import { type BenchDatabase, createDatabase, createMigrated } from './databases.ts';

export const SECRET = 'a secret for the benchmark';
export const PATH = '/webhook';

export type ContenderName = 'bare' | 'octokit' | 'probot' | 'koa' | 'gatehouse';

interface Contender {
  /** Of its file in servers/, except for Gatehouse. */
  readonly name: ContenderName;
  /** For tables. */
  readonly title: string;
  /** Whether an acknowledged delivery survives the death of the process. */
  readonly durable: boolean;
}

export const CONTENDERS: readonly Contender[] = [
  { name: 'bare', title: 'bare `node:http`, checks the HMAC', durable: false },
  { name: 'octokit', title: '`@octokit/webhooks` middleware', durable: false },
  { name: 'probot', title: 'Probot', durable: false },
  { name: 'koa', title: 'Koa, koa-body, one INSERT of jsonb each', durable: true },
  { name: 'gatehouse', title: '**Gatehouse**: delivery and job, durable', durable: true },
];

/** Those of the contenders that store. */
export const STORING = ['koa', 'gatehouse'] as const;
type Storing = (typeof STORING)[number];
export type Both<T> = Readonly<Record<Storing, T>>;

/** One database for each that stores. */
export async function createDatabases(stores: Stores): Promise<Both<BenchDatabase>> {
  const tables = ['gatehouse.deliveries', 'gatehouse.frames', 'gatehouse.delivery_keys', 'gatehouse_jobs.job'];
  return {
    koa: await createDatabase(stores, 'bench_koa', ['deliveries']),
    gatehouse: await createMigrated(stores, 'bench_gatehouse', tables),
  };
}

export interface Running {
  readonly pid: number;
  readonly port: number;
}

/** Runs `use` on one of them in a separate process, configured as in production, then ends the process. */
export async function withServer<T>(
  name: ContenderName,
  database: BenchDatabase | undefined,
  use: (server: Running) => Promise<T>,
): Promise<T> {
  const env = {
    ...(database !== undefined && { DATABASE_URL: database.url, REDIS_URL: database.redisUrl }),
    METRICS_PORT: '0',
    HOST: '127.0.0.1',
    DRAIN_SECONDS: '0',
  };
  return onFreePort(async (port) => {
    const child = name === 'gatehouse' ? spawnGatehouse(port, env) : forkServer(name, port, env);
    try {
      await untilReady(child, name, port);
      return await use({ pid: child.pid ?? 0, port });
    } finally {
      await end(child);
    }
  });
}

/** A server of this folder, in a separate process. */
export function forkServer(file: string, port: number, env: Readonly<Record<string, string>>): ChildProcess {
  return fork(new URL(`./servers/${file}.ts`, import.meta.url), {
    env: environment(port, env),
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
}

/** Its log goes where it costs it least to write; the others have none. */
function spawnGatehouse(port: number, env: Readonly<Record<string, string>>): ChildProcess {
  const main = fileURLToPath(new URL('../src/main.js', import.meta.url));
  return spawn(process.execPath, [main, 'serve'], {
    env: environment(port, env),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

function environment(port: number, env: Readonly<Record<string, string>>) {
  const { PATH: path } = process.env;
  return { PATH: path, NODE_ENV: 'production', WEBHOOK_SECRET: SECRET, PORT: String(port), ...env };
}

const READY_POLL_MS = 5;
const READY_MS = 30_000;

/** Only Gatehouse has a readiness route; the others are ready when they listen. */
async function untilReady(child: ChildProcess, name: ContenderName, port: number): Promise<void> {
  const isReady = name === 'gatehouse' ? answersHealth : isListening;
  const deadline = performance.now() + READY_MS;
  while (!(await isReady(port))) {
    if (child.exitCode !== null) {
      throw new Error(`${name} exited with ${child.exitCode} before it was ready`);
    }
    if (performance.now() > deadline) {
      throw new Error(`${name} was not ready within ${READY_MS} ms`);
    }
    await sleep(READY_POLL_MS);
  }
}

function answersHealth(port: number): Promise<boolean> {
  return fetch(`http://127.0.0.1:${port}/health/ready`).then(
    (response) => response.ok,
    () => false,
  );
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect({ port, host: '127.0.0.1' });
  const listening = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return listening;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const closed = once(child, 'close');
    child.kill('SIGTERM');
    await closed;
  }
}
