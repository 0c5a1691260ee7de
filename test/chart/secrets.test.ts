import { startCluster } from '../helpers/cluster.ts';
import { changesBetween } from '../helpers/manifest-places.ts';
import { find, type Manifest, NAMESPACE, OWN_STORES, render, secretData, tryRender } from '../helpers/manifests.ts';
import { test } from '../helpers/test-with-helm.ts';

const KEY = 'a-signing-key-of-the-tests';
const OLD_KEY = 'the-key-before-of-the-tests';

const webhookKeys = (manifests: readonly Manifest[]) => secretData(find(manifests, 'Secret', 'gh-gatehouse'));

test('with no values a signing key is generated, and kept after uninstall', async (t) => {
  const [first, second] = await Promise.all([render(), render({ again: true })]);
  t.regex(webhookKeys(first)['webhook-secret'] ?? '', /^[A-Za-z0-9]{40}$/);
  t.notDeepEqual(webhookKeys(first), webhookKeys(second));
  t.is(find(first, 'Secret', 'gh-gatehouse').metadata.annotations?.['helm.sh/resource-policy'], 'keep');
});

test('upgrades keep every generated key, one after another', async (t) => {
  const cluster = await startCluster('1.36', NAMESPACE);
  try {
    const secrets = (manifests: readonly Manifest[]) => manifests.filter(({ kind }) => kind === 'Secret');
    const install = await render({ cluster });
    cluster.put(secrets(install));
    const upgrade = () => render({ cluster, arguments: ['--is-upgrade'] });
    const first = await upgrade();
    cluster.put(secrets(first));
    const second = await upgrade();
    t.is(secrets(install).length, 3);
    // The signing key is there already, so nothing writes it again.
    const stores = secrets(install).filter(({ metadata }) => metadata.name !== 'gh-gatehouse');
    t.deepEqual(secrets(first), stores);
    t.deepEqual(secrets(second), stores);
  } finally {
    await cluster.close();
  }
});

test('without a cluster no key is generated, for each rendering would have another', async (t) => {
  const refused = { refusesToGenerate: true };
  const existing = { ...OWN_STORES, webhookSecret: { existingSecret: 'mine' } };
  const generating = [{}, OWN_STORES, { ...existing, database: {}, bundled: { redis: { enabled: false } } }];
  for (const values of generating) {
    t.regex((await tryRender({ ...refused, values })).error ?? 'rendered', /rendered without the cluster/);
  }
  t.truthy((await tryRender({ ...refused, values: existing })).manifests);
  const cluster = await startCluster('1.36', NAMESPACE);
  try {
    // The first install, in a namespace that may not be there yet.
    t.truthy((await tryRender({ ...refused, values: {}, cluster })).manifests);
  } finally {
    await cluster.close();
  }
});

test('an existing but empty generated Secret is filled', async (t) => {
  const cluster = await startCluster('1.36', NAMESPACE);
  try {
    cluster.put([{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'gh-gatehouse' } }]);
    const manifests = await render({ cluster, arguments: ['--is-upgrade'] });
    t.regex(webhookKeys(manifests)['webhook-secret'] ?? '', /^[A-Za-z0-9]{40}$/);
  } finally {
    await cluster.close();
  }
});

test('a key that was given once is kept when the value is removed', async (t) => {
  const cluster = await startCluster('1.36', NAMESPACE);
  try {
    const given = await render({ values: { webhookSecret: { value: KEY } } });
    cluster.put([find(given, 'Secret', 'gh-gatehouse')]);
    const upgrade = await render({ cluster, arguments: ['--is-upgrade'] });
    t.false(upgrade.some(({ kind, metadata }) => kind === 'Secret' && metadata.name === 'gh-gatehouse'));
    const previous = ['--set', `webhookSecret.previous=${OLD_KEY}`];
    const rotating = await render({ cluster, arguments: ['--is-upgrade', ...previous] });
    t.deepEqual(webhookKeys(rotating), { 'webhook-secret': KEY, 'webhook-secret-previous': OLD_KEY });
  } finally {
    await cluster.close();
  }
});

