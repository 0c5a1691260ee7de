import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { ExecutionContext } from 'ava';
import { request } from 'undici';
import { type AnswerLimits, readBounded } from '../../../src/forges/transport/bounded-body.ts';
import test from '../../helpers/test.ts';

const TEXT = 'one line\n'.repeat(10_000);

interface Sent {
  readonly encoding: string;
  readonly body: Buffer;
  /** Bytes after which the connection ends. */
  readonly cutAt?: number;
  readonly status?: number;
}

async function read(t: ExecutionContext, { encoding, body, cutAt, status = 200 }: Sent, limits: AnswerLimits) {
  const server = createServer((_request, response) => {
    response.writeHead(status, {
      'content-encoding': encoding,
      ...(status === 200 && { 'content-length': body.length }),
    });
    if (cutAt === undefined) {
      response.end(status === 200 ? body : undefined);
    } else {
      response.write(body.subarray(0, cutAt), () => response.destroy());
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return readBounded(await request(`http://127.0.0.1:${(server.address() as AddressInfo).port}`), limits);
}

test('an answer is measured as it is decoded, not as it is sent', async (t) => {
  const body = gzipSync(TEXT);
  t.true(body.length < 1_000);
  t.is((await read(t, { encoding: 'gzip', body }, { maxBytes: TEXT.length }))?.toString(), TEXT);
  t.is(await read(t, { encoding: 'gzip', body }, { maxBytes: TEXT.length - 1 }), undefined);
  t.is(await read(t, { encoding: 'identity', body: Buffer.from(TEXT) }, { maxBytes: TEXT.length - 1 }), undefined);
});

test('an answer that ends early is no answer, compressed or not', async (t) => {
  const limits = { maxBytes: TEXT.length };
  const body = gzipSync(TEXT);
  await t.throwsAsync(read(t, { encoding: 'gzip', body, cutAt: body.length - 8 }, limits));
  await t.throwsAsync(read(t, { encoding: 'identity', body: Buffer.from(TEXT), cutAt: 1_000 }, limits));
});

test('an encoding that was not accepted is never read as text', async (t) => {
  for (const [encoding, body] of Object.entries({
    br: brotliCompressSync(TEXT),
    'gzip, gzip': gzipSync(gzipSync(TEXT)),
  })) {
    await t.throwsAsync(read(t, { encoding, body }, { maxBytes: TEXT.length }), { message: /encoded as/ }, encoding);
  }
});

test('an answer without a body has none to decode', async (t) => {
  for (const status of [204, 304]) {
    t.is((await read(t, { encoding: 'gzip', body: gzipSync(''), status }, { maxBytes: 1 }))?.length, 0);
  }
});
