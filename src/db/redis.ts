import { Redis, type RedisOptions } from 'ioredis';
import { currentUrl, type StoreUrl } from '../common/store-url.ts';
import type { Log } from '../log.ts';

const CONNECT_TIMEOUT_MS = 2_000;
const COMMAND_TIMEOUT_MS = 900;
/** A connection on which nothing has come back for this long is replaced: the other end may be gone. */
const SOCKET_TIMEOUT_MS = 3_000;
const MAX_RECONNECT_DELAY_MS = 1_000;

/**
 * Redis that fails fast: a command is answered, or refused, within {@link COMMAND_TIMEOUT_MS}, by which `patience` is
 * multiplied. It reconnects by itself.
 */
export function makeRedis(url: StoreUrl, log: Log, patience = 1): Redis {
  const redis = openRedis(url, {
    connectionName: 'gatehouse',
    commandTimeout: COMMAND_TIMEOUT_MS * patience,
    socketTimeout: SOCKET_TIMEOUT_MS * patience,
  });
  // Once per outage, not once per attempt.
  let down = false;
  redis.on('error', (err) => {
    if (!down) {
      log.warn({ err }, 'Redis is unreachable');
    }
    down = true;
  });
  redis.on('ready', () => {
    if (down) {
      log.info('Redis is back');
    }
    down = false;
  });
  return redis;
}

/** For the health check alone, which waits longer for an answer than the service waits for a command. Logs nothing. */
export function makeProbeRedis(url: StoreUrl, timeoutMs: number): Redis {
  const redis = openRedis(url, {
    connectionName: 'gatehouse health',
    commandTimeout: timeoutMs,
    socketTimeout: timeoutMs,
  });
  redis.on('error', () => {
    // The check reports it.
  });
  return redis;
}

interface Limits {
  readonly connectionName: string;
  readonly commandTimeout: number;
  readonly socketTimeout: number;
}

/** `url` is a valid REDIS_URL. */
function openRedis(source: StoreUrl, limits: Limits): Redis {
  const url = currentUrl(source);
  // The client connects with the options of that moment. Only credentials are rotated.
  const retryStrategy = (attempt: number) => {
    Object.assign(redis.options, credentialsOf(currentUrl(source)));
    return retryDelayMs(attempt);
  };
  const redis = new Redis(url, {
    connectTimeout: CONNECT_TIMEOUT_MS,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy,
    // The check needs INFO, which a small ACL forbids; ioredis then prints a line of its own. What is not usable, a
    // write tells.
    enableReadyCheck: false,
    // After a failover the address may lead to another server while the old connection stays open.
    reconnectOnError: (error: Error) => /\bREADONLY\b/.test(error.message),
    ...limits,
  });
  return redis;
}

function credentialsOf(url: string): RedisOptions {
  const { username, password } = new URL(url);
  return { username: decodeURIComponent(username), password: decodeURIComponent(password) };
}

const retryDelayMs = (attempt: number) => Math.min(50 * 2 ** attempt, MAX_RECONNECT_DELAY_MS);

/** Closes the client. What was in progress, such as a connection being made, fails silently. */
export function closeRedis(redis: Redis): void {
  redis.removeAllListeners('error');
  redis.on('error', () => {
    // An error that closing causes.
  });
  redis.disconnect();
}
