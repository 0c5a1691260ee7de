import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { ExecutionContext } from 'ava';
import { hookEvents } from '../../src/forges/gitea/hook-events.ts';
import { makeFolder, requireStatus, startSetup } from '../helpers/setup.ts';
import ava from '../helpers/test.ts';
import { type SimulatedForge, startSimulatedForge } from '../simulated-forge/simulated-forge.ts';

const test = ava.serial;

const REPOSITORY = 'acme/widgets';
const URL = 'https://gatehouse.example.com';
const HOOK = `${URL}/webhook`;
const FULL_ACCESS = 'token-of-the-owner';
const STORES = { DATABASE_URL: 'postgres://g:database-password@db/g', REDIS_URL: 'redis://r:6379' };

async function setUp(t: ExecutionContext, name: 'gitea' | 'forgejo' = 'gitea') {
  const forge = await startSimulatedForge({ forge: name });
  t.teardown(() => forge.stop());
  forge.createRepository(REPOSITORY);
  forge.addToken(FULL_ACCESS, 'owner');
  forge.addAdministrator('owner');
  const folder = await makeFolder(t);
  const env = { FORGE_TOKEN: forge.token, SETUP_TOKEN: FULL_ACCESS, ...STORES };
  const args = ['--forge', name, '--forge-url', forge.url, '--url', URL];
  const run = async (
    more: readonly string[] = ['--repository', REPOSITORY],
    other: Readonly<Record<string, string>> = {},
  ) => {
    const started = startSetup(folder, [...args, ...more], { ...env, ...other });
    const result = await started.finished;
    const output = started.output() + (result instanceof Error ? result.message : '');
    const secrets = [forge.token, FULL_ACCESS, 'database-password'];
    for (const secret of [...secrets, ...forge.hooks(REPOSITORY).map((hook) => hook.secret)]) {
      t.false(secret !== '' && output.includes(secret), 'no secret is printed');
    }
    return { result, output };
  };
  const settings = async () => parseEnv(await readFile(join(folder, '.env'), 'utf8'));
  return { forge, folder, run, settings };
}

const settingsWrites = ({ seen }: SimulatedForge) =>
  seen
    .filter(({ method, path }) => method !== 'GET' && !path.startsWith('/repos/-/'))
    .map(({ method, path }) => `${method} ${path}`);

for (const name of ['gitea', 'forgejo'] as const) {
  test(`${name}: the webhook is created, the settings are written, and the command for the status is printed`, async (t) => {
    const { forge, run, settings } = await setUp(t, name);
    const { result, output } = await run();
    t.is(result, 0, output);
    const [hook, ...more] = forge.hooks(REPOSITORY);
    t.deepEqual(more, []);
    const written = await settings();
    t.like(hook, { url: HOOK, active: true, contentType: 'json', type: name, secret: written['WEBHOOK_SECRET'] });
    t.regex(hook?.secret ?? '', /^[0-9a-f]{64}$/);
    t.like(written, { FORGE: name, FORGE_URL: forge.url, FORGE_TOKEN: forge.token, ...STORES });
    t.false(Object.values(written).includes(FULL_ACCESS), 'the token that sets up is not kept');
    t.regex(output, /Next:\n {2}node --env-file=.*\n[\s\S]*src\/main\.js doctor acme\/widgets/);
    t.regex(output, /require the status gatehouse\/main on the default branch/);
    await requireStatus(output, FULL_ACCESS);
    const protection = { checks: true, statuses: ['gatehouse/main'], push: true };
    t.deepEqual(forge.protection(REPOSITORY, 'main'), protection);
  });

  test(`${name}: an organisation gets a webhook, and its repositories none`, async (t) => {
    const { forge, run, settings } = await setUp(t, name);
    t.is((await run(['--organisation', 'acme'])).result, 0);
    t.like(forge.hooks('acme'), [{ url: HOOK, secret: (await settings())['WEBHOOK_SECRET'] }]);
    t.deepEqual(forge.hooks(REPOSITORY), []);
  });
}

