import { generateKeyPairSync } from 'node:crypto';
import {
  describeSslMode,
  parseConfig as parse,
  parseDatabaseConfig,
  parseForgeConfig,
  parseSecret,
} from '../../src/config/config.ts';
import test from '../helpers/test.ts';

type Environment = Parameters<typeof parse>[0];
type ReadFile = Parameters<typeof parse>[2];

const DOOR = { door: true, worker: false };
const WORKER = { door: false, worker: true };

const parseConfig = (env: Environment, readFile?: ReadFile) => parse(env, DOOR, readFile);

const complete = {
  DATABASE_URL: 'postgres://user:database-password@db.example.com/gatehouse',
  REDIS_URL: 'redis://redis.example.com',
  WEBHOOK_SECRET: 'sixteen chars ok',
};

test('three variables are enough, the others have defaults', (t) => {
  const parsed = parseConfig(complete);
  const { databaseUrl, redisUrl, ...config } = parsed.ok ? parsed.config : t.fail();
  t.deepEqual([databaseUrl(), redisUrl()], [complete.DATABASE_URL, complete.REDIS_URL]);
  t.deepEqual(
    { ok: parsed.ok, config },
    {
      ok: true,
      config: {
        port: 8080,
        metricsPort: 9090,
        host: undefined,
        forge: 'github',
        drainSeconds: 5,
        readyWithoutRedis: false,
        statusContext: 'gatehouse/{base}',
        logLevel: 'info',
        otelExporterOtlpEndpoint: undefined,
        door: {
          webhookSecret: complete.WEBHOOK_SECRET,
          webhookSecretPrevious: undefined,
          webhookBodyLimit: 26_214_400,
        },
      },
    },
  );
  t.true(parsed.ok && Object.isFrozen(parsed.config));
});

test('the address of the collector of traces is checked', (t) => {
  const faultsOf = (env: Readonly<Record<string, string>>) => {
    const parsed = parseConfig({ ...complete, ...env });
    return parsed.ok ? [] : parsed.faults.map((fault) => fault.replace(/:.*/, ''));
  };
  for (const endpoint of ['collector:4318', 'grpc://collector:4317', 'http://']) {
    t.deepEqual(faultsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }), ['OTEL_EXPORTER_OTLP_ENDPOINT'], endpoint);
  }
});

test('all configuration errors are reported at once, each with its variable', (t) => {
  const parsed = parseConfig({ PORT: '70000', DRAIN_SECONDS: '-1', FORGE: 'gitlab', WEBHOOK_SECRET: 'short' });
  t.deepEqual(parsed, {
    ok: false,
    faults: [
      'PORT: must be a port number, 0 to 65535',
      'DATABASE_URL: is required',
      'REDIS_URL: is required',
      'FORGE: must be one of github, gitea, forgejo',
      'DRAIN_SECONDS: must be whole seconds, 0 to 3600',
      'WEBHOOK_SECRET: must have at least 16 characters',
    ],
  });
});

test('an sslmode between disable and verify-full verifies the server, and is named', (t) => {
  const modeOf = (query: string) => {
    const given = { ...complete, DATABASE_URL: `${complete.DATABASE_URL}${query}` };
    const parsed = parseConfig(given);
    const { databaseUrl } = parsed.ok ? parsed.config : t.fail();
    const used = new URL(databaseUrl());
    t.is(used.password, 'database-password');
    return [used.search, describeSslMode(given)?.includes('verify-full') ?? false];
  };
  for (const mode of ['prefer', 'require', 'verify-ca']) {
    t.deepEqual(modeOf(`?sslmode=${mode}&application_name=a`), ['?sslmode=verify-full&application_name=a', true]);
    t.deepEqual(modeOf(`?uselibpqcompat=true&sslmode=${mode}`), [`?uselibpqcompat=true&sslmode=${mode}`, false]);
  }
  for (const query of ['', '?sslmode=disable', '?sslmode=verify-full', '?sslmode=no-verify']) {
    t.deepEqual(modeOf(query), [query, false]);
  }
});

test('no configuration error shows the value', (t) => {
  const parsed = parseConfig({
    DATABASE_URL: 'mysql://user:hunter2@db',
    REDIS_URL: 'http://:hunter2@redis',
    WEBHOOK_SECRET: 'hunter2',
    WEBHOOK_SECRET_PREVIOUS: 'hunter2',
  });
  t.false(parsed.ok);
  t.false(JSON.stringify(parsed).includes('hunter2'));
});

for (const [text, bytes] of [
  ['1', 1],
  ['1024', 1024],
  ['512KiB', 524_288],
  ['25MiB', 26_214_400],
  ['100MiB', 104_857_600],
] as const) {
  test(`a body limit of ${text} is ${bytes} bytes`, (t) => {
    const parsed = parseConfig({ ...complete, WEBHOOK_BODY_LIMIT: text });
    t.is(parsed.ok && parsed.config.door?.webhookBodyLimit, bytes);
  });
}

