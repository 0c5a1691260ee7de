import { openPool } from '../helpers/database.ts';
import { DOOR, openDoor, shareDoor } from '../helpers/door.ts';
import { rawRequest, webhookHead } from '../helpers/raw-http.ts';
import ava from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const test = ava.serial;
const sharedDoor = shareDoor(ava);

async function getJson(url: string) {
  const response = await fetch(url);
  return { status: response.status, headers: response.headers, body: (await response.json()) as object };
}

const UP = { status: 'ok', info: { database: { status: 'up' }, redis: { status: 'up' } } };

for (const [path, report] of [
  ['/health', UP],
  ['/health/ready', UP],
  ['/health/live', { status: 'ok' }],
] as const) {
  test(`when both stores are up, ${path} answers as specified, and HEAD without the body`, async (t) => {
    const { url } = await sharedDoor();
    await until(async () => (await fetch(url + path)).status === 200);
    const { headers, ...response } = await getJson(url + path);
    t.deepEqual(response, { status: 200, body: report });
    const named = ['cache-control', 'x-powered-by', 'server'].map((name) => headers.get(name));
    t.deepEqual(named, ['no-store', null, null]);
    const head = await fetch(url + path, { method: 'HEAD' });
    t.deepEqual([head.status, await head.text()], [200, '']);
  });
}

test('with missing stores the process is live and unready, and names no host', async (t) => {
  // Port 9 (discard) is not served here, so connections are refused.
  await using door = await openDoor({
    DATABASE_URL: 'postgres://user:password@127.0.0.1:9/gatehouse',
    REDIS_URL: 'redis://127.0.0.1:9',
  });
  // Before it has tried, it only knows that it is not connected.
  await until(async () => !(await (await fetch(`${door.url}/health`)).text()).includes('is not connected'));
  const { status, body } = await getJson(`${door.url}/health/ready`);
  t.is(status, 503);
  t.deepEqual(body, {
    status: 'error',
    info: {},
    error: {
      database: { status: 'down', message: 'refused the connection' },
      redis: { status: 'down', message: 'refused the connection' },
    },
  });
  t.is((await fetch(`${door.url}/health/live`)).status, 200);
  const webhook = await door.post('{}');
  t.is(webhook.status, 503);
  t.regex(webhook.headers.get('retry-after') ?? '', /^\d+$/);
});

const setReadOnly = (setting: string) => `DO $$ BEGIN
  EXECUTE format('ALTER DATABASE %I SET default_transaction_read_only = ${setting}', current_database()); END $$`;

for (const { what, begin, end, reason } of [
  {
    what: 'has no schema',
    begin: 'ALTER FUNCTION gatehouse.oldest_reader RENAME TO gone',
    end: 'ALTER FUNCTION gatehouse.gone RENAME TO oldest_reader',
    reason: 'the schema is not up to date; run gatehouse migrate',
  },
  {
    what: 'has another version of the job engine',
    begin: 'UPDATE gatehouse_jobs.version SET version = version - 1',
    end: 'UPDATE gatehouse_jobs.version SET version = version + 1',
    reason: 'the job engine cannot use its schema, and takes no jobs: it is version 42, not 43',
  },
  // A connection from before can still write, as after a failover.
  { what: 'is read-only', begin: setReadOnly('on'), end: setReadOnly('off'), reason: 'is read-only' },
]) {
  test(`a door whose database ${what} is unready, then ready by itself`, async (t) => {
    await using before = await openDoor();
    await before.database.query(begin);
    await using door = await openDoor({ DATABASE_URL: before.databaseUrl });
    await until(async () => {
      const { status, body } = await getJson(`${door.url}/health/ready`);
      return status === 503 && JSON.stringify(body).includes(reason);
    });
    await before.database.query(end);
    await until(async () => (await fetch(`${door.url}/health/ready`)).status === 200);
    t.is((await door.post('{}')).status, 200);
  });
}

