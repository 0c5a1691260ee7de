import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { freePort } from '../test/helpers/free-port.ts';
import { gatehouse } from '../test/helpers/process.ts';
import type { Stores } from '../test/helpers/stores.ts';

export const SECRET = 'a secret for the benchmark';
export const PATH = '/webhook';

export type ContenderName = 'bare' | 'octokit' | 'probot' | 'koa' | 'gatehouse';

export interface Contender {
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

export interface Running {
  readonly pid: number;
  readonly port: number;
  /** Milliseconds from the start of the process to its first successful answer. */
  readonly readyAfterMs: number;
  stop(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url));

export interface StartOptions {
  /** For Node, such as `--cpu-prof`. */
  readonly execArgv?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts one of them in a separate process, configured as in production, on its prepared database. */
export async function start(
  name: ContenderName,
  stores: Omit<Bench, 'admin'>,
  options: StartOptions = {},
): Promise<Running> {
  const { execArgv = [], env = {} } = options;
  const begin = performance.now();
  const environment = {
    PATH: process.env['PATH'],
    NODE_ENV: 'production',
    WEBHOOK_SECRET: SECRET,
    DATABASE_URL: stores.databaseUrl(name),
    REDIS_URL: stores.redisUrl,
    PORT: String(await freePort()),
    METRICS_PORT: String(await freePort()),
    HOST: '127.0.0.1',
    DRAIN_SECONDS: '0',
    ...env,
  };
  const child =
    name === 'gatehouse'
      ? // Its log goes where it costs it least to write; the others have none.
        spawn(process.execPath, [...execArgv, MAIN, 'serve'], {
          env: environment,
          stdio: ['ignore', 'ignore', 'inherit'],
        })
      : fork(new URL(`./servers/${SERVERS[name]}.ts`, import.meta.url), {
          env: environment,
          execArgv: [...execArgv],
          stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
        });
  const port = Number(environment.PORT);
  await untilReady(child, name, port);
  return { pid: child.pid ?? 0, port, readyAfterMs: performance.now() - begin, stop: () => end(child) };
}

const SERVERS: Readonly<Record<Exclude<ContenderName, 'gatehouse'>, string>> = {
  bare: 'bare',
  octokit: 'octokit',
  probot: 'probot',
  koa: 'koa-insert',
};

const READY_POLL_MS = 5;
const READY_MS = 30_000;

/** Only Gatehouse has a readiness route; the others are ready when they listen. */
async function untilReady(child: ChildProcess, name: ContenderName, port: number): Promise<void> {
  const isReady = name === 'gatehouse' ? () => answersHealth(port) : () => isListening(port);
  const deadline = performance.now() + READY_MS;
  while (!(await isReady())) {
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
  if (child.exitCode !== null || child.signalCode !== null) {
    return;
  }
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  await closed;
}

/** One database for each server that stores, on one PostgreSQL. They are emptied between measurements. */
export interface Bench {
  readonly redisUrl: string;
  readonly admin: pg.Pool;
  databaseUrl(name: ContenderName): string;
  /** Empties the tables of a contender, and runs a checkpoint. */
  clear(name: ContenderName): Promise<void>;
}

export async function prepareStores(stores: Stores): Promise<Bench> {
  const urlOf = (database: string) => {
    const url = new URL(stores.database.url);
    url.pathname = database;
    return url.href;
  };
  const admin = new pg.Pool({ connectionString: stores.database.url, max: 2 });
  for (const name of ['koa', 'gatehouse']) {
    await admin.query(`CREATE DATABASE bench_${name}`);
  }
  const migration = gatehouse(['migrate'], { DATABASE_URL: urlOf('bench_gatehouse') });
  const { code, stderr } = await migration.finished;
  if (code !== 0) {
    throw new Error(`gatehouse migrate failed: ${stderr}`);
  }

  return {
    redisUrl: stores.redis.url,
    admin,
    databaseUrl: (name) => urlOf(name === 'gatehouse' ? 'bench_gatehouse' : 'bench_koa'),
    async clear(name) {
      const tables = TABLES[name];
      if (tables === undefined) {
        return;
      }
      const client = new pg.Client({ connectionString: urlOf(`bench_${name}`) });
      await client.connect();
      const { rows } = await client.query<{ found: boolean }>('SELECT to_regclass($1) IS NOT NULL AS found', [
        tables[0],
      ]);
      if (rows[0]?.found) {
        await client.query(`TRUNCATE ${tables.join(', ')}`);
      }
      await client.query('CHECKPOINT');
      await client.end();
    },
  };
}

const TABLES: Readonly<Partial<Record<ContenderName, readonly string[]>>> = {
  koa: ['deliveries'],
  gatehouse: ['gatehouse.deliveries', 'gatehouse.frames', 'gatehouse_jobs.job'],
};
