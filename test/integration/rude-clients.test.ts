import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { type Door, type Environment, openDoor, sign } from '../helpers/door.ts';
import nightly from '../helpers/nightly.ts';
import { rawRequest, webhookHead } from '../helpers/raw-http.ts';
import ava from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const test = ava.serial;
const MIB = 1_048_576;

/** Of all tests that need no settings of their own. */
let door: Door;
ava.before(async () => {
  door = await openDoor();
});
ava.after.always(() => door?.[Symbol.asyncDispose]());

const MEASURED_DOOR = fileURLToPath(new URL('../helpers/measured-door-process.ts', import.meta.url));

/** A client that never closes its half of a connection. */
async function stubborn(port: number, bytes: string): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => {});
  socket.resume();
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

/** Of a body without a valid signature. */
const head = (length: Readonly<Record<string, string | number>>) =>
  webhookHead({ 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}`, ...length });

async function inflight(): Promise<string | undefined> {
  return /^gatehouse_inflight_bytes (\d+)$/m.exec(await (await fetch(door.metricsUrl)).text())?.[1];
}

test('uploads that stop half-way free their memory after a timeout', async (t) => {
  const sockets = await Promise.all(
    Array.from({ length: 64 }, () => stubborn(door.service.port, `${head({ 'Content-Length': MIB })}{`)),
  );
  await until(async () => (await inflight()) !== '0');
  // What they announced is not what they hold: there is room for others all the while.
  t.is((await door.post('{"honest":true}')).status, 200);
  await until(async () => (await inflight()) === '0');
  for (const socket of sockets) {
    socket.destroy();
  }
});

/** A door whose buffers can be measured, without those of this process. */
async function forkDoor(t: ExecutionContext, env: Environment) {
  const child = fork(MEASURED_DOOR, [JSON.stringify(env)], { execArgv: ['--expose-gc'] });
  const exited = once(child, 'exit');
  t.teardown(async () => {
    child.disconnect();
    await exited;
  });
  const next = async () => Number((await once(child, 'message'))[0]);
  return {
    port: await next(),
    async heldByBuffers() {
      const answer = next();
      child.send('measure');
      return answer;
    },
  };
}

for (const { what, limit, status, clients, refused, length, sent, held } of [
  {
    what: 'bodies that are too large',
    limit: '1MiB',
    length: { 'Transfer-Encoding': 'chunked' },
    sent: `${(2 * MIB).toString(16)}\r\n${'1'.repeat(2 * MIB)}`,
    status: 413,
    clients: 16,
    refused: 16,
    held: 4 * MIB,
  },
  {
    // All but one, for which there is room: large bodies may hold half of the 64 MiB.
    what: 'bodies that there is no room for',
    limit: '32MiB',
    length: { 'Content-Length': 31 * MIB },
    sent: '1'.repeat(30 * MIB),
    status: 503,
    clients: 6,
    refused: 5,
    held: 40 * MIB,
  },
]) {
  nightly(`${what} hold no memory once refused, though nobody hangs up`, async (t) => {
    const door = await forkDoor(t, { WEBHOOK_BODY_LIMIT: limit });
    const before = await door.heldByBuffers();
    const sockets = await Promise.all(Array.from({ length: clients }, () => stubborn(door.port, head(length))));
    let ended = false;
    const answers: string[] = [];
    for (const socket of sockets) {
      socket.on('end', () => {
        ended = true;
      });
      socket.once('data', (answer) => answers.push(String(answer)));
      socket.write(sent);
    }
    await until(() => answers.length >= refused);
    t.deepEqual(
      answers.map((answer) => answer.slice(0, 12)),
      answers.map(() => `HTTP/1.1 ${status}`),
    );
    // What is collected is counted some time later, and the door ends a request that goes on for too long.
    let bytes = Number.POSITIVE_INFINITY;
    do {
      bytes = (await door.heldByBuffers()) - before;
    } while (bytes >= held && !ended);
    t.true(bytes < held, `${bytes} bytes`);
    for (const socket of sockets) {
      socket.destroy();
    }
  });
}

/** A connection that announces a body, and all that the door answered until it closed the connection. */
function announcing(port: number, length: number, pieces: readonly string[] = []): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  let answer = '';
  socket.on('data', (text) => {
    answer += text;
  });
  socket.on('error', () => {});
  socket.write(head({ 'Content-Length': length }));
  const timer = setInterval(() => {
    for (const piece of pieces) {
      if (socket.writable) {
        socket.write(piece);
      }
    }
  }, 250);
  return new Promise((resolve) =>
    socket.on('close', () => {
      clearInterval(timer);
      resolve(answer);
    }),
  );
}

for (const [what, pieces] of [
  ['of which no byte arrives', []],
  ['slower than the minimum rate', [' ']],
] as const) {
  test(`a body ${what} is answered 408, and the connection is closed`, async (t) => {
    const answer = await announcing(door.service.port, 30_000, pieces);
    t.regex(answer, /^HTTP\/1\.1 408 .*The body did not arrive in time/s);
  });
}

nightly('1,100 connections that announce a body and send none take no room from others', async (t) => {
  const sockets = await Promise.all(Array.from({ length: 1_100 }, () => stubborn(door.service.port, '')));
  const answers: string[] = [];
  for (const socket of sockets) {
    socket.once('data', (answer) => answers.push(String(answer).slice(0, 12)));
    socket.write(head({ 'Content-Length': MIB }));
  }
  t.is(await inflight(), '0');
  t.is((await door.post('{"honest":true}')).status, 200);
  await until(() => answers.length === sockets.length);
  // Those that sent nothing in time, and those that gave way to others.
  t.deepEqual([...new Set(answers)].toSorted(), ['HTTP/1.1 408', 'HTTP/1.1 503']);
  for (const socket of sockets) {
    socket.destroy();
  }
});

test('after a body that outgrew the limit the connection can be used again', async (t) => {
  await using door = await openDoor({ WEBHOOK_BODY_LIMIT: '1000' });
  const chunk = `${(200_000).toString(16)}\r\n${'a'.repeat(200_000)}\r\n`;
  const socket = connect({ port: door.service.port, host: '127.0.0.1' });
  let answers = '';
  socket.on('data', (text) => {
    answers += text;
  });
  socket.write(`${head({ 'Transfer-Encoding': 'chunked' })}${chunk}${chunk}0\r\n\r\n`);
  await until(() => answers.includes('413'));
  socket.write('GET /health/live HTTP/1.1\r\nHost: door\r\n\r\n');
  await until(() => answers.includes('{"status":"ok"}'));
  socket.destroy();
  t.pass();
});

test('above the limit of bytes in flight large deliveries get 503, small ones pass', async (t) => {
  // Two that never end hold most of the room that large bodies have.
  const bytes = 15 * MIB;
  const held = [1, 2].map(() => stubborn(door.service.port, head({ 'Content-Length': bytes + 1 })));
  const sockets = await Promise.all(held);
  for (const socket of sockets) {
    socket.write(Buffer.alloc(bytes));
  }
  await until(async () => (await inflight()) === String(2 * bytes));
  const refused = await door.post(Buffer.alloc(3 * MIB, 0x20));
  t.is(refused.status, 503);
  t.regex(refused.headers.get('retry-after') ?? '', /^\d+$/);
  t.is(refused.headers.get('content-type'), 'application/problem+json');
  t.is((await door.post('{}')).status, 200);
  for (const socket of sockets) {
    socket.destroy();
  }
});

test('a client with Expect: 100-continue is told to continue only when accepted', async (t) => {
  const expecting = (signature: string) =>
    webhookHead({ 'X-Hub-Signature-256': signature, 'Content-Length': 2, Expect: '100-continue' });
  t.is((await rawRequest(door.service.port, [expecting('sha256=')]))?.status, 401);

  const socket = connect({ port: door.service.port, host: '127.0.0.1' });
  let answers = '';
  socket.on('data', (text) => {
    answers += text;
  });
  socket.write(expecting(sign('{}')));
  await until(() => answers.startsWith('HTTP/1.1 100 Continue'));
  socket.write('{}');
  await until(() => answers.includes('HTTP/1.1 200 OK'));
  socket.destroy();
});
