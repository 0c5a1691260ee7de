import { gzipSync } from 'node:zlib';
import { openDoor, PREVIOUS_SECRET, shareDoor, sign } from '../helpers/door.ts';
import { payloads } from '../helpers/payloads.ts';
import { rawRequest, webhookHead } from '../helpers/raw-http.ts';
import ava from '../helpers/test.ts';

const test = ava.serial;
const emptyDoor = shareDoor(ava);
const limitedDoor = shareDoor(ava, { WEBHOOK_BODY_LIMIT: '100KiB', WEBHOOK_SECRET_PREVIOUS: PREVIOUS_SECRET });

const MIB = 1024 * 1024;
const LIMIT = 25 * MIB;

async function problem(response: Response) {
  const { status, headers } = response;
  return { status, contentType: headers.get('content-type'), ...((await response.json()) as { detail?: string }) };
}

test('all 329 payloads are acknowledged as specified, and stored byte for byte and once', async (t) => {
  const door = await emptyDoor();
  const examples = payloads();
  t.is(examples.length, 329);
  const unnamed = { 'x-forge-event': undefined, 'x-forge-delivery': undefined };
  const answers = await Promise.all(
    examples.map(async (example, index) => {
      const headers = { ...unnamed, 'x-github-event': example.event, 'x-github-delivery': `example-${index}` };
      const response = await door.post(example.body, headers);
      return `${response.status} ${await response.text()}`;
    }),
  );
  t.deepEqual([...new Set(answers)], ['200 {"received":true}']);
  const stored = new Map((await door.deliveries()).map((row) => [row.deliveryId, row]));
  t.is(stored.size, examples.length);
  for (const [index, { event, body }] of examples.entries()) {
    const row = stored.get(`example-${index}`);
    const { repository, pull_request } = JSON.parse(body.toString());
    t.like(row, { hookId: '', event, repository: repository?.full_name ?? null });
    t.true(event !== 'pull_request' || row?.pullRequest === pull_request.number);
    t.true(row?.body.equals(body), `example ${index}`);
  }
});

function bodyOf(size: number): Buffer {
  const body = Buffer.alloc(size, 0x20);
  body.write('{"zen":"');
  body.fill(0x61, 8, size - 2);
  body.write('"}', size - 2);
  return body;
}

type Headers = Readonly<Record<string, string | undefined>>;

for (const [what, body, headers] of [
  ['with a byte order mark', '\ufeff{"zen":"ok"}'],
  ['with an escaped NUL, which jsonb would refuse', '{"zen":"\\u0000","repository":{"full_name":"a/\\u0000"}}'],
  ['of exactly 25 MiB', bodyOf(LIMIT)],
  ['that says that it is not compressed', '{}', { 'content-encoding': 'identity' }],
  ['with a content type in capitals', '{}', { 'content-type': 'Application/JSON' }],
  ['with a character set', '{}', { 'content-type': 'application/json; charset=utf-8' }],
  ['with a character set without a space', '{}', { 'content-type': 'application/json;charset=UTF-8' }],
] as const satisfies readonly (readonly [what: string, body: string | Buffer, headers?: Headers])[]) {
  test(`a body is stored byte for byte: one ${what}`, async (t) => {
    const door = await emptyDoor();
    t.is((await door.post(body, headers)).status, 200);
    const [stored] = await door.deliveries();
    t.true(stored?.body.equals(Buffer.from(body)));
    t.is(stored?.repository, null);
  });
}

const good = sign('{}');
const NOT_UTF8 = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
const PACKED = gzipSync('{"zen":"packed"}');
const signed = (signature: string | undefined): Headers => ({ 'x-hub-signature-256': signature });
const typed = (type: string | undefined) =>
  [type === undefined ? 'no content type' : `the type ${type}`, 415, { 'content-type': type }] as const;

