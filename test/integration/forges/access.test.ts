import type { ExecutionContext } from 'ava';
import { type ForgeConfig, makeForge } from '../../../src/forges/make-forge.ts';
import { NOWHERE } from '../../helpers/free-port.ts';
import test from '../../helpers/test.ts';
import { startSimulatedForge } from '../../simulated-forge/simulated-forge.ts';
import { FORGES, SITE, setUp } from './setup.ts';

function clientOf(t: ExecutionContext, config: ForgeConfig) {
  const forge = makeForge(config);
  t.teardown(() => forge.close());
  return forge;
}

for (const name of FORGES) {
  const access = (t: ExecutionContext, url: string, token: string) =>
    clientOf(t, { forge: name, url, credentials: { kind: 'token', token } }).checkAccess();

  test(`${name}: credentials are granted, not accepted, or the forge is unreachable`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    t.deepEqual(await forge.checkAccess(), { kind: 'granted' });
    for (const fault of [{ kind: 'status', status: 502 }, { kind: 'html' }] as const) {
      simulated.fault({ path: /^\/user$/, times: 2, fault });
      t.is((await forge.checkAccess()).kind, 'unreachable', fault.kind);
    }
    t.is((await access(t, `http://${NOWHERE}`, 'any')).kind, 'unreachable');
    simulated.clearFaults();
    simulated.revokeToken(simulated.token);
    const refused = await forge.checkAccess();
    t.is(refused.kind, 'not-accepted', 'nothing is remembered');
  });

  test(`${name}: a rate limit says nothing about the credentials`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    simulated.fault({ path: /^\/user$/, fault: { kind: 'too-many', retryAfter: 60 } });
    await t.throwsAsync(() => forge.checkAccess(), { message: /must wait/ });
  });

  test(`${name}: a token that no header can carry is named, and not called unreachable`, async (t) => {
    const { simulated } = await setUp(t, name);
    for (const token of ['two\nlines', 'null\0', 'line separator\u2028']) {
      const { kind, reason } = { reason: '', ...(await access(t, simulated.url, token)) };
      t.is(kind, 'not-accepted');
      t.regex(reason, /was not asked.*invalid authorization header/);
      t.false(reason.includes(token));
    }
    t.deepEqual(simulated.seen, []);
  });
}

for (const name of ['gitea', 'forgejo'] as const) {
  test(`${name}: the scopes that a token lacks are named, and nothing is written`, async (t) => {
    const { simulated } = await setUp(t, name);
    const cases = [
      [['write:repository', 'write:issue', 'read:user'], []],
      [['write:repository', 'write:issue', 'write:user', 'read:organization'], []],
      [
        ['read:repository', 'read:issue', 'read:user'],
        ['write:repository', 'write:issue'],
      ],
      [['write:repository'], ['read:user', 'write:issue']],
      [[], ['read:user', 'write:repository', 'write:issue']],
    ] as const;
    for (const [scopes, missing] of cases) {
      const token = `token of ${scopes}`.replaceAll(' ', '-');
      simulated.addToken(token, 'gatehouse', scopes);
      const forge = clientOf(t, { forge: name, url: simulated.url, credentials: { kind: 'token', token } });
      const expected = missing.length === 0 ? { kind: 'granted' } : { kind: 'missing-scope', scopes: missing };
      t.deepEqual<unknown, unknown>(await forge.checkAccess(), expected);
    }
    t.deepEqual(
      simulated.seen.filter(({ method, status }) => method !== 'GET' && status < 400),
      [],
    );
  });
}

test('github: a classic token needs a scope that allows commit statuses', async (t) => {
  const { simulated } = await setUp(t, 'github');
  const cases = [
    [['repo', 'read:org'], { kind: 'granted' }],
    [['public_repo'], { kind: 'granted' }],
    [['read:org'], { kind: 'missing-scope', scopes: ['repo'] }],
    // As of tokens that have no scopes but permissions.
    [[], { kind: 'granted' }],
  ] as const;
  for (const [scopes, expected] of cases) {
    const token = `token-of-${scopes.join('-')}`;
    simulated.addToken(token, 'gatehouse', scopes);
    const forge = clientOf(t, { forge: 'github', url: simulated.url, credentials: { kind: 'token', token } });
    t.deepEqual<unknown, unknown>(await forge.checkAccess(), expected);
  }
});

test('github: the permissions that an App lacks are named', async (t) => {
  const simulated = await startSimulatedForge({ forge: 'github' });
  t.teardown(() => simulated.stop());
  const { id: appId, privateKey } = simulated.app;
  const access = (credentials: { appId: string; privateKey: string }) =>
    clientOf(t, { forge: 'github', url: simulated.url, credentials: { kind: 'app', ...credentials } }).checkAccess();

  t.deepEqual(await access({ appId, privateKey }), { kind: 'granted' });
  t.is((await access({ appId: '1', privateKey })).kind, 'not-accepted');
  t.is((await access({ appId, privateKey: 'not a key' })).kind, 'not-accepted');
  simulated.app.permissions = { metadata: 'read', contents: 'write', pull_requests: 'read' };
  t.deepEqual(await access({ appId, privateKey }), {
    kind: 'missing-scope',
    scopes: ['Pull requests: read and write', 'Commit statuses: read and write'],
  });
});

test('github: the webhook of an organisation is listed to its owners alone', async (t) => {
  const { simulated, forge } = await setUp(t, 'github');
  const [organisation = ''] = SITE.split('/');
  simulated.addHook(organisation, { url: 'https://gatehouse.example.com/webhook', secret: 'secret' });
  const listOf = async () => (await forge.inspection.hooks.lists(SITE))[1];
  t.deepEqual(await listOf(), { place: 'owner', kind: 'hidden' });
  simulated.addAdministrator('gatehouse');
  const list = await listOf();
  t.like(list?.kind === 'listed' ? list.hooks[0] : list, { place: 'owner', hasSecret: 'yes' });
});
