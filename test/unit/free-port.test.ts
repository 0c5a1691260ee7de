import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import type { ExecutionContext } from 'ava';
import { NOWHERE, onFreePort } from '../helpers/free-port.ts';
import test from '../helpers/test.ts';

async function listen(t: ExecutionContext, port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return server;
}

/** Starts a server whose port somebody else takes so many times just before. */
async function startLate(t: ExecutionContext, taken: number) {
  const ports: number[] = [];
  const started = onFreePort(async (port) => {
    ports.push(port);
    if (ports.length <= taken) {
      await listen(t, port);
    }
    return listen(t, port);
  });
  return { ports, address: await started.then((server) => server.address(), String) };
}

test('a port that was taken in the meantime never fails a start', async (t) => {
  const { ports, address } = await startLate(t, 4);
  t.is(ports.length, 5);
  t.like(address, { port: ports.at(-1) });
});

test('a start is never tried more than five times', async (t) => {
  const { ports, address } = await startLate(t, 5);
  t.is(ports.length, 5);
  t.regex(String(address), /EADDRINUSE/);
});

test('no other failure is tried again', async (t) => {
  let starts = 0;
  const failing = onFreePort(async () => {
    starts += 1;
    throw new Error('the disk is full');
  });
  await t.throwsAsync(failing, { message: 'the disk is full' });
  t.is(starts, 1);
});

for (const said of [
  'listen EADDRINUSE: address already in use 127.0.0.1:20001',
  'could not bind IPv4 address "127.0.0.1": Address already in use',
  'Warning: Could not create server TCP listening socket 127.0.0.1:20001: bind: Address already in use',
  'Bind for 0.0.0.0:20001 failed: port is already allocated',
]) {
  test(`never fails a start: ${said.slice(0, 60)}`, async (t) => {
    let starts = 0;
    const started = onFreePort(async () => {
      starts += 1;
      if (starts === 1) {
        throw new Error(`it ended (exit code 1)\n${said}`);
      }
    });
    await t.notThrowsAsync(started);
    t.is(starts, 2);
  });
}

test('fetch never refuses the address of nobody by itself', async (t) => {
  const error = await t.throwsAsync(fetch(`http://${NOWHERE}`), { instanceOf: TypeError });
  t.regex(String(error?.cause), /ECONNREFUSED/);
});
