import pg from 'pg';
import type { Log } from '../log.ts';

/** A new connection takes four round trips or more: a slow database must not count as unavailable. */
const CONNECT_TIMEOUT_MS = 4_000;
/** The server gives up first, so that its connection stays usable; ours is for a server that hangs. */
const STATEMENT_TIMEOUT_MS = 4_000;
const QUERY_TIMEOUT_MS = 5_000;
const IDLE_TRANSACTION_TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 10;

export function makePool(url: string, log: Log): pg.Pool {
  return openPool(url, log, { application_name: 'gatehouse', max: MAX_CONNECTIONS });
}

/**
 * For the inbox, which sends statements without waiting for each other's answers, and for the door's health check. It is
 * one connection for both, so that readiness meets what deliveries meet: a server that accepts no new connections does not
 * look healthy over an old one.
 */
export function makeInboxPool(url: string, log: Log): pg.Pool {
  return openPool(url, log, { application_name: 'gatehouse inbox', max: 1, pipeline: true });
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

/** For the health check of a process without an inbox. It has a connection of its own, so that being busy is not being down. */
export function makeProbePool(url: string, log: Log): pg.Pool {
  return openPool(url, log, { application_name: 'gatehouse health', max: 1 });
}