test('a door whose schema lacks what only a worker needs takes nothing, then everything by itself', async (t) => {
  await using before = await openDoor();
  await before.database.query('ALTER TABLE gatehouse.reviews RENAME COLUMN rules TO gone');
  await using door = await openDoor({ DATABASE_URL: before.databaseUrl });
  await until(async () => {
    const { status, body } = await getJson(`${door.url}/health/ready`);
    return status === 503 && JSON.stringify(body).includes('the schema lacks gatehouse.reviews.rules');
  });
  const refused = await door.post('{}');
  t.is(refused.status, 503);
  t.regex(refused.headers.get('retry-after') ?? '', /^\d+$/);
  t.deepEqual(await door.deliveries(), []);
  await before.database.query('ALTER TABLE gatehouse.reviews RENAME COLUMN gone TO rules');
  await until(async () => (await fetch(`${door.url}/health/ready`)).status === 200);
  t.is((await door.post('{}')).status, 200);
});

test('with READY_WITHOUT_REDIS a door without Redis is ready, and still reports it', async (t) => {
  await using door = await openDoor({ REDIS_URL: 'redis://127.0.0.1:9', READY_WITHOUT_REDIS: 'true' });
  await until(async () => (await fetch(`${door.url}/health/ready`)).status === 200);
  const { body } = await getJson(`${door.url}/health/ready`);
  t.like(body, { status: 'ok', info: { database: { status: 'up' } }, error: { redis: { status: 'down' } } });
  t.is((await fetch(`${door.url}/health`)).status, 503);
  t.is((await door.post('{}')).status, 200);
});

