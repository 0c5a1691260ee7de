import { openDoor, sign } from '../helpers/door.ts';
import fc from '../helpers/property.ts';
import { rawRequest } from '../helpers/raw-http.ts';
import { sized } from '../helpers/size.ts';
import test from '../helpers/test.ts';

const RUNS = sized(300, 20_000);

const headerName = fc.oneof(
  fc.constantFrom(
    'x-hub-signature-256',
    'x-forge-event',
    'x-forge-delivery',
    'x-github-event',
    'x-github-delivery',
    'x-github-hook-id',
    'content-type',
    'content-encoding',
    'content-length',
    'transfer-encoding',
    'expect',
    'host',
    'connection',
  ),
  fc.stringMatching(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/),
);

const headerValue = fc.oneof(
  fc.constantFrom(
    'application/json',
    'gzip',
    'identity',
    'chunked',
    '0',
    '5',
    '99999999999999999999',
    'sha256=',
    `sha256=${'0'.repeat(64)}`,
    'ping',
    'pull_request',
    '100-continue',
    'close',
    'upgrade',
  ),
  fc.string({ unit: 'binary-ascii', maxLength: 40 }),
  fc.string({ maxLength: 300 }),
);

const method = fc.constantFrom('POST', 'POST', 'POST', 'GET', 'HEAD', 'PUT', 'OPTIONS', 'TRACE', 'CONNECT', 'FROB');
const target = fc.constantFrom(
  '/webhook',
  '/webhook',
  '/webhook',
  '/health',
  '/health/live',
  '*',
  '//',
  '/webhook?x=1',
  'http://a/webhook',
);
const body = fc.oneof(
  fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
  fc.json().map((text) => Buffer.from(text)),
);

const arbitraryRequest = fc.record({
  method,
  target,
  headers: fc.array(fc.tuple(headerName, headerValue), { maxLength: 8 }),
  body,
  /** Whether the usual headers go before the arbitrary ones, with a signature that is right. */
  wellFormed: fc.boolean(),
});

test('random requests get no 5xx, and without a signature nothing is stored', async (t) => {
  await using door = await openDoor();
  let delivery = 0;
  await fc.assert(
    fc.asyncProperty(arbitraryRequest, async (sample) => {
      const id = `property-${++delivery}`;
      const usual = sample.wellFormed
        ? `X-Hub-Signature-256: ${sign(sample.body)}\r\nX-Forge-Event: ping\r\nX-Forge-Delivery: ${id}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${sample.body.length}\r\n`
        : '';
      const arbitrary = sample.headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      const head = `${sample.method} ${sample.target} HTTP/1.1\r\nHost: door\r\n${usual}${arbitrary}Connection: close\r\n\r\n`;
      const answer = await rawRequest(door.service.port, [Buffer.from(head, 'latin1'), sample.body]);
      // No answer is an answer to what is no request; a 5xx would be ours to answer for.
      t.true(answer === undefined || answer.status < 500, `${answer?.status} for ${JSON.stringify(head)}`);

      const stored = await door.deliveries();
      const acknowledged = answer?.status === 200 && sample.method === 'POST';
      if (!sample.wellFormed) {
        t.deepEqual(stored, []);
      } else if (acknowledged) {
        t.true(stored.at(-1)?.body.equals(sample.body));
      }
      await door.database.query('DELETE FROM gatehouse.deliveries; DELETE FROM gatehouse.delivery_keys');
    }),
    { numRuns: RUNS },
  );
  t.is((await fetch(`${door.url}/health/live`)).status, 200);
});
