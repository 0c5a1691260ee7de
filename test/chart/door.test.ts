import { version } from '../../src/version.ts';
import { startCluster } from '../helpers/cluster.ts';
import { ADDED, CHANGED, changesBetween } from '../helpers/manifest-places.ts';
import { find, type Manifest, NAMESPACE, OWN_STORES, podOf, render, tryRender } from '../helpers/manifests.ts';
import { type Labels, lets } from '../helpers/network-policy.ts';
import { test } from '../helpers/test-with-helm.ts';

const DOOR = 'gh-gatehouse-door';

const doorIn = (manifests: readonly Manifest[]) => podOf(find(manifests, 'Deployment', DOOR));

test('with no values the chart installs an evaluation, and no custom resources', async (t) => {
  const manifests = await render();
  t.deepEqual(manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`).sort(), [
    'Deployment/gh-gatehouse-door',
    'Deployment/gh-gatehouse-redis',
    'Pod/gh-gatehouse-test-webhook',
    'PodDisruptionBudget/gh-gatehouse-door',
    'Secret/gh-gatehouse',
    'Secret/gh-gatehouse-postgresql',
    'Secret/gh-gatehouse-redis',
    'Service/gh-gatehouse',
    'Service/gh-gatehouse-metrics',
    'Service/gh-gatehouse-postgresql',
    'Service/gh-gatehouse-redis',
    'ServiceAccount/gh-gatehouse',
    'StatefulSet/gh-gatehouse-postgresql',
  ]);
});

test('an image is named by tag, by digest, or by both in one', async (t) => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const image = async (values: unknown) =>
    doorIn(await render({ values: { image: values } }))?.spec.containers[0]?.image;
  t.is(await image({}), `gatehouse:${version}`);
  t.is(await image({ repository: 'r.example.com/g', tag: '1' }), 'r.example.com/g:1');
  t.is(await image({ digest }), `gatehouse:${version}@${digest}`);
  t.is(await image({ tag: `1.2@${digest}` }), `gatehouse:1.2@${digest}`);
});

test('beside an autoscaler there are as many pods as there were, or its fewest', async (t) => {
  const values = { door: { autoscaling: { enabled: true, minReplicas: 3, maxReplicas: 7 } } };
  const deployment = find(await render({ values }), 'Deployment', DOOR);
  const cluster = await startCluster('1.36', NAMESPACE);
  try {
    for (const [live, wanted] of [[5, 5] as const, [1, 3] as const, [9, 7] as const]) {
      cluster.put([{ ...deployment, spec: { ...deployment.spec, replicas: live } }]);
      const upgrade = await render({ values, cluster, arguments: ['--is-upgrade'] });
      t.is(find(upgrade, 'Deployment', DOOR).spec?.['replicas'], wanted, `${live} live`);
    }
  } finally {
    await cluster.close();
  }
});

test('the metrics have a separate Service', async (t) => {
  const manifests = await render({ values: { service: { type: 'LoadBalancer' } } });
  const webhook = find(manifests, 'Service', 'gh-gatehouse').spec;
  t.deepEqual(webhook?.['ports'], [{ name: 'http', port: 80, targetPort: 'http' }]);
  t.like(find(manifests, 'Service', 'gh-gatehouse-metrics').spec, {
    type: 'ClusterIP',
    publishNotReadyAddresses: true,
  });
});

test('a bundled store accepts only the release’s pods, and the door can reach it', async (t) => {
  const manifests = await render({ values: { networkPolicy: { enabled: true } } });
  const door = doorIn(manifests)?.metadata.labels ?? {};
  for (const [name, port] of [['gh-gatehouse-postgresql', 5432] as const, ['gh-gatehouse-redis', 6379] as const]) {
    const policy = find(manifests, 'NetworkPolicy', name);
    t.true(lets(policy, 'ingress', door, port), name);
    t.false(lets(policy, 'ingress', { app: 'stranger' }, port), name);
    t.false(lets(policy, 'ingress', door, 22), name);
    const selector = policy.spec?.['podSelector'] as { matchLabels: Labels } | undefined;
    t.true(lets(find(manifests, 'NetworkPolicy', DOOR), 'egress', selector?.matchLabels ?? {}, port), name);
    t.false(lets(find(manifests, 'NetworkPolicy', DOOR), 'egress', { app: 'stranger' }, port), name);
  }
});

test('the door accepts the user’s peers and helm test', async (t) => {
  const from = (app: string) => [{ podSelector: { matchLabels: { app } } }];
  const networkPolicy = { enabled: true, webhookFrom: from('proxy'), metricsFrom: from('prometheus') };
  const manifests = await render({ values: { networkPolicy } });
  const policy = find(manifests, 'NetworkPolicy', DOOR);
  const helmTest = find(manifests, 'Pod', 'gh-gatehouse-test-webhook').metadata.labels ?? {};
  t.true(lets(policy, 'ingress', { app: 'proxy' }, 8080));
  t.true(lets(policy, 'ingress', helmTest, 8080));
  t.true(lets(policy, 'ingress', { app: 'prometheus' }, 9090));
  t.false(lets(policy, 'ingress', { app: 'stranger' }, 8080));
  t.false(lets(policy, 'ingress', { app: 'proxy' }, 9090));
  const open = find(await render({ values: { networkPolicy: { enabled: true } } }), 'NetworkPolicy', DOOR);
  t.true(lets(open, 'ingress', { app: 'stranger' }, 8080));
});

test('with external stores, the door may reach their ports and DNS', async (t) => {
  const manifests = await render({ values: { ...OWN_STORES, networkPolicy: { enabled: true, storePorts: [6432] } } });
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy');
  t.deepEqual(
    policies.map(({ metadata }) => metadata.name),
    [DOOR],
  );
  for (const [port, passes] of [[53, true] as const, [6432, true] as const, [6379, false] as const]) {
    t.is(lets(find(manifests, 'NetworkPolicy', DOOR), 'egress', { app: 'anything' }, port), passes, `${port}`);
  }
});

test('the user’s labels and annotations are added and replace none of the chart’s', async (t) => {
  const manifests = await render({
    values: {
      commonLabels: { team: 'platform', 'app.kubernetes.io/name': 'mine' },
      podLabels: { 'app.kubernetes.io/instance': 'mine', tier: 'web' },
      podAnnotations: { 'prometheus.io/path': '/elsewhere', owner: 'platform' },
    },
  });
  for (const { kind, metadata } of manifests) {
    t.like(metadata.labels, { team: 'platform', 'app.kubernetes.io/name': 'gatehouse' }, `${kind}/${metadata.name}`);
  }
  t.like(doorIn(manifests)?.metadata, {
    labels: { team: 'platform', tier: 'web', 'app.kubernetes.io/instance': 'gh' },
    annotations: { 'prometheus.io/path': '/elsewhere', owner: 'platform' },
  });
});

test('the bundled database keeps its data in a claim, or in the pod without one', async (t) => {
  const store = async (persistence: unknown) =>
    find(
      await render({ values: { bundled: { postgresql: { persistence } } } }),
      'StatefulSet',
      'gh-gatehouse-postgresql',
    );
  const kept = await store({ size: '9Gi', storageClassName: 'fast' });
  const [container] = podOf(kept)?.spec.containers ?? [];
  const [mount] = container?.volumeMounts ?? [];
  const folder = container?.env?.find(({ name }) => name === 'PGDATA')?.value ?? '';
  t.true(folder.startsWith(`${mount?.mountPath}/`));
  t.like(kept.spec?.['volumeClaimTemplates'], [
    {
      metadata: { name: mount?.name },
      spec: { storageClassName: 'fast', resources: { requests: { storage: '9Gi' } } },
    },
  ]);
  const gone = await store({ enabled: false });
  t.false('volumeClaimTemplates' in (gone.spec ?? {}));
  t.deepEqual(podOf(gone)?.spec.volumes?.find(({ name }) => name === mount?.name)?.emptyDir, {});
});

test('a change of the bundled database’s volume is rejected, as Kubernetes would', async (t) => {
  const cluster = await startCluster('1.36', NAMESPACE);
  const persistence = (value: unknown) => ({ bundled: { postgresql: { persistence: value } } });
  const upgrade = (value: unknown) => tryRender({ values: persistence(value), cluster, arguments: ['--is-upgrade'] });
  try {
    const name = 'gh-gatehouse-postgresql';
    cluster.put([
      find(await render({ values: persistence({ size: '4Gi', storageClassName: 'fast' }) }), 'StatefulSet', name),
    ]);
    t.regex((await upgrade({ size: '8Gi' })).error ?? '', /size is 8Gi, and the volume was made with 4Gi: Kubernetes/);
    t.regex((await upgrade({ size: '4Gi', storageClassName: 'slow' })).error ?? '', /was made with fast: Kubernetes/);
    t.regex((await upgrade({ enabled: false })).error ?? '', /persistence.enabled was true at the install/);
    // One size, written in two ways.
    t.is((await upgrade({ size: '4096Mi' })).error, undefined);
  } finally {
    await cluster.close();
  }
});

for (const [kind, name, waits] of [
  ['StatefulSet', 'postgresql', /until pg_isready/],
  ['Deployment', 'redis', /until redis-cli ping/],
] as const) {
  test(`the startup probe of the bundled ${name} waits, so that no failed probe is reported`, async (t) => {
    const [container] = podOf(find(await render(), kind, `gh-gatehouse-${name}`))?.spec.containers ?? [];
    t.like(container?.startupProbe, { failureThreshold: 1, timeoutSeconds: 120 });
    t.regex(JSON.stringify(container?.startupProbe), waits);
  });
}

test('helm test is a pod that no Service selects, and that is removed when it passed', async (t) => {
  const { metadata } = find(await render(), 'Pod', 'gh-gatehouse-test-webhook');
  t.is(metadata.labels?.['app.kubernetes.io/component'], 'test');
  // `helm uninstall` would leave it.
  t.regex(metadata.annotations?.['helm.sh/hook-delete-policy'] ?? '', /hook-succeeded/);
  t.is(metadata.annotations?.['helm.sh/hook'], 'test');
});

const IMAGE = `gatehouse:${version}`;
/** manifests.test.ts looks at these in every pod. The image's own test plays helm test. */
const HELD_ELSEWHERE = /securityContext|resources|erviceAccount|enableServiceLinks|^Pod|^test (?:command|args)/;

test('the door and helm test have what they need, no more secrets, and nothing that changes with the chart', async (t) => {
  const manifests = await render();
  const parts = [find(manifests, 'Deployment', DOOR), find(manifests, 'Pod', 'gh-gatehouse-test-webhook')];
  const found = Object.entries(changesBetween([], parts)).filter(([place]) => !HELD_ELSEWHERE.test(place));
  t.deepEqual(Object.fromEntries(found), {
    'Deployment/door': ADDED,
    'Deployment/door.spec.replicas': 2,
    'Deployment/door.spec.strategy.type': 'RollingUpdate',
    'Deployment/door.spec.strategy.rollingUpdate.maxUnavailable': 0,
    'Deployment/door.spec.strategy.rollingUpdate.maxSurge': 1,
    'door pod metadata.labels.component': 'door',
    'door pod metadata.labels.instance': 'gh',
    'door pod metadata.labels.name': 'gatehouse',
    'door pod metadata.annotations.checksum/secret': CHANGED,
    'door pod metadata.annotations.prometheus.io/path': '/metrics',
    'door pod metadata.annotations.prometheus.io/port': '9090',
    'door pod metadata.annotations.prometheus.io/scrape': 'true',
    'door pod topologySpreadConstraints.0.topologyKey': 'kubernetes.io/hostname',
    'door pod topologySpreadConstraints.0.maxSkew': 1,
    'door pod topologySpreadConstraints.0.whenUnsatisfiable': 'ScheduleAnyway',
    'door pod terminationGracePeriodSeconds': 30,
    'door migrate args': 'migrate --wait 60',
    'door migrate image': IMAGE,
    'door migrate imagePullPolicy': 'IfNotPresent',
    'door migrate env.LOG_LEVEL': 'info',
    'door migrate env.DATABASE_URL': 'gh-gatehouse-postgresql/url',
    'door args': 'serve',
    'door image': IMAGE,
    'door imagePullPolicy': 'IfNotPresent',
    'door env.LOG_LEVEL': 'info',
    'door env.DATABASE_URL': 'gh-gatehouse-postgresql/url',
    'door env.READY_WITHOUT_REDIS': 'true',
    'door env.REDIS_URL': 'gh-gatehouse-redis/url',
    'door env.PORT': '8080',
    'door env.METRICS_PORT': '9090',
    'door env.FORGE': 'github',
    'door env.DRAIN_SECONDS': '5',
    'door env.STATUS_CONTEXT': 'gatehouse/{base}',
    'door env.WEBHOOK_BODY_LIMIT': '25MiB',
    'door env.WEBHOOK_SECRET': 'gh-gatehouse/webhook-secret',
    'door env.WEBHOOK_SECRET_PREVIOUS': 'gh-gatehouse/webhook-secret-previous, optional',
    'door ports.http.containerPort': 8080,
    'door ports.metrics.containerPort': 9090,
    'door startupProbe.failureThreshold': 30,
    'door startupProbe.httpGet.path': '/health/live',
    'door startupProbe.httpGet.port': 'http',
    'door startupProbe.periodSeconds': 2,
    'door startupProbe.timeoutSeconds': 2,
    'door livenessProbe.failureThreshold': 3,
    'door livenessProbe.httpGet.path': '/health/live',
    'door livenessProbe.httpGet.port': 'http',
    'door livenessProbe.periodSeconds': 10,
    'door livenessProbe.timeoutSeconds': 3,
    'door readinessProbe.failureThreshold': 3,
    'door readinessProbe.httpGet.path': '/health/ready',
    'door readinessProbe.httpGet.port': 'http',
    'door readinessProbe.periodSeconds': 5,
    'door readinessProbe.timeoutSeconds': 3,
    'door lifecycle.preStop.sleep.seconds': 5,
    'test image': IMAGE,
    'test imagePullPolicy': 'IfNotPresent',
    'test env.LOG_LEVEL': 'info',
    'test env.WEBHOOK_SECRET': 'gh-gatehouse/webhook-secret',
    'test env.WEBHOOK_SECRET_PREVIOUS': 'gh-gatehouse/webhook-secret-previous, optional',
  });
});
