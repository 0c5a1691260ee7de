import { fork } from 'node:child_process';
import { once } from 'node:events';
import { inTime } from './deadline.ts';
import type { Action, FromStores, StoreName, StoresOptions, ToStores } from './stores-process.ts';

/** A real PostgreSQL or Redis that a test may mistreat. */
export interface Store {
  readonly url: string;
  /** Freezes its processes: connections are still accepted, and nothing answers. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** A clean stop: connections are refused. Starting again brings the same port, and PostgreSQL's data, back. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** SIGKILL, as a crash would be. Like stop and start it does nothing where there is nothing to do. */
  kill(): Promise<void>;
}

export type StoresKind = 'containers' | 'embedded';

export interface Stores {
  readonly kind: StoresKind;
  /** What runs, for people: `PostgreSQL 17 and Redis 8 in containers`. */
  readonly description: string;
  readonly database: Store;
  readonly redis: Store;
  close(): Promise<void>;
}

/**
 * A pair of stores of one's own: in containers, or embedded where containers cannot be had. `kind`, or else
 * the environment's `TEST_STORES`, insists on one. `inMemory` is for those on which many databases come and go. They end with `close()` and with this process, however it ends.
 */
export async function startStores(
  options: {
    readonly kind?: StoresKind;
    /** For `redis-server`, in containers only: `[]` is Redis as shipped. By default it keeps nothing over a restart. */
    readonly redisArguments?: readonly string[];
    readonly inMemory?: boolean;
  } = {},
): Promise<Stores> {
  const kind = options.kind ?? parseKind(process.env['TEST_STORES']);
  const stores = await runStores({ ...options, ...(kind === undefined ? {} : { kind }) });
  // Under the test runner the runner has said it once for all.
  if (process.env['TEST_DATABASE_URL'] === undefined) {
    process.stderr.write(`stores: ${stores.description}\n`);
  }
  return stores;
}

/** Embedded stores without a word on stderr. With `dataDir` PostgreSQL's data is kept there, for the next time. */
export function startEmbeddedStores(
  options: { readonly dataDir?: string; readonly log?: (line: string) => void } = {},
): Promise<Stores> {
  const { log, ...rest } = options;
  return runStores({ kind: 'embedded', ...rest }, log);
}

function parseKind(value: string | undefined): StoresKind | undefined {
  if (value === undefined || value === '') {
    return undefined;
  }
  if (value === 'containers' || value === 'embedded') {
    return value;
  }
  throw new Error(`TEST_STORES is "${value}"; it must be "containers" or "embedded", or unset`);
}

/**
 * The stores live in a process of their own, which cleans up when its channel to this one closes. So nothing
 * is left behind even by a SIGKILL, this process needs no exit hooks, and its own signal handling is left alone.
 */
async function runStores(options: StoresOptions, log?: (line: string) => void): Promise<Stores> {
  // Detached, for a terminal's Ctrl-C must not take the stores from under a service that is still draining.
  // No execArgv, or under `node --watch` the child would be watching too.
  const child = fork(new URL('./stores-process.ts', import.meta.url), [JSON.stringify(options)], {
    detached: true,
    execArgv: [],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the stores' process ended (${signal ?? `exit code ${code}`})`);
  });
  // Only a pending request needs this; close() and a lost parent end the process too.
  ended.catch(() => {});

  const waiting = new Map<number, PromiseWithResolvers<void>>();
  const ready = Promise.withResolvers<Extract<FromStores, { type: 'ready' }>>();
  child.on('message', (message: FromStores) => {
    if (message.type === 'ready') {
      ready.resolve(message);
    } else if (message.type === 'unavailable') {
      ready.reject(new Error(message.reason));
    } else if (message.type === 'log') {
      log?.(message.line);
    } else if (message.type === 'done') {
      waiting.get(message.id)?.resolve();
    } else if (message.type === 'failed') {
      waiting.get(message.id)?.reject(new Error(message.reason));
    }
  });

  let lastId = 0;
  const request = async (store: StoreName, action: Action): Promise<void> => {
    const id = ++lastId;
    const answer = Promise.withResolvers<void>();
    waiting.set(id, answer);
    child.channel?.ref();
    try {
      const message: ToStores = { id, store, action };
      if (child.connected) {
        child.send(message);
      }
      await Promise.race([answer.promise, ended]);
    } finally {
      waiting.delete(id);
      if (waiting.size === 0) {
        child.channel?.unref();
      }
    }
  };
  const proxyFor = (store: StoreName, url: string): Store => ({
    url,
    pause: () => request(store, 'pause'),
    resume: () => request(store, 'resume'),
    stop: () => request(store, 'stop'),
    start: () => request(store, 'start'),
    kill: () => request(store, 'kill'),
  });

  let up: Extract<FromStores, { type: 'ready' }>;
  try {
    up = await Promise.race([ready.promise, ended]);
  } catch (error) {
    if (child.connected) {
      child.disconnect();
    }
    throw error;
  }
  const { kind, description, databaseUrl, redisUrl } = up;
  // From here on the stores do not keep their parent process alive.
  child.unref();
  child.channel?.unref();
  return {
    kind,
    description,
    database: proxyFor('database', databaseUrl),
    redis: proxyFor('redis', redisUrl),
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) {
        return;
      }
      child.ref();
      const exited = once(child, 'exit');
      if (child.connected) {
        child.disconnect();
      }
      // One that does not end may not keep this process either.
      const [code] = await inTime('the stores are closed', exited).finally(() => child.unref());
      if (code !== 0) {
        throw new Error(`the stores did not close cleanly (exit code ${code})`);
      }
    },
  };
}
