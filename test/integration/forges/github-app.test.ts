import type { ExecutionContext } from 'ava';
import { makeForge } from '../../../src/forges/make-forge.ts';
import { PATIENCE } from '../../helpers/patience.ts';
import test from '../../helpers/test.ts';
import { startSimulatedForge } from '../../simulated-forge/simulated-forge.ts';
import { everythingIn, forgeError, openPullRequest, SITE, setUp } from './setup.ts';

async function setUpApp(t: ExecutionContext, kept?: Map<string, number>) {
  const simulated = await startSimulatedForge({ forge: 'github' });
  t.teardown(() => simulated.stop());
  simulated.createRepository(SITE, { 'src/app.ts': 'one\ntwo\nthree\n' });
  simulated.app.install('platform');
  const { id: appId, privateKey } = simulated.app;
  const credentials = { kind: 'app', appId, privateKey } as const;
  const installations = kept && {
    find: async (owner: string) => kept.get(owner),
    save: async (owner: string, id: number) => {
      kept.set(owner, id);
    },
  };
  const deps = { patience: PATIENCE, ...(installations && { installations }) };
  const forge = makeForge({ forge: 'github', url: simulated.url, credentials }, deps);
  t.teardown(() => forge.close());
  return { simulated, forge };
}

test('an App posts as its bot, with one token an installation', async (t) => {
  const { simulated, forge } = await setUpApp(t);
  const { ref, head } = openPullRequest(simulated);
  simulated.createTeam('platform/security', ['alice']);

  t.is(await forge.self(), 'gatehouse-app[bot]');
  t.is((await forge.pullRequest(ref))?.number, ref.number);
  const comment = await forge.createComment(ref, 'Hello');
  await forge.createInlineComments(ref, head(), [{ path: 'src/app.ts', line: 2, body: 'Two' }], []);
  t.deepEqual(await forge.ownComments(ref), [comment]);
  t.is((await forge.ownInlineComments(ref, head())).comments.length, 1);
  t.deepEqual(await forge.teamMembers('platform/security'), ['alice']);
  t.is(simulated.count('GET', /^\/repos\/:owner\/:repo\/installation$/), 1);
  t.is(simulated.count('POST', /access_tokens$/), 1);
});

test('where the App is not installed, nothing can be read or posted', async (t) => {
  const { simulated, forge } = await setUpApp(t);
  simulated.createRepository('elsewhere/site');
  const ref = { repository: 'elsewhere/site', number: 1 };
  t.is(await forge.pullRequest(ref), undefined);
  t.is(await forge.fileAt('elsewhere/site', 'README.md', 'main'), undefined);
  t.is(await forge.teamMembers('elsewhere/security'), undefined);
  const error = await forgeError(t, () => forge.createComment(ref, 'Hello'));
  t.is(error.status, 404);
});

test('where the App is installed no more, others are still read by GraphQL', async (t) => {
  const { simulated, forge } = await setUpApp(t);
  simulated.createRepository('elsewhere/site');
  const { ref } = openPullRequest(simulated);
  t.is((await forgeError(t, () => forge.reviews({ repository: 'elsewhere/site', number: 1 }))).status, 404);
  t.is((await forge.pullRequest(ref))?.number, ref.number);
  t.is(simulated.count('POST', /^\/graphql/), 1);
});

test('an App may write to the repositories of its installations', async (t) => {
  const { simulated, forge } = await setUpApp(t);
  simulated.createRepository('elsewhere/site');
  simulated.createRepository('platform/second');
  t.deepEqual(await forge.writableRepositories(10), { names: [SITE, 'platform/second'], more: false });
  t.deepEqual(await forge.writableRepositories(1), { names: [SITE], more: true });
  simulated.app.install('elsewhere');
  for (const fault of [
    { kind: 'status', status: 403 },
    { kind: 'too-many', retryAfter: 600 },
  ] as const) {
    simulated.fault({ path: /^\/installation\/repositories$/, times: 1, fault });
    const { names, failures = [] } = await forge.writableRepositories(10);
    const kind = fault.kind === 'status' ? 'refused' : 'rate-limited';
    t.deepEqual(
      [names, failures.map(({ owner, error }) => [owner, error.kind])],
      [['elsewhere/site'], [['platform', kind]]],
    );
  }
});

test('each installation has a limit of its own', async (t) => {
  const { simulated, forge } = await setUpApp(t);
  const { ref } = openPullRequest(simulated);
  simulated.createRepository('elsewhere/site');
  simulated.app.install('elsewhere');
  simulated.fault({ path: /platform\/site\/pulls/, times: 1, fault: { kind: 'too-many', retryAfter: 60 } });
  await forgeError(t, () => forge.pullRequest(ref));
  t.is((await forgeError(t, () => forge.pullRequest(ref))).kind, 'rate-limited');
  t.is(await forge.fileAt('elsewhere/site', 'README.md', 'main'), 'Hello\n');
});

test('an App whose key is wrong is refused, and the key is not shown', async (t) => {
  const { simulated } = await setUpApp(t);
  const stranger = await setUpApp(t);
  const { ref } = openPullRequest(simulated);
  for (const privateKey of [
    'not a key',
    `-----BEGIN RSA PRIVATE KEY-----\n${'QUJD'.repeat(30)}\n-----END RSA PRIVATE KEY-----\n`,
  ]) {
    const credentials = { kind: 'app', appId: '4711', privateKey } as const;
    const forge = makeForge({ forge: 'github', url: stranger.simulated.url, credentials }, { patience: PATIENCE });
    t.teardown(() => forge.close());
    const error = await forgeError(t, () => forge.pullRequest(ref));
    t.is(error.kind, 'refused');
    t.false(everythingIn(error).includes('QUJD'));
  }
});

