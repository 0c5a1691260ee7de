import { containersOf, find, type Manifest, OWN_STORES, podOf, render, secretData } from '../helpers/manifests.ts';
import { type Labels, lets } from '../helpers/network-policy.ts';
import { test } from '../helpers/test-with-helm.ts';

const DOOR = 'gh-gatehouse-door';
const WORKER = 'gh-gatehouse-worker';
const FORGE = 'gh-gatehouse-forge';
const TOKEN = { forgeToken: { value: 'a-token-of-the-tests' } };
const PEM = '-----BEGIN RSA PRIVATE KEY-----\nnot a key\n-----END RSA PRIVATE KEY-----\n';
const APP = { githubApp: { appId: '4711', privateKey: PEM } };

function podIn(manifests: readonly Manifest[], deployment: string) {
  const pod = podOf(find(manifests, 'Deployment', deployment));
  const [container] = pod?.spec.containers ?? [];
  const [migrate] = pod?.spec.initContainers ?? [];
  if (pod === undefined || container === undefined || migrate === undefined) {
    throw new Error(`no ${deployment}`);
  }
  const env = Object.fromEntries(
    (container.env ?? []).map(({ name, value, valueFrom }) => [name, value ?? valueFrom?.secretKeyRef]),
  );
  return { pod, container, migrate, env };
}

const workerIn = (manifests: readonly Manifest[]) => podIn(manifests, WORKER);
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

test('there is no worker without credentials, or when it is disabled', async (t) => {
  for (const values of [{}, { ...TOKEN, worker: { enabled: false } }, { config: { policy: 'version: 1' } }]) {
    const manifests = await render({ values });
    t.deepEqual(
      manifests.filter(({ metadata }) => /worker|policy/.test(metadata.name)),
      [],
      JSON.stringify(values),
    );
  }
});

test('adding or removing the worker does not replace the door’s pods', async (t) => {
  const [without, beside] = await Promise.all([render(), render({ values: { ...TOKEN, config: { policy: 'x: 1' } } })]);
  t.deepEqual(find(beside, 'Deployment', DOOR), find(without, 'Deployment', DOOR));
});

test('it runs `gatehouse work` after migrating, with the door’s restrictions', async (t) => {
  const manifests = await render({ values: TOKEN });
  const { pod, container, migrate } = workerIn(manifests);
  const door = podIn(manifests, DOOR);
  t.deepEqual(container.args, ['work']);
  t.deepEqual({ ...migrate, resources: undefined }, { ...door.migrate, resources: undefined });
  t.deepEqual(migrate?.resources, container.resources);
  t.is(container.image, door.container.image);
  t.deepEqual(pod.spec.securityContext, door.pod.spec.securityContext);
  t.deepEqual(container.securityContext, door.container.securityContext);
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const) {
    t.deepEqual(container[probe], door.container[probe]);
  }
  t.deepEqual(container.ports, door.container.ports);
});

test('its settings are environment variables', async (t) => {
  const values = {
    ...TOKEN,
    config: {
      forge: 'gitea',
      forgeUrl: 'https://git.example.com',
      drainSeconds: 7,
      resyncMinutes: 30,
      retentionDays: 9,
      auditDays: 500,
      statusContext: 'review of {base}',
      enforce: false,
      policyRepository: '.gatehouse',
    },
    worker: { concurrency: 12 },
  };
  t.like(workerIn(await render({ values })).env, {
    PORT: '8080',
    METRICS_PORT: '9090',
    FORGE: 'gitea',
    FORGE_URL: 'https://git.example.com',
    DRAIN_SECONDS: '7',
    WORKER_CONCURRENCY: '12',
    RESYNC_MINUTES: '30',
    RETENTION_DAYS: '9',
    AUDIT_DAYS: '500',
    STATUS_CONTEXT: 'review of {base}',
    ENFORCE: 'false',
    POLICY_REPOSITORY: '.gatehouse',
  });
  t.false('POLICY_REPOSITORY' in workerIn(await render({ values: TOKEN })).env);
  t.false('FORGE_URL' in workerIn(await render({ values: TOKEN })).env);
});

test('no pod has a secret that it does not need', async (t) => {
  for (const credentials of [TOKEN, APP]) {
    const manifests = await render({ values: credentials });
    const helmTest = podOf(find(manifests, 'Pod', 'gh-gatehouse-test-webhook'))?.spec.containers[0];
    const door = podIn(manifests, DOOR);
    const secretsOf = (container = helmTest) =>
      (container?.env ?? []).flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? []);
    t.deepEqual([...new Set(secretsOf(door.container))].sort(), [
      'gh-gatehouse',
      'gh-gatehouse-postgresql',
      'gh-gatehouse-redis',
    ]);
    t.is(door.pod.spec.volumes, undefined);
    t.deepEqual(secretsOf(door.migrate), ['gh-gatehouse-postgresql']);
    t.deepEqual(secretsOf(helmTest), ['gh-gatehouse', 'gh-gatehouse']);
    t.false(secretsOf(workerIn(manifests).container).includes('gh-gatehouse'));
  }
});