test('a database that accepts no new connections makes the door unready', async (t) => {
  await using door = await openDoor();
  await until(async () => (await fetch(`${door.url}/health/ready`)).status === 200);
  const statuses = async () => {
    const delivery = await door.post('{}');
    const ready = await fetch(`${door.url}/health/ready`);
    return [delivery.status, ready.status];
  };
  t.deepEqual(await statuses(), [200, 200]);
  const elsewhere = new URL(door.databaseUrl);
  const name = elsewhere.pathname.slice(1);
  elsewhere.pathname = '/postgres';
  const admin = openPool(elsewhere.href);
  const allowConnections = (allowed: boolean) => admin.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS ${allowed}`);
  await allowConnections(false);
  try {
    // Its own connections are all that it needs.
    t.deepEqual(await statuses(), [200, 200]);
    // The connection that deliveries used is gone, as after its idle time; the server still serves others.
    await admin.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gatehouse inbox' AND datname = $1",
      [name],
    );
    t.deepEqual(await statuses(), [503, 503]);
    const { body } = await getJson(`${door.url}/health`);
    t.like(body, { error: { database: { status: 'down', message: 'does not accept connections' } } });
  } finally {
    await allowConnections(true);
    await admin.end();
  }
  await until(async () => (await fetch(`${door.url}/health/ready`)).status === 200);
});

const FAULTS = {
  'a lock on the table': {
    begin: 'BEGIN; LOCK TABLE gatehouse.deliveries IN EXCLUSIVE MODE',
    end: 'ROLLBACK',
  },
  'a full disk': {
    begin: `CREATE FUNCTION gatehouse.disk_full() RETURNS trigger LANGUAGE plpgsql AS $$
              BEGIN RAISE 'No space left on device' USING ERRCODE = 'disk_full'; END $$;
            CREATE TRIGGER disk_full BEFORE INSERT ON gatehouse.deliveries EXECUTE FUNCTION gatehouse.disk_full()`,
    end: 'DROP FUNCTION gatehouse.disk_full CASCADE',
  },
} as const;
for (const [fault, { begin, end }] of Object.entries(FAULTS)) {
  test(`health is down while no delivery can be stored, then up by itself: ${fault}`, async (t) => {
    await using door = await openDoor({}, DOOR, { patience: 1 });
    await until(async () => (await fetch(`${door.url}/health`)).status === 200);
    const client = await door.database.connect();
    await client.query(begin);
    await until(async () => {
      await door.post('{}');
      return (await fetch(`${door.url}/health`)).status === 503;
    });
    t.deepEqual((await getJson(`${door.url}/health`)).body, {
      status: 'error',
      info: { redis: { status: 'up' } },
      error: { database: { status: 'down', message: 'cannot store deliveries' } },
    });
    t.is((await fetch(`${door.url}/health/ready`)).status, 503);
    t.regex(await (await fetch(door.metricsUrl)).text(), /^gatehouse_dependency_up\{dependency="database"\} 0$/m);
    await client.query(end);
    client.release();
    // An unready door gets no delivery that would show that it works again.
    await until(async () => (await fetch(`${door.url}/health/ready`)).status === 200);
    t.regex(await (await fetch(door.metricsUrl)).text(), /^gatehouse_dependency_up\{dependency="database"\} 1$/m);
    t.true((await door.deliveries()).every(({ event }) => event !== 'probe'));
    t.deepEqual(await door.jobs(), []);
  });
}

const NOTHING_ELSE = [
  '/',
  '/metrics',
  '/admin',
  '/webhook/',
  '/Webhook',
  '/health/',
  '/health/live/x',
  '//webhook',
  '/%77ebhook',
];
test('any other path is not found', async (t) => {
  const door = await sharedDoor();
  for (const path of NOTHING_ELSE) {
    const answer = await rawRequest(door.service.port, [`GET ${path} HTTP/1.1\r\nHost: door\r\n\r\n`]);
    t.is(answer?.status, 404, path);
    t.like(JSON.parse(answer?.body ?? ''), { type: 'about:blank', title: 'Not Found', status: 404 });
  }
});

test('another method is not allowed, and what is allowed is said', async (t) => {
  const door = await sharedDoor();
  for (const [method, path, allow] of [
    ['GET', '/webhook', 'POST'],
    ['PUT', '/webhook', 'POST'],
    ['POST', '/health', 'GET, HEAD'],
    ['DELETE', '/health/live', 'GET, HEAD'],
    ['PROPFIND', '/health/ready', 'GET, HEAD'],
  ] as const) {
    const response = await fetch(door.url + path, { method });
    t.is(response.status, 405, `${method} ${path}`);
    const named = ['content-type', 'x-powered-by', 'server'].map((name) => response.headers.get(name));
    t.deepEqual(named, ['application/problem+json', null, null]);
    t.deepEqual(response.headers.get('allow')?.split(', ').sort().join(', '), allow);
  }
});

const NOT_HTTP: readonly (readonly [string, string, number])[] = [
  ['nonsense', 'hello\r\n\r\n', 400],
  ['a request without a host', 'GET /health HTTP/1.1\r\n\r\n', 400],
  ['headers of 20 KiB', `GET /health HTTP/1.1\r\nHost: door\r\nX-Long: ${'a'.repeat(20_480)}\r\n\r\n`, 431],
  ['two hosts', 'GET /health HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
  [
    'a length beside a transfer encoding',
    `${webhookHead({ 'Content-Length': 5, 'Transfer-Encoding': 'chunked' })}0\r\n\r\n`,
    400,
  ],
  ['an expectation that nobody can meet', webhookHead({ Expect: 'miracles' }), 417],
  ...['-1', '1e3', '0x10', '2, 2', 'two'].map(
    (length) => [`a length of ${length}`, `${webhookHead({ 'Content-Length': length })}{}`, 400] as const,
  ),
];
test('what is not HTTP, or asks too much, is answered with a problem', async (t) => {
  const door = await sharedDoor();
  for (const [what, bytes, status] of NOT_HTTP) {
    const answer = await rawRequest(door.service.port, [bytes]);
    t.is(answer?.status, status, what);
    t.regex(answer?.head ?? '', /application\/problem\+json/, what);
    t.like(JSON.parse(answer?.body ?? ''), { type: 'about:blank', status });
    t.is((await fetch(`${door.url}/health/live`)).status, 200, what);
  }
});

test('a request id that is harmless is kept, and any other is replaced', async (t) => {
  const door = await sharedDoor();
  const answered = async (id: string) =>
    (await fetch(`${door.url}/health/live`, { headers: { 'x-request-id': id } })).headers.get('x-request-id');
  t.is(await answered('abc-123'), 'abc-123');
  t.regex((await answered('a b "c"')) ?? '', /^[0-9a-f-]{36}$/);
});
