import { startCluster } from '../helpers/cluster.ts';
import {
  type Container,
  find,
  type Manifest,
  NAMESPACE,
  OWN_STORES,
  podOf,
  render,
  secretData,
  tryRender,
} from '../helpers/manifests.ts';
import { test } from '../helpers/test-with-helm.ts';

const KEY = 'a-signing-key-of-the-tests';
const OLD_KEY = 'the-key-before-of-the-tests';

function doorOf(manifests: readonly Manifest[]) {
  const pod = podOf(find(manifests, 'Deployment', 'gh-gatehouse-door'));
  const door = pod?.spec.containers[0];
  if (pod === undefined || door === undefined) {
    throw new Error('no door');
  }
  return { pod, door };
}

const variable = (container: Container, name: string) => container.env?.find((entry) => entry.name === name);
const secretKey = (manifests: readonly Manifest[], name: string) =>
  variable(doorOf(manifests).door, name)?.valueFrom?.secretKeyRef;
const checksum = (manifests: readonly Manifest[]) => doorOf(manifests).pod.metadata.annotations?.['checksum/secret'];
const webhookKeys = (manifests: readonly Manifest[]) => secretData(find(manifests, 'Secret', 'gh-gatehouse'));

test('with no values a signing key is generated, and kept after uninstall', async (t) => {
  const [first, second] = await Promise.all([render(), render({ again: true })]);
  t.regex(webhookKeys(first)['webhook-secret'] ?? '', /^[A-Za-z0-9]{40}$/);
  t.notDeepEqual(webhookKeys(first), webhookKeys(second));
  t.is(find(first, 'Secret', 'gh-gatehouse').metadata.annotations?.['helm.sh/resource-policy'], 'keep');
  t.deepEqual(secretKey(first, 'WEBHOOK_SECRET'), { name: 'gh-gatehouse', key: 'webhook-secret' });
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

test('during a rotation the door gets both keys', async (t) => {
  const manifests = await render({ values: { webhookSecret: { value: KEY, previous: OLD_KEY } } });
  t.deepEqual(webhookKeys(manifests), { 'webhook-secret': KEY, 'webhook-secret-previous': OLD_KEY });
  t.deepEqual(secretKey(manifests, 'WEBHOOK_SECRET_PREVIOUS'), {
    name: 'gh-gatehouse',
    key: 'webhook-secret-previous',
    optional: true,
  });
});

test('an existing Secret provides both keys, and no Secret is created for them', async (t) => {
  const manifests = await render({
    values: {
      ...OWN_STORES,
      webhookSecret: { existingSecret: 'mine', existingSecretKey: 'now', existingSecretPreviousKey: 'before' },
    },
  });
  t.deepEqual(secretKey(manifests, 'WEBHOOK_SECRET'), { name: 'mine', key: 'now' });
  t.deepEqual(secretKey(manifests, 'WEBHOOK_SECRET_PREVIOUS'), { name: 'mine', key: 'before', optional: true });
  t.deepEqual(
    manifests.filter(({ kind }) => kind === 'Secret'),
    [],
  );
});

test('a key that extraEnv gives as a file is the only one', async (t) => {
  const values = { ...OWN_STORES, extraEnv: [{ name: 'WEBHOOK_SECRET_FILE', value: '/run/key' }] };
  const manifests = await render({ values });
  const names = doorOf(manifests).door.env?.map(({ name }) => name) ?? [];
  t.true(names.includes('WEBHOOK_SECRET_FILE'));
  t.false(names.includes('WEBHOOK_SECRET'));
  t.false(names.includes('WEBHOOK_SECRET_PREVIOUS'));
  t.deepEqual(
    manifests.filter(({ kind }) => kind === 'Secret'),
    [],
  );
});

test('store URLs come from existing Secrets, from values, or from bundled stores', async (t) => {
  const bundled = await render();
  const { password, url } = secretData(find(bundled, 'Secret', 'gh-gatehouse-postgresql'));
  t.is(url, `postgres://gatehouse:${password}@gh-gatehouse-postgresql:5432/gatehouse`);
  t.deepEqual(secretKey(bundled, 'DATABASE_URL'), { name: 'gh-gatehouse-postgresql', key: 'url' });
  const redis = secretData(find(bundled, 'Secret', 'gh-gatehouse-redis'));
  t.is(redis['url'], `redis://:${redis['password']}@gh-gatehouse-redis:6379/0`);
  t.true(redis['redis.conf']?.startsWith(`requirepass ${redis['password']}\n`));
  t.deepEqual(secretKey(bundled, 'REDIS_URL'), { name: 'gh-gatehouse-redis', key: 'url' });

  const existing = await render({
    values: { ...OWN_STORES, redis: { existingSecret: 'other', existingSecretKey: 'r' } },
  });
  t.deepEqual(secretKey(existing, 'DATABASE_URL'), { name: 'stores', key: 'database-url' });
  t.deepEqual(secretKey(existing, 'REDIS_URL'), { name: 'other', key: 'r' });

  const byValue = await render({
    values: {
      ...OWN_STORES,
      database: { url: 'postgres://db.example.com/gatehouse' },
      redis: { url: 'redis://r.example.com' },
    },
  });
  t.deepEqual(secretKey(byValue, 'DATABASE_URL'), { name: 'gh-gatehouse-stores', key: 'database-url' });
  t.deepEqual(secretData(find(byValue, 'Secret', 'gh-gatehouse-stores')), {
    'database-url': 'postgres://db.example.com/gatehouse',
    'redis-url': 'redis://r.example.com',
  });
});

test('pods are replaced when a given key or URL changes, not for a generated key', async (t) => {
  const values = (key: string, again = false) => ({ values: { webhookSecret: { value: key } }, again });
  const [first, second, one, same, two, rotating, stores] = await Promise.all([
    render(),
    render({ again: true }),
    render(values(KEY)),
    render(values(KEY, true)),
    render(values(`${KEY}-changed`)),
    render({ values: { webhookSecret: { value: KEY, previous: OLD_KEY } } }),
    render({ values: { ...OWN_STORES, database: { url: 'postgres://db.example.com/gatehouse' } } }),
  ]);
  t.is(checksum(first), checksum(second));
  t.is(checksum(one), checksum(same));
  const different = [first, one, two, rotating, stores].map(checksum);
  t.is(new Set(different).size, different.length);
});

test('secrets are written only into Secrets', async (t) => {
  const url = 'postgres://gatehouse:hunter2hunter2@db.example.com/gatehouse';
  const values = {
    ...OWN_STORES,
    database: { url },
    webhookSecret: { value: KEY, previous: OLD_KEY },
    metrics: { dashboard: { enabled: true } },
  };
  for (const manifest of await render({ values })) {
    if (manifest.kind === 'Secret') {
      continue;
    }
    const text = JSON.stringify(manifest);
    for (const secret of [KEY, OLD_KEY, 'hunter2']) {
      t.false(text.includes(secret), `${manifest.kind}/${manifest.metadata.name} has ${secret}`);
      t.false(text.includes(Buffer.from(secret).toString('base64').slice(0, -4)), `${manifest.kind} has it in base64`);
    }
  }
});
