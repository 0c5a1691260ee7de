import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { startCluster } from '../helpers/cluster.ts';
import { customResourceFaults } from '../helpers/custom-resources.ts';
import { helm } from '../helpers/helm.ts';
import { apiTypes, faultsOf, SUPPORTED } from '../helpers/kubernetes-api.ts';
import { CHART, containersOf, type Manifest, NAMESPACE, parseYaml, podOf, render } from '../helpers/manifests.ts';
import { restrictedFaults } from '../helpers/pod-security.ts';
import ava from '../helpers/test.ts';
import { test } from '../helpers/test-with-helm.ts';

/** Everything here is asked of each file of values in the chart's ci folder, fresh and as an upgrade of the same. */
interface Sample {
  readonly title: string;
  readonly manifests: readonly Manifest[];
  /** What is in the cluster from before: a signing key that has not changed is not written again. */
  readonly kept: readonly Manifest[];
}

let samples: readonly Sample[] = [];

const valuesFiles = async () => (await readdir(`${CHART}ci`)).map((name) => `${CHART}ci/${name}`).sort();

async function templates(): Promise<readonly string[]> {
  const entries = await readdir(`${CHART}templates`, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
}

async function renderTwice(valuesFile: string): Promise<Sample[]> {
  const cluster = await startCluster('1.36', NAMESPACE);
  try {
    const values = basename(valuesFile, '-values.yaml');
    const fresh = await render({ valuesFile });
    const kept = fresh.filter(({ kind }) => kind === 'Secret');
    cluster.put(kept);
    const upgrade = await render({ valuesFile, cluster, arguments: ['--is-upgrade'] });
    return [
      { title: `${values} values, fresh`, manifests: fresh, kept: [] },
      { title: `${values} values, upgrade`, manifests: upgrade, kept },
    ];
  } finally {
    await cluster.close();
  }
}

ava.before(async () => {
  samples = (await Promise.all((await valuesFiles()).map(renderTwice))).flat();
});

function pods(manifests: readonly Manifest[]) {
  return manifests.flatMap((manifest) => {
    const pod = podOf(manifest);
    return pod === undefined ? [] : [{ ...pod, owner: `${manifest.kind}/${manifest.metadata.name}`, manifest }];
  });
}

/** Every pod of every sample, to be looked at by itself. */
const allPods = () =>
  samples.flatMap(({ title, manifests }) =>
    pods(manifests).map((pod) => ({ ...pod, title: `${title}: ${pod.owner}`, containers: containersOf(pod.spec) })),
  );

test('helm lint --strict has no complaint for any values', async (t) => {
  const lint = (file: string) => helm(['lint', '--strict', CHART, '--values', file]);
  for (const { ok, stdout, stderr } of await Promise.all((await valuesFiles()).map(lint))) {
    t.true(ok, stdout + stderr);
    t.notRegex(stdout, /\[(WARNING|ERROR)\]/);
  }
});

test('the lowest tested Kubernetes version is that of Chart.yaml, and gets the same manifests', async (t) => {
  const chart = parseYaml(await readFile(`${CHART}Chart.yaml`, 'utf8'));
  const [lowest] = SUPPORTED;
  t.like(chart, { kubeVersion: `>=${lowest}.0-0` });
  // Nothing is generated with these values.
  const valuesFile = `${CHART}ci/production-values.yaml`;
  t.deepEqual(await render({ valuesFile, kubernetes: lowest }), await render({ valuesFile }));
  for (const file of await templates()) {
    t.notRegex(await readFile(file, 'utf8'), /\.Capabilities\b/, file);
  }
});

test('every manifest matches the Kubernetes API types, with no unknown field', (t) => {
  t.true(samples.length >= 10);
  for (const api of SUPPORTED.map(apiTypes)) {
    for (const { title, manifests } of samples) {
      for (const manifest of manifests) {
        const faults = customResourceFaults(manifest) ?? faultsOf(manifest, api);
        t.deepEqual(faults, [], `${title}, ${api.kubernetes}: ${manifest.kind}/${manifest.metadata.name}`);
      }
    }
  }
});

test('no two objects have the same kind and name', (t) => {
  for (const { title, manifests } of samples) {
    const names = manifests.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    t.deepEqual(names, [...new Set(names)], title);
  }
});

test('no container has a variable twice, or a variable beside its _FILE', (t) => {
  for (const { title, containers } of allPods()) {
    for (const { name, env = [] } of containers) {
      const names = env.map((variable) => variable.name.replace(/_FILE$/, ''));
      t.deepEqual(names, [...new Set(names)], `${title} ${name}`);
    }
  }
});

test('every pod meets Pod Security "restricted", with a read-only root, no token and limited memory', (t) => {
  for (const { title, spec, containers } of allPods()) {
    t.deepEqual(restrictedFaults(spec), [], title);
    t.like(spec, { automountServiceAccountToken: false, enableServiceLinks: false }, title);
    for (const { name, securityContext, resources } of containers) {
      t.is(securityContext?.['readOnlyRootFilesystem'], true, `${title} ${name}`);
      t.truthy(resources?.limits?.['memory'], `${title} ${name}`);
      t.truthy(resources?.requests?.['memory'], `${title} ${name}`);
    }
  }
});

test('every selector finds exactly its own pods, by the name, the release and the component', (t) => {
  for (const { title, manifests } of samples) {
    for (const { kind, metadata, spec } of manifests) {
      const selector = selectorOf(kind, spec);
      if (selector === undefined) {
        continue;
      }
      const at = `${title}: ${kind}/${metadata.name}`;
      const labels = ['component', 'instance', 'name'].map((label) => `app.kubernetes.io/${label}`);
      t.deepEqual(Object.keys(selector).sort(), labels, at);
      const found = pods(manifests).filter((pod) =>
        Object.entries(selector).every(([label, value]) => pod.metadata.labels?.[label] === value),
      );
      t.is(found.length, 1, `${at} finds ${found.map(({ owner }) => owner)}`);
      // A metrics Service is called what it is for; everything else, after the pods that it finds.
      if (kind !== 'Service') {
        const component = 'app.kubernetes.io/component';
        t.is(selector[component], metadata.labels?.[component], at);
      }
    }
  }
});

type Labels = Readonly<Record<string, string>>;

function selectorOf(kind: string, spec: Manifest['spec']): Labels | undefined {
  switch (kind) {
    case 'Service':
      return spec?.['selector'] as Labels;
    case 'Deployment':
    case 'StatefulSet':
    case 'PodDisruptionBudget':
      return (spec?.['selector'] as { matchLabels: Labels } | undefined)?.matchLabels;
    case 'NetworkPolicy':
      return (spec?.['podSelector'] as { matchLabels: Labels } | undefined)?.matchLabels;
    default:
      return undefined;
  }
}

test('every Secret, ConfigMap, claim and account that a pod names exists', (t) => {
  const users = new Set([
    ...['Secret/gatehouse-webhook', 'Secret/gatehouse-stores', 'Secret/registry', 'Secret/gatehouse-tls'],
    'Secret/gatehouse-forge',
    ...['ConfigMap/database-ca', 'ConfigMap/extra-settings', 'ServiceAccount/gatehouse-vault'],
    // Every namespace has one.
    'ServiceAccount/default',
  ]);
  for (const { title, manifests, kept } of samples) {
    const own = new Map(
      [...kept, ...manifests].map((manifest) => [`${manifest.kind}/${manifest.metadata.name}`, manifest]),
    );
    for (const { owner, spec } of pods(manifests)) {
      t.deepEqual(
        references(spec).filter((name) => !own.has(name) && !users.has(name)),
        [],
        `${title}: ${owner}`,
      );
      for (const { name, key } of secretKeys(spec)) {
        const secret = own.get(`Secret/${name}`);
        t.true(secret === undefined || key in (secret.data ?? {}), `${title}: ${owner} wants ${key} of ${name}`);
      }
      const volumes = [...(spec.volumes ?? []), ...claims(owner, manifests)].map(({ name }) => name);
      for (const { name, volumeMounts = [] } of containersOf(spec)) {
        const missing = volumeMounts.filter((mount) => !volumes.includes(mount.name));
        t.deepEqual(missing, [], `${title}: ${owner} ${name}`);
      }
    }
  }
});

type Pod = ReturnType<typeof pods>[number]['spec'];

function secretKeys(spec: Pod) {
  const env = containersOf(spec).flatMap((container) => container.env ?? []);
  const refs = env.flatMap(({ valueFrom }) => valueFrom?.secretKeyRef ?? []).filter((ref) => ref.optional !== true);
  const files = (spec.volumes ?? []).flatMap(({ secret }) => {
    return secret?.items?.map(({ key }) => ({ name: secret.secretName, key })) ?? [];
  });
  return [...refs, ...files];
}

/** Every object that the pod names, wherever in it. */
function references(spec: Pod): readonly string[] {
  const names = [`ServiceAccount/${spec.serviceAccountName ?? 'default'}`];
  const kinds = {
    secretKeyRef: 'Secret',
    secretRef: 'Secret',
    configMapRef: 'ConfigMap',
    configMapKeyRef: 'ConfigMap',
  };
  JSON.stringify(spec, (key, value) => {
    if (key in kinds) {
      names.push(`${kinds[key as keyof typeof kinds]}/${value.name}`);
    }
    if (key === 'secret') {
      names.push(`Secret/${value.secretName}`);
    }
    if (key === 'configMap') {
      names.push(`ConfigMap/${value.name}`);
    }
    if (key === 'imagePullSecrets') {
      for (const { name } of value) {
        names.push(`Secret/${name}`);
      }
    }
    return value;
  });
  return names;
}

function claims(owner: string, manifests: readonly Manifest[]): readonly { readonly name: string }[] {
  const set = manifests.find(({ kind, metadata }) => `${kind}/${metadata.name}` === owner);
  const templates = (set?.spec?.['volumeClaimTemplates'] ?? []) as { metadata: { name: string } }[];
  return templates.map(({ metadata }) => metadata);
}

test('an upgrade does not change immutable fields, whatever the values', async (t) => {
  const fixed = (manifests: readonly Manifest[]) =>
    manifests.flatMap(({ kind, metadata, spec }) => {
      if (kind !== 'Deployment' && kind !== 'StatefulSet') {
        return [];
      }
      const { selector, serviceName, volumeClaimTemplates } = spec ?? {};
      return [{ kind, name: metadata.name, selector, serviceName, volumeClaimTemplates }];
    });
  const changed = {
    commonLabels: { team: 'other' },
    podLabels: { tier: 'web', 'app.kubernetes.io/component': 'mine', 'app.kubernetes.io/name': 'mine' },
    image: { tag: '9.9.9' },
    config: { forge: 'forgejo', forgeUrl: 'https://git.example.com' },
    door: { replicas: 5 },
    worker: { replicas: 5 },
    bundled: { postgresql: { image: 'postgres:17.1-alpine' } },
  };
  const worker = { forgeToken: { value: 'a-token' } };
  t.is(fixed(await render({ values: worker })).length, 4);
  t.deepEqual(fixed(await render({ values: { ...changed, ...worker } })), fixed(await render({ values: worker })));
});

test('names have at most 63 characters, and a StatefulSet’s at most 52', async (t) => {
  const everything = {
    networkPolicy: { enabled: true },
    metrics: { dashboard: { enabled: true }, serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } },
    forgeToken: { value: 'a-token' },
    config: { policy: 'version: 1' },
    ingress: { enabled: true, hosts: ['gatehouse.example.com'] },
  };
  for (const names of [{}, { fullnameOverride: `${'long-'.repeat(12)}end` }, { nameOverride: 'n'.repeat(63) }]) {
    const manifests = await render({ release: 'r'.repeat(53), values: { ...everything, ...names } });
    for (const { kind, metadata } of manifests) {
      t.regex(metadata.name, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
      const longest = kind === 'StatefulSet' ? 52 : 63;
      t.true(metadata.name.length <= longest, `${kind}/${metadata.name}`);
      for (const value of Object.values(metadata.labels ?? {})) {
        t.true(value.length <= 63, value);
      }
    }
    t.is(new Set(manifests.map(({ kind, metadata }) => kind + metadata.name)).size, manifests.length);
  }
});

test('the templates are short enough to be read: under 1,050 lines', async (t) => {
  const files = (await templates()).filter((file) => basename(file) !== 'NOTES.txt');
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  const lines = texts.reduce((sum, text) => sum + text.trimEnd().split('\n').length, 0);
  t.true(lines < 1_050, `${lines} lines`);
});
