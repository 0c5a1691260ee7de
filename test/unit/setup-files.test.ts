import { generateKeyPairSync } from 'node:crypto';
import { lstat, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parse } from 'yaml';
import { checkFiles, filesOf, ingressHost, writeFiles } from '../../src/commands/setup/files.ts';
import { parseConfig } from '../../src/config/config.ts';
import { makeFolder } from '../helpers/setup.ts';
import test from '../helpers/test.ts';

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
});
const STORES = { DATABASE_URL: 'postgres://g:p%23w@db/g?sslmode=verify-full', REDIS_URL: 'rediss://r:6379/0' };
const SECRET = '0123456789abcdef0123456789abcdef';
const WITH_TOKEN = {
  FORGE: 'forgejo',
  FORGE_URL: 'https://git.example.com',
  FORGE_TOKEN: 'a-token',
  WEBHOOK_SECRET: SECRET,
  ...STORES,
};
const WITH_APP = {
  FORGE: 'github',
  GITHUB_APP_ID: '4711',
  GITHUB_APP_PRIVATE_KEY: privateKey.trimEnd(),
  WEBHOOK_SECRET: SECRET,
  ...STORES,
};
const ROLES = { door: true, worker: true };
const PLACE = { kubernetes: false, namespace: 'review', webhookUrl: 'https://gatehouse.example.com/webhook' };
const modeOf = async (path: string) => ((await lstat(path)).mode & 0o777).toString(8);

for (const [name, settings] of Object.entries({ 'a token': WITH_TOKEN, 'an App': WITH_APP })) {
  test(`.env with ${name} is accepted by the program, and can be read by its owner only`, async (t) => {
    const folder = await makeFolder(t);
    const files = filesOf({ ...PLACE, folder }, settings);
    await checkFiles(files);
    await writeFiles(files);
    for (const path of Object.keys(files)) {
      t.is(await modeOf(path), '600', path);
    }
    const env = parseEnv(await readFile(join(folder, '.env'), 'utf8'));
    const parsed = parseConfig(env, ROLES);
    t.true(parsed.ok, JSON.stringify(parsed));
    const { GITHUB_APP_PRIVATE_KEY_FILE: keyPath, ...others } = env;
    const key = keyPath === undefined ? {} : { GITHUB_APP_PRIVATE_KEY: (await readFile(keyPath, 'utf8')).trimEnd() };
    t.deepEqual<unknown, unknown>({ ...others, ...key }, settings);
    // docker run --env-file takes a line as it is.
    const lines = (await readFile(join(folder, '.env'), 'utf8')).split('\n').filter((line) => /^[^#]/.test(line));
    t.deepEqual<unknown, unknown>(
      Object.fromEntries(lines.map((line) => [line.split('=')[0], line.slice(line.indexOf('=') + 1)])),
      { ...env },
    );
  });

  test(`the Secret with ${name} has every secret, and the values have none`, async (t) => {
    const folder = await makeFolder(t);
    const files = filesOf({ ...PLACE, folder, kubernetes: true }, settings);
    await writeFiles(files);
    t.deepEqual(await Promise.all(Object.keys(files).map(modeOf)), ['600', '600']);
    const { stringData } = parse(await readFile(join(folder, 'gatehouse-secret.yaml'), 'utf8'));
    const secrets = Object.entries(settings).filter(([variable]) => !/^FORGE(_URL)?$|_ID$/.test(variable));
    t.deepEqual(
      stringData,
      Object.fromEntries(
        secrets.map(([variable, value]) => [variable.toLowerCase().replaceAll('_', '-'), value] as const),
      ),
    );
    const values = await readFile(join(folder, 'gatehouse-values.yaml'), 'utf8');
    for (const secret of [SECRET, 'a-token', 'PRIVATE KEY', 'postgres:']) {
      t.false(values.includes(secret), secret);
    }
  });
}

test('a file or a link that exists is never overwritten', async (t) => {
  const folder = await makeFolder(t);
  await writeFile(join(folder, '.env'), 'PORT=1\n');
  const files = filesOf({ ...PLACE, folder }, WITH_TOKEN);
  await t.throwsAsync(() => checkFiles(files), {
    name: 'ConfigurationError',
    message: /\.env exists: move it, or choose another folder with --folder$/,
  });
  await t.throwsAsync(() => writeFiles(files), { message: /EEXIST/ });
  t.is(await readFile(join(folder, '.env'), 'utf8'), 'PORT=1\n');

  const target = join(folder, 'target');
  await symlink(target, join(folder, 'gatehouse-secret.yaml'));
  const manifests = filesOf({ ...PLACE, folder, kubernetes: true }, WITH_TOKEN);
  await t.throwsAsync(() => checkFiles(manifests), { message: /gatehouse-secret\.yaml exists/ });
  await t.throwsAsync(() => writeFiles(manifests), { message: /EEXIST/ });
  await t.throwsAsync(() => lstat(target), { message: /ENOENT/ });
});

test('what a .env cannot hold, and a folder that cannot be written, are reported', async (t) => {
  const folder = await makeFolder(t);
  for (const url of ['postgres://g:p#w@db/g', 'postgres://g:"@db/g', 'postgres://db/a b', 'postgres://g:$x@db/g']) {
    const error = t.throws(() => filesOf({ ...PLACE, folder }, { ...WITH_TOKEN, DATABASE_URL: url }), {
      message: /^DATABASE_URL contains .*percent-encode/,
    });
    t.false(error.message.includes(url));
  }
  const elsewhere = filesOf({ ...PLACE, folder: '/no/such/folder' }, WITH_TOKEN);
  await t.throwsAsync(() => checkFiles(elsewhere), { message: /cannot write to \/no\/such/ });
});

test('an Ingress is for a public name, not for an address or a Service', (t) => {
  const hosts = ['gatehouse.example.com', 'gatehouse.intranet.example:8443', '10.0.0.7', '[::1]:8080', 'gatehouse'];
  t.deepEqual(
    [...hosts, 'gatehouse.review.svc', 'gatehouse.review.svc.cluster.local'].map((host) =>
      ingressHost(`https://${host}/webhook`),
    ),
    ['gatehouse.example.com', 'gatehouse.intranet.example', ...Array.from({ length: 5 }, () => undefined)],
  );
  t.is(ingressHost('https://gatehouse.example.com./webhook'), 'gatehouse.example.com');
  t.is(ingressHost('https://proxy.example.com/hooks/gatehouse'), undefined, 'the Ingress routes /webhook only');
});
