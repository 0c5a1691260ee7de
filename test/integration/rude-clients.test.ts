import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { type Door, type Environment, openDoor, sign } from '../helpers/door.ts';
import nightly from '../helpers/nightly.ts';
import { rawRequest } from '../helpers/raw-http.ts';
import ava from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const test = ava.serial;

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

const head = (length: string) =>
  'POST /webhook HTTP/1.1\r\nHost: door\r\nContent-Type: application/json\r\nX-Forge-Event: ping\r\n' +
  `X-Forge-Delivery: rude\r\nX-Hub-Signature-256: sha256=${'0'.repeat(64)}\r\n${length}\r\n\r\n`;

async function inflight(): Promise<string | undefined> {
  return /^gatehouse_inflight_bytes (\d+)$/m.exec(await (await fetch(door.metricsUrl)).text())?.[1];
}

test('uploads that stop half-way free their memory after a timeout', async (t) => {
  const sockets = await Promise.all(
    Array.from({ length: 64 }, () => stubborn(door.service.port, `${head('Content-Length: 1048576')}{`)),
  );
  await until(async () => (await inflight()) !== '0');
  // What they announced is not what they hold: there is room for others all the while.
  t.is((await door.post('{"honest":true}')).status, 200);
  await until(async () => (await inflight()) === '0');
  for (const socket of sockets) {
    socket.destroy();
  }
});

const MIB = 1_048_576;

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

nightly('bodies that are too large hold no memory once refused, though nobody hangs up', async (t) => {
  const door = await forkDoor(t, { WEBHOOK_BODY_LIMIT: '1MiB' });
  const before = await door.heldByBuffers();
  const sockets = await Promise.all(
    Array.from({ length: 16 }, () => stubborn(door.port, head('Transfer-Encoding: chunked'))),
  );
  let ended = false;
  const answers = sockets.map((socket) => once(socket, 'data'));
  for (const socket of sockets) {
    socket.on('end', () => {
      ended = true;
    });
    socket.write(`${(2 * MIB).toString(16)}\r\n${'1'.repeat(2 * MIB)}`);
  }
  for (const [answer] of await Promise.all(answers)) {
    t.regex(String(answer), /^HTTP\/1\.1 413 /);
  }
  // What is collected is counted some time later, and the door ends a request that goes on for too long.
  let held = Number.POSITIVE_INFINITY;
  do {
    held = (await door.heldByBuffers()) - before;
  } while (held >= 4 * MIB && !ended);
  t.true(held < 4 * MIB, `${held} bytes`);
  for (const socket of sockets) {
    socket.destroy();
  }
});

nightly('bodies that there is no room for hold no memory once refused', async (t) => {
  const door = await forkDoor(t, { WEBHOOK_BODY_LIMIT: '32MiB' });
  const before = await door.heldByBuffers();
  const sockets = await Promise.all(
    Array.from({ length: 6 }, () => stubborn(door.port, head(`Content-Length: ${31 * MIB}`))),
  );
  let ended = false;
  const refused = Promise.withResolvers<void>();
  const answers: string[] = [];
  for (const socket of sockets) {
    socket.on('end', () => {
      ended = true;
    });
    socket.on('data', (answer) => {
      // All but one, for which there is room: large bodies may hold half of the 64 MiB.
      if (answers.push(String(answer)) === sockets.length - 1) {
        refused.resolve();
      }
    });
    socket.write('1'.repeat(30 * MIB));
  }
  await refused.promise;
  t.true(answers.every((answer) => answer.startsWith('HTTP/1.1 503 ')));
  let held = Number.POSITIVE_INFINITY;
  do {
    held = (await door.heldByBuffers()) - before;
  } while (held >= 40 * MIB && !ended);
  t.true(held < 40 * MIB, `${held} bytes`);
  for (const socket of sockets) {
    socket.destroy();
  }
});

/** A connection that announces a body, and all that the door answered until it closed the connection. */
function announcing(port: number, length: number, pieces: readonly string[] = []): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1' });
  let answer = '';
  socket.on('data', (text) => {
    answer += text;
  });
  socket.on('error', () => {});
  socket.write(head(`Content-Length: ${length}`));
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