for (const text of ['0', '-1', '25MB', '25 MiB', '101MiB', '1e3', 'lots', '99999999999']) {
  test(`a body limit of ${text} is a fault`, (t) => {
    t.false(parseConfig({ ...complete, WEBHOOK_BODY_LIMIT: text }).ok);
  });
}

for (const [name, value] of [
  ['REDIS_URL', 'redis:'],
  ['REDIS_URL', 'redis://h:6379/abc'],
  ['REDIS_URL', 'redis://user:p%zz@h'],
  ['REDIS_URL', 'redis://h1,h2'],
  ['REDIS_URL', 'redis+cluster://h'],
  ['REDIS_URL', 'redis+sentinel://h/mymaster'],
  ['DATABASE_URL', 'postgres:'],
  ['DATABASE_URL', 'postgres://user:p%zz@h/db'],
  ['WEBHOOK_SECRET', '                '],
] as const) {
  test(`${name} rejects ${JSON.stringify(value)}`, (t) => {
    const parsed = parseConfig({ ...complete, [name]: value });
    t.is(parsed.ok ? 0 : parsed.faults.length, 1);
  });
}

test('a file with nothing in it counts as absent, as an empty variable does', (t) => {
  const parsed = parseConfig({ ...complete, WEBHOOK_SECRET_PREVIOUS_FILE: '/run/secrets/previous' }, () => '\n');
  t.is(parsed.ok ? parsed.config.door?.webhookSecretPrevious : 'faults', undefined);
  t.true(parsed.ok);
});

test('an empty variable counts as absent, and so does one of white space', (t) => {
  const parsed = parseConfig({ ...complete, PORT: '', WEBHOOK_SECRET_PREVIOUS: '\r\n', WEBHOOK_SECRET_FILE: ' ' });
  t.is(parsed.ok && parsed.config.port, 8080);
});

for (const [before, after] of [
  ['', '\n'],
  ['', '\r\n'],
  [' \t', ' \n\n'],
  ['\ufeff', '\u00a0'],
] as const) {
  const around = (text: string) => `${before}${text}${after}`;

  test(`each variable and file is read without ${JSON.stringify([before, after])} around it`, (t) => {
    const plain = { ...complete, ...workerEnvironment, FORGE: 'gitea', FORGE_URL: 'https://git.example.com' };
    const given = { ...plain, PORT: '8081', ENFORCE: 'false', WEBHOOK_SECRET_PREVIOUS: 'another sixteen chars' };
    const both = { door: true, worker: true };
    const comparable = (parsed: ReturnType<typeof parse>) => {
      const { databaseUrl, redisUrl, ...config } = parsed.ok ? parsed.config : t.fail(parsed.faults.join());
      return { ...config, urls: [databaseUrl(), redisUrl()] };
    };
    const expected = comparable(parse(given, both));

    const asVariables = Object.entries(given).map(([name, value]) => [name, around(value)]);
    t.deepEqual(comparable(parse(Object.fromEntries(asVariables), both)), expected);

    const files = new Map(Object.entries(given).map(([name, value]) => [`/run/${name}`, around(value)]));
    const asFiles = Object.keys(given).map((name) => [`${name}_FILE`, around(`/run/${name}`)]);
    t.deepEqual(
      comparable(parse(Object.fromEntries(asFiles), both, (path) => files.get(path) ?? t.fail(path))),
      expected,
    );
    t.is(parseSecret({ WEBHOOK_SECRET: around(given.WEBHOOK_SECRET) }).ok, true);
    t.deepEqual(parseSecret({ WEBHOOK_SECRET: around(given.WEBHOOK_SECRET) }), parseSecret(given));
  });
}

const IN_QUOTES = 'has quotes around its value: remove them';
const UNSEEN = 'contains a line break or another invisible character';
const UNSEEN_IN_URL = 'contains a line break or another invisible character: percent-encode it, or remove it';
const NO_TOKEN = 'contains a space, a line break or another character that tokens can’t have';

