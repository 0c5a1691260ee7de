import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { inTime } from '../helpers/deadline.ts';
import { sign } from '../helpers/door.ts';

export interface Abuse {
  readonly name: string;
  /** Part of the short form. */
  readonly short?: boolean;
  /** Does it, and says what came back; throws when that is not what a safe door does. */
  make(port: number): Promise<string>;
}

const MIB = 1024 * 1024;
const BODY = '{"zen":"Keep it logically awesome."}';
const SHAPED_SIGNATURE = `sha256=${'0'.repeat(64)}`;

function head(fields: Readonly<Record<string, string | number>>): string {
  const lines = Object.entries({ Host: '127.0.0.1', 'Content-Type': 'application/json', ...fields });
  return `POST /webhook HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
}

function delivery(id: string, body = BODY): string {
  const fields = { 'X-GitHub-Event': 'ping', 'X-GitHub-Delivery': id, 'X-Hub-Signature-256': sign(body) };
  return `${head({ ...fields, 'Content-Length': Buffer.byteLength(body) })}${body}`;
}

/** A connection and the statuses of the answers that came over it. */
interface Line {
  readonly socket: Socket;
  readonly closed: Promise<void>;
  statuses(): readonly string[];
}

function dial(port: number): Line {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  return { socket, closed, statuses: () => [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, code = '']) => code) };
}

function tally(answers: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const answer of answers) {
    counts.set(answer, (counts.get(answer) ?? 0) + 1);
  }
  return [...counts].map(([answer, times]) => `${times} × ${answer}`).join(', ');
}

/** What the door said on each line, or that it just ended it. */
function answersOf(lines: readonly Line[]): string {
  return tally(lines.map((line) => line.statuses().join(' ') || 'cut'));
}

/** Sends a piece every so often on many connections, and waits until the door has ended all of them. */
async function drip(port: number, connections: number, first: string, piece: string, limitMs: number): Promise<string> {
  const lines = Array.from({ length: connections }, () => dial(port));
  for (const { socket } of lines) {
    socket.write(first);
  }
  const timer = setInterval(() => {
    for (const { socket } of lines) {
      if (socket.writable) {
        socket.write(piece);
      }
    }
  }, 500);
  const ended = Promise.all(lines.map(({ closed }) => closed)).then(() => true);
  const inTime = await Promise.race([ended, sleep(limitMs).then(() => false)]);
  clearInterval(timer);
  for (const { socket } of lines) {
    socket.destroy();
  }
  if (!inTime) {
    throw new Error(`connections were still open after ${limitMs} ms: ${answersOf(lines)}`);
  }
  return answersOf(lines);
}

/** So that each connection costs the attacker some 20 bytes a second, as a slow attack does, and this is no flood. */
const REDIAL_MS = 1_000;

/** Keeps so many connections open that announce a body and send none of it, for so long. */
async function announce(port: number, connections: number, forMs: number): Promise<string> {
  const request = head({ 'X-Hub-Signature-256': SHAPED_SIGNATURE, 'Content-Length': MIB });
  const answers: string[] = [];
  const deadline = performance.now() + forMs;
  const keepOne = async () => {
    while (performance.now() < deadline) {
      const line = dial(port);
      line.socket.write(request);
      await Promise.race([line.closed, sleep(Math.max(0, deadline - performance.now()))]);
      line.socket.destroy();
      answers.push(line.statuses()[0] ?? 'none');
      await sleep(REDIAL_MS);
    }
  };
  await Promise.all(Array.from({ length: connections }, keepOne));
  return tally(answers);
}

/** Writes as long as the door reads, and stops at its answer. */
async function pour(port: number, fields: Readonly<Record<string, string>>, bytes: number): Promise<string> {
  const line = dial(port);
  const { socket } = line;
  socket.write(head({ ...fields, 'Content-Length': bytes }));
  const block = Buffer.alloc(64 * 1024, 'x');
  let left = bytes;
  while (left > 0 && !socket.destroyed && line.statuses().length === 0) {
    const piece = block.subarray(0, left);
    left -= piece.length;
    if (!socket.write(piece)) {
      const drained = new Promise((resolve) => socket.once('drain', resolve));
      await inTime('the door reads on or ends the connection', Promise.race([drained, line.closed]));
    }
  }
  await Promise.race([line.closed, sleep(1_000)]);
  socket.destroy();
  return line.statuses()[0] ?? 'cut';
}

/** Above the limit of a body, and below that of what is hashed. */
const HASHED_MIB = [26, 40, 60, 90] as const;

/** Bodies between both limits by somebody who does not know the secret. Only their end says so: all is read and hashed. */
async function pourHashed(port: number): Promise<string> {
  let sent = 0;
  return inTurns(40, 10, async () => {
    const bytes = (HASHED_MIB[sent++ % HASHED_MIB.length] ?? 0) * MIB;
    const answer = await pour(port, { 'X-Hub-Signature-256': SHAPED_SIGNATURE }, bytes);
    if (answer.startsWith('2')) {
      throw new Error(`a body that nobody signed was answered with ${answer}`);
    }
    return answer;
  });
}

async function inTurns(total: number, atOnce: number, act: () => Promise<string>): Promise<string> {
  const answers: string[] = [];
  let begun = 0;
  const lane = async () => {
    while (begun < total) {
      begun += 1;
      answers.push(await act());
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return tally(answers);
}

/** The shapes on which two parsers may disagree where a request ends. Each hides a second request. */
const HIDDEN = 'GET /health/live HTTP/1.1\r\nHost: hidden\r\n\r\n';
const SMUGGLING: Readonly<Record<string, string>> = {
  'length and chunked': `POST /webhook HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  'two lengths': `POST /webhook HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: ${HIDDEN.length}\r\n\r\n${HIDDEN}`,
  'a list of lengths': `POST /webhook HTTP/1.1\r\nHost: a\r\nContent-Length: 0, ${HIDDEN.length}\r\n\r\n${HIDDEN}`,
  'a signed length': `POST /webhook HTTP/1.1\r\nHost: a\r\nContent-Length: +0\r\n\r\n${HIDDEN}`,
  'a space before the colon': `POST /webhook HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n${HIDDEN}`,
  'an unknown coding': `POST /webhook HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${HIDDEN}`,
  'a folded field': `POST /webhook HTTP/1.1\r\nHost: a\r\nX: y\r\n Transfer-Encoding: chunked\r\nContent-Length: x\r\n\r\n${HIDDEN}`,
  'a chunk size with a sign': `POST /webhook HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n\r\n${HIDDEN}`,
  'a bare line feed in a chunk': `POST /webhook HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\n\n${HIDDEN}`,
};

