import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import pg from 'pg';
import { inTime, within } from './deadline.ts';
import { onFreePort } from './free-port.ts';
import { isReachable, postgresBinaries, postgresUser, type RunAs } from './postgres-binaries.ts';
import { family, signalProcess, watchOutput } from './processes.ts';
import { eventually } from './until.ts';

const NAME = 'gatehouse';
const READY = 'database system is ready to accept connections';
const READY_MS = 60_000;
const STOP_MS = 20_000;
const MAX_CONNECTIONS = 500;

/** `durable` data is worth a sync when it is first laid out; what commits is synced in any case. */
export async function startEmbeddedPostgres(options: {
  readonly folder: string;
  readonly scratch: string;
  readonly durable: boolean;
  readonly log: (line: string) => void;
}) {
  const { folder, scratch, durable, log } = options;
  const runAs = await postgresUser();
  const binaries = await postgresBinaries(runAs, scratch);
  const data = join(folder, 'postgres');
  await prepareFolder(folder, scratch, runAs);
  const password = await initialise({ data, initdb: binaries.initdb, durable, runAs, log });
  let server: ChildProcess | undefined;
  let crashed = false;
  const running = (): number => {
    if (server?.pid === undefined) {
      throw new Error('PostgreSQL is not running');
    }
    return server.pid;
  };

  const startOn = async (port: number) => {
    if (server) {
      return;
    }
    const settings = {
      port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: MAX_CONNECTIONS,
      synchronous_commit: 'on',
    };
    const flags = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
    const launched = launch(binaries.postgres, ['-D', data, ...flags], runAs, log);
    const { child } = launched;
    child.once('exit', () => {
      if (server === child) {
        server = undefined;
      }
    });
    server = child;
    try {
      await within(READY_MS, `no "${READY}" within ${READY_MS} ms`, launched.until(READY));
    } catch (cause) {
      child.kill('SIGKILL');
      throw new Error(`PostgreSQL did not start: ${cause instanceof Error ? cause.message : cause}`, { cause });
    }
    crashed = false;
  };

  const resume = async () => signalAll(running(), 'SIGCONT');
  const end = async (signal: NodeJS.Signals) => {
    const child = server;
    if (!child) {
      return;
    }
    await resume();
    const exited = once(child, 'exit');
    child.kill(signal);
    try {
      await within(STOP_MS, `PostgreSQL did not stop within ${STOP_MS} ms`, exited);
    } catch (error) {
      await crash(running());
      throw error;
    }
  };

  const port = await onFreePort(async (free) => {
    await startOn(free);
    return free;
  });
  const start = () => startOn(port);
  const url = (database: string) => `postgres://${NAME}:${password}@127.0.0.1:${port}/${database}`;
  await createDatabase(url('postgres'));
  return {
    url: url(NAME),
    version: (await readFile(join(data, 'PG_VERSION'), 'utf8')).trim(),
    pause: () => freeze(running()),
    resume,
    start,
    // SIGINT is PostgreSQL's "fast" shutdown: sessions are ended, what is committed is kept.
    stop: () => end('SIGINT'),
    async kill() {
      if (!server) {
        return;
      }
      await Promise.all([once(server, 'exit'), crash(running())]);
      crashed = true;
    },
    /** Stops without ceremony, leaving nothing running and no shared memory; the data is not to be used again. */
    async discard() {
      // Only PostgreSQL itself removes the shared memory that a crash left.
      if (crashed) {
        await start();
      }
      await end('SIGQUIT');
    },
  };
}

async function prepareFolder(folder: string, scratch: string, runAs: RunAs): Promise<void> {
  await mkdir(folder, { recursive: true });
  if (!('uid' in runAs)) {
    return;
  }
  // The lesser user has to get through the scratch folder, and others have nothing to see in its own.
  await chmod(scratch, 0o711);
  await chmod(folder, 0o700);
  await chown(folder, runAs.uid, runAs.gid);
  if (!(await isReachable(dirname(folder)))) {
    throw new Error(`PostgreSQL runs as user id ${runAs.uid} here, which must be able to enter ${dirname(folder)}`);
  }
}

