import { ADDED, CHANGED, type Changes, changesBetween, EMPTY, REMOVED } from '../helpers/manifest-places.ts';
import { OWN_STORES, render } from '../helpers/manifests.ts';
import { test } from '../helpers/test-with-helm.ts';

const TOKEN = { forgeToken: { value: 'a-token-of-the-tests' } };
const KEY = 'a-signing-key-of-the-tests';
const OLD_KEY = 'the-key-before-of-the-tests';
const PEM = '-----BEGIN RSA PRIVATE KEY-----\nnot a key\n-----END RSA PRIVATE KEY-----\n';

async function changesOf(values: object): Promise<Changes> {
  const [before, after] = await Promise.all([render({ values: TOKEN }), render({ values: { ...TOKEN, ...values } })]);
  return changesBetween(before, after);
}

/** The same change in several containers or pods. */
function each(names: readonly string[], changes: Changes): Changes {
  return Object.fromEntries(
    names.flatMap((name) => Object.entries(changes).map(([place, value]) => [`${name} ${place}`, value])),
  );
}

const GATEHOUSE = ['door migrate', 'door', 'worker migrate', 'worker', 'test'];
const PODS = ['door pod', 'worker pod'];
const REPLACED = { 'metadata.annotations.checksum/secret': CHANGED };
const NOT_SCRAPED = each(PODS, {
  'metadata.annotations.prometheus.io/path': REMOVED,
  'metadata.annotations.prometheus.io/port': REMOVED,
  'metadata.annotations.prometheus.io/scrape': REMOVED,
});
const NO_STORES = Object.fromEntries(
  [
    'Secret/postgresql',
    'Secret/redis',
    'Service/postgresql',
    'Service/redis',
    'Deployment/redis',
    'StatefulSet/postgresql',
  ].map((id) => [id, REMOVED]),
);
const POLICY = "version: 1\nrules:\n  - id: title\n    require: { title: '^(feat|fix)$' } # {{ not a template }}\n";
const NO_WORKER = { 'Deployment/worker': REMOVED, 'PodDisruptionBudget/worker': REMOVED };

/** An App instead of the token. */
const appOf = (secretName: string, key: string) => ({
  'worker env.FORGE_TOKEN': REMOVED,
  'worker pod metadata.annotations.checksum/secret': CHANGED,
  'worker pod volumes.github-app.secret.items.0.key': key,
  'worker pod volumes.github-app.secret.items.0.path': 'private-key.pem',
  'worker pod volumes.github-app.secret.secretName': secretName,
  'worker env.GITHUB_APP_PRIVATE_KEY_FILE': '/etc/gatehouse/github-app/private-key.pem',
  'worker volumeMounts.github-app.mountPath': '/etc/gatehouse/github-app',
  'worker volumeMounts.github-app.readOnly': true,
});

function scalerOf(part: string, minReplicas: number, maxReplicas: number): Changes {
  const scaler = `HorizontalPodAutoscaler/${part}`;
  return {
    [`Deployment/${part}.spec.replicas`]: minReplicas,
    [scaler]: ADDED,
    [`${scaler}.spec.scaleTargetRef.apiVersion`]: 'apps/v1',
    [`${scaler}.spec.scaleTargetRef.kind`]: 'Deployment',
    [`${scaler}.spec.scaleTargetRef.name`]: `gh-gatehouse-${part}`,
    [`${scaler}.spec.minReplicas`]: minReplicas,
    [`${scaler}.spec.maxReplicas`]: maxReplicas,
    [`${scaler}.spec.metrics.0.type`]: 'Resource',
    [`${scaler}.spec.metrics.0.resource.name`]: 'cpu',
    [`${scaler}.spec.metrics.0.resource.target.type`]: 'Utilization',
    [`${scaler}.spec.metrics.0.resource.target.averageUtilization`]: 70,
  };
}

function routeOf(index: number, host: string): Changes {
  const rule = `Ingress/gh-gatehouse.spec.rules.${index}`;
  return {
    [`${rule}.host`]: host,
    [`${rule}.http.paths.0.path`]: '/webhook',
    [`${rule}.http.paths.0.pathType`]: 'Exact',
    [`${rule}.http.paths.0.backend.service.name`]: 'gh-gatehouse',
    [`${rule}.http.paths.0.backend.service.port.name`]: 'http',
  };
}

