import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

// Below the ports that Linux (32768 up) and macOS (49152 up) hand to outgoing connections, and below
// Kubernetes node ports (30000 up): a store that is stopped for a while must find its port free again.
const LOWEST = 20_000;
const HIGHEST = 29_999;
const ATTEMPTS = 50;

/** An address where nobody listens. Not port 1 or 9: fetch refuses those without connecting. */
export const NOWHERE = '127.0.0.1:2';

/** A TCP port that nothing listens on, on any IPv4 address. */
export async function freePort(): Promise<number> {
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