/** Lays the cluster out, unless it is there from an earlier time; gives its password. */
async function initialise(options: {
  readonly data: string;
  readonly initdb: string;
  readonly durable: boolean;
  readonly runAs: RunAs;
  readonly log: (line: string) => void;
}): Promise<string> {
  const { data, initdb, durable, runAs, log } = options;
  const passwordFile = `${data}.password`;
  const known = await readFile(passwordFile, 'utf8').catch(() => undefined);
  if (known !== undefined) {
    return known.trim();
  }

  const password = randomBytes(16).toString('hex');
  // Named at the end only: an interrupted beginning must not pass for a cluster.
  const unfinished = `${data}.unfinished`;
  const unfinishedPassword = `${unfinished}.password`;
  await rm(unfinished, { recursive: true, force: true });
  await rm(data, { recursive: true, force: true });
  await writeFile(unfinishedPassword, `${password}\n`, { mode: 0o600 });
  if ('uid' in runAs) {
    await chown(unfinishedPassword, runAs.uid, runAs.gid);
  }
  const flags = [
    `--pgdata=${unfinished}`,
    `--username=${NAME}`,
    `--pwfile=${unfinishedPassword}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    ...(durable ? [] : ['--no-sync']),
  ];
  const { child, failure } = launch(initdb, flags, runAs, log);
  const [code] = await inTime('initdb has ended', once(child, 'close'));
  if (code !== 0) {
    throw failure(`initdb failed (exit code ${code})`);
  }
  await rename(unfinished, data);
  await rename(unfinishedPassword, passwordFile);
  return password;
}

async function createDatabase(adminUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [NAME]);
    if (rowCount === 0) {
      await client.query(`CREATE DATABASE ${NAME}`);
    }
  } finally {
    await client.end();
  }
}

/** A PostgreSQL program whose output is watched, handed on, and kept for the moment it fails. */
function launch(program: string, args: readonly string[], runAs: RunAs, log: (line: string) => void) {
  const child = spawn(program, args, {
    ...runAs,
    // The messages are looked at, so they are wanted in English.
    env: { PATH: process.env['PATH'], LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines = watchOutput(child, log);
  child.on('error', (error) => lines.push(error.message));
  const failure = (what: string) => new Error([what, ...lines].join('\n'));
  const until = async (text: string): Promise<void> => {
    const found = Promise.withResolvers<void>();
    createInterface({ input: child.stderr }).on('line', (line) => line.includes(text) && found.resolve());
    child.once('error', (error) => found.reject(failure(`cannot run ${program}: ${error.message}`)));
    child.once('close', (code, signal) => found.reject(failure(`it ended (${signal ?? `exit code ${code}`})`)));
    await found.promise;
  };
  return { child, until, failure };
}

async function signalAll(postmaster: number, signal: NodeJS.Signals): Promise<void> {
  for (const { pid } of await family(postmaster)) {
    signalProcess(pid, signal);
  }
}

/** The postmaster may be forking a backend while it is being stopped, so look again until everything stands still. */
async function freeze(postmaster: number): Promise<void> {
  await eventually('PostgreSQL is frozen', async () => {
    const moving = (await family(postmaster)).filter(({ state }) => !state.startsWith('T'));
    for (const { pid } of moving) {
      signalProcess(pid, 'SIGSTOP');
    }
    return moving.length === 0;
  });
}

async function crash(postmaster: number): Promise<void> {
  await freeze(postmaster);
  const pids = new Set((await family(postmaster)).map(({ pid }) => pid));
  for (const pid of pids) {
    signalProcess(pid, 'SIGKILL');
  }
  // Orphans have another parent by now, hence each by its own id. A new server waits for none of the old left.
  await eventually('PostgreSQL is killed', async () => {
    const left = await Promise.all([...pids].map((pid) => family(pid)));
    return left.flat().every(({ pid }) => !pids.has(pid));
  });
}
