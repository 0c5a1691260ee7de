import { version } from '../../src/version.ts';
import { startCluster } from '../helpers/cluster.ts';
import {
  containersOf,
  find,
  type Manifest,
  NAMESPACE,
  OWN_STORES,
  podOf,
  render,
  tryRender,
} from '../helpers/manifests.ts';
import { type Labels, lets } from '../helpers/network-policy.ts';
import { test } from '../helpers/test-with-helm.ts';

const DOOR = 'gh-gatehouse-door';

function doorPod(manifests: readonly Manifest[]) {
  const pod = podOf(find(manifests, 'Deployment', DOOR));
  const [door] = pod?.spec.containers ?? [];
  const [migrate] = pod?.spec.initContainers ?? [];
  if (pod === undefined || door === undefined || migrate === undefined) {
    throw new Error('no door');
  }
  const env = Object.fromEntries((door.env ?? []).map(({ name, value }) => [name, value]));
  return { pod, door, migrate, env };
}

const has = (manifests: readonly Manifest[], kind: string) => manifests.some((manifest) => manifest.kind === kind);

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

test('with external stores and an existing key, no Secret is created', async (t) => {
  const manifests = await render({ values: { ...OWN_STORES, webhookSecret: { existingSecret: 'mine' } } });
  t.false(has(manifests, 'StatefulSet'));
  t.false(has(manifests, 'Secret'));
  t.deepEqual(
    manifests.filter(({ kind }) => kind === 'Deployment').map(({ metadata }) => metadata.name),
    [DOOR],
  );
});

test('startup and liveness probe /health/live, readiness probes /health/ready', async (t) => {
  const { door } = doorPod(await render());
  const live = { httpGet: { path: '/health/live', port: 'http' } };
  t.like(door.startupProbe, live);
  t.like(door.livenessProbe, live);
  t.like(door.readinessProbe, { httpGet: { path: '/health/ready', port: 'http' }, failureThreshold: 3 });
  t.deepEqual(door.ports, [
    { name: 'http', containerPort: 8080 },
    { name: 'metrics', containerPort: 9090 },
  ]);
});

test('a probe can be anything that Kubernetes takes', async (t) => {
  const { door } = doorPod(
    await render({
      values: { probes: { readiness: { httpGet: { path: '/health/live', httpHeaders: [] }, periodSeconds: 1 } } },
    }),
  );
  t.like(door.readinessProbe, {
    httpGet: { path: '/health/live', port: 'http' },
    periodSeconds: 1,
    failureThreshold: 3,
  });
});

test('an init container of the same image migrates, with only the database URL', async (t) => {
  const { door, migrate } = doorPod(await render());
  t.deepEqual(migrate.args, ['migrate', '--wait', '60']);
  t.deepEqual(door.args, ['serve']);
  t.is(migrate.image, door.image);
  t.deepEqual(
    migrate.env,
    door.env?.filter(({ name }) => ['LOG_LEVEL', 'DATABASE_URL'].includes(name)),
  );
  t.deepEqual(migrate.securityContext, door.securityContext);
});

test('settings are environment variables, and large numbers keep their digits', async (t) => {
  const values = {
    config: { forge: 'gitea', logLevel: 'warn', bodyLimit: 26_214_400, drainSeconds: 7, statusContext: 'review' },
  };
  t.like(doorPod(await render({ values })).env, {
    PORT: '8080',
    METRICS_PORT: '9090',
    FORGE: 'gitea',
    LOG_LEVEL: 'warn',
    WEBHOOK_BODY_LIMIT: '26214400',
    DRAIN_SECONDS: '7',
    STATUS_CONTEXT: 'review',
  });
  t.is(doorPod(await render()).env['WEBHOOK_BODY_LIMIT'], '25MiB');
});

