import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import ava, { type ExecutionContext } from 'ava';
import { parseConfig } from '../../src/config/config.ts';
import { APP_EVENTS, APP_PERMISSIONS } from '../../src/forges/github/app-permissions.ts';
import { makeForge } from '../../src/forges/make-forge.ts';
import { answer, makeFolder, type SetupRun, startSetup, typist } from '../helpers/setup.ts';
import { until } from '../helpers/until.ts';
import { startSimulatedForge } from '../simulated-forge/simulated-forge.ts';

const test = ava.serial;

const REPOSITORY = 'acme/widgets';
const HOOK = 'https://gatehouse.example.com/webhook';
const STORES = { DATABASE_URL: 'postgres://g:database-password@db/g', REDIS_URL: 'redis://r:6379' };

async function setUp(t: ExecutionContext) {
  const forge = await startSimulatedForge({ forge: 'github' });
  t.teardown(() => forge.stop());
  forge.createRepository(REPOSITORY);
  const folder = await makeFolder(t);
  const args = ['--yes', '--forge', 'github', '--forge-url', forge.url, '--url', 'https://gatehouse.example.com'];
  const start = (
    more: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
    deps: Parameters<typeof startSetup>[3] = {},
  ) => startSetup(folder, [...args, ...more], { ...STORES, ...env }, deps);
  const settings = async () => parseEnv(await readFile(join(folder, '.env'), 'utf8'));
  return { forge, folder, start, settings };
}

async function pageOf(run: SetupRun): Promise<string> {
  await until(() => /http:\/\/127\.0\.0\.1:\d+\/\S{43,}/.test(run.output()));
  return /http:\/\/127\.0\.0\.1:\d+\/\S{43,}/.exec(run.output())?.[0] ?? '';
}

const decoded = (html: string) => html.replaceAll('&quot;', '"').replaceAll('&#39;', "'").replaceAll('&amp;', '&');

/** Opens the page and presses its button, as a browser would. Returns where the forge sends the browser back to. */
async function pressButton(page: string) {
  const html = await (await fetch(page)).text();
  const action = decoded(/action="([^"]*)"/.exec(html)?.[1] ?? '');
  const manifest = decoded(/name="manifest" value="([^"]*)"/.exec(html)?.[1] ?? '');
  const answer = await fetch(action, { method: 'POST', body: new URLSearchParams({ manifest }), redirect: 'manual' });
  return { action, manifest: JSON.parse(manifest), back: answer.headers.get('location') ?? '' };
}

async function register(run: SetupRun): Promise<void> {
  const { back } = await pressButton(await pageOf(run));
  await (await fetch(back)).text();
}

test('an App is registered with the permissions and events of the document, no others', async (t) => {
  const { forge, folder, start, settings } = await setUp(t);
  const run = start(['--organisation', 'acme']);
  const { action, manifest, back } = await pressButton(await pageOf(run));
  t.true(action.startsWith(`${forge.url}/organizations/acme/settings/apps/new?state=`));
  t.deepEqual(
    manifest.default_permissions,
    Object.fromEntries(APP_PERMISSIONS.map(({ key, access }) => [key, access])),
  );
  t.deepEqual(
    manifest.default_events,
    APP_EVENTS.map(({ key }) => key),
  );
  t.deepEqual(manifest.hook_attributes, { url: HOOK, active: true });
  t.is(manifest.public, false);
  const done = await fetch(back);
  t.regex(
    await done.text(),
    /The App gatehouse-app is registered.*href="[^"]*\/github-apps\/gatehouse-app\/installations\/new"/,
  );
  t.is(await run.finished, 0, run.output());

  const written = await settings();
  t.like(written, {
    FORGE: 'github',
    FORGE_URL: forge.url,
    GITHUB_APP_ID: forge.app.id,
    WEBHOOK_SECRET: forge.app.hook.secret,
  });
  t.is(await readFile(written['GITHUB_APP_PRIVATE_KEY_FILE'] ?? '', 'utf8'), forge.app.privateKey);
  const parsed = parseConfig(written, { door: true, worker: true });
  t.true(parsed.ok, JSON.stringify(parsed));
  for (const secret of [forge.app.hook.secret ?? '', 'PRIVATE KEY', 'database-password']) {
    t.false(run.output().includes(secret));
  }
  t.regex(run.output(), /→ By hand: install the App in your repositories: \S+\/installations\/new\nNext:\n/);
  // It works: the program signs in with it.
  forge.app.install('acme');
  const credentials = { kind: 'app', appId: forge.app.id, privateKey: forge.app.privateKey } as const;
  const client = makeForge({ forge: 'github', url: forge.url, credentials });
  t.deepEqual(await client.checkAccess(), { kind: 'granted' });
  await client.close();
  t.true((await readFile(join(folder, '.env'), 'utf8')).includes('GITHUB_APP_ID=4711'));
});