for (const [name, value, fault] of [
  ['WEBHOOK_SECRET', 'the first line of\nbase64', UNSEEN],
  ['WEBHOOK_SECRET', 'the first line of\r\nbase64', UNSEEN],
  ['WEBHOOK_SECRET_PREVIOUS', 'zero-width\u200bspace', UNSEEN],
  ['WEBHOOK_SECRET', 'no-break\u00a0space in it', UNSEEN],
  ['WEBHOOK_SECRET', 'U\0T\0F\0-\x001\x006\0 \0t\0e\0x\0t', UNSEEN],
  ['WEBHOOK_SECRET', 'bytes \ufffd\ufffd as text', UNSEEN],
  ['FORGE_TOKEN', 'hunter\n2', NO_TOKEN],
  ['FORGE_TOKEN', 'hunter 2', NO_TOKEN],
  ['FORGE_TOKEN', 'hun\u2028ter2', NO_TOKEN],
  ['FORGE_TOKEN', 'hünter2', NO_TOKEN],
  ['FORGE_URL', 'https://git.exa\nmple.com', UNSEEN_IN_URL],
  ['DATABASE_URL', 'postgres://user:pass\tword@db/gatehouse', UNSEEN_IN_URL],
  ['REDIS_URL', 'redis://:pass\u00a0word@redis', UNSEEN_IN_URL],
  ['WEBHOOK_SECRET', '"sixteen chars ok"', IN_QUOTES],
  ['FORGE_TOKEN', "'hunter2'", IN_QUOTES],
  ['DATABASE_URL', '"postgres://db/gatehouse" ', IN_QUOTES],
  ['PORT', '"8080"', IN_QUOTES],
] as const) {
  test(`${name} may not be ${JSON.stringify(value)}`, (t) => {
    const env: Environment = { ...complete, ...workerEnvironment, [name]: value };
    t.deepEqual(parse(env, { door: true, worker: true }), { ok: false, faults: [`${name}: ${fault}`] });
    const asFile = { ...env, [name]: undefined, [`${name}_FILE`]: '/run/it' };
    t.deepEqual(
      parse(asFile, { door: true, worker: true }, () => value),
      { ok: false, faults: [`${name}: ${fault}`] },
    );
  });
}

test('a file that cannot be read is one fault that names the file', (t) => {
  const { WEBHOOK_SECRET: _, ...others } = complete;
  const parsed = parseConfig({ ...others, WEBHOOK_SECRET_FILE: '/no/such/file' });
  t.deepEqual(parsed, { ok: false, faults: ['WEBHOOK_SECRET_FILE: cannot read /no/such/file (ENOENT)'] });
});

test('a variable that is given both ways is a fault', (t) => {
  const parsed = parseConfig({ ...complete, WEBHOOK_SECRET_FILE: '/run/secrets/key' }, () => 'x');
  t.deepEqual(parsed, {
    ok: false,
    faults: ['WEBHOOK_SECRET: is set twice, as WEBHOOK_SECRET and as WEBHOOK_SECRET_FILE'],
  });
});

test('the two listeners may not share a port', (t) => {
  t.deepEqual(parseConfig({ ...complete, PORT: '9090' }), {
    ok: false,
    faults: ['METRICS_PORT: must differ from PORT'],
  });
});

test('migrating needs only the database', (t) => {
  t.deepEqual(parseDatabaseConfig({ DATABASE_URL: complete.DATABASE_URL }), {
    ok: true,
    config: { databaseUrl: complete.DATABASE_URL, logLevel: 'info' },
  });
});

const workerEnvironment = {
  DATABASE_URL: complete.DATABASE_URL,
  REDIS_URL: complete.REDIS_URL,
  FORGE_TOKEN: 'a-token-of-the-forge',
};

test('a worker needs no signing secret, and its default forge is github.com', (t) => {
  const parsed = parse(workerEnvironment, WORKER);
  t.deepEqual(parsed.ok && parsed.config.worker, {
    forgeUrl: 'https://github.com',
    credentials: { kind: 'token', token: 'a-token-of-the-forge' },
    workerConcurrency: 4,
    resyncMinutes: 15,
    retentionDays: 30,
    auditDays: 400,
    machineAccounts: undefined,
    forgeCommitter: undefined,
    policyFile: undefined,
    policyRepository: undefined,
    enforce: true,
  });
  t.is(parsed.ok && parsed.config.statusContext, 'gatehouse/{base}');
  t.is(parsed.ok ? parsed.config.door : 'faults', undefined);
});

test('POLICY_REPOSITORY is the name of a repository without its owner', (t) => {
  for (const name of ['.gatehouse', 'policies', 'a_b.c-1']) {
    const parsed = parse({ ...workerEnvironment, POLICY_REPOSITORY: name }, WORKER);
    t.is(parsed.ok && parsed.config.worker?.policyRepository, name);
  }
  for (const name of ['acme/.gatehouse', '..', '.', 'a b', 'a?b', 'x'.repeat(101)]) {
    const parsed = parse({ ...workerEnvironment, POLICY_REPOSITORY: name }, WORKER);
    t.regex(parsed.ok ? '' : parsed.faults.join(), /^POLICY_REPOSITORY: must be the name of a repository/, name);
  }
});