test('extraEnv replaces variables by name, also for migrations and helm test', async (t) => {
  const extraEnv = [
    { name: 'LOG_LEVEL', value: 'trace' },
    { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  ];
  const manifests = await render({ values: { extraEnv } });
  const test = podOf(find(manifests, 'Pod', 'gh-gatehouse-test-webhook'));
  const { pod } = doorPod(manifests);
  for (const container of [...containersOf(pod.spec), ...(test?.spec.containers ?? [])]) {
    const named = (name: string) => container.env?.filter((entry) => entry.name === name);
    t.deepEqual(named('LOG_LEVEL'), extraEnv.slice(0, 1));
    t.deepEqual(named('POD'), extraEnv.slice(1));
    t.true((container.env?.length ?? 0) > 2);
  }
});

test('a pod sleeps, then drains, and has time for both', async (t) => {
  for (const config of [{}, { drainSeconds: 60 }]) {
    const { pod, door, env } = doorPod(await render({ values: { config } }));
    t.deepEqual(door.lifecycle, { preStop: { sleep: { seconds: 5 } } });
    t.true((pod.spec.terminationGracePeriodSeconds ?? 0) > 5 + Number(env['DRAIN_SECONDS']));
  }
});

test('an image is named by tag, by digest, or by both in one', async (t) => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const image = async (values: unknown) => doorPod(await render({ values: { image: values } })).door.image;
  t.is(await image({}), `gatehouse:${version}`);
  t.is(await image({ repository: 'r.example.com/g', tag: '1' }), 'r.example.com/g:1');
  t.is(await image({ digest }), `gatehouse:${version}@${digest}`);
  t.is(await image({ tag: `1.2@${digest}` }), `gatehouse:1.2@${digest}`);
});

test('pods are spread over nodes unless the user sets constraints', async (t) => {
  t.like(doorPod(await render()).pod.spec.topologySpreadConstraints?.[0], { topologyKey: 'kubernetes.io/hostname' });
  const own = [{ topologyKey: 'topology.kubernetes.io/zone', maxSkew: 1, whenUnsatisfiable: 'DoNotSchedule' }];
  const { pod } = doorPod(await render({ values: { topologySpreadConstraints: own } }));
  t.deepEqual(pod.spec.topologySpreadConstraints, own);
});

test('beside an autoscaler there are as many pods as there were, or its fewest', async (t) => {
  t.is(find(await render(), 'Deployment', DOOR).spec?.['replicas'], 2);
  const values = { door: { autoscaling: { enabled: true, minReplicas: 3, maxReplicas: 7 } } };
  const manifests = await render({ values });
  t.is(find(manifests, 'Deployment', DOOR).spec?.['replicas'], 3);
  const cluster = await startCluster('1.36', NAMESPACE);
  try {
    for (const [live, wanted] of [[5, 5] as const, [1, 3] as const, [9, 7] as const]) {
      const deployment = find(manifests, 'Deployment', DOOR);
      cluster.put([{ ...deployment, spec: { ...deployment.spec, replicas: live } }]);
      const upgrade = await render({ values, cluster, arguments: ['--is-upgrade'] });
      t.is(find(upgrade, 'Deployment', DOOR).spec?.['replicas'], wanted, `${live} live`);
    }
  } finally {
    await cluster.close();
  }
  t.like(find(manifests, 'HorizontalPodAutoscaler', DOOR).spec, {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: DOOR },
    minReplicas: 3,
    maxReplicas: 7,
  });
});

test('there is a PodDisruptionBudget only with two pods or more', async (t) => {
  const budget = async (door: unknown) => has(await render({ values: { door } }), 'PodDisruptionBudget');
  t.true(await budget({ replicas: 2 }));
  t.false(await budget({ replicas: 1 }));
  t.true(await budget({ replicas: 1, autoscaling: { enabled: true, minReplicas: 2 } }));
  t.false(await budget({ replicas: 3, autoscaling: { enabled: true, minReplicas: 1 } }));
  t.false(await budget({ podDisruptionBudget: { enabled: false } }));
});

test('an Ingress and an HTTPRoute route only /webhook', async (t) => {
  const manifests = await render({
    values: {
      ingress: { enabled: true, hosts: ['a.example.com', 'b.example.com'] },
      httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] },
    },
  });
  const backend = { service: { name: 'gh-gatehouse', port: { name: 'http' } } };
  const http = { paths: [{ path: '/webhook', pathType: 'Exact', backend }] };
  t.deepEqual(find(manifests, 'Ingress', 'gh-gatehouse').spec?.['rules'], [
    { host: 'a.example.com', http },
    { host: 'b.example.com', http },
  ]);
  t.deepEqual(find(manifests, 'HTTPRoute', 'gh-gatehouse').spec?.['rules'], [
    {
      matches: [{ path: { type: 'Exact', value: '/webhook' } }],
      backendRefs: [{ name: 'gh-gatehouse', port: 80 }],
    },
  ]);
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