test('on the account of the person, and over SSH with how to forward the port', async (t) => {
  const { forge, start } = await setUp(t);
  const run = start([], { SSH_CONNECTION: '192.0.2.7 50000 192.0.2.1 2222' });
  const page = await pageOf(run);
  const { action } = await pressButton(page);
  t.true(action.startsWith(`${forge.url}/settings/apps/new?state=`));
  const { port } = new URL(page);
  await until(() => run.output().includes(`ssh -N -L ${port}:127.0.0.1:${port} -p 2222 192.0.2.1`));
  await register(run);
  t.is(await run.finished, 0);
});

test('a code that was used already is refused by GitHub, and nothing is written', async (t) => {
  const { start, settings, forge } = await setUp(t);
  const run = start();
  const { back } = await pressButton(await pageOf(run));
  const code = new URL(back).searchParams.get('code');
  const taken = await fetch(`${forge.url}/api/v3/app-manifests/${code}/conversions`, { method: 'POST' });
  t.is(taken.status, 201);
  const page = await (await fetch(back)).text();
  t.regex(page, /The App could not be read from GitHub: .*the code was used already, or is older than an hour/);
  t.regex(String(await run.finished), /answered 404: the code was used already.*run gatehouse setup again/);
  await t.throwsAsync(settings, { message: /ENOENT/ });
});

test('a code that may still work is not printed when GitHub does not answer', async (t) => {
  const { start, forge } = await setUp(t);
  const run = start();
  const { back } = await pressButton(await pageOf(run));
  forge.fault({ path: /conversions/, fault: { kind: 'drop' } });
  const page = await (await fetch(back)).text();
  const error = String(await run.finished);
  const code = new URL(back).searchParams.get('code') ?? t.fail();
  t.regex(error, /app-manifests\/\{code\}\/conversions: the forge could not be reached/);
  t.false((error + page + run.output()).includes(code));
});

test('in a terminal the owner of the App is asked for', async (t) => {
  const { folder, forge } = await setUp(t);
  const input = typist();
  const run = startSetup(folder, ['--forge', 'github', '--url', HOOK], {}, { input });
  await answer(run, input, 'URL of GitHub, as people open it [https://github.com]', forge.url);
  await answer(run, input, 'URL of PostgreSQL', '');
  await answer(run, input, 'Organisation that owns the App', 'acme');
  const { action } = await pressButton(await pageOf(run));
  t.true(action.includes('/organizations/acme/settings/apps/new'));
  await register(run);
  t.is(await run.finished, 0, run.output());
});

test('settings with a token are not taken for those of an App', async (t) => {
  const { folder, start } = await setUp(t);
  const lines = ['FORGE=github', 'FORGE_TOKEN=t', 'WEBHOOK_SECRET=0123456789abcdef'];
  await writeFile(join(folder, '.env'), lines.join('\n'));
  const run = start(['--forge-url', 'https://github.com']);
  t.regex(String(await run.finished), /ConfigurationError: these settings have a token/);
});

test('an answer with another state is refused, and the right one still counts', async (t) => {
  const { start, forge } = await setUp(t);
  const run = start();
  const { back } = await pressButton(await pageOf(run));
  const forged = new URL(back);
  forged.searchParams.set('state', 'of-somebody-else');
  t.is((await fetch(forged)).status, 403);
  t.is(forge.count('POST', /conversions/), 0);
  t.is((await fetch(back)).status, 200);
  t.is(await run.finished, 0);
});

test('without a browser the command ends when the time is over', async (t) => {
  const { start, settings } = await setUp(t);
  let over = () => {};
  const run = start(
    [],
    {},
    {
      startTimer: (callback) => {
        over = callback;
        return () => {};
      },
    },
  );
  const page = await pageOf(run);
  over();
  t.regex(String(await run.finished), /the page was not used within 10 minutes/);
  await t.throwsAsync(fetch(page));
  await t.throwsAsync(settings, { message: /ENOENT/ });
});

test('a second run changes nothing of an App that is right', async (t) => {
  const { forge, start } = await setUp(t);
  const first = start();
  await register(first);
  await first.finished;
  forge.forgetRequests();
  const second = start();
  t.is(await second.finished, 0, second.output());
  t.is(forge.writes(), 0);
  t.regex(second.output(), /✔ The App gatehouse-app sends its webhooks to https:\/\/gatehouse\.example\.com\/webhook/);
});