const REFUSED: readonly (readonly [what: string, status: number, headers: Headers, body?: string | Buffer])[] = [
  // Of a signature that has the shape of one, unit/signature has the cases.
  ['no signature', 401, signed(undefined)],
  ['an empty signature', 401, signed('')],
  ['an empty digest', 401, signed('sha256=')],
  ['a signature in upper case', 401, signed(good.toUpperCase())],
  ['an upper-case digest', 401, signed(`sha256=${good.slice(7).toUpperCase()}`)],
  ['a truncated signature', 401, signed(good.slice(0, -1))],
  ['too long a signature', 401, signed(`${good}0`)],
  ['two signatures in one header', 401, signed(`${good}, ${good}`)],
  ['another algorithm', 401, signed(`sha1=${good.slice(7, 47)}`)],
  ['a digest without its algorithm', 401, signed(good.slice(7))],
  ['a signature of another secret', 401, signed(sign('{}', 'quite another secret'))],
  ['a signature of what a decoder makes of the bytes', 401, signed(sign(NOT_UTF8.toString())), NOT_UTF8],
  [
    'a signature of the body before it was compressed',
    401,
    { ...signed(sign('{"zen":"packed"}')), 'content-encoding': 'gzip' },
    PACKED,
  ],
  ['no event', 400, { 'x-forge-event': undefined }],
  ['no delivery id', 400, { 'x-forge-delivery': undefined }],
  ['an empty event', 400, { 'x-forge-event': '' }],
  ['a delivery id with a space', 400, { 'x-forge-delivery': 'a b' }],
  ['a delivery id of 256 characters', 400, { 'x-forge-delivery': 'a'.repeat(256) }],
  ['a delivery id beyond ASCII', 400, { 'x-forge-delivery': 'caf\u00e9' }],
  typed(undefined),
  typed(''),
  typed('text/plain'),
  typed('application/x-www-form-urlencoded'),
  typed('application/jsonp'),
  typed('garbage'),
  typed('application/vnd.github+json'),
  ['a compressed body', 415, { 'content-encoding': 'gzip' }, PACKED],
  ['bytes that are not UTF-8', 400, {}, NOT_UTF8],
  ...['', 'null', '[]', '7', '"text"', '{', '{} {}', "{'a':1}"].map((body) => [`body ${body}`, 400, {}, body] as const),
  ['one byte more than 25 MiB', 413, {}, bodyOf(LIMIT + 1)],
];

test('what is wrong with a delivery is refused with a problem, once its signature is valid', async (t) => {
  const door = await emptyDoor();
  // No text by default: fetch would give it a content type of its own.
  for (const [what, status, headers, body = Buffer.from('{}')] of REFUSED) {
    const answer = await problem(await door.post(body, headers));
    t.like(answer, { status, contentType: 'application/problem+json' }, what);
    t.true(status !== 415 || body === PACKED || answer.detail?.includes('application/json'), answer.detail);
    t.is((await door.post(body, { ...headers, ...signed(sign('another body')) })).status, 401, what);
  }
  t.deepEqual(await door.deliveries(), []);
});

test('a header given twice is refused, and a bad signature before the body arrives', async (t) => {
  const door = await emptyDoor();
  const named = { 'Content-Length': 2, 'X-Hub-Signature-256': good };
  for (const [headers, body, status] of [
    [{ ...named, 'x-hub-signature-256': good }, '{}', 401],
    [{ ...named, 'x-forge-event': 'ping' }, '{}', 400],
    [{ 'Content-Length': 1_000 }, '', 401],
    [{ 'Content-Length': 1_000, 'X-Hub-Signature-256': 'sha256=' }, '', 401],
  ] as const) {
    const answer = await rawRequest(door.service.port, [webhookHead(headers), body]);
    t.is(answer?.status, status, JSON.stringify(headers));
  }
});

const OVERSIZED = JSON.stringify({ zen: 'x'.repeat(150_000) });

test('however many bodies are too large, one resync waits for them', async (t) => {
  const door = await limitedDoor();
  t.is((await door.post(bodyOf(4 * 102_400 + 1))).status, 413);
  t.deepEqual(await door.jobs(), [], 'one of more than four times the limit is not read');
  for (const body of [OVERSIZED, OVERSIZED, `${OVERSIZED} is not even JSON`]) {
    const answer = await problem(await door.post(body));
    t.is(answer.status, 413);
    t.is(answer.detail, 'The body is larger than the limit of 102400 bytes.');
  }
  t.deepEqual(
    (await door.jobs()).map(({ key }) => key),
    ['resync'],
  );
  t.deepEqual(await door.deliveries(), []);
});

test('a body too large to be stored is believed only if its signature is valid', async (t) => {
  const door = await limitedDoor();
  const [body, other] = [OVERSIZED, OVERSIZED.replace('x', 'y')];
  const changed = `${body.slice(0, 300)}y${body.slice(301)}`;
  for (const [sent, signed] of [
    [body, other],
    [changed, body],
    [`${body} `, body],
    [body, `${body} `],
  ] as const) {
    t.is((await door.post(sent, { 'x-hub-signature-256': sign(signed) })).status, 401);
  }
  t.is((await door.post(body, { 'x-hub-signature-256': sign(body, 'neither of the two') })).status, 401);
  t.deepEqual(await door.jobs(), []);
  t.is((await door.post(body, { 'x-hub-signature-256': sign(body, PREVIOUS_SECRET) })).status, 413);
  t.is((await door.jobs()).length, 1);
});

test('no body that is hashed and not kept takes room from others', async (t) => {
  await using door = await openDoor({ WEBHOOK_BODY_LIMIT: '4MiB' });
  // Large bodies may hold 32 MiB.
  const answers = await Promise.all(Array.from({ length: 3 }, () => door.post(bodyOf(12 * MIB))));
  t.deepEqual(
    answers.map(({ status }) => status),
    [413, 413, 413],
  );
});

