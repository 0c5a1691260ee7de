import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ava from 'ava';
import { migrateStores } from '../../src/composition/migrate-stores.ts';
import { detectPooling } from '../../src/db/pooler.ts';
import { makeDatabase } from '../helpers/database.ts';
import { docker, unavailable } from '../helpers/docker.ts';
import { askDoctor } from '../helpers/doctor.ts';
import { freePort } from '../helpers/free-port.ts';
import { gatehouse } from '../helpers/process.ts';
import { until } from '../helpers/until.ts';

const IMAGE = 'edoburu/pgbouncer:v1.24.1-p1';
const lacking = await unavailable([IMAGE]);
if (lacking !== undefined) {
  process.stderr.write(`the tests with a real PgBouncer are left out, because ${lacking}\n`);
}
const test = lacking === undefined ? ava.serial : ava.skip;

/** A real PgBouncer before a database with the schema. Its network is the machine's own. */
async function openPgBouncer(mode: 'session' | 'transaction' | 'statement') {
  const database = await makeDatabase();
  await migrateStores(database.url);
  const to = new URL(database.url);
  const folder = await mkdtemp(join(tmpdir(), 'pgbouncer-'));
  const port = await freePort();
  const name = to.pathname.slice(1);
  await writeFile(
    join(folder, 'pgbouncer.ini'),
    `[databases]
${name} = host=127.0.0.1 port=${to.port} user=${to.username} password=${to.password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
`,
    { mode: 0o644 },
  );
  const id = await docker([
    ...[
      'run',
      '--detach',
      '--rm',
      '--network',
      'host',
      '--volume',
      `${folder}/pgbouncer.ini:/etc/pgbouncer/pgbouncer.ini:ro`,
    ],
    IMAGE,
  ]);
  const url = new URL(database.url);
  url.host = `127.0.0.1:${port}`;
  await until(() =>
    detectPooling(url.href).then(
      () => true,
      () => false,
    ),
  );
  return {
    url: url.href,
    async [Symbol.asyncDispose]() {
      await docker(['rm', '--force', id]);
      await rm(folder, { recursive: true });
      await database.drop();
    },
  };
}

const environment = (databaseUrl: string) => ({
  DATABASE_URL: databaseUrl,
  REDIS_URL: 'redis://127.0.0.1:9',
  WEBHOOK_SECRET: 'long enough for a test',
  PORT: '0',
  METRICS_PORT: '0',
  HOST: '127.0.0.1',
});

ava('a direct connection is not taken for a pooler', async (t) => {
  const database = await makeDatabase();
  t.is(await detectPooling(database.url), 'none');
  await database.drop();
});

for (const mode of ['transaction', 'statement'] as const) {
  test(`PgBouncer in ${mode} mode is refused by name: serve, migrate, doctor`, async (t) => {
    await using pooler = await openPgBouncer(mode);
    t.is(await detectPooling(pooler.url), 'transactions');
    for (const command of ['serve', 'migrate']) {
      const { code, stdout } = await gatehouse([command], environment(pooler.url)).finished;
      t.is(code, 78, stdout);
      t.regex(stdout, /connection pooler in transaction or statement mode/);
    }
    const findings = (await askDoctor([], environment(pooler.url))).of('database').join();
    t.regex(findings, /^✘ DATABASE_URL leads to a connection pooler in .* mode → use its session mode/);
  });
}

test('PgBouncer in session mode needs no settings of its own, and serves', async (t) => {
  await using pooler = await openPgBouncer('session');
  t.is(await detectPooling(pooler.url), 'sessions');
  t.is((await gatehouse(['migrate'], { DATABASE_URL: pooler.url }).finished).code, 0);
  const findings = (await askDoctor([], environment(pooler.url))).of('database').join();
  t.regex(findings, /^✔ PostgreSQL .*, behind a connection pooler in session mode$/);
});