test('a token comes from the release’s Secret, or from an existing one', async (t) => {
  const byValue = await render({ values: TOKEN });
  t.deepEqual(secretData(find(byValue, 'Secret', FORGE)), { 'forge-token': TOKEN.forgeToken.value });
  t.deepEqual(workerIn(byValue).env['FORGE_TOKEN'], { name: FORGE, key: 'forge-token' });
  const values = { ...OWN_STORES, forgeToken: { existingSecret: 'mine', existingSecretKey: 'pat' } };
  const existing = await render({ values: { ...values, webhookSecret: { existingSecret: 'mine' } } });
  t.deepEqual(workerIn(existing).env['FORGE_TOKEN'], { name: 'mine', key: 'pat' });
  t.false(existing.some(({ kind }) => kind === 'Secret'));
});

test('credentials given by value are deleted with the release', async (t) => {
  const manifests = await render({ values: TOKEN });
  t.is(find(manifests, 'Secret', 'gh-gatehouse').metadata.annotations?.['helm.sh/resource-policy'], 'keep');
  t.is(find(manifests, 'Secret', FORGE).metadata.annotations, undefined);
});

test('an App’s private key is a file in the worker alone, and its id a whole number', async (t) => {
  const byValue = await render({ values: APP });
  t.deepEqual(secretData(find(byValue, 'Secret', FORGE)), { 'github-app-private-key': PEM });
  const values = { githubApp: { appId: 12_345_678, existingSecret: 'mine', existingSecretKey: 'pem' } };
  const existing = await render({ values });
  for (const [manifests, secretName, key] of [
    [byValue, FORGE, 'github-app-private-key'] as const,
    [existing, 'mine', 'pem'] as const,
  ]) {
    const { pod, container, migrate, env } = workerIn(manifests);
    const [volume] = pod.spec.volumes ?? [];
    const [mount] = container.volumeMounts ?? [];
    t.deepEqual(volume?.secret, { secretName, items: [{ key, path: 'private-key.pem' }] });
    t.like(mount, { name: volume?.name, readOnly: true });
    t.is(env['GITHUB_APP_PRIVATE_KEY_FILE'], `${mount?.mountPath}/private-key.pem`);
    t.is(migrate.volumeMounts, undefined);
  }
  t.is(workerIn(byValue).env['GITHUB_APP_ID'], '4711');
  t.is(workerIn(existing).env['GITHUB_APP_ID'], '12345678');
});

test('a private key from extraEnv is the only one', async (t) => {
  const extraEnv = [{ name: 'GITHUB_APP_PRIVATE_KEY', value: PEM }];
  const { env } = workerIn(await render({ values: { githubApp: { appId: '1' }, extraEnv } }));
  t.is(env['GITHUB_APP_PRIVATE_KEY'], PEM);
  t.false('GITHUB_APP_PRIVATE_KEY_FILE' in env);
});

test('the operator’s policy is mounted unchanged, at the path of POLICY_FILE', async (t) => {
  const policy = "version: 1\nrules:\n  - id: title\n    require: { title: '^(feat|fix)$' } # {{ not a template }}\n";
  const manifests = await render({ values: { ...TOKEN, config: { policy } } });
  const { pod, container, env } = workerIn(manifests);
  const [volume] = pod.spec.volumes ?? [];
  const name = volume?.configMap?.name ?? '';
  const [file = ''] = Object.keys(find(manifests, 'ConfigMap', name).data ?? {});
  t.is(find(manifests, 'ConfigMap', name).data?.[file]?.trim(), policy.trim());
  t.is(env['POLICY_FILE'], `${container.volumeMounts?.[0]?.mountPath}/${file}`);
});

test('the user’s volumes and mounts are added to the worker’s', async (t) => {
  const values = {
    ...APP,
    extraVolumes: [{ name: 'ca', configMap: { name: 'ca' } }],
    extraVolumeMounts: [{ name: 'ca', mountPath: '/etc/ca' }],
  };
  const { pod, container, migrate } = workerIn(await render({ values }));
  const names = (list: readonly { readonly name: string }[] = []) => list.map(({ name }) => name).sort();
  t.deepEqual(names(pod.spec.volumes), ['ca', 'github-app']);
  t.deepEqual(names(container.volumeMounts), ['ca', 'github-app']);
  t.deepEqual(names(migrate.volumeMounts), ['ca']);
});

test('it gets SIGTERM at once, and time to finish its reviews', async (t) => {
  for (const drainSeconds of [0, 5, 60]) {
    const { pod, container } = workerIn(await render({ values: { ...TOKEN, config: { drainSeconds } } }));
    t.is(container.lifecycle, undefined);
    t.true((pod.spec.terminationGracePeriodSeconds ?? 0) > Math.max(20, drainSeconds));
  }
});