test('webhooks with our URL are replaced by one for every event, and those of other services stay', async (t) => {
  const { forge, run, settings } = await setUp(t);
  const other = forge.addHook(REPOSITORY, { url: `${URL}/ci`, secret: 'another' });
  const chat = forge.addHook(REPOSITORY, { url: HOOK, secret: 'chat', type: 'slack' });
  const before = [{ ...other }, { ...chat }];
  forge.addHook(REPOSITORY, { url: HOOK, secret: 'of a Gatehouse of before' });
  forge.addHook(REPOSITORY, { url: HOOK, secret: 'of another one' });
  const { result, output } = await run();
  t.is(result, 0, output);
  t.true(output.includes('The webhook of acme/widgets was replaced.'));
  const [first, second, ours, ...more] = forge.hooks(REPOSITORY);
  t.deepEqual([first, second], before);
  t.like(ours, { url: HOOK, secret: (await settings())['WEBHOOK_SECRET'] });
  const wanted = hookEvents('gitea').map((event) => event.listedAs?.[0] ?? event.name);
  t.deepEqual(ours?.events.toSorted(), wanted.toSorted());
  t.deepEqual(more, []);
  const writes = settingsWrites(forge).map((write) => write.replace(/\d+$/, 'id'));
  const hooks = `/repos/${REPOSITORY}/hooks`;
  t.deepEqual(writes, [`POST ${hooks}`, `DELETE ${hooks}/id`, `DELETE ${hooks}/id`], 'no event is lost in between');
});

test('a webhook that cannot be deleted costs no secret, and a given one is kept', async (t) => {
  const { forge, run, settings } = await setUp(t);
  forge.addHook(REPOSITORY, { url: HOOK, secret: 'of a Gatehouse of before' });
  forge.fault({ method: 'DELETE', fault: { kind: 'status', status: 500 } });
  const kept = { WEBHOOK_SECRET: 'of-webhooks-that-stay' };
  const { result } = await run(['--repository', REPOSITORY], kept);
  t.regex(String(result), /answered 500/);
  t.is((await settings())['WEBHOOK_SECRET'], 'of-webhooks-that-stay');
  t.is(forge.hooks(REPOSITORY).at(-1)?.secret, 'of-webhooks-that-stay');
});

test('every owner is looked at before the first is changed', async (t) => {
  const { forge, run, settings } = await setUp(t);
  const { result } = await run(['--repository', REPOSITORY, '--repository', 'acme/gone']);
  t.regex(String(result), /SETUP_TOKEN: there is no repository acme\/gone/);
  t.deepEqual(settingsWrites(forge), []);
  await t.throwsAsync(settings, { message: /ENOENT/ });
});

test('where files exist or cannot be written, the forge is not asked', async (t) => {
  const { forge, folder, run } = await setUp(t);
  await writeFile(join(folder, '.env'), 'PORT=1\n');
  t.regex(String((await run()).result), /ConfigurationError: .*\.env exists: move it/);
  t.is(await readFile(join(folder, '.env'), 'utf8'), 'PORT=1\n');
  const elsewhere = await run(['--repository', REPOSITORY, '--folder', 'no-such-folder']);
  t.regex(String(elsewhere.result), /ConfigurationError: cannot write to .*no-such-folder/);
  t.deepEqual(forge.seen, []);
});

test('without SETUP_TOKEN the token of Gatehouse makes the webhook', async (t) => {
  const { forge, run } = await setUp(t);
  const refused = await run(undefined, { SETUP_TOKEN: '' });
  t.regex(String(refused.result), /FORGE_TOKEN: its account cannot change the settings of acme\/widgets/);
  forge.addAdministrator('gatehouse');
  const { result, output } = await run(undefined, { SETUP_TOKEN: '' });
  t.is(result, 0, output);
  t.is(forge.hooks(REPOSITORY).length, 1);
});

const OWNER_ROLE = 'its account cannot change the settings of acme/widgets: set SETUP_TOKEN to a token of an adm';
const ORGANISATION = ['--organisation', 'acme'];

