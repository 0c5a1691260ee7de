import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the ports that Linux (32768 up) and macOS (49152 up) hand to outgoing connections, and below
// Kubernetes node ports (30000 up): a store that is stopped for a while must find its port free again.
const LOWEST = 20_000;
const HIGHEST = 29_999;
const ATTEMPTS = 50;
const STARTS = 5;

/** As Node, PostgreSQL, Redis, PgBouncer, Prometheus and Docker say it. */
const IN_USE = /EADDRINUSE|address already in use|port is already allocated/i;

/** An address where nobody listens. Not port 1 or 9: fetch refuses those without connecting. */
export const NOWHERE = '127.0.0.1:2';

/**
 * Starts a server whose port has to be given to it. Between the choice and the start somebody else may take the port: it is
 * then started on another one. `start` rejects with what the server said.
 */
export async function onFreePort<T>(start: (port: number) => Promise<T>): Promise<T> {
  for (let left = STARTS - 1; ; left -= 1) {
    try {
      return await start(await freePort());
    } catch (error) {
      if (left === 0 || !IN_USE.test(String(error))) {
        throw error;
      }
    }
  }
}

async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const port = randomInt(LOWEST, HIGHEST + 1);
    if (await isFree(port)) {
      return port;
    }
  }
  throw new Error(`no free port among ${ATTEMPTS} tried between ${LOWEST} and ${HIGHEST}`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '0.0.0.0');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
