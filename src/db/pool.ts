import pg from 'pg';
import { currentUrl, type StoreUrl } from '../common/store-url.ts';
import type { Log } from '../log.ts';
import { cancelRunning } from './cancel.ts';
import { queryAll } from './query-all.ts';
import { cut } from './transaction.ts';
import { UnusableDatabaseError } from './unusable.ts';

/** A new connection takes four round trips or more: a slow database must not count as unavailable. */
const CONNECT_TIMEOUT_MS = 4_000;
/** The server gives up first, so that its connection stays usable; ours is for a server that hangs. */
const STATEMENT_TIMEOUT_MS = 4_000;
const QUERY_TIMEOUT_MS = 5_000;
const IDLE_TRANSACTION_TIMEOUT_MS = 10_000;
const MAX_CONNECTIONS = 10;
/**
 * A changed address (DNS, a Service) is followed after this long, also while the old server still answers. To connect
 * again costs some milliseconds.
 */
const MAX_LIFETIME_SECONDS = 30;

/** `patience` multiplies the limits on what the server takes to answer. */
export function makePool(url: StoreUrl, log: Log, patience = 1): pg.Pool {
  return openPool(url, log, patience, { application_name: 'gatehouse', max: MAX_CONNECTIONS });
}

/**
 * For the inbox, which sends statements without waiting for each other's answers, and for the door's health check. It
 * is one connection for both, so that readiness meets what deliveries meet: a server that accepts no new connections
 * does not look healthy over an old one.
 */
export function makeInboxPool(url: StoreUrl, log: Log, patience = 1): pg.Pool {
  return openPool(url, log, patience, { application_name: 'gatehouse inbox', max: 1, pipeline: true });
}

type Connected = ((error: Error) => void) | ((error: null, client: pg.Client) => void);

/**
 * The pool makes each connection with the options that it was given; the address is looked up each time. To connect
 * includes the settings of the session. As the pool's own `verify`, these could outlast the time that a caller
 * waits; such a connection stayed lent to nobody, and in a pool of one that was the end.
 */
function clientOf(url: StoreUrl, patience: number) {
  return class extends pg.Client {
    constructor(config?: pg.ClientConfig) {
      super({ ...config, connectionString: currentUrl(url) });
      // The pool listens only while a connection is idle; one that breaks otherwise would end the process.
      this.on('error', () => {});
    }

    override connect(): Promise<pg.Client>;
    override connect(callback: Connected): void;
    override connect(callback?: Connected): Promise<pg.Client> | undefined {
      const opened = this.#open();
      if (callback === undefined) {
        return opened;
      }
      opened.then(
        (client) => (callback as (error: null, client: pg.Client) => void)(null, client),
        callback as (error: Error) => void,
      );
      return undefined;
    }

    async #open(): Promise<pg.Client> {
      await super.connect();
      try {
        await openSession(this, patience);
        return this;
      } catch (error) {
        cut(this);
        throw error;
      }
    }
  };
}

function openPool(url: StoreUrl, log: Log, patience: number, config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool({
    Client: clientOf(url, patience),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS * patience,
    query_timeout: QUERY_TIMEOUT_MS * patience,
    maxLifetimeSeconds: MAX_LIFETIME_SECONDS,
    keepAlive: true,
    ...config,
  });
  // An idle connection that breaks is replaced at the next use; without a listener it would end the process.
  pool.on('error', (err) => log.debug({ err }, 'an idle database connection was lost'));
  // A connection that is released with an error is discarded, and may have been cut while a statement ran.
  pool.on('release', (error, client) => {
    if (error) {
      void cancelRunning(client);
    }
  });
  return pool;
}

/**
 * Set in each session, because a role, a database or a pooler may have other defaults. The COMMIT of a transaction
 * shows its warnings, see `commitTransaction`; the statements before it do not, so that no other warning counts as
 * one of the COMMIT.
 * `synchronous_commit` off would lose in a crash of the server what was acknowledged.
 */
const sessionSettings = (patience: number) => `
  SET statement_timeout = ${STATEMENT_TIMEOUT_MS * patience};
  SET idle_in_transaction_session_timeout = ${IDLE_TRANSACTION_TIMEOUT_MS * patience};
  SET DateStyle = 'ISO';
  SET default_transaction_isolation = 'read committed';
  SET client_min_messages = 'error';
  SELECT set_config('synchronous_commit', CASE value WHEN 'off' THEN 'on' ELSE value END, false), pg_is_in_recovery() AS standby
    FROM current_setting('synchronous_commit') AS value`;

/** Throws when the session must not be used: a standby can be read, but what it says may be outdated. */
async function openSession(client: pg.ClientBase, patience: number): Promise<void> {
  const results = await queryAll(client, sessionSettings(patience));
  if (results.at(-1)?.rows[0]?.standby !== false) {
    throw new UnusableDatabaseError('is read-only');
  }
}

/**
 * For the health check of a process without an inbox. It has a connection of its own, so that being busy is not being
 * down.
 */
export function makeProbePool(url: StoreUrl, log: Log, patience = 1): pg.Pool {
  return openPool(url, log, patience, { application_name: 'gatehouse health', max: 1 });
}