async function smuggle(port: number): Promise<string> {
  const answers: string[] = [];
  for (const [shape, bytes] of Object.entries(SMUGGLING)) {
    const line = dial(port);
    line.socket.write(bytes);
    await Promise.race([line.closed, sleep(1_000)]);
    line.socket.destroy();
    const statuses = line.statuses();
    if (statuses.some((status) => status.startsWith('2'))) {
      throw new Error(`${shape}: the hidden request was answered`);
    }
    answers.push(statuses.join(' ') || 'cut');
  }
  return tally(answers);
}

const PIPELINED = 200;

async function pipeline(port: number): Promise<string> {
  const line = dial(port);
  for (let index = 0; index < PIPELINED; index++) {
    line.socket.write(delivery(`pipelined-${port}-${index}`));
  }
  await waitFor(line, PIPELINED);
  line.socket.destroy();
  const good = line.statuses().filter((status) => status === '200').length;
  if (good !== PIPELINED) {
    throw new Error(`${good} of ${PIPELINED} were acknowledged: ${tally(line.statuses())}`);
  }
  return tally(line.statuses());
}

/** Each error is followed by a good delivery on the same connection, if the door keeps it, and else on a new one. */
async function reuse(port: number): Promise<string> {
  const bad = [
    `${head({ 'X-Hub-Signature-256': SHAPED_SIGNATURE, 'Content-Length': BODY.length })}${BODY}`,
    `${head({ 'Content-Length': BODY.length })}${BODY}`,
    'GET /nothing HTTP/1.1\r\nHost: a\r\n\r\n',
    'PUT /webhook HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n',
    delivery('not-json', 'not json'),
  ];
  let kept = 0;
  let line = dial(port);
  for (const [index, request] of bad.entries()) {
    for (const piece of [request, delivery(`after-error-${port}-${index}`)]) {
      const before = line.statuses().length;
      line.socket.write(piece);
      await waitFor(line, before + 1);
      if (line.socket.destroyed || line.socket.readableEnded) {
        line = dial(port);
        if (piece === request) {
          continue;
        }
        line.socket.write(piece);
        await waitFor(line, 1);
      } else if (piece === request) {
        kept += 1;
      }
    }
    if (line.statuses().at(-1) !== '200') {
      throw new Error(`after error ${index}: ${line.statuses().join(' ')}`);
    }
  }
  line.socket.destroy();
  return `${bad.length} errors, each followed by 200; the connection was kept after ${kept}`;
}

