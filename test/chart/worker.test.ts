import { ADDED, CHANGED, changesBetween, REMOVED } from '../helpers/manifest-places.ts';
import { find, type Manifest, podOf, render } from '../helpers/manifests.ts';
import { type Labels, lets } from '../helpers/network-policy.ts';
import { test } from '../helpers/test-with-helm.ts';

const DOOR = 'gh-gatehouse-door';
const WORKER = 'gh-gatehouse-worker';
const TOKEN = { forgeToken: { value: 'a-token-of-the-tests' } };
const PEM = '-----BEGIN RSA PRIVATE KEY-----\nnot a key\n-----END RSA PRIVATE KEY-----\n';
const APP = { githubApp: { appId: '4711', privateKey: PEM } };

const kindsOfWorker = (manifests: readonly Manifest[]) =>
  manifests.filter(({ metadata }) => metadata.name === WORKER).map(({ kind }) => kind);

test('there is a worker when there are forge credentials, however they are given', async (t) => {
  const inExtraEnv = (...names: string[]) => ({ extraEnv: names.map((name) => ({ name, value: '/run/given' })) });
  for (const values of [
    TOKEN,
    APP,
    { forgeToken: { existingSecret: 'mine' } },
    { githubApp: { appId: 4711, existingSecret: 'mine' } },
    inExtraEnv('FORGE_TOKEN_FILE'),
    inExtraEnv('GITHUB_APP_ID', 'GITHUB_APP_PRIVATE_KEY_FILE'),
    { extraEnvFrom: [{ secretRef: { name: 'mine' } }], worker: { enabled: true } },
  ]) {
    t.deepEqual(kindsOfWorker(await render({ values })), ['PodDisruptionBudget', 'Deployment'], JSON.stringify(values));
  }
});

test('one ServiceMonitor selects the Services of door and worker', async (t) => {
  const manifests = await render({ values: { ...TOKEN, metrics: { serviceMonitor: { enabled: true } } } });
  const { selector } = find(manifests, 'ServiceMonitor', 'gh-gatehouse').spec as { selector: { matchLabels: Labels } };
  const labels = Object.entries(selector.matchLabels);
  const found = manifests.filter(
    ({ kind, metadata }) => kind === 'Service' && labels.every(([label, value]) => metadata.labels?.[label] === value),
  );
  t.deepEqual(found.map(({ metadata }) => metadata.name).sort(), [
    'gh-gatehouse-metrics',
    'gh-gatehouse-worker-metrics',
  ]);
});

test('the worker is like the door, which it does not replace, but for its own settings', async (t) => {
  const manifests = await render({ values: TOKEN });
  const [door, worker] = [DOOR, WORKER].map((name) => {
    const text = JSON.stringify(find(manifests, 'Deployment', name));
    return [JSON.parse(text.replaceAll(/(?<=["-])(?:door|worker)(?=")/g, 'part'))];
  });
  t.deepEqual(changesBetween(door ?? [], worker ?? []), {
    'part args': 'work',
    'part env.AUDIT_DAYS': '400',
    'part env.ENFORCE': 'true',
    'part env.FORGE_COMMITTER': '',
    'part env.FORGE_TOKEN': 'gh-gatehouse-forge/forge-token',
    'part env.MACHINE_ACCOUNTS': '',
    'part env.READY_WITHOUT_REDIS': REMOVED,
    'part env.RESYNC_MINUTES': '15',
    'part env.RETENTION_DAYS': '30',
    'part env.WEBHOOK_BODY_LIMIT': REMOVED,
    'part env.WEBHOOK_SECRET': REMOVED,
    'part env.WEBHOOK_SECRET_PREVIOUS': REMOVED,
    'part env.WORKER_CONCURRENCY': '4',
    // It gets SIGTERM at once.
    'part lifecycle.preStop.sleep.seconds': REMOVED,
    'part migrate resources.limits.memory': '1Gi',
    'part pod metadata.annotations.checksum/secret': CHANGED,
    'part resources.limits.memory': '1Gi',
  });
  const others = Object.entries(changesBetween(await render(), manifests)).filter(
    ([place]) => !/^worker |^Deployment.worker/.test(place),
  );
  t.deepEqual(Object.fromEntries(others), {
    // Without the annotation by which the signing key stays behind.
    'Secret/forge': ADDED,
    'Secret/forge.type': 'Opaque',
    'Secret/forge.data.forge-token': 'a-token-of-the-tests',
    'PodDisruptionBudget/worker': ADDED,
    'PodDisruptionBudget/worker.spec.maxUnavailable': 1,
    'PodDisruptionBudget/worker.spec.unhealthyPodEvictionPolicy': 'AlwaysAllow',
  });
});

test('only Prometheus may reach the worker, and only the worker may reach the forge', async (t) => {
  const from = (app: string) => [{ podSelector: { matchLabels: { app } } }];
  const networkPolicy = { enabled: true, webhookFrom: from('proxy'), metricsFrom: from('prometheus') };
  const manifests = await render({ values: { ...TOKEN, networkPolicy } });
  const worker = find(manifests, 'NetworkPolicy', WORKER);
  const door = find(manifests, 'NetworkPolicy', DOOR);
  t.true(lets(worker, 'ingress', { app: 'prometheus' }, 9090));
  t.false(lets(worker, 'ingress', { app: 'proxy' }, 9090));
  t.false(lets(worker, 'ingress', { app: 'proxy' }, 8080));
  t.false(lets(worker, 'ingress', { app: 'prometheus' }, 8080));
  t.true(lets(worker, 'egress', { app: 'anything' }, 443));
  t.true(lets(worker, 'egress', { app: 'anything' }, 53));
  t.false(lets(door, 'egress', { app: 'anything' }, 443));
  for (const [store, port] of [['gh-gatehouse-postgresql', 5432] as const, ['gh-gatehouse-redis', 6379] as const]) {
    const policy = find(manifests, 'NetworkPolicy', store);
    const selector = policy.spec?.['podSelector'] as { matchLabels: Labels };
    t.true(lets(worker, 'egress', selector.matchLabels, port));
    t.true(lets(policy, 'ingress', podOf(find(manifests, 'Deployment', WORKER))?.metadata.labels ?? {}, port));
  }
});

test('the forge’s address and port can be set', async (t) => {
  const forgeTo = [{ podSelector: { matchLabels: { app: 'gitea' } } }];
  const networkPolicy = { enabled: true, forgePorts: [3000], forgeTo };
  const worker = find(await render({ values: { ...TOKEN, networkPolicy } }), 'NetworkPolicy', WORKER);
  t.true(lets(worker, 'egress', { app: 'gitea' }, 3000));
  t.false(lets(worker, 'egress', { app: 'anything' }, 3000));
  t.false(lets(worker, 'egress', { app: 'gitea' }, 443));
});
