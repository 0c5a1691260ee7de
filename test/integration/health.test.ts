import { openPool } from '../helpers/database.ts';
import { DOOR, openDoor, shareDoor } from '../helpers/door.ts';
import { rawRequest } from '../helpers/raw-http.ts';
import ava from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const test = ava.serial;
const sharedDoor = shareDoor(ava);
const UP = { status: 'ok', info: { database: { status: 'up' }, redis: { status: 'up' } } };

test('health and readiness answer as specified when both stores are up', async (t) => {
  const door = await sharedDoor();
  for (const path of ['/health', '/health/ready']) {
    await until(async () => (await fetch(door.url + path)).status === 200);
    const response = await fetch(door.url + path);
    t.deepEqual(await response.json(), UP);
    t.is(response.headers.get('cache-control'), 'no-store');
  }
});

test('liveness says ok and nothing else', async (t) => {
  const door = await sharedDoor();
  const response = await fetch(`${door.url}/health/live`);
  t.is(response.status, 200);
  t.deepEqual(await response.json(), { status: 'ok' });
});

test('HEAD answers wherever GET does, without a body', async (t) => {
  const door = await sharedDoor();
  await until(async () => (await fetch(`${door.url}/health`)).status === 200);
  for (const url of [`${door.url}/health`, `${door.url}/health/ready`, `${door.url}/health/live`, door.metricsUrl]) {
    const response = await fetch(url, { method: 'HEAD' });
    t.is(response.status, 200);
    t.is(await response.text(), '');
  }
});

test('with missing stores the process is live and unready, and names no host', async (t) => {
  // Port 9 (discard) is not served here, so connections are refused.
  await using door = await openDoor({
    DATABASE_URL: 'postgres://user:password@127.0.0.1:9/gatehouse',
    REDIS_URL: 'redis://127.0.0.1:9',
  });
  // Before it has tried, it only knows that it is not connected.
  await until(async () => !(await (await fetch(`${door.url}/health`)).text()).includes('is not connected'));
  const response = await fetch(`${door.url}/health/ready`);
  t.is(response.status, 503);
  const text = await response.text();
  t.deepEqual(JSON.parse(text), {
    status: 'error',
    info: {},
    error: {
      database: { status: 'down', message: 'refused the connection' },
      redis: { status: 'down', message: 'refused the connection' },
    },
  });
  t.notRegex(text, /127\.0\.0\.1|password/);
  t.is((await fetch(`${door.url}/health/live`)).status, 200);
  const webhook = await door.post('{}');
  t.is(webhook.status, 503);
  t.regex(webhook.headers.get('retry-after') ?? '', /^\d+$/);
});

test('a database without its schema is not ready, and says what to run', async (t) => {
  await using migrated = await openDoor();
  await migrated.database.query('ALTER TABLE gatehouse.schema_compatibility RENAME TO gone');
  const report = (await (await fetch(`${migrated.url}/health`)).json()) as Record<string, Record<string, unknown>>;
  t.deepEqual(report['error']?.['database'], {
    status: 'down',
    message: 'the schema is not up to date; run gatehouse migrate',
  });
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
    // The connection that deliveries used is gone, as after its idle time; the server still serves others.
    await admin.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gatehouse inbox' AND datname = $1",
      [name],
    );
    t.deepEqual(await statuses(), [503, 503]);
    const { error } = (await (await fetch(`${door.url}/health`)).json()) as { error: Record<string, unknown> };
    t.deepEqual(error['database'], { status: 'down', message: 'does not accept connections' });
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
    const response = await fetch(`${door.url}/health`);
    t.deepEqual(await response.json(), {
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
    t.is(response.headers.get('content-type'), 'application/problem+json');
    t.deepEqual(response.headers.get('allow')?.split(', ').sort().join(', '), allow);
  }
});

test("no answer names the server's software", async (t) => {
  const door = await sharedDoor();
  for (const path of ['/health', '/nowhere', '/webhook']) {
    const { headers } = await fetch(door.url + path);
    t.is(headers.get('x-powered-by'), null);
    t.is(headers.get('server'), null);
  }
});

const NOT_HTTP: readonly (readonly [string, string, number])[] = [
  ['nonsense', 'hello\r\n\r\n', 400],
  ['a request without a host', 'GET /health HTTP/1.1\r\n\r\n', 400],
  ['headers of 20 KiB', `GET /health HTTP/1.1\r\nHost: door\r\nX-Long: ${'a'.repeat(20_480)}\r\n\r\n`, 431],
  [
    'a length beside a transfer encoding',
    'POST /webhook HTTP/1.1\r\nHost: door\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
  ],
  ['an expectation that nobody can meet', 'POST /webhook HTTP/1.1\r\nHost: door\r\nExpect: miracles\r\n\r\n', 417],
];
test('what is not HTTP, or asks too much, is answered with a problem', async (t) => {
  const door = await sharedDoor();
  for (const [what, bytes, status] of NOT_HTTP) {
    const answer = await rawRequest(door.service.port, [bytes]);
    t.is(answer?.status, status, what);
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