test('a body too large to be stored is answered 413 even if no resync can be queued', async (t) => {
  await using door = await openDoor({ WEBHOOK_BODY_LIMIT: '100KiB' });
  await door.database.query('DROP SCHEMA gatehouse_jobs CASCADE');
  t.is((await door.post(OVERSIZED)).status, 413);
});

function chunk(data: string): string {
  return `${Buffer.byteLength(data).toString(16)}\r\n${data}\r\n`;
}

const chunkedHead = (body: string, delivery: string) =>
  webhookHead({ 'Transfer-Encoding': 'chunked', 'X-Forge-Delivery': delivery, 'X-Hub-Signature-256': sign(body) });

test('many chunked bodies, which have no length, are read in parallel and stored', async (t) => {
  const door = await emptyDoor();
  const body = '{"zen":"in three pieces"}';
  const pieces = [body.slice(0, 5), body.slice(5, 11), body.slice(11)].map(chunk);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      rawRequest(door.service.port, [chunkedHead(body, `chunked-${index}`), ...pieces, '0\r\n\r\n']),
    ),
  );
  t.deepEqual(new Set(answers.map((answer) => answer?.status)), new Set([200]));
  t.deepEqual(
    (await door.deliveries()).map((stored) => stored.body.toString()),
    answers.map(() => body),
  );
});

test('a chunked body that outgrows the limit is refused by counting', async (t) => {
  const door = await limitedDoor();
  const body = OVERSIZED;
  const answer = await rawRequest(door.service.port, [chunkedHead(body, 'large'), chunk(body), '0\r\n\r\n']);
  t.is(answer?.status, 413);
  t.deepEqual(await door.deliveries(), []);
});

test('a too small Content-Length makes a body that the signature does not cover', async (t) => {
  const door = await emptyDoor();
  const body = '{"zen":"cut"}';
  const head = webhookHead({ 'Content-Length': 5, 'X-Hub-Signature-256': sign(body) });
  const answer = await rawRequest(door.service.port, [head, body]);
  // 401 for the body that was cut, or 400 for what follows it and is no request, whichever is said first.
  t.true(answer?.status === 401 || answer?.status === 400);
  t.deepEqual(await door.deliveries(), []);
});

test('the neutral header name takes precedence over the forge’s', async (t) => {
  const door = await emptyDoor();
  await door.post('{}', { 'x-forge-event': 'ping', 'x-github-event': 'push', 'x-github-delivery': 'other' });
  const [stored] = await door.deliveries();
  t.is(stored?.event, 'ping');
  t.not(stored?.deliveryId, 'other');
});

for (const [forge, ...prefixes] of [
  ['gitea', 'x-gitea'],
  ['forgejo', 'x-forgejo', 'x-gitea'],
] as const) {
  test(`${forge} is read by its ${prefixes.join(' or ')} headers, and by no other forge's`, async (t) => {
    await using door = await openDoor({ FORGE: forge });
    const unnamed = { 'x-forge-event': undefined, 'x-forge-delivery': undefined };
    for (const prefix of prefixes) {
      const named = { ...unnamed, [`${prefix}-event`]: 'push', [`${prefix}-delivery`]: 'one' };
      t.is((await door.post('{}', named)).status, 200, prefix);
    }
    t.is((await door.post('{}', { ...unnamed, 'x-github-event': 'push', 'x-github-delivery': 'two' })).status, 400);
  });
}

test('two hooks that send one delivery id make two deliveries', async (t) => {
  const door = await emptyDoor();
  for (const hook of ['1', '2', '1']) {
    const response = await door.post(`{"hook":${hook}}`, { 'x-forge-delivery': 'same', 'x-github-hook-id': hook });
    t.is(response.status, 200);
  }
  t.deepEqual((await door.deliveries()).map(({ hookId }) => hookId).sort(), ['1', '2']);
});

test('an event that can change a review makes one job, and others make none', async (t) => {
  const door = await emptyDoor();
  const pullRequest = (number: number) =>
    JSON.stringify({
      action: 'synchronize',
      number,
      pull_request: { number },
      repository: { full_name: 'acme/widgets' },
    });
  for (const number of [7, 7, 8, 7]) {
    await door.post(pullRequest(number));
  }
  await door.post('{"zen":"hello"}', { 'x-forge-event': 'ping' });
  await door.post(pullRequest(9), { 'x-forge-event': 'issues' });
  t.is((await door.deliveries()).length, 6);
  const jobs = await door.jobs();
  t.deepEqual(jobs.map(({ key }) => key).sort(), ['acme/widgets#7', 'acme/widgets#8']);
});