test('metrics are scraped by annotations or by a ServiceMonitor, never by both', async (t) => {
  const annotations = async (metrics: unknown) =>
    doorPod(await render({ values: { metrics } })).pod.metadata.annotations;
  t.like(await annotations({}), { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9090' });
  t.false('prometheus.io/scrape' in ((await annotations({ serviceMonitor: { enabled: true } })) ?? {}));
  t.false('prometheus.io/scrape' in ((await annotations({ annotations: false })) ?? {}));
});

test('a ServiceMonitor selects the metrics Service, without a capabilities check', async (t) => {
  const manifests = await render({ values: { metrics: { serviceMonitor: { enabled: true } } } });
  const { selector } = find(manifests, 'ServiceMonitor', 'gh-gatehouse').spec as {
    selector: { matchLabels: Record<string, string> };
  };
  const services = manifests.filter(({ kind }) => kind === 'Service');
  const found = services.filter(({ metadata }) =>
    Object.entries(selector.matchLabels).every(([label, value]) => metadata.labels?.[label] === value),
  );
  t.deepEqual(
    found.map(({ metadata }) => metadata.name),
    ['gh-gatehouse-metrics'],
  );
});

test('a bundled store accepts only the release’s pods, and the door can reach it', async (t) => {
  const manifests = await render({ values: { networkPolicy: { enabled: true } } });
  const { pod } = doorPod(manifests);
  const door = pod.metadata.labels ?? {};
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
  const { metadata } = doorPod(manifests).pod;
  t.like(metadata.labels, { team: 'platform', tier: 'web', 'app.kubernetes.io/instance': 'gh' });
  t.like(metadata.annotations, { 'prometheus.io/path': '/elsewhere', owner: 'platform' });
});

test('a new chart version alone replaces no pod', async (t) => {
  const { metadata } = doorPod(await render()).pod;
  t.deepEqual(Object.keys(metadata.labels ?? {}).sort(), [
    'app.kubernetes.io/component',
    'app.kubernetes.io/instance',
    'app.kubernetes.io/name',
  ]);
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

test('the bundled database’s startup probe waits while the database is created', async (t) => {
  const [container] = podOf(find(await render(), 'StatefulSet', 'gh-gatehouse-postgresql'))?.spec.containers ?? [];
  t.like(container?.startupProbe, { failureThreshold: 1, timeoutSeconds: 120 });
  t.regex(JSON.stringify(container?.startupProbe), /until pg_isready/);
});

test('the bundled Redis’s startup probe waits, so that no failed probe is reported', async (t) => {
  const [container] = podOf(find(await render(), 'Deployment', 'gh-gatehouse-redis'))?.spec.containers ?? [];
  t.like(container?.startupProbe, { failureThreshold: 1, timeoutSeconds: 120 });
  t.regex(JSON.stringify(container?.startupProbe), /until redis-cli ping/);
});

test('the door is ready without Redis unless the user says otherwise', async (t) => {
  t.is(doorPod(await render()).env['READY_WITHOUT_REDIS'], 'true');
  const strict = await render({ values: { extraEnv: [{ name: 'READY_WITHOUT_REDIS', value: 'false' }] } });
  t.is(doorPod(strict).env['READY_WITHOUT_REDIS'], 'false');
});

test('helm test is a pod of the service’s image that no Service selects', async (t) => {
  const manifests = await render();
  const pod = find(manifests, 'Pod', 'gh-gatehouse-test-webhook');
  t.is(pod.metadata.annotations?.['helm.sh/hook'], 'test');
  // One that passed is removed: `helm uninstall` would leave it.
  t.true(pod.metadata.annotations?.['helm.sh/hook-delete-policy']?.includes('hook-succeeded'));
  t.is(pod.metadata.labels?.['app.kubernetes.io/component'], 'test');
  t.is(podOf(pod)?.spec.containers[0]?.image, doorPod(manifests).door.image);
});

test('extra objects are rendered as templates', async (t) => {
  const extraObjects = [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'object' }, data: { release: '{{ .Release.Name }}' } },
    'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: {{ .Release.Name }}-text }\n',
  ];
  const manifests = await render({ values: { extraObjects } });
  t.deepEqual(find(manifests, 'ConfigMap', 'object').data, { release: 'gh' });
  t.truthy(find(manifests, 'ConfigMap', 'gh-text'));
});