test('a second run repairs the webhook, and names what the owner must change', async (t) => {
  const { forge, start, settings } = await setUp(t);
  const first = start();
  await register(first);
  await first.finished;
  const secret = forge.app.hook.secret;
  forge.app.hook = { url: 'https://old.example.com/webhook', content_type: 'form', secret };
  forge.app.permissions = { ...forge.app.permissions, statuses: 'read', checks: 'none' };
  forge.app.events = forge.app.events.filter((event) => event !== 'push');
  const second = start();
  t.is(await second.finished, 1, second.output());
  t.deepEqual(forge.app.hook, { url: HOOK, content_type: 'json', secret });
  t.regex(second.output(), /✘ By hand: give the App Commit statuses: read and write, Checks: read, in the settings/);
  t.regex(second.output(), /✘ By hand: subscribe the App to Push, in the settings/);

  forge.app.hook = { ...forge.app.hook, secret: 'changed by somebody' };
  await start(['--set-secret']).finished;
  t.is(forge.app.hook.secret, (await settings())['WEBHOOK_SECRET'] ?? '');
});

test('an App that GitHub does not know any more is reported', async (t) => {
  const { folder, start, forge } = await setUp(t);
  const first = start();
  await register(first);
  await first.finished;
  forge.fault({ path: /^\/app$/, fault: { kind: 'status', status: 401 } });
  const second = start();
  t.regex(String(await second.finished), /GITHUB_APP_ID 4711: GitHub does not accept it with this private key/);
  await rm(join(folder, 'gatehouse-4711.private-key.pem'));
  t.regex(String(await start().finished), /private-key\.pem/);
});

test('a webhook to this machine itself is refused before the page opens', async (t) => {
  const { forge, start } = await setUp(t);
  for (const url of ['http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080']) {
    const run = start(['--url', url]);
    t.regex(String(await run.finished), /UsageError: --url: GitHub cannot reach a loopback address/, url);
  }
  t.deepEqual(forge.seen, []);
});

test('--protect adds a ruleset that names the App, once', async (t) => {
  const { forge, start } = await setUp(t);
  forge.addToken('of-the-owner', 'owner');
  forge.addAdministrator('owner');
  const args = ['--repository', REPOSITORY, '--protect', 'main'];
  const first = start(args, { SETUP_TOKEN: 'of-the-owner' });
  await register(first);
  t.is(await first.finished, 0, first.output());
  const checks = [{ context: 'gatehouse/main', integration_id: Number(forge.app.id) }];
  t.like(forge.rulesets(REPOSITORY), [{ name: 'gatehouse/main', branch: 'main', checks }]);
  t.false(first.output().includes('of-the-owner'));
  const second = start(args, { SETUP_TOKEN: 'of-the-owner' });
  t.is(await second.finished, 0, second.output());
  t.is(forge.rulesets(REPOSITORY).length, 1);
  const other = ['--repository', REPOSITORY, '--protect', 'release'];
  const refused = start(other, { SETUP_TOKEN: forge.token });
  t.is(await refused.finished, 1);
  t.regex(
    refused.output(),
    /✘ By hand: require gatehouse\/release on release of acme\/widgets: SETUP_TOKEN: its account may not .*\nNext:/,
  );
  t.is(forge.rulesets(REPOSITORY).length, 1);
});

test('--protect finds the ruleset of before on the second page', async (t) => {
  const { forge, start } = await setUp(t);
  forge.addToken('of-the-owner', 'owner');
  forge.addAdministrator('owner');
  const checkOf = (context: string) => ({
    type: 'required_status_checks',
    parameters: { strict_required_status_checks_policy: false, required_status_checks: [{ context }] },
  });
  for (let count = 0; count < 101; count += 1) {
    const body = { name: `${count}`, target: 'branch', enforcement: 'active' };
    const conditions = { ref_name: { include: ['refs/heads/main'], exclude: [] } };
    const answer = await fetch(`${forge.url}/api/v3/repos/${REPOSITORY}/rulesets`, {
      method: 'POST',
      headers: { authorization: 'token of-the-owner', 'user-agent': 'test', 'content-type': 'application/json' },
      body: JSON.stringify({ ...body, conditions, rules: [checkOf(`ci/${count}`)] }),
    });
    t.is(answer.status, 201);
  }
  const args = ['--repository', REPOSITORY, '--protect', 'main'];
  const first = start(args, { SETUP_TOKEN: 'of-the-owner' });
  await register(first);
  t.is(await first.finished, 0, first.output());
  t.is(await start(args, { SETUP_TOKEN: 'of-the-owner' }).finished, 0);
  t.is(forge.rulesets(REPOSITORY).length, 102);
});
