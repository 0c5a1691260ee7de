import { connect } from 'node:net';

export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

const TIMEOUT_MS = 15_000;

/**
 * Sends bytes as they are, which no HTTP client would, and reads until the other side ends the
 * connection or an answer is whole. Undefined when the connection ended without one.
 */
export async function rawRequest(
  port: number,
  pieces: readonly (string | Uint8Array)[],
): Promise<RawAnswer | undefined> {
  const done = Promise.withResolvers<RawAnswer | undefined>();
  const socket = connect({ port, host: '127.0.0.1' });
  const chunks: Buffer[] = [];
  const timer = setTimeout(() => done.reject(new Error('no answer in time')), TIMEOUT_MS);
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    const answer = parseAnswer(Buffer.concat(chunks));
    if (answer !== undefined) {
      done.resolve(answer);
    }
  });
  socket.on('end', () => done.resolve(parseAnswer(Buffer.concat(chunks))));
  // A server may reset what it will not read; the answer before that counts.
  socket.on('error', () => done.resolve(parseAnswer(Buffer.concat(chunks))));
  socket.on('close', () => done.resolve(parseAnswer(Buffer.concat(chunks))));
  socket.on('connect', () => {
    for (const piece of pieces) {
      socket.write(piece);
    }
  });
  try {
    return await done.promise;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

/** The head of a webhook with these headers. Names differ by case: a header in another case is sent beside ours. */
export function webhookHead(headers: Readonly<Record<string, string | number>>): string {
  const all = {
    Host: 'door',
    'Content-Type': 'application/json',
    'X-Forge-Event': 'ping',
    'X-Forge-Delivery': 'raw',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `POST /webhook HTTP/1.1\r\n${lines.join('')}\r\n`;
}

function parseAnswer(bytes: Buffer): RawAnswer | undefined {
  // What comes before the answer, as `100 Continue`, is none (RFC 9110, 15.2).
  const text = bytes.toString('latin1').replace(/^(?:HTTP\/1\.1 1\d\d .*?\r\n\r\n)+/s, '');
  const split = text.indexOf('\r\n\r\n');
  const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
  if (split < 0 || status === undefined) {
    return undefined;
  }
  const head = text.slice(0, split);
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  const body = text.slice(split + 4);
  return body.length < length ? undefined : { status: Number(status), head, body: body.slice(0, length) };
}