test('an installation that was removed is a refusal, not a vanished pull request', async (t) => {
  const { simulated, forge } = await setUpApp(t);
  const { ref } = openPullRequest(simulated);
  simulated.fault({ path: /access_tokens$/, fault: { kind: 'status', status: 404 } });
  const error = await forgeError(t, () => forge.pullRequest(ref));
  t.is(error.kind, 'refused');
});

test('an installation that is known is never looked up, an unknown one once an owner', async (t) => {
  const kept = new Map<string, number>();
  const { simulated, forge } = await setUpApp(t, kept);
  kept.set('platform', simulated.app.installations.get('platform') ?? 0);
  simulated.createRepository('platform/second');
  simulated.createTeam('platform/security', ['alice']);
  for (const repository of [SITE, 'platform/second']) {
    t.is(await forge.fileAt(repository, 'nothing', 'main'), undefined);
  }
  t.deepEqual(await forge.teamMembers('platform/security'), ['alice']);
  t.is(simulated.count('GET', /installation$/), 0);
  t.is(simulated.count('POST', /access_tokens$/), 1);

  simulated.app.install('elsewhere');
  for (const repository of ['elsewhere/one', 'elsewhere/two']) {
    simulated.createRepository(repository);
    t.is(await forge.fileAt(repository, 'README.md', 'main'), 'Hello\n');
  }
  t.is(simulated.count('GET', /installation$/), 1);
  t.is(kept.get('elsewhere'), simulated.app.installations.get('elsewhere'));
});

test('an installation that was replaced by another is looked up again', async (t) => {
  const kept = new Map([['platform', 1]]);
  const { simulated, forge } = await setUpApp(t, kept);
  t.is(await forge.fileAt(SITE, 'src/app.ts', 'main'), 'one\ntwo\nthree\n');
  t.is(simulated.count('GET', /installation$/), 1);
  t.is(kept.get('platform'), simulated.app.installations.get('platform'));
});

test('where the App was not installed, what a delivery tells of an installation is believed', async (t) => {
  const kept = new Map<string, number>();
  const { simulated, forge } = await setUpApp(t, kept);
  simulated.createRepository('elsewhere/site');
  const read = () => forge.fileAt('elsewhere/site', 'README.md', 'main');
  t.is(await read(), undefined);
  t.is(await read(), undefined);
  t.is(simulated.count('GET', /installation$/), 1, 'that there is none is remembered');
  simulated.app.install('elsewhere');
  kept.set('elsewhere', simulated.app.installations.get('elsewhere') ?? 0);
  t.is(await read(), 'Hello\n');
});

const DAY_MS = 86_400_000;
const ago = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

test('an App tells which deliveries failed, and redelivers them', async (t) => {
  const { simulated, forge } = await setUpApp(t);
  const event = 'pull_request';
  simulated.addDelivery({ guid: 'too-old', event, statusCode: 500, deliveredAt: ago(3) });
  simulated.addDelivery({ guid: 'too-old-at-first', event, statusCode: 500, deliveredAt: ago(2.5) });
  const first = simulated.addDelivery({ guid: 'failed-twice', event, statusCode: 500, deliveredAt: ago(1) });
  simulated.addDelivery({ guid: 'arrived', event, statusCode: 200, deliveredAt: ago(0.9) });
  simulated.addDelivery({ guid: 'arrived-late', event, statusCode: 503, deliveredAt: ago(0.8) });
  const again = simulated.addDelivery({ guid: 'failed-twice', event, statusCode: 502, deliveredAt: ago(0.7) });
  simulated.addDelivery({ guid: 'arrived-late', event, statusCode: 200, deliveredAt: ago(0.6) });
  const last = simulated.addDelivery({ guid: 'timed-out', event: 'push', statusCode: 0, deliveredAt: ago(0.5) });
  simulated.addDelivery({ guid: 'too-old-at-first', event, statusCode: 500, deliveredAt: ago(0.4) });
  const since = new Date(Date.now() - 2 * DAY_MS);

  const failed = (await forge.deliveries?.failed(since)) ?? [];
  t.deepEqual(failed, [
    { id: String(last.id), status: 0, attempts: 1, firstSentAt: last.deliveredAt },
    { id: String(again.id), status: 502, attempts: 2, firstSentAt: first.deliveredAt },
  ]);

  for (const delivery of failed) {
    await forge.deliveries?.redeliver(delivery);
  }
  t.deepEqual(await forge.deliveries?.failed(since), []);
});

test('a long list of deliveries is read as far back as needed, by cursor', async (t) => {
  const { simulated, forge } = await setUpApp(t);
  for (let index = 0; index < 350; index += 1) {
    const deliveredAt = new Date(Date.now() - (350 - index) * 60_000).toISOString();
    simulated.addDelivery({ guid: `guid-${index}`, event: 'push', statusCode: index % 2 ? 200 : 500, deliveredAt });
  }
  const failed = await forge.deliveries?.failed(new Date(Date.now() - 150.5 * 60_000));
  t.is(failed?.length, 75);
  t.is(simulated.count('GET', /\/app\/hook\/deliveries$/), 2);
});

test('only an App has a list of all its deliveries', async (t) => {
  t.is((await setUp(t, 'github')).forge.deliveries, undefined);
  t.is((await setUp(t, 'gitea')).forge.deliveries, undefined);
  t.is((await setUp(t, 'forgejo')).forge.deliveries, undefined);
});