/** What values change of a release with a worker, and that they change nothing else. */
const CASES: readonly (readonly [title: string, values: object, changes: Changes])[] = [
  [
    'settings, of which large numbers keep their digits',
    {
      config: {
        ...{ forge: 'gitea', forgeUrl: 'https://git.example.com', logLevel: 'warn', bodyLimit: 26_214_400 },
        ...{ drainSeconds: 60, resyncMinutes: 30, retentionDays: 9, auditDays: 500, statusContext: 'review' },
        ...{ enforce: false, policyRepository: '.gatehouse' },
      },
      worker: { concurrency: 12 },
    },
    {
      ...each(GATEHOUSE, { 'env.LOG_LEVEL': 'warn' }),
      ...each(['door', 'worker'], { 'env.FORGE': 'gitea', 'env.DRAIN_SECONDS': '60', 'env.STATUS_CONTEXT': 'review' }),
      // The door's sleep, the drain, and what running reviews are given.
      ...each(PODS, { terminationGracePeriodSeconds: 5 + 60 + 20 }),
      'door env.WEBHOOK_BODY_LIMIT': '26214400',
      ...each(['worker'], {
        ...{
          'env.FORGE_URL': 'https://git.example.com',
          'env.POLICY_REPOSITORY': '.gatehouse',
          'env.ENFORCE': 'false',
        },
        ...{ 'env.WORKER_CONCURRENCY': '12', 'env.RESYNC_MINUTES': '30' },
        ...{ 'env.RETENTION_DAYS': '9', 'env.AUDIT_DAYS': '500' },
      }),
    },
  ],
  [
    'what pods are given, and how they are reached',
    {
      extraEnv: [
        { name: 'LOG_LEVEL', value: 'trace' },
        { name: 'READY_WITHOUT_REDIS', value: 'false' },
        { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      ],
      extraVolumes: [{ name: 'ca', configMap: { name: 'ca' } }],
      extraVolumeMounts: [{ name: 'ca', mountPath: '/etc/ca' }],
      probes: { readiness: { httpGet: { path: '/health/live', httpHeaders: [] }, periodSeconds: 1 } },
      topologySpreadConstraints: [{ topologyKey: 'topology.kubernetes.io/zone', maxSkew: 2 }],
      service: { type: 'LoadBalancer' },
      metrics: { annotations: false },
      door: { podDisruptionBudget: { enabled: false } },
      worker: { replicas: 1, resources: { limits: { cpu: '1' } } },
    },
    {
      ...each(GATEHOUSE, {
        'env.LOG_LEVEL': 'trace',
        'env.READY_WITHOUT_REDIS': 'false',
        'env.POD.valueFrom.fieldRef.fieldPath': 'metadata.name',
        'volumeMounts.ca.mountPath': '/etc/ca',
      }),
      ...each(['door', 'worker'], {
        'readinessProbe.httpGet.path': '/health/live',
        'readinessProbe.httpGet.httpHeaders': EMPTY,
        'readinessProbe.periodSeconds': 1,
      }),
      ...each(PODS, {
        'volumes.ca.configMap.name': 'ca',
        'topologySpreadConstraints.0.topologyKey': 'topology.kubernetes.io/zone',
        'topologySpreadConstraints.0.maxSkew': 2,
        'topologySpreadConstraints.0.whenUnsatisfiable': REMOVED,
      }),
      ...NOT_SCRAPED,
      ...each(['worker migrate', 'worker'], { 'resources.limits.cpu': '1' }),
      'Deployment/worker.spec.replicas': 1,
      // One for which there is none, and one that is not wanted.
      'PodDisruptionBudget/worker': REMOVED,
      'PodDisruptionBudget/door': REMOVED,
      'Pod/test-webhook.spec.volumes.ca.configMap.name': 'ca',
      'Service/gh-gatehouse.spec.type': 'LoadBalancer',
    },
  ],
  [
    'a signing key, and the one before: the door’s pods are replaced',
    { webhookSecret: { value: KEY, previous: OLD_KEY } },
    {
      ...each(['door pod'], REPLACED),
      'Secret/gh-gatehouse.data.webhook-secret': KEY,
      'Secret/gh-gatehouse.data.webhook-secret-previous': OLD_KEY,
    },
  ],
  [
    'a Secret with both keys',
    { webhookSecret: { existingSecret: 'mine', existingSecretKey: 'now', existingSecretPreviousKey: 'before' } },
    {
      'Secret/gh-gatehouse': REMOVED,
      ...each(['door', 'test'], {
        'env.WEBHOOK_SECRET': 'mine/now',
        'env.WEBHOOK_SECRET_PREVIOUS': 'mine/before, optional',
      }),
    },
  ],
  [
    'a signing key as a file: it is the only one',
    { extraEnv: [{ name: 'WEBHOOK_SECRET_FILE', value: '/run/key' }] },
    {
      'Secret/gh-gatehouse': REMOVED,
      ...each(['door', 'test'], { 'env.WEBHOOK_SECRET': REMOVED, 'env.WEBHOOK_SECRET_PREVIOUS': REMOVED }),
      ...each(GATEHOUSE, { 'env.WEBHOOK_SECRET_FILE': '/run/key' }),
    },
  ],
  [
    'stores of one’s own, in Secrets',
    { ...OWN_STORES, redis: { existingSecret: 'other', existingSecretKey: 'r' } },
    {
      ...NO_STORES,
      ...each(['door migrate', 'door', 'worker migrate', 'worker'], { 'env.DATABASE_URL': 'stores/database-url' }),
      ...each(['door', 'worker'], { 'env.REDIS_URL': 'other/r' }),
    },
  ],
  [
    'stores of one’s own, by URL: all pods are replaced',
    {
      ...OWN_STORES,
      database: { url: 'postgres://db.example.com/gatehouse' },
      redis: { url: 'redis://r.example.com' },
    },
    {
      ...NO_STORES,
      ...each(PODS, REPLACED),
      'Secret/stores': ADDED,
      'Secret/stores.type': 'Opaque',
      'Secret/stores.data.database-url': 'postgres://db.example.com/gatehouse',
      'Secret/stores.data.redis-url': 'redis://r.example.com',
      ...each(['door migrate', 'door', 'worker migrate', 'worker'], {
        'env.DATABASE_URL': 'gh-gatehouse-stores/database-url',
      }),
      ...each(['door', 'worker'], { 'env.REDIS_URL': 'gh-gatehouse-stores/redis-url' }),
    },
  ],
  [
    'another token: the worker’s pods are replaced',
    { forgeToken: { value: 'another-token' } },
    { ...each(['worker pod'], REPLACED), 'Secret/forge.data.forge-token': 'another-token' },
  ],
  [
    'a token in a Secret',
    { forgeToken: { existingSecret: 'mine', existingSecretKey: 'pat' } },
    { 'Secret/forge': REMOVED, ...each(['worker pod'], REPLACED), 'worker env.FORGE_TOKEN': 'mine/pat' },
  ],
  [
    'an App, whose private key is a file in the worker alone',
    { forgeToken: {}, githubApp: { appId: '4711', privateKey: PEM } },
    {
      ...appOf('gh-gatehouse-forge', 'github-app-private-key'),
      'worker env.GITHUB_APP_ID': '4711',
      'Secret/forge.data.forge-token': REMOVED,
      'Secret/forge.data.github-app-private-key': PEM,
    },
  ],
  [
    'an App whose id is a large number, with its key in a Secret',
    { forgeToken: {}, githubApp: { appId: 12_345_678, existingSecret: 'mine', existingSecretKey: 'pem' } },
    { ...appOf('mine', 'pem'), 'worker env.GITHUB_APP_ID': '12345678', 'Secret/forge': REMOVED },
  ],
  [
    'an App’s private key in extraEnv: it is the only one',
    { forgeToken: {}, githubApp: { appId: '1' }, extraEnv: [{ name: 'GITHUB_APP_PRIVATE_KEY', value: PEM }] },
    {
      ...{ 'Secret/forge': REMOVED, 'worker env.FORGE_TOKEN': REMOVED, 'worker env.GITHUB_APP_ID': '1' },
      ...each(['worker pod'], REPLACED),
      ...each(GATEHOUSE, { 'env.GITHUB_APP_PRIVATE_KEY': PEM }),
    },
  ],
  [
    'the operator’s policy, mounted unchanged: the worker’s pods are replaced',
    { config: { policy: POLICY } },
    {
      'ConfigMap/policy': ADDED,
      'ConfigMap/policy.data.policy.yml': POLICY,
      ...each(['worker pod'], { ...REPLACED, 'volumes.policy.configMap.name': 'gh-gatehouse-policy' }),
      'worker env.POLICY_FILE': '/etc/gatehouse/policy/policy.yml',
      'worker volumeMounts.policy.mountPath': '/etc/gatehouse/policy',
      'worker volumeMounts.policy.readOnly': true,
    },
  ],
  ['no worker, though there are credentials', { worker: { enabled: false } }, NO_WORKER],
  ['no credentials', { forgeToken: {}, config: { policy: POLICY } }, { ...NO_WORKER, 'Secret/forge': REMOVED }],
  [
    'an autoscaler of at least three doors, which keep their budget',
    { door: { replicas: 1, autoscaling: { enabled: true, minReplicas: 3, maxReplicas: 7 } } },
    scalerOf('door', 3, 7),
  ],
  [
    'an autoscaler that goes down to one pod, which has no budget',
    { worker: { replicas: 3, autoscaling: { enabled: true, minReplicas: 1, maxReplicas: 5 } } },
    { ...scalerOf('worker', 1, 5), 'PodDisruptionBudget/worker': REMOVED },
  ],
  [
    'an Ingress and an HTTPRoute, only to /webhook',
    {
      ingress: { enabled: true, hosts: ['a.example.com', 'b.example.com'] },
      httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] },
    },
    {
      'Ingress/gh-gatehouse': ADDED,
      ...routeOf(0, 'a.example.com'),
      ...routeOf(1, 'b.example.com'),
      'HTTPRoute/gh-gatehouse': ADDED,
      'HTTPRoute/gh-gatehouse.spec.parentRefs.public': EMPTY,
      'HTTPRoute/gh-gatehouse.spec.rules.0.matches.0.path.type': 'Exact',
      'HTTPRoute/gh-gatehouse.spec.rules.0.matches.0.path': '/webhook',
      'HTTPRoute/gh-gatehouse.spec.rules.0.backendRefs.gh-gatehouse.port': 80,
    },
  ],
  [
    'a ServiceMonitor of door and worker as one job, instead of annotations',
    { metrics: { serviceMonitor: { enabled: true, relabelings: [{ targetLabel: 'cluster', replacement: 'a' }] } } },
    {
      ...NOT_SCRAPED,
      'Service/worker-metrics': ADDED,
      'Service/worker-metrics.spec.type': 'ClusterIP',
      'Service/worker-metrics.spec.publishNotReadyAddresses': true,
      'Service/worker-metrics.spec.ports.metrics.port': 9090,
      'Service/worker-metrics.spec.ports.metrics.targetPort': 'metrics',
      'ServiceMonitor/gh-gatehouse': ADDED,
      'ServiceMonitor/gh-gatehouse.spec.namespaceSelector.matchNames': 'gatehouse-test',
      'ServiceMonitor/gh-gatehouse.spec.endpoints.0.port': 'metrics',
      'ServiceMonitor/gh-gatehouse.spec.endpoints.0.path': '/metrics',
      'ServiceMonitor/gh-gatehouse.spec.endpoints.0.relabelings.0.targetLabel': 'job',
      'ServiceMonitor/gh-gatehouse.spec.endpoints.0.relabelings.0.replacement': 'gh-gatehouse-metrics',
      'ServiceMonitor/gh-gatehouse.spec.endpoints.0.relabelings.1.targetLabel': 'cluster',
      'ServiceMonitor/gh-gatehouse.spec.endpoints.0.relabelings.1.replacement': 'a',
    },
  ],
  [
    'objects of one’s own, as templates',
    {
      extraObjects: [
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'object' }, data: { release: '{{ .Release.Name }}' } },
        'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: {{ .Release.Name }}-text }\n',
      ],
    },
    { 'ConfigMap/object': ADDED, 'ConfigMap/object.data.release': 'gh', 'ConfigMap/gh-text': ADDED },
  ],
];

for (const [title, values, changes] of CASES) {
  test(`changed by values: ${title}`, async (t) => {
    t.deepEqual(await changesOf(values), changes);
  });
}