test('a token without its scopes is named, and nothing is changed', async (t) => {
  const { forge, run } = await setUp(t);
  forge.addToken('too-little', 'gatehouse', ['read:repository', 'read:user']);
  forge.addToken('reads-only', 'owner', ['read:repository']);
  forge.addToken('no-orgs', 'owner', ['write:repository']);
  forge.addToken('of-bob', 'bob');
  for (const [env, message, args] of [
    [{ FORGE_TOKEN: 'too-little' }, 'FORGE_TOKEN lacks write:repository, write:issue'],
    [{ FORGE_TOKEN: 'unknown' }, 'FORGE_TOKEN: the forge does not accept it'],
    [{ SETUP_TOKEN: 'reads-only' }, 'SETUP_TOKEN: it does not have the scope write:repository'],
    [{ SETUP_TOKEN: 'no-orgs' }, 'SETUP_TOKEN: it does not have the scope write:organization', ORGANISATION],
    [{ SETUP_TOKEN: 'of-bob' }, `SETUP_TOKEN: ${OWNER_ROLE}`],
    [{ SETUP_TOKEN: 'of-bob' }, 'set SETUP_TOKEN to a token of an owner of the organisation', ORGANISATION],
    [{}, 'SETUP_TOKEN: there is no repository acme/gone, or its account', ['--repository', 'acme/gone']],
  ] as const) {
    const { result } = await run(args, env);
    t.true(String(result).includes(message), message);
    t.is((result as Error).name, 'Error', 'exit code 1');
  }
  t.deepEqual(forge.hooks(REPOSITORY), []);
});

test('wrong usage is reported before the forge is asked', async (t) => {
  const { forge, run } = await setUp(t);
  const repository = ['--repository', REPOSITORY];
  for (const [args, message, env] of [
    [[], 'UsageError: --repository or --organisation is missing'],
    [['--repository', 'acme'], '--repository must be owner/name'],
    [['--organisation', '..'], '--organisation must be the name of an account'],
    [['--repository', 'acme/..'], '--repository must be owner/name'],
    [[...repository, '--forge', 'gitlab'], '--forge must be one of github, gitea, forgejo'],
    [[...repository, '--url', 'gatehouse.example.com'], '--url must be a URL'],
    [[...repository, '--url', 'https://u:p@gatehouse.example.com'], '--url must not have a password'],
    [repository, 'set both DATABASE_URL and REDIS_URL', { REDIS_URL: '' }],
    [repository, 'DATABASE_URL: must be a URL', { DATABASE_URL: 'mysql://db/g' }],
    [repository, 'ConfigurationError: WEBHOOK_SECRET contains a space', { WEBHOOK_SECRET: 'a secret with spaces' }],
    [repository, 'FORGE_TOKEN: contains a space', { FORGE_TOKEN: 'a token\nwith spaces' }],
    [repository, 'SETUP_TOKEN: contains a space', { SETUP_TOKEN: 'a token\nwith spaces' }],
    [repository, 'UsageError: FORGE_TOKEN or FORGE_TOKEN_FILE is missing', { FORGE_TOKEN: '' }],
  ] as const) {
    const said = String((await run(args, env)).result);
    t.true(said.includes(message), message);
    t.true(!message.includes('_TOKEN: contains') || said.startsWith('ConfigurationError: '), said);
  }
  t.deepEqual(forge.seen, []);
});

test('each missing option is named', async (t) => {
  const { forge, folder } = await setUp(t);
  const given: string[] = [];
  for (const [option, value] of [
    ['--forge', 'gitea'],
    ['--forge-url', forge.url],
    ['--url', 'http://host.docker.internal:8080'],
  ] as const) {
    t.is(String(await startSetup(folder, given).finished), `UsageError: ${option} is missing`);
    given.push(option, value);
  }
  const env = { FORGE_TOKEN: forge.token, SETUP_TOKEN: FULL_ACCESS };
  const run = startSetup(folder, [...given, '--repository', REPOSITORY], env);
  t.is(await run.finished, 0);
  const trial = /ALLOWED_HOST_LIST = external, host\.docker\.internal\nNext:\n {2}node --env-file=\S+ demo\/dev\.ts\n/;
  t.regex(run.output(), trial);
});

test('setup never ends well without a word on an account that cannot write', async (t) => {
  const { forge, run } = await setUp(t);
  forge.addToken('token-of-a-reader', 'reader');
  forge.addOutsider('reader');
  const { output } = await run(undefined, { FORGE_TOKEN: 'token-of-a-reader' });
  t.regex(output, /^✘ The account of FORGE_TOKEN can't write to acme\/widgets: add it as a collaborator with Write/m);
  const { output: other } = await (await setUp(t)).run();
  t.notRegex(other, /can't write/);
});