test('the signing key is not part of the release, so that a rollback keeps it', async (t) => {
  for (const values of [{}, { webhookSecret: { value: KEY } }]) {
    const { annotations } = find(await render({ values }), 'Secret', 'gh-gatehouse').metadata;
    t.is(annotations?.['helm.sh/hook'], 'pre-install,pre-upgrade', JSON.stringify(values));
  }
  t.deepEqual(webhookKeys(await render({ values: { webhookSecret: { value: KEY } } })), { 'webhook-secret': KEY });
});

test('a bundled store’s URL has its generated password', async (t) => {
  const manifests = await render();
  const { password, url } = secretData(find(manifests, 'Secret', 'gh-gatehouse-postgresql'));
  t.is(url, `postgres://gatehouse:${password}@gh-gatehouse-postgresql:5432/gatehouse`);
  const redis = secretData(find(manifests, 'Secret', 'gh-gatehouse-redis'));
  t.is(redis['url'], `redis://:${redis['password']}@gh-gatehouse-redis:6379/0`);
  t.true(redis['redis.conf']?.startsWith(`requirepass ${redis['password']}\n`));
});

test('an upgrade with the same values replaces no pod, whatever was generated', async (t) => {
  t.deepEqual(changesBetween(await render(), await render({ again: true })), {});
  const values = { webhookSecret: { value: KEY, previous: OLD_KEY } };
  t.deepEqual(changesBetween(await render({ values }), await render({ values, again: true })), {});
});

test('secrets are written only into Secrets', async (t) => {
  const values = {
    ...OWN_STORES,
    database: { url: 'postgres://gatehouse:hunter2hunter2@db.example.com/gatehouse' },
    webhookSecret: { value: KEY, previous: OLD_KEY },
    metrics: { dashboard: { enabled: true } },
  };
  const token = { forgeToken: { value: 'a-token-of-the-tests' } };
  const app = { githubApp: { appId: '4711', privateKey: '-----BEGIN RSA PRIVATE KEY-----\nnot a key\n' } };
  for (const credentials of [token, app]) {
    const manifests = await render({ values: { ...values, ...credentials } });
    for (const manifest of manifests.filter(({ kind }) => kind !== 'Secret')) {
      const text = JSON.stringify(manifest);
      for (const secret of [KEY, OLD_KEY, 'hunter2', 'a-token-of', 'not a key']) {
        t.false(text.includes(secret), `${manifest.kind}/${manifest.metadata.name} has ${secret}`);
        const encoded = Buffer.from(secret).toString('base64').slice(0, -4);
        t.false(text.includes(encoded), `${manifest.kind} has it in base64`);
      }
    }
  }
});

test('a changed key or URL replaces the pods that read it, each by itself', async (t) => {
  const token = { forgeToken: { value: 'a-token-of-the-tests' } };
  const app = (key: string) => ({
    githubApp: { appId: '4711', privateKey: `-----BEGIN RSA PRIVATE KEY-----\n${key}\n` },
  });
  const keys = (webhookSecret: object) => ({ ...token, webhookSecret });
  const stores = (urls: object) => ({ ...token, ...OWN_STORES, ...urls });
  const database = (host: string) => stores({ database: { url: `postgres://${host}.example.com/g` } });
  const redis = (host: string) => stores({ redis: { url: `redis://${host}.example.com` } });
  for (const [before, after, parts] of [
    [keys({ value: KEY }), keys({ value: `${KEY}-changed` }), ['door']],
    [keys({ value: KEY }), keys({ value: KEY, previous: OLD_KEY }), ['door']],
    [app('one'), app('two'), ['worker']],
    [database('one'), database('two'), ['door', 'worker']],
    [redis('one'), redis('two'), ['door', 'worker']],
  ] as const) {
    const changes = changesBetween(await render({ values: before }), await render({ values: after }));
    const replaced = Object.keys(changes).filter((place) => place.endsWith('checksum/secret'));
    t.deepEqual(
      replaced.sort(),
      parts.map((part) => `${part} pod metadata.annotations.checksum/secret`),
      JSON.stringify(after),
    );
  }
});
