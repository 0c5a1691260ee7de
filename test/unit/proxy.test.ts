import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ExecutionContext } from 'ava';
import { startProxy, type TcpProxy } from '../helpers/proxy.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

// Long enough for any answer to arrive: a slow machine can only make these tests too kind.
const A_WHILE_MS = 200;

/** A proxy before a server that sends back what it is sent. */
async function setUp(t: ExecutionContext): Promise<TcpProxy> {
  const server = createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = await startProxy((server.address() as AddressInfo).port);
  t.teardown(async () => {
    await proxy.close();
    server.close();
  });
  return proxy;
}

async function dial(proxy: TcpProxy): Promise<Socket> {
  const socket = connect(proxy.port, '127.0.0.1');
  // The teardown resets what a test leaves open.
  socket.on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

async function ask(socket: Socket, text: string): Promise<string> {
  const answer = once(socket, 'data');
  socket.write(text);
  return String((await answer)[0]);
}

test('passes bytes both ways, and a half-closed connection to its end', async (t) => {
  const proxy = await setUp(t);
  const socket = await dial(proxy);
  t.is(await ask(socket, 'one'), 'one');
  const large = Buffer.alloc(2_000_000, 'x');
  const pieces: Buffer[] = [];
  socket.on('data', (piece) => pieces.push(piece));
  socket.end(large);
  await once(socket, 'end');
  t.true(Buffer.concat(pieces).equals(large));
});

test("its URL is the target's with another address", async (t) => {
  const proxy = await startProxy('postgres://user:secret@127.0.0.1:1/app');
  t.teardown(() => proxy.close());
  t.is(proxy.url, `postgres://user:secret@127.0.0.1:${proxy.port}/app`);
});

test('hung, it freezes old and new connections, and delivers when it passes again', async (t) => {
  const proxy = await setUp(t);
  const before = await dial(proxy);
  await ask(before, 'warm');
  await proxy.hang();
  const during = await dial(proxy);
  const answers = [ask(before, 'old'), ask(during, 'new')];
  t.is(await Promise.race([...answers, sleep(A_WHILE_MS, 'silence')]), 'silence');
  await proxy.hang();
  await proxy.pass();
  t.deepEqual(await Promise.all(answers), ['old', 'new']);
});

/** Whether a new connection ends by an error. */
function isReset({ port }: TcpProxy): Promise<boolean> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  return new Promise((resolve) => socket.once('close', resolve));
}

test('reset, it cuts connections, and each new one, until it passes on the same port', async (t) => {
  const proxy = await setUp(t);
  const socket = await dial(proxy);
  await ask(socket, 'warm');
  const reset = t.throwsAsync(once(socket, 'data'), { code: 'ECONNRESET' });
  proxy.reset();
  await reset;
  t.true(await isReset(proxy));
  await proxy.pass();
  t.is(await ask(await dial(proxy), 'again'), 'again');
});

test('cut, it resets what is open and goes on with what is new', async (t) => {
  const proxy = await setUp(t);
  const socket = await dial(proxy);
  await ask(socket, 'warm');
  const reset = t.throwsAsync(once(socket, 'data'), { code: 'ECONNRESET' });
  proxy.cut();
  await reset;
  t.is(await ask(await dial(proxy), 'again'), 'again');
});

test('delayed, pieces come late and in order', async (t) => {
  const proxy = await setUp(t);
  const socket = await dial(proxy);
  await ask(socket, 'warm');
  await proxy.delay(100);
  // Set first and for less than both ways take together: on any machine this timer comes first.
  const sooner = sleep(150, 'sooner');
  const answer = ask(socket, 'late');
  t.is(await Promise.race([answer, sooner]), 'sooner');
  t.is(await answer, 'late');

  let received = '';
  socket.on('data', (piece) => {
    received += piece;
  });
  socket.write('1');
  await sleep(20);
  await proxy.pass();
  socket.write('2');
  await until(() => received.length === 2);
  t.is(received, '12');
});

test('counts the connections that clients hold open, also while it hangs', async (t) => {
  const proxy = await setUp(t);
  const first = await dial(proxy);
  const second = await dial(proxy);
  await until(() => proxy.accepted === 2);
  t.is(proxy.open, 2);
  first.destroy();
  await until(() => proxy.open === 1);
  await proxy.hang();
  const third = await dial(proxy);
  await until(() => proxy.open === 2);
  second.destroy();
  third.destroy();
  await until(() => proxy.open === 0);
  t.is(proxy.accepted, 3);
});

test('a target that is down is a reset connection', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const proxy = await startProxy(port);
  t.teardown(() => proxy.close());
  const socket = await dial(proxy);
  await t.throwsAsync(once(socket, 'data'), { code: 'ECONNRESET' });
});