nightly('1,100 connections that announce a body and send none take no room from others', async (t) => {
  const sockets = await Promise.all(
    Array.from({ length: 1_100 }, () => stubborn(door.service.port, head('Content-Length: 1048576'))),
  );
  // A request after theirs, so that the door has read all their heads.
  await fetch(`${door.url}/health/live`);
  t.is(await inflight(), '0');
  t.is((await door.post('{"honest":true}')).status, 200);
  for (const socket of sockets) {
    socket.destroy();
  }
});

test('a body of which no byte arrives is answered 408, and the connection is closed', async (t) => {
  const answer = await announcing(door.service.port, 1_000);
  t.regex(answer, /^HTTP\/1\.1 408 /);
  t.regex(answer, /The body did not arrive in time/);
});

test('a body slower than the minimum rate is answered 408', async (t) => {
  t.regex(await announcing(door.service.port, 30_000, [' ']), /^HTTP\/1\.1 408 .*The body did not arrive in time/s);
});

test('above the limit of connections that wait for a body, the oldest gets 503', async (t) => {
  const oldest = async () => {
    let isAnswered = false;
    const first = announcing(door.service.port, 1_000).finally(() => {
      isAnswered = true;
    });
    const others: Socket[] = [];
    // More at once than the listener's backlog of 511 would have to be sent again a second later.
    while (others.length < 1_000) {
      const group = Array.from({ length: 250 }, () => stubborn(door.service.port, head('Content-Length: 1000')));
      others.push(...(await Promise.all(group)));
    }
    // A request after theirs, so that the door has read all their heads.
    await fetch(`${door.url}/health/live`);
    const wasAnswered = isAnswered;
    const answer = await first;
    for (const socket of others) {
      socket.destroy();
    }
    // Where it takes two seconds to open them all, the first is answered 408 by then, and this says nothing of the limit.
    return wasAnswered && answer.startsWith('HTTP/1.1 408 ') ? undefined : answer;
  };
  let answer: string | undefined;
  await until(async () => {
    answer = await oldest();
    return answer !== undefined;
  });
  t.regex(answer ?? '', /^HTTP\/1\.1 503 /);
});

test('after a body that outgrew the limit the connection can be used again', async (t) => {
  await using door = await openDoor({ WEBHOOK_BODY_LIMIT: '1000' });
  const chunk = `${(200_000).toString(16)}\r\n${'a'.repeat(200_000)}\r\n`;
  const socket = connect({ port: door.service.port, host: '127.0.0.1' });
  let answers = '';
  socket.on('data', (text) => {
    answers += text;
  });
  socket.write(`${head('Transfer-Encoding: chunked')}${chunk}${chunk}0\r\n\r\n`);
  await until(() => answers.includes('413'));
  socket.write('GET /health/live HTTP/1.1\r\nHost: door\r\n\r\n');
  await until(() => answers.includes('{"status":"ok"}'));
  socket.destroy();
  t.pass();
});

test('many bodies without a length are read in parallel', async (t) => {
  const body = '{"n":1}';
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      rawRequest(door.service.port, [
        'POST /webhook HTTP/1.1\r\nHost: door\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n' +
          `X-Forge-Event: ping\r\nX-Forge-Delivery: chunked-${index}\r\nX-Hub-Signature-256: ${sign(body)}\r\n\r\n`,
        `7\r\n${body}\r\n0\r\n\r\n`,
      ]),
    ),
  );
  t.deepEqual(new Set(answers.map((answer) => answer?.status)), new Set([200]));
});

test('a client with Expect: 100-continue is told to continue only when accepted', async (t) => {
  const expecting = (signature: string) =>
    'POST /webhook HTTP/1.1\r\nHost: door\r\nContent-Type: application/json\r\nX-Forge-Event: ping\r\n' +
    `X-Forge-Delivery: asked\r\nX-Hub-Signature-256: ${signature}\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n`;
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

test('a request with two hosts is refused', async (t) => {
  const answer = await rawRequest(door.service.port, ['GET /health/live HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n']);
  t.is(answer?.status, 400);
});
