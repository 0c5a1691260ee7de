import pg from 'pg';
import type { Log } from '../log.ts';

const CONNECT_TIMEOUT_MS = 2_000;
/** The server gives up first, so that its connection stays usable; ours is for a server that hangs. */
const STATEMENT_TIMEOUT_MS = 4_000;
const QUERY_TIMEOUT_MS = 5_000;
const IDLE_TRANSACTION_TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 10;

export function makePool(url: string, log: Log): pg.Pool {
  return openPool(url, log, { application_name: 'gatehouse', max: MAX_CONNECTIONS });
}

/**
 * For the inbox, which sends statements without waiting for each other's answers. One connection writes; a second
 * is opened where the first had to be given up.
 */
export function makeInboxPool(url: string, log: Log): pg.Pool {
  return openPool(url, log, { application_name: 'gatehouse inbox', max: 2, pipeline: true });
}

function openPool(url: string, log: Log, config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_TRANSACTION_TIMEOUT_MS,
    keepAlive: true,
    ...config,
  });
  // An idle connection that breaks is replaced at the next use; without a listener it would end the process.
  pool.on('error', (err) => log.debug({ err }, 'an idle database connection was lost'));
  return pool;
}

/**
 * A pool of one for health checks. It has a connection of its own, so that a busy service is not taken
 * for a broken database, and limits whose sum is below a second, so that a check that hangs is over,
 * and its connection gone, when its answer is due.
 */
export function makeProbePool(url: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'gatehouse health',
    max: 1,
    connectionTimeoutMillis: 450,
    query_timeout: 450,
    keepAlive: true,
  });
  pool.on('error', () => {
    // The next check makes a new connection, and says so if it cannot.
  });
  return pool;
}
