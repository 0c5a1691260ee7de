import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import type { ExecutionContext } from 'ava';
import { onFreePort } from '../helpers/free-port.ts';
import test from '../helpers/test.ts';

async function listen(t: ExecutionContext, port: number): Promise<Server> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return server;
}

test('a port that was taken in the meantime never fails a start', async (t) => {
  const said = [
    'could not bind IPv4 address "127.0.0.1": Address already in use',
    'Warning: Could not create server TCP listening socket 127.0.0.1:20001: bind: Address already in use',
    'Bind for 0.0.0.0:20001 failed: port is already allocated',
  ];
  const ports: number[] = [];
  const server = await onFreePort(async (port) => {
    ports.push(port);
    const message = said.shift();
    if (message !== undefined) {
      throw new Error(`it ended (exit code 1)\n${message}`);
    }
    if (ports.length === 4) {
      await listen(t, port);
    }
    return listen(t, port);
  });
  t.is(ports.length, 5);
  t.like(server.address(), { port: ports.at(-1) });
});
