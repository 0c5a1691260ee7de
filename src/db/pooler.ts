import pg from 'pg';
import { currentUrl, type StoreUrl } from '../common/store-url.ts';
import { PoolerError, TRANSACTION_POOLING } from './pooler-error.ts';

/**
 * What stands between this process and PostgreSQL. With `transactions`, each transaction (or statement) of one
 * connection may run in another session, so that settings, locks and prepared statements of a session are not its own.
 */
export type Pooling = 'none' | 'sessions' | 'transactions';

const CONNECT_TIMEOUT_MS = 4_000;
/** A pooler gives a server connection that was just returned to the next who asks, unless somebody else was faster. */
const ATTEMPTS = 5;

/** Needs two connections for a moment. */
export async function detectPooling(databaseUrl: StoreUrl): Promise<Pooling> {
  const first = openClient(currentUrl(databaseUrl));
  const second = openClient(currentUrl(databaseUrl));
  try {
    await first.connect();
    const pid = await backendOf(first);
    // A pooler makes up the number that clients cancel with.
    if (pid === first.processID) {
      return 'none';
    }
    await second.connect();
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      // While the first one is connected, nobody else has its session, unless sessions are shared.
      if ((await backendOf(second)) === pid || (await backendOf(first)) !== pid) {
        return 'transactions';
      }
    }
    return 'sessions';
  } finally {
    await Promise.allSettled([first.end(), second.end()]);
  }
}

type Client = pg.Client & { readonly processID?: number | null };

function openClient(connectionString: string): Client {
  const client = new pg.Client({
    connectionString,
    application_name: 'gatehouse pooler check',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CONNECT_TIMEOUT_MS,
  });
  // The next query says it.
  client.on('error', () => {});
  return client;
}

async function backendOf(client: Client): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
  return rows[0]?.pid;
}

/** Throws {@link PoolerError}. */
export async function refuseTransactionPooling(databaseUrl: StoreUrl): Promise<void> {
  if ((await detectPooling(databaseUrl)) === 'transactions') {
    throw new PoolerError();
  }
}

/**
 * For a database that was not there at the start: looks until it has found out, once. Returns why the database cannot
 * be used, or undefined.
 */
export function makePoolerCheck(databaseUrl: StoreUrl): () => Promise<string | undefined> {
  let pooling: Pooling | undefined;
  return async () => {
    pooling ??= await detectPooling(databaseUrl);
    return pooling === 'transactions' ? TRANSACTION_POOLING : undefined;
  };
}
