import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import type { ExecutionContext } from 'ava';
import { parseConfig } from '../../src/config/config.ts';
import { APP_EVENTS, APP_PERMISSIONS } from '../../src/forges/github/app-permissions.ts';
import { makeForge } from '../../src/forges/make-forge.ts';
import { makeFolder, requireStatus, type SetupRun, startSetup } from '../helpers/setup.ts';
import ava from '../helpers/test.ts';
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
  const args = ['--forge', 'github', '--forge-url', forge.url, '--url', 'https://gatehouse.example.com'];
  const start = (more: readonly string[] = []) => startSetup(folder, [...args, ...more], STORES);
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
  const {
    default_permissions: permissions,
    default_events: events,
    hook_attributes: hook,
    public: isPublic,
  } = manifest;
  t.deepEqual<unknown, unknown>(
    { permissions, events, hook, isPublic },
    {
      permissions: Object.fromEntries(APP_PERMISSIONS.map(({ key, access }) => [key, access])),
      events: APP_EVENTS.map(({ key }) => key),
      hook: { url: HOOK, active: true },
      isPublic: false,
    },
  );
  const done = await fetch(back);
  t.regex(await done.text(), /GitHub has registered the App/);
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
  t.regex(run.output(), /Install it in your repositories: \S+\/github-apps\/gatehouse-app\/installations\/new\n/);
  // It works: the program signs in with it.
  forge.app.install('acme');
  const credentials = { kind: 'app', appId: forge.app.id, privateKey: forge.app.privateKey } as const;
  const client = makeForge({ forge: 'github', url: forge.url, credentials });
  t.deepEqual(await client.checkAccess(), { kind: 'granted' });
  await client.close();
  t.true((await readFile(join(folder, '.env'), 'utf8')).includes('GITHUB_APP_ID=4711'));
});

test('an App of the person, with how to forward the port over SSH and a ruleset that names it', async (t) => {
  const { forge, start } = await setUp(t);
  forge.addToken('of-the-owner', 'owner');
  forge.addAdministrator('owner');
  const run = start(['--repository', REPOSITORY]);
  const page = await pageOf(run);
  const { action } = await pressButton(page);
  t.true(action.startsWith(`${forge.url}/settings/apps/new?state=`));
  const { port } = new URL(page);
  await until(() => run.output().includes(`ssh -N -L ${port}:127.0.0.1:${port} <this host>`));
  await register(run);
  t.is(await run.finished, 0, run.output());
  await requireStatus(run.output(), 'of-the-owner');
  const checks = [{ context: 'gatehouse/main', integration_id: Number(forge.app.id) }];
  t.like(forge.rulesets(REPOSITORY), [{ name: 'gatehouse/main', branch: 'main', checks }]);
});

test('a code that was used already is refused by GitHub, and nothing is written', async (t) => {
  const { start, settings, forge } = await setUp(t);
  const run = start();
  const { back } = await pressButton(await pageOf(run));
  const code = new URL(back).searchParams.get('code');
  const taken = await fetch(`${forge.url}/api/v3/app-manifests/${code}/conversions`, { method: 'POST' });
  t.is(taken.status, 201);
  await (await fetch(back)).text();
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

test('where the file for the key exists already, no page opens', async (t) => {
  const { folder, forge, start } = await setUp(t);
  const file = join(folder, 'gatehouse.private-key.pem');
  await writeFile(file, 'kept');
  const run = start();
  t.regex(String(await run.finished), /ConfigurationError: .* exists: move it/);
  t.is(run.output(), '');
  t.is(await readFile(file, 'utf8'), 'kept');
  t.deepEqual(forge.seen, []);
});

test('a webhook to this machine itself is refused before the page opens', async (t) => {
  const { forge, start } = await setUp(t);
  for (const url of ['http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080']) {
    const run = start(['--url', url]);
    t.regex(String(await run.finished), /UsageError: --url: GitHub cannot reach a loopback address/, url);
  }
  t.deepEqual(forge.seen, []);
});
