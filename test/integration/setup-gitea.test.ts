import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import ava, { type ExecutionContext } from 'ava';
import { hookEvents } from '../../src/forges/gitea/hook-events.ts';
import { gatehouse } from '../helpers/process.ts';
import { answer, makeFolder, startSetup, typist } from '../helpers/setup.ts';
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
  const args = ['--yes', '--forge', name, '--forge-url', forge.url, '--url', URL];
  const run = async (
    more: readonly string[] = ['--repository', REPOSITORY],
    other: Readonly<Record<string, string>> = {},
  ) => {
    const started = startSetup(folder, [...args, ...more], { ...env, ...other });
    const result = await started.finished;
    const output = started.output() + (result instanceof Error ? result.message : '');
    for (const secret of [
      forge.token,
      FULL_ACCESS,
      'database-password',
      ...forge.hooks(REPOSITORY).map((hook) => hook.secret),
    ]) {
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
  test(`${name}: the webhook is created, and a second run changes nothing`, async (t) => {
    const { forge, run, settings } = await setUp(t, name);
    const first = await run();
    t.is(first.result, 0, first.output);
    const [hook, ...more] = forge.hooks(REPOSITORY);
    t.deepEqual(more, []);
    t.like(hook, { url: HOOK, active: true, contentType: 'json', type: name });
    const written = await settings();
    t.is(hook?.secret, written['WEBHOOK_SECRET']);
    t.regex(hook?.secret ?? '', /^[0-9a-f]{64}$/);
    t.like(written, { FORGE: name, FORGE_URL: forge.url, FORGE_TOKEN: forge.token, ...STORES });
    t.false(Object.values(written).includes(FULL_ACCESS), 'the token that sets up is not kept');
    t.true(first.output.includes('Next:\n  node --env-file='));

    forge.forgetRequests();
    const second = await run();
    t.is(second.result, 0, second.output);
    t.deepEqual(settingsWrites(forge), []);
    t.deepEqual(await settings(), written);
    t.true(second.output.includes('The webhook of acme/widgets is right.'));
  });

  test(`${name}: an organisation gets a webhook, and a deleted one comes back`, async (t) => {
    const { forge, run, settings } = await setUp(t, name);
    const organisation = ['--organisation', 'acme'];
    t.is((await run(organisation)).result, 0);
    const [hook] = forge.hooks('acme');
    t.like(hook, { url: HOOK, secret: (await settings())['WEBHOOK_SECRET'] });
    forge.deleteHook('acme', hook?.id ?? 0);
    const again = await run(organisation);
    t.is(again.result, 0, again.output);
    t.like(forge.hooks('acme')[0], { url: HOOK, secret: (await settings())['WEBHOOK_SECRET'] });
    t.deepEqual(forge.hooks(REPOSITORY), []);
  });

  test(`${name}: missing events are added, and what else the webhook has stays`, async (t) => {
    const { forge, run, settings } = await setUp(t, name);
    t.is((await run()).result, 0);
    const [hook] = forge.hooks(REPOSITORY);
    Object.assign(hook ?? {}, {
      events: ['push', 'issues', 'wiki'],
      active: false,
      contentType: 'form',
      branchFilter: 'main',
      authorization: 'Bearer of-a-proxy',
    });
    const { result, output } = await run();
    t.is(result, 0, output);
    t.regex(
      output,
      /repair the webhook of acme\/widgets .*: it is inactive; its content type is form, not json; it lacks the events Pull Request, /,
    );
    const listed = name === 'gitea' ? ['pull_request_review'] : ['pull_request_review_approved'];
    t.true(
      [...listed, 'pull_request', 'pull_request_sync', 'issues', 'wiki'].every((event) => hook?.events.includes(event)),
    );
    t.like(hook, { active: true, contentType: 'json', branchFilter: 'main', authorization: 'Bearer of-a-proxy' });
    t.is(hook?.secret, (await settings())['WEBHOOK_SECRET']);
    t.is(forge.hooks(REPOSITORY).length, 1);
    forge.forgetRequests();
    t.is((await run()).result, 0);
    t.deepEqual(settingsWrites(forge), []);
  });
}

test('a webhook of Gitea asks for every event of the table', async (t) => {
  const { forge, run } = await setUp(t);
  await run();
  const wanted = hookEvents('gitea').map(({ name, listedAs = [name] }) => listedAs[0]);
  t.deepEqual(forge.hooks(REPOSITORY)[0]?.events.toSorted(), wanted.toSorted());
});

test('a URL without its path is repaired; those of other services are not touched', async (t) => {
  const { forge, run } = await setUp(t);
  const other = forge.addHook(REPOSITORY, { url: `${URL}/ci`, secret: 'another' });
  const chat = forge.addHook(REPOSITORY, { url: HOOK, secret: 'chat', type: 'slack' });
  const wrong = forge.addHook(REPOSITORY, { url: URL, secret: 'kept' });
  const before = [{ ...other }, { ...chat }];
  const { result, output } = await run(undefined, { WEBHOOK_SECRET: 'the-secret-that-it-has' });
  t.is(result, 0, output);
  t.deepEqual([other, chat], before);
  t.like(wrong, { url: HOOK, secret: 'kept' });
  t.is(forge.hooks(REPOSITORY).length, 3);
});

test('--replace-url gives the webhook of an old address the new one', async (t) => {
  const { forge, run } = await setUp(t);
  forge.addHook(REPOSITORY, { url: 'https://old.example.com/hooks', secret: 'old' });
  const args = ['--repository', REPOSITORY, '--replace-url', 'https://old.example.com/hooks', '--set-secret'];
  const { result, output } = await run(args);
  t.is(result, 0, output);
  t.deepEqual(
    forge.hooks(REPOSITORY).map(({ url }) => url),
    [HOOK],
  );
});

test('a webhook whose secret is not known is left alone until --set-secret', async (t) => {
  const { forge, run, settings } = await setUp(t);
  const hook = forge.addHook(REPOSITORY, { url: HOOK, secret: 'of a Gatehouse that runs', branchFilter: 'main' });
  forge.forgetRequests();
  const refused = await run();
  t.regex(
    String(refused.result),
    /UsageError.*its secret cannot be read: set WEBHOOK_SECRET_FILE .* or .* --set-secret/,
  );
  t.deepEqual(settingsWrites(forge), []);
  await t.throwsAsync(settings, { message: /ENOENT/ });

  const { result, output } = await run(['--repository', REPOSITORY, '--set-secret']);
  t.is(result, 0, output);
  const [now, ...more] = forge.hooks(REPOSITORY);
  t.deepEqual(more, []);
  t.not(now?.id, hook.id, 'Gitea takes no secret in an edit');
  t.like(now, { url: HOOK, secret: (await settings())['WEBHOOK_SECRET'], branchFilter: 'main' });
});

test('two webhooks with the same URL are reported, and one is left by --set-secret', async (t) => {
  const { forge, run, settings } = await setUp(t);
  await run();
  forge.addHook(REPOSITORY, { url: HOOK, secret: 'of-the-other-webhook' });
  const { result, output } = await run();
  t.is(result, 0);
  t.true(output.includes('There are 2 webhooks with this URL, and each sends every event. --set-secret keeps one.'));
  t.is((await run(['--repository', REPOSITORY, '--set-secret'])).result, 0);
  t.deepEqual(
    forge.hooks(REPOSITORY).map(({ url, secret }) => [url, secret]),
    [[HOOK, (await settings())['WEBHOOK_SECRET']]],
  );
});

test('a token without its scopes is named, and nothing is changed', async (t) => {
  const { forge, run } = await setUp(t);
  forge.addToken('too-little', 'gatehouse', ['read:repository', 'read:user']);
  const few = await run(undefined, { FORGE_TOKEN: 'too-little' });
  t.regex(String(few.result), /FORGE_TOKEN: it does not have write:repository, write:issue/);
  const wrong = await run(undefined, { FORGE_TOKEN: 'unknown' });
  t.regex(String(wrong.result), /FORGE_TOKEN: the forge does not accept it/);
  forge.addToken('reads-only', 'owner', ['read:repository']);
  const reading = await run(undefined, { SETUP_TOKEN: 'reads-only' });
  t.regex(String(reading.result), /SETUP_TOKEN: it does not have the scope write:repository/);
  forge.addToken('no-orgs', 'owner', ['write:repository']);
  const noOrgs = await run(['--organisation', 'acme'], { SETUP_TOKEN: 'no-orgs' });
  t.regex(String(noOrgs.result), /SETUP_TOKEN: it does not have the scope write:organization/);
  forge.addToken('of-bob', 'bob');
  const noOwner = await run(undefined, { SETUP_TOKEN: 'of-bob' });
  t.regex(
    String(noOwner.result),
    /SETUP_TOKEN: its account may not change the settings of acme\/widgets: use a token of an adm/,
  );
  const noOrgOwner = await run(['--organisation', 'acme'], { SETUP_TOKEN: 'of-bob' });
  t.regex(String(noOrgOwner.result), /use a token of an owner of the organisation/);
  const nothing = await run(['--repository', 'acme/gone']);
  t.regex(String(nothing.result), /SETUP_TOKEN: there is no repository acme\/gone, or its account may not see it/);
  t.deepEqual(forge.hooks(REPOSITORY), []);
});

test('an account that may not write is reported, with status 1', async (t) => {
  const { forge, run } = await setUp(t);
  forge.addOutsider('gatehouse');
  const { result, output } = await run();
  t.is(result, 1);
  t.regex(output, /✘ By hand: give gatehouse Write access to the code of acme\/widgets: it may only read it/);
});

test('--yes touches no protection; --protect adds one check and removes none', async (t) => {
  const { forge, run } = await setUp(t);
  forge.protect(REPOSITORY, 'main', ['ci/build', 'gatehouse/*']);
  const before = forge.protection(REPOSITORY, 'main');
  t.is((await run()).result, 0);
  t.deepEqual(forge.protection(REPOSITORY, 'main'), before);
  t.false(forge.seen.some(({ path }) => path.includes('branch_protections')));

  const protect = ['--repository', REPOSITORY, '--protect', 'main'];
  const { result, output } = await run(protect);
  t.is(result, 0, output);
  t.deepEqual(forge.protection(REPOSITORY, 'main'), {
    ...(before ?? t.fail()),
    checks: true,
    statuses: ['ci/build', 'gatehouse/*', 'gatehouse/main'],
  });
  forge.forgetRequests();
  t.is((await run(protect)).result, 0);
  t.deepEqual(settingsWrites(forge), []);
});

test('a branch without protection gets one that allows pushes as before', async (t) => {
  const { forge, run } = await setUp(t);
  const { result, output } = await run(['--repository', REPOSITORY, '--protect', 'release/1'], {
    STATUS_CONTEXT: 'gh-{base}',
  });
  t.is(result, 0, output);
  t.deepEqual(forge.protection(REPOSITORY, 'release/1'), {
    ...{ checks: true, statuses: ['gh-release/1'], approvals: 0, push: true },
  });
});

test('a protection that would change otherwise is left to people', async (t) => {
  const { forge, run } = await setUp(t);
  forge.protect(REPOSITORY, 'release/*', ['ci/build']);
  const pattern = await run(['--repository', REPOSITORY, '--protect', 'release/1']);
  t.is(pattern.result, 1);
  t.regex(
    pattern.output,
    /✘ By hand: require gatehouse\/release\/1 on release\/1 of acme\/widgets: the protection release\/\* may be/,
  );
  t.is(forge.protection(REPOSITORY, 'release/1'), undefined);
});

test('wrong usage is reported before the forge is asked', async (t) => {
  const { forge, run } = await setUp(t);
  for (const [args, message] of [
    [[], /--repository or --organisation is missing/],
    [['--repository', 'acme'], /--repository: it must be owner\/name/],
    [['--organisation', 'acme', '--protect', 'main'], /--protect needs a branch, and at least one --repository/],
    [['--repository', REPOSITORY, '--url', 'gatehouse.example.com'], /--url: it must be a URL/],
    [['--repository', REPOSITORY, '--url', 'https://u:p@gatehouse.example.com'], /--url: it must not have a password/],
  ] as const) {
    const { result } = await run(args);
    t.regex(String(result), message);
  }
  t.regex(String((await run(undefined, { REDIS_URL: '' })).result), /belong together/);
  t.regex(String((await run(undefined, { DATABASE_URL: 'mysql://db/g' })).result), /DATABASE_URL: must be a URL/);
  const spaced = await run(undefined, { WEBHOOK_SECRET: 'a secret with spaces' });
  t.regex(String(spaced.result), /ConfigurationError: WEBHOOK_SECRET contains a space/);
  t.regex(String((await run(undefined, { WEBHOOK_SECRET: 'short' })).result), /WEBHOOK_SECRET: must have at least 16/);
  t.deepEqual(forge.seen, []);
});

test('a .env of another forge is not used', async (t) => {
  const { run } = await setUp(t);
  t.is((await run()).result, 0);
  const { result } = await run(['--repository', REPOSITORY, '--forge-url', 'https://other.example.com']);
  t.regex(String(result), /UsageError: .*\.env is for gitea at http/);
});

test('in a terminal it asks for everything, a wrong token again, and shows no secret', async (t) => {
  const { forge, folder, settings } = await setUp(t);
  forge.addToken('too-little', 'gatehouse', ['read:user']);
  const input = typist();
  const run = startSetup(folder, [], {}, { input });
  await answer(run, input, 'Forge: ', 'gitea');
  await answer(run, input, 'URL of Gitea', forge.url);
  await answer(run, input, 'reaches Gatehouse', 'http://host.docker.internal:8080');
  await answer(run, input, 'URL of PostgreSQL', '');
  await answer(run, input, 'Repositories (owner/name)', REPOSITORY);
  await answer(run, input, "Token of Gatehouse's account", 'too-little');
  await answer(run, input, '✘ it does not have write:repository, write:issue', forge.token);
  await answer(run, input, 'Token of somebody who may change', FULL_ACCESS);
  await answer(run, input, 'Change this at the forge?', 'y');
  t.is(await run.finished, 0, run.output());
  t.like(await settings(), { FORGE_TOKEN: forge.token, DATABASE_URL: undefined });
  for (const secret of [forge.token, FULL_ACCESS, 'too-little', (await settings())['WEBHOOK_SECRET'] ?? '']) {
    t.false(run.output().includes(secret));
  }
  t.regex(
    run.output(),
    /ALLOWED_HOST_LIST = external, host\.docker\.internal\nNext:\n {2}node --env-file=\S+ demo\/dev\.ts\n/,
  );
});

test('nothing is changed when the question is answered with no', async (t) => {
  const { forge, folder, settings } = await setUp(t);
  const input = typist();
  const args = ['--forge', 'gitea', '--forge-url', forge.url, '--url', URL, '--repository', REPOSITORY];
  const env = { FORGE_TOKEN: forge.token, SETUP_TOKEN: FULL_ACCESS, ...STORES };
  const run = startSetup(folder, args, env, { input });
  await answer(run, input, 'Change this at the forge?', 'n');
  t.regex(String(await run.finished), /stopped before anything was changed/);
  t.deepEqual(settingsWrites(forge), []);
  await t.throwsAsync(settings, { message: /ENOENT/ });
});

test('the command exits with 64 for wrong usage and 1 for a refusal', async (t) => {
  const { forge, folder } = await setUp(t);
  const args = ['setup', '--forge', 'gitea', '--forge-url', forge.url, '--url', URL, '--repository', REPOSITORY];
  const env = { INIT_CWD: folder, FORGE_TOKEN: 'wrong', SETUP_TOKEN: FULL_ACCESS };
  const [usage, refused, help] = await Promise.all([
    gatehouse(args.slice(0, 5), env).ended(),
    gatehouse(args, env).ended(),
    gatehouse(['setup', '--help'], {}).ended(),
  ]);
  t.is(usage.code, 64, usage.stderr);
  t.is(refused.code, 1);
  t.regex(refused.stderr, /^gatehouse setup: FORGE_TOKEN: the forge does not accept it/);
  t.is(help.code, 0);
});