test('its pods are replaced when its values change, and the door’s are not', async (t) => {
  const checksums = async (values: unknown, again = false) => {
    const manifests = await render({ values, again });
    return [DOOR, WORKER].map((name) => podIn(manifests, name).pod.metadata.annotations?.['checksum/secret']);
  };
  const [[door, worker], [, again], ...changed] = await Promise.all([
    checksums(TOKEN),
    checksums(TOKEN, true),
    checksums({ forgeToken: { value: 'another-token' } }),
    checksums(APP),
    checksums({ githubApp: { ...APP.githubApp, privateKey: `${PEM}\n` } }),
    checksums({ ...TOKEN, config: { policy: 'version: 1' } }),
  ]);
  t.is(again, worker);
  t.deepEqual([...new Set(changed.map(([first]) => first))], [door]);
  t.is(new Set([worker, ...changed.map(([, second]) => second)]).size, changed.length + 1);
  const [, otherKey] = await checksums({ ...TOKEN, webhookSecret: { value: 'a-signing-key-of-the-tests' } });
  t.is(otherKey, worker);
});

test('it has its own replicas, autoscaler and PodDisruptionBudget', async (t) => {
  const budget = async (worker: unknown) => kindsOfWorker(await render({ values: { ...TOKEN, worker } }));
  t.deepEqual(await budget({ replicas: 1 }), ['Deployment']);
  t.deepEqual(await budget({ podDisruptionBudget: { enabled: false } }), ['Deployment']);
  const worker = {
    autoscaling: { enabled: true, minReplicas: 3, maxReplicas: 5 },
    resources: { limits: { cpu: '1' } },
  };
  const manifests = await render({ values: { ...TOKEN, worker, door: { replicas: 7 } } });
  t.is(find(manifests, 'Deployment', WORKER).spec?.['replicas'], 3);
  t.is(find(manifests, 'Deployment', DOOR).spec?.['replicas'], 7);
  t.like(find(manifests, 'HorizontalPodAutoscaler', WORKER).spec, {
    scaleTargetRef: { name: WORKER },
    minReplicas: 3,
    maxReplicas: 5,
  });
  t.false(manifests.some(({ kind, metadata }) => kind === 'HorizontalPodAutoscaler' && metadata.name === DOOR));
  t.is(workerIn(manifests).container.resources?.limits?.['cpu'], '1');
  t.is(podIn(manifests, DOOR).container.resources?.limits?.['cpu'], undefined);
});

test('its only Service is the one for the ServiceMonitor', async (t) => {
  const servicesOf = async (values: object) => {
    const manifests = await render({ values: { ...TOKEN, ...values } });
    const labels = workerIn(manifests).pod.metadata.labels ?? {};
    return manifests.filter(({ kind, spec }) => {
      const selector = Object.entries((spec?.['selector'] ?? {}) as Labels);
      return kind === 'Service' && selector.every(([label, value]) => labels[label] === value);
    });
  };
  t.deepEqual(await servicesOf({}), []);
  const [service, ...more] = await servicesOf({ metrics: { serviceMonitor: { enabled: true } } });
  t.is(more.length, 0);
  t.deepEqual(service?.spec?.['ports'], [{ name: 'metrics', port: 9090, targetPort: 'metrics' }]);
});

test('one ServiceMonitor selects door and worker as one job', async (t) => {
  const own = [{ targetLabel: 'cluster', replacement: 'a' }];
  const metrics = { serviceMonitor: { enabled: true, relabelings: own } };
  const manifests = await render({ values: { ...TOKEN, metrics } });
  const { selector, endpoints } = find(manifests, 'ServiceMonitor', 'gh-gatehouse').spec as {
    selector: { matchLabels: Labels };
    endpoints: readonly [{ relabelings: unknown }];
  };
  const found = manifests.filter(
    ({ kind, metadata }) =>
      kind === 'Service' &&
      Object.entries(selector.matchLabels).every(([label, value]) => metadata.labels?.[label] === value),
  );
  t.deepEqual(found.map(({ metadata }) => metadata.name).sort(), [
    'gh-gatehouse-metrics',
    'gh-gatehouse-worker-metrics',
  ]);
  t.deepEqual(endpoints[0].relabelings, [{ targetLabel: 'job', replacement: 'gh-gatehouse-metrics' }, ...own]);
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
    t.true(lets(policy, 'ingress', workerIn(manifests).pod.metadata.labels ?? {}, port));
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

test('credentials are written only into Secrets', async (t) => {
  for (const values of [TOKEN, APP]) {
    for (const manifest of await render({ values })) {
      if (manifest.kind === 'Secret') {
        continue;
      }
      const text = JSON.stringify(manifest);
      t.false(/a-token-of|not a key/.test(text), `${manifest.kind}/${manifest.metadata.name}`);
    }
  }
});

test('every container of the worker’s pod has the user’s extra environment', async (t) => {
  const extraEnv = [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }];
  const { pod } = workerIn(await render({ values: { ...TOKEN, extraEnv } }));
  for (const { env } of containersOf(pod.spec)) {
    t.deepEqual(env?.at(-1), extraEnv[0]);
  }
});