test('ENFORCE is true or false', (t) => {
  const parsed = parse({ ...workerEnvironment, ENFORCE: 'false' }, WORKER);
  t.false(parsed.ok && parsed.config.worker?.enforce);
  const faulty = parse({ ...workerEnvironment, ENFORCE: 'no' }, WORKER);
  t.regex(faulty.ok ? '' : faulty.faults.join(), /^ENFORCE: /);
});

test('STATUS_CONTEXT is printable, short, and has no placeholder but {base}', (t) => {
  for (const context of ['review/{base}', 'review', '{base}: {base}', 'x'.repeat(200)]) {
    const parsed = parse({ ...workerEnvironment, STATUS_CONTEXT: context }, WORKER);
    t.is(parsed.ok && parsed.config.statusContext, context);
  }
  for (const context of ['review/{branch}', 'review/{base', 'tick ✔', 'x'.repeat(201)]) {
    const parsed = parse({ ...workerEnvironment, STATUS_CONTEXT: context }, WORKER);
    t.regex(parsed.ok ? '' : parsed.faults.join(), /^STATUS_CONTEXT: m/, context);
  }
});

const { privateKey } = generateKeyPairSync('ed25519');
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const app = { GITHUB_APP_ID: '7', GITHUB_APP_PRIVATE_KEY: pem };

test('a GitHub App is an id and a private key', (t) => {
  const parsed = parse({ ...workerEnvironment, FORGE_TOKEN: '', ...app }, WORKER);
  t.deepEqual(parsed.ok && parsed.config.worker?.credentials, { kind: 'app', appId: '7', privateKey: pem.trim() });

  const withCrLf = { ...app, GITHUB_APP_PRIVATE_KEY: `\ufeff${pem.replaceAll('\n', '\r\n')}` };
  t.true(
    parse({ ...workerEnvironment, FORGE_TOKEN: '', ...withCrLf }, WORKER).ok,
    'its lines end as in a file of Windows',
  );
});

for (const [change, fault] of [
  [{ FORGE_TOKEN: '' }, 'FORGE_TOKEN: is required, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY'],
  [app, 'FORGE_TOKEN: is set together with a GitHub App; set only one of them'],
  [{ FORGE_TOKEN: '', GITHUB_APP_ID: '7' }, 'GITHUB_APP_PRIVATE_KEY: is required with GITHUB_APP_ID'],
  [{ FORGE_TOKEN: '', GITHUB_APP_PRIVATE_KEY: pem }, 'GITHUB_APP_ID: is required with GITHUB_APP_PRIVATE_KEY'],
  [{ FORGE_TOKEN: '', ...app, GITHUB_APP_ID: 'abc' }, 'GITHUB_APP_ID: must be the number of the App'],
  [{ FORGE_TOKEN: '', ...app, GITHUB_APP_PRIVATE_KEY: 'junk' }, 'GITHUB_APP_PRIVATE_KEY: must be a private key in PEM'],
  [{ FORGE: 'gitea' }, 'FORGE_URL: is required when FORGE is gitea'],
  [{ FORGE: 'gitea', FORGE_URL: 'https://git.example.com', FORGE_TOKEN: '' }, 'FORGE_TOKEN: is required'],
  [
    { FORGE: 'forgejo', FORGE_URL: 'https://git.example.com', ...app },
    'GITHUB_APP_ID: is only for FORGE=github; set FORGE_TOKEN for forgejo',
  ],
  [{ FORGE_URL: 'git.example.com' }, 'FORGE_URL: must be a URL with a host that begins with https:// or http://'],
  [{ WORKER_CONCURRENCY: '0' }, 'WORKER_CONCURRENCY: must be a whole number, 1 to 64'],
  [{ AUDIT_DAYS: '0' }, 'AUDIT_DAYS: must be a whole number, 1 to 36500'],
] as const) {
  test(`a worker's configuration can be wrong: ${fault}`, (t) => {
    t.deepEqual(parse({ ...workerEnvironment, ...change }, WORKER), { ok: false, faults: [fault] });
  });
}

test('commands that only use the forge need no stores', (t) => {
  const parsed = parseForgeConfig({ FORGE: 'gitea', FORGE_URL: 'https://git.example.com', FORGE_TOKEN: 'token' });
  t.like(parsed.ok ? parsed.config : {}, { forge: 'gitea', forgeUrl: 'https://git.example.com' });
});

test('with nothing set, all errors of door and worker are reported at once', (t) => {
  t.deepEqual(parse({}, { door: true, worker: true }), {
    ok: false,
    faults: [
      'DATABASE_URL: is required',
      'REDIS_URL: is required',
      'WEBHOOK_SECRET: is required',
      'FORGE_TOKEN: is required, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY',
    ],
  });
});
