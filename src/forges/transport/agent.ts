import { Agent } from 'undici';

const CONNECT_TIMEOUT_MS = 5_000;
/** Sockets to the forge for one process; further requests wait for one. */
const MAX_CONNECTIONS = 32;

export function makeAgent(): Agent {
  return new Agent({ connections: MAX_CONNECTIONS, connect: { timeout: CONNECT_TIMEOUT_MS } });
}