async function waitFor(line: Line, answers: number): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (line.statuses().length < answers && !line.socket.destroyed && performance.now() < deadline) {
    await sleep(5);
  }
  // An answer that says it is the last is followed by the end.
  await sleep(20);
}

const IDLE_STEP = 250;

async function idle(port: number, wanted: number): Promise<string> {
  const sockets: Socket[] = [];
  let failure = '';
  while (sockets.length < wanted && failure === '') {
    const step = Array.from({ length: IDLE_STEP }, async () => {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.on('error', (error) => {
        failure = error.message;
      });
      const settled = new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
      await inTime('a connection is made or refused', settled);
      if (!socket.destroyed) {
        sockets.push(socket);
      }
    });
    await Promise.all(step);
  }
  await sleep(2_000);
  const open = sockets.filter(({ destroyed }) => !destroyed).length;
  for (const socket of sockets) {
    socket.destroy();
  }
  return `${sockets.length} reached${failure && ` (${failure})`}, ${open} still open after 2 s`;
}

export const ABUSES: readonly Abuse[] = [
  {
    name: 'slow headers, 500 connections',
    make: (port) => drip(port, 500, 'POST /webhook HTTP/1.1\r\nHost: a\r\n', 'X: y\r\n', 10_000),
  },
  {
    name: 'slow bodies, 500 connections',
    make: (port) =>
      drip(port, 500, head({ 'X-Hub-Signature-256': SHAPED_SIGNATURE, 'Content-Length': 30_000 }), ' ', 16_000),
  },
  {
    name: '1,100 connections that announce a body and send none',
    short: true,
    make: (port) => announce(port, 1_100, 8_000),
  },
  {
    name: '1,000 unsigned posts of 25 MiB',
    short: true,
    make: (port) => inTurns(1_000, 50, () => pour(port, {}, 25 * MIB)),
  },
  {
    name: '100 wrongly signed posts of 25 MiB, 20 at once',
    make: (port) => inTurns(100, 20, () => pour(port, { 'X-Hub-Signature-256': SHAPED_SIGNATURE }, 25 * MIB)),
  },
  {
    name: '40 wrongly signed posts of 26 to 90 MiB, 10 at once',
    short: true,
    make: pourHashed,
  },
  {
    name: '1,000 unsigned posts of 25 MiB, again',
    make: (port) => inTurns(1_000, 50, () => pour(port, {}, 25 * MIB)),
  },
  { name: '10,000 idle connections', make: (port) => idle(port, 10_000) },
  {
    name: '500 requests with 1 MiB of headers',
    short: true,
    make: (port) => inTurns(500, 20, () => pour(port, { X: 'y'.repeat(MIB) }, 0)),
  },
  { name: `${PIPELINED} deliveries pipelined on one connection`, short: true, make: pipeline },
  { name: `${Object.keys(SMUGGLING).length} request-smuggling shapes`, short: true, make: smuggle },
  { name: 'keep-alive used again after errors', short: true, make: reuse },
];
