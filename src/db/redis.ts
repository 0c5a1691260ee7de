import { Redis } from 'ioredis';
import type { Log } from '../log.ts';

const CONNECT_TIMEOUT_MS = 2_000;
const COMMAND_TIMEOUT_MS = 900;
/** A connection on which nothing has come back for this long is replaced: the other end may be gone. */
const SOCKET_TIMEOUT_MS = 3_000;
const MAX_RECONNECT_DELAY_MS = 1_000;

/** Redis that fails fast: a command is answered, or refused, within {@link COMMAND_TIMEOUT_MS}. It reconnects by itself. */
export function makeRedis(url: string, log: Log): Redis {
  const redis = openRedis(url, {
    connectionName: 'gatehouse',
    commandTimeout: COMMAND_TIMEOUT_MS,
    socketTimeout: SOCKET_TIMEOUT_MS,
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

/** For the health check alone, which waits longer for a PING than the service waits for a command. Logs nothing. */
export function makeProbeRedis(url: string, timeoutMs: number): Redis {
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

function openRedis(url: string, limits: Limits): Redis {
  return new Redis(url, {
    connectTimeout: CONNECT_TIMEOUT_MS,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, MAX_RECONNECT_DELAY_MS),
    ...limits,
  });
}

/** Closes the client. What was in progress, such as a connection being made, fails silently. */
export function closeRedis(redis: Redis): void {
  redis.removeAllListeners('error');
  redis.on('error', () => {
    // Of its own ending.
  });
  redis.disconnect();
}
