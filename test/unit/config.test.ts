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
const BOTH = { door: true, worker: true };

const parseConfig = (env: Environment, readFile?: ReadFile) => parse(env, DOOR, readFile);

const complete = {
  DATABASE_URL: 'postgres://user:database-password@db.example.com/gatehouse',
  REDIS_URL: 'redis://redis.example.com',
  WEBHOOK_SECRET: 'sixteen chars ok',
};
const workerEnvironment = {
  DATABASE_URL: complete.DATABASE_URL,
  REDIS_URL: complete.REDIS_URL,
  FORGE_TOKEN: 'a-token-of-the-forge',
};
const everything = { ...complete, ...workerEnvironment };

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

test('all configuration errors of door and worker are reported at once, each with its variable', (t) => {
  const parsed = parse({ PORT: '70000', DRAIN_SECONDS: '-1', WEBHOOK_SECRET: 'short' }, BOTH);
  t.deepEqual(parsed, {
    ok: false,
    faults: [
      'PORT: must be a port number, 0 to 65535',
      'DATABASE_URL: is required',
      'REDIS_URL: is required',
      'DRAIN_SECONDS: must be whole seconds, 0 to 3600',
      'WEBHOOK_SECRET: must have at least 16 characters',
      'FORGE_TOKEN: is required, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY',
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

test('an empty variable or file counts as absent, and so does one of white space', (t) => {
  const empty = { PORT: '', WEBHOOK_SECRET_FILE: ' ', WEBHOOK_SECRET_PREVIOUS: '\r\n' };
  t.deepEqual(readable(parseConfig({ ...complete, ...empty })), readable(parseConfig(complete)));
  const emptyFile = { ...complete, WEBHOOK_SECRET_PREVIOUS_FILE: '/run/secrets/previous' };
  t.deepEqual(readable(parseConfig(emptyFile, () => '\n')), readable(parseConfig(complete)));
});

/** What can be compared of a configuration. */
function readable(parsed: ReturnType<typeof parse>) {
  if (!parsed.ok) {
    return parsed.faults;
  }
  const { databaseUrl, redisUrl, ...config } = parsed.config;
  return { ...config, urls: [databaseUrl(), redisUrl()] };
}

for (const [before, after] of [
  ['', '\n'],
  ['', '\r\n'],
  [' \t', ' \n\n'],
  ['\ufeff', '\u00a0'],
] as const) {
  const around = (text: string) => `${before}${text}${after}`;

  test(`each variable and file is read without ${JSON.stringify([before, after])} around it`, (t) => {
    const plain = { ...everything, FORGE: 'gitea', FORGE_URL: 'https://git.example.com' };
    const given = { ...plain, PORT: '8081', ENFORCE: 'false', WEBHOOK_SECRET_PREVIOUS: 'another sixteen chars' };
    const expected = readable(parse(given, BOTH));
    t.false(Array.isArray(expected), String(expected));

    const asVariables = Object.entries(given).map(([name, value]) => [name, around(value)]);
    t.deepEqual(readable(parse(Object.fromEntries(asVariables), BOTH)), expected);

    const files = new Map(Object.entries(given).map(([name, value]) => [`/run/${name}`, around(value)]));
    const asFiles = Object.keys(given).map((name) => [`${name}_FILE`, around(`/run/${name}`)]);
    const ofFiles = parse(Object.fromEntries(asFiles), BOTH, (path) => files.get(path) ?? t.fail(path));
    t.deepEqual(readable(ofFiles), expected);
    t.is(parseSecret({ WEBHOOK_SECRET: around(given.WEBHOOK_SECRET) }).ok, true);
    t.deepEqual(parseSecret({ WEBHOOK_SECRET: around(given.WEBHOOK_SECRET) }), parseSecret(given));
  });
}

const { privateKey } = generateKeyPairSync('ed25519');
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const app = { GITHUB_APP_ID: '7', GITHUB_APP_PRIVATE_KEY: pem };
const appAlone = { ...app, FORGE_TOKEN: '' };
const onGitea = { FORGE: 'gitea', FORGE_URL: 'https://git.example.com' };

const UNSEEN = 'contains a line break or another invisible character';
const UNSEEN_IN_URL = `${UNSEEN}: percent-encode it, or remove it`;
const NO_TOKEN = 'contains a space, a line break or another character that tokens can’t have';
const IN_QUOTES = 'has quotes around its value: remove them';
const NO_REDIS = 'must be a URL with a host, and start with redis:// or rediss://';
const NO_POSTGRES = 'must be a URL with a host, and start with postgres:// or postgresql://';
const NO_COLLECTOR = 'must be a URL with a host, and start with http:// or https://';
const NO_SIZE = 'must be a size from 1 to 100MiB, such as 26214400 or 25MiB';
const NO_NAME = 'must be the name of a repository, without its owner, such as .gatehouse';

/** Values that a variable may not have, and what is said of each. */
const FAULTS: readonly (readonly [name: string, fault: string, ...values: readonly string[]])[] = [
  ['WEBHOOK_SECRET', UNSEEN, 'the first line of\nbase64', 'the first line of\r\nbase64', 'no-break\u00a0space in it'],
  ['WEBHOOK_SECRET', UNSEEN, 'U\0T\0F\0-\x001\x006\0 \0t\0e\0x\0t', 'bytes \ufffd\ufffd as text'],
  ['WEBHOOK_SECRET_PREVIOUS', UNSEEN, 'zero-width\u200bspace'],
  ['WEBHOOK_SECRET', IN_QUOTES, '"sixteen chars ok"'],
  ['WEBHOOK_SECRET', 'is required', '                '],
  ['FORGE_TOKEN', NO_TOKEN, 'hunter\n2', 'hunter 2', 'hun\u2028ter2', 'hünter2'],
  ['FORGE_TOKEN', IN_QUOTES, "'hunter2'"],
  ['FORGE_URL', UNSEEN_IN_URL, 'https://git.exa\nmple.com'],
  ['FORGE_URL', 'must be a URL with a host, and start with https:// or http://', 'git.example.com'],
  ['DATABASE_URL', UNSEEN_IN_URL, 'postgres://user:pass\tword@db/gatehouse'],
  ['DATABASE_URL', IN_QUOTES, '"postgres://db/gatehouse" '],
  ['DATABASE_URL', NO_POSTGRES, 'postgres:', 'postgres://user:p%zz@h/db', 'mysql://user:hunter2@db'],
  ['REDIS_URL', UNSEEN_IN_URL, 'redis://:pass\u00a0word@redis'],
  ['REDIS_URL', NO_REDIS, 'redis:', 'redis://user:p%zz@h', 'redis://h1,h2'],
  ['REDIS_URL', NO_REDIS, 'redis+cluster://h', 'redis+sentinel://h/mymaster'],
  ['REDIS_URL', 'has a path that is not allowed', 'redis://h:6379/abc'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', NO_COLLECTOR, 'collector:4318', 'grpc://collector:4317', 'http://'],
  ['PORT', IN_QUOTES, '"8080"'],
  ['WEBHOOK_BODY_LIMIT', NO_SIZE, '0', '-1', '25MB', '25 MiB', '101MiB', '1e3', 'lots', '99999999999'],
  ['POLICY_REPOSITORY', NO_NAME, 'acme/.gatehouse', '..', '.', 'a b', 'a?b', 'x'.repeat(101)],
  ['STATUS_CONTEXT', 'must not have braces other than {base}', 'review/{branch}', 'review/{base'],
  ['STATUS_CONTEXT', 'must be printable ASCII', 'tick ✔'],
  ['STATUS_CONTEXT', 'must have at most 200 characters', 'x'.repeat(201)],
  ['ENFORCE', 'must be one of true, false', 'no'],
  ['WORKER_CONCURRENCY', 'must be a whole number, 1 to 64', '0'],
  ['AUDIT_DAYS', 'must be a whole number, 1 to 36500', '0'],
];

for (const [name, fault, ...values] of FAULTS) {
  test(`${name}, as a variable or a file, ${fault}: ${JSON.stringify(values)}`, (t) => {
    for (const value of values) {
      const expected = { ok: false, faults: [`${name}: ${fault}`] } as const;
      t.deepEqual(parse({ ...everything, [name]: value }, BOTH), expected, value);
      const asFile = { ...everything, [name]: undefined, [`${name}_FILE`]: '/run/it' };
      t.deepEqual(
        parse(asFile, BOTH, () => value),
        expected,
        value,
      );
    }
  });
}

for (const [change, ...faults] of [
  [{ PORT: '9090' }, 'METRICS_PORT: must differ from PORT'],
  [{ FORGE: 'gitlab' }, 'FORGE: must be one of github, gitea, forgejo', 'FORGE_URL: is required when FORGE is gitlab'],
  [
    { WEBHOOK_SECRET: '', WEBHOOK_SECRET_FILE: '/no/such/file' },
    'WEBHOOK_SECRET_FILE: cannot read /no/such/file (ENOENT)',
  ],
  [
    { WEBHOOK_SECRET_FILE: '/run/secrets/key' },
    'WEBHOOK_SECRET: is set twice, as WEBHOOK_SECRET and as WEBHOOK_SECRET_FILE',
  ],
  [{ FORGE_TOKEN: '' }, 'FORGE_TOKEN: is required, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY'],
  [app, 'FORGE_TOKEN: is set as well as a GitHub App; set only one of them'],
  [{ FORGE_TOKEN: '', GITHUB_APP_ID: '7' }, 'GITHUB_APP_PRIVATE_KEY: is required with GITHUB_APP_ID'],
  [{ FORGE_TOKEN: '', GITHUB_APP_PRIVATE_KEY: pem }, 'GITHUB_APP_ID: is required with GITHUB_APP_PRIVATE_KEY'],
  [{ ...appAlone, GITHUB_APP_ID: 'abc' }, 'GITHUB_APP_ID: must be the App’s number'],
  [{ ...appAlone, GITHUB_APP_PRIVATE_KEY: 'junk' }, 'GITHUB_APP_PRIVATE_KEY: must be a private key in PEM'],
  [{ FORGE: 'gitea' }, 'FORGE_URL: is required when FORGE is gitea'],
  [{ ...onGitea, FORGE_TOKEN: '' }, 'FORGE_TOKEN: is required'],
  [{ ...onGitea, ...app, FORGE: 'forgejo' }, 'GITHUB_APP_ID: is only for FORGE=github; set FORGE_TOKEN for forgejo'],
] as const) {
  test(`variables that do not fit: ${faults.join()}`, (t) => {
    t.deepEqual(parse({ ...everything, ...change }, BOTH), { ok: false, faults });
  });
}

test('sizes, names and flags are read as they are written', (t) => {
  const read = (env: Environment) => {
    const parsed = parse({ ...everything, ...env }, BOTH);
    const { door, worker, statusContext } = parsed.ok ? parsed.config : t.fail(parsed.faults.join());
    return [door?.webhookBodyLimit, worker?.policyRepository, worker?.enforce, statusContext];
  };
  const sizes = ['1', '1024', '512KiB', '25MiB', '100MiB'].map((text) => read({ WEBHOOK_BODY_LIMIT: text })[0]);
  t.deepEqual(sizes, [1, 1024, 524_288, 26_214_400, 104_857_600]);
  for (const name of ['.gatehouse', 'policies', 'a_b.c-1']) {
    t.is(read({ POLICY_REPOSITORY: name })[1], name);
  }
  t.is(read({ ENFORCE: 'false' })[2], false);
  for (const context of ['review/{base}', 'review', '{base}: {base}', 'x'.repeat(200)]) {
    t.is(read({ STATUS_CONTEXT: context })[3], context);
  }
});

test('migrating needs only the database', (t) => {
  t.deepEqual(parseDatabaseConfig({ DATABASE_URL: complete.DATABASE_URL }), {
    ok: true,
    config: { databaseUrl: complete.DATABASE_URL, logLevel: 'info' },
  });
});

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

test('a GitHub App is an id and a private key', (t) => {
  const parsed = parse({ ...workerEnvironment, ...appAlone }, WORKER);
  t.deepEqual(parsed.ok && parsed.config.worker?.credentials, { kind: 'app', appId: '7', privateKey: pem.trim() });

  const withCrLf = { ...appAlone, GITHUB_APP_PRIVATE_KEY: `\ufeff${pem.replaceAll('\n', '\r\n')}` };
  t.true(parse({ ...workerEnvironment, ...withCrLf }, WORKER).ok, 'its lines end as in a file of Windows');
});

test('commands that only use the forge need no stores', (t) => {
  const parsed = parseForgeConfig({ FORGE: 'gitea', FORGE_URL: 'https://git.example.com', FORGE_TOKEN: 'token' });
  t.like(parsed.ok ? parsed.config : {}, { forge: 'gitea', forgeUrl: 'https://git.example.com' });
});
