/**
 * The process that the stores live in, started by stores.ts. It takes commands over its channel, and when
 * the channel closes (its parent closed it, ended, or was killed) it takes the stores down and ends.
 */
import pg from 'pg';
import { startEmbeddedStores } from './embedded-stores.ts';
import type { Stores, StoresKind } from './stores.ts';

export interface StoresOptions {
  readonly kind?: StoresKind;
  readonly dataDir?: string;
  /** For many databases that come and go: in memory or never synchronized with the disk, and with cheap logins. */
  readonly inMemory?: boolean;
  readonly redisArguments?: readonly string[];
}
export type StoreName = 'database' | 'redis';
export type Action = 'pause' | 'resume' | 'stop' | 'start' | 'kill';
export interface ToStores {
  readonly id: number;
  readonly store: StoreName;
  readonly action: Action;
}
export type FromStores =
  | {
      readonly type: 'ready';
      readonly kind: StoresKind;
      readonly description: string;
      readonly databaseUrl: string;
      readonly redisUrl: string;
    }
  | { readonly type: 'unavailable'; readonly reason: string }
  | { readonly type: 'done'; readonly id: number }
  | { readonly type: 'failed'; readonly id: number; readonly reason: string }
  | { readonly type: 'log'; readonly line: string };

const options: StoresOptions = JSON.parse(process.argv[2] ?? '{}');
const starting = start(options).then(async (stores) => {
  if (options.inMemory === true) {
    await makeLoginsCheap(stores.database.url);
  }
  return stores;
});

let closing = false;
async function close(exitCode: number): Promise<void> {
  if (closing) {
    return;
  }
  closing = true;
  let code = exitCode;
  try {
    const stores = await starting.catch(() => undefined);
    await stores?.close();
  } catch (error) {
    process.stderr.write(`stores: could not close cleanly: ${reasonOf(error)}\n`);
    code = 1;
  }
  process.exit(code);
}
process.on('disconnect', () => void close(0));
process.on('SIGINT', () => void close(0));
process.on('SIGTERM', () => void close(0));
process.on('uncaughtException', (error) => {
  process.stderr.write(`stores: ${error.stack}\n`);
  void close(1);
});

try {
  const stores = await starting;
  process.on('message', (message: ToStores) => void obey(stores, message));
  tell({
    type: 'ready',
    kind: stores.kind,
    description: stores.description,
    databaseUrl: stores.database.url,
    redisUrl: stores.redis.url,
  });
} catch (error) {
  tell({ type: 'unavailable', reason: reasonOf(error) });
}

async function obey(stores: Stores, { id, store, action }: ToStores): Promise<void> {
  try {
    await stores[store][action]();
    tell({ type: 'done', id });
  } catch (error) {
    tell({ type: 'failed', id, reason: `cannot ${action} the ${store}: ${reasonOf(error)}` });
  }
}

async function start({ kind, dataDir, inMemory = false, redisArguments }: StoresOptions): Promise<Stores> {
  const log = (line: string) => tell({ type: 'log', line });
  if (kind === 'embedded') {
    return startEmbeddedStores({ log, inMemory, ...(dataDir === undefined ? {} : { dataDir }) });
  }

  // Loaded only when wanted: it costs more time than the embedded stores take to start.
  const { startContainerStores, INSISTENT, PATIENCE } = await import('./container-stores.ts');
  const wanted = { inMemory, ...(redisArguments === undefined ? {} : { redisArguments }) };
  const outcome = await startContainerStores(kind === 'containers' ? INSISTENT : PATIENCE, wanted);
  if ('close' in outcome) {
    return outcome;
  }
  if (kind === 'containers') {
    throw new Error(`containers were asked for, but ${outcome.unavailable}`);
  }
  const stores = await startEmbeddedStores({ log, inMemory });
  return { ...stores, description: `${stores.description} (${outcome.unavailable.replaceAll('\n', ' ')})` };
}

/**
 * A login hashes the password 4,096 times on each side (SCRAM, RFC 5802). Tests open hundreds of connections. One hash
 * is the same exchange.
 */
async function makeLoginsCheap(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('SET scram_iterations = 1');
    await client.query(`ALTER ROLE CURRENT_USER PASSWORD ${client.escapeLiteral(new URL(url).password)}`);
  } finally {
    await client.end();
  }
}

function tell(message: FromStores): void {
  // A parent that has exited needs no answer: 'disconnect' is handled elsewhere.
  if (process.connected) {
    process.send?.(message, undefined, undefined, () => {});
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
