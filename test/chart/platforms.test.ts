import { readFile } from 'node:fs/promises';
import { containersOf, find, type Manifest, OWN_STORES, parseYaml, podOf, render } from '../helpers/manifests.ts';
import { restrictedFaults } from '../helpers/pod-security.ts';
import { test } from '../helpers/test-with-helm.ts';

const page = await readFile(new URL('../../docs/platforms.md', import.meta.url), 'utf8');
const NAME = 'gh-gatehouse';
const DOOR = `${NAME}-door`;

/** What the chart makes of the values that the page shows below a heading. */
function renderExample(heading: string): Promise<readonly Manifest[]> {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`)) ?? '';
  const [, yaml = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(section) ?? [];
  return render({ values: { forgeToken: { value: 'a-token' }, ...Object(parseYaml(yaml)) } });
}

/** The path that kubelet asks: 503 there means that the pod should get no requests. */
function readyPath(manifests: readonly Manifest[]): string {
  const probe = podOf(find(manifests, 'Deployment', DOOR))?.spec.containers[0]?.readinessProbe;
  return (probe as { readonly httpGet: { readonly path: string } }).httpGet.path;
}

test('docs/platforms.md, GKE with a Gateway: the door’s Service is asked for readiness', async (t) => {
  const manifests = await renderExample('GKE, Gateway API');
  const { apiVersion, spec } = find(manifests, 'HealthCheckPolicy', NAME);
  t.is(apiVersion, 'networking.gke.io/v1');
  t.deepEqual(spec, {
    default: { config: { type: 'HTTP', httpHealthCheck: { requestPath: readyPath(manifests) } } },
    targetRef: { group: '', kind: 'Service', name: find(manifests, 'Service', NAME).metadata.name },
  });
  t.truthy(find(manifests, 'HTTPRoute', NAME));
});

test('docs/platforms.md, GKE with an Ingress: the door’s Service names the check', async (t) => {
  const manifests = await renderExample('GKE, Ingress');
  const { annotations } = find(manifests, 'Service', NAME).metadata;
  const name = String(JSON.parse(annotations?.['cloud.google.com/backend-config'] ?? '').default);
  const { apiVersion, spec } = find(manifests, 'BackendConfig', name);
  t.is(apiVersion, 'cloud.google.com/v1');
  t.deepEqual(spec, { healthCheck: { type: 'HTTP', requestPath: readyPath(manifests), port: 8080 } });
});

test('docs/platforms.md, AWS: the Ingress names the check', async (t) => {
  const manifests = await renderExample('AWS, Application Load Balancer');
  const { metadata, spec } = find(manifests, 'Ingress', NAME);
  t.is(metadata.annotations?.['alb.ingress.kubernetes.io/healthcheck-path'], readyPath(manifests));
  t.is(metadata.annotations?.['alb.ingress.kubernetes.io/listen-ports'], '[{"HTTPS": 443}]');
  t.is(spec?.['ingressClassName'], 'alb');
});

test('docs/platforms.md, OpenShift: no pod names an id, and its DNS is reached', async (t) => {
  const manifests = await renderExample('OpenShift');
  const pods = manifests.flatMap((manifest) => podOf(manifest) ?? []);
  t.is(pods.length, 3, 'door, worker, helm test');
  for (const { spec } of pods) {
    t.deepEqual(spec.securityContext, { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    for (const { securityContext } of containersOf(spec)) {
      t.deepEqual(
        Object.keys(securityContext ?? {}).filter((key) => /^(runAs|fsGroup)/.test(key)),
        [],
      );
    }
    t.deepEqual(
      restrictedFaults(spec).filter((fault) => !fault.endsWith(': runAsUser')),
      [],
    );
  }
  for (const part of [DOOR, `${NAME}-worker`]) {
    t.deepEqual(dnsRule(find(manifests, 'NetworkPolicy', part)), {
      ports: [53, 5353].flatMap((port) => [
        { port, protocol: 'UDP' },
        { port, protocol: 'TCP' },
      ]),
    });
  }
});

test('docs/platforms.md, OpenShift: a Route leads to the door’s Service, and to nothing but webhooks', async (t) => {
  const manifests = await renderExample('OpenShift');
  const { spec } = find(manifests, 'Route', NAME);
  const service = find(manifests, 'Service', NAME);
  const [port] = (service.spec?.['ports'] ?? []) as readonly { readonly name: string }[];
  t.deepEqual(spec, {
    host: 'gatehouse.apps.example.com',
    path: '/webhook',
    to: { kind: 'Service', name: service.metadata.name },
    port: { targetPort: port?.name },
    tls: { termination: 'edge' },
  });
});

/** The first rule of what goes out. */
function dnsRule({ spec }: Manifest): unknown {
  const egress = (spec?.['egress'] ?? []) as readonly unknown[];
  return egress[0];
}

test('DNS is reached at any address, as that of NodeLocal DNSCache', async (t) => {
  const policy = async (networkPolicy: object) =>
    find(
      await render({ values: { ...OWN_STORES, networkPolicy: { enabled: true, ...networkPolicy } } }),
      'NetworkPolicy',
      DOOR,
    );
  t.deepEqual(dnsRule(await policy({})), {
    ports: [
      { port: 53, protocol: 'UDP' },
      { port: 53, protocol: 'TCP' },
    ],
  });
  const without = await policy({ dnsPorts: [] });
  t.deepEqual(without.spec?.['egress'], [{ ports: [5432, 6379].map((port) => ({ port, protocol: 'TCP' })) }]);
});
