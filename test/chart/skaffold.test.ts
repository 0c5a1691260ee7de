import { readFile } from 'node:fs/promises';
import { apiTypes, faultsOf, SUPPORTED } from '../helpers/kubernetes-api.ts';
import { find, type Manifest, parseManifests, parseYaml, podOf, render } from '../helpers/manifests.ts';
import { restrictedFaults } from '../helpers/pod-security.ts';
import { test } from '../helpers/test-with-helm.ts';

interface Skaffold {
  readonly build: { readonly artifacts: readonly { readonly image: string }[] };
  readonly deploy: { readonly helm: { readonly releases: readonly [{ readonly name: string }] } };
  readonly portForward: readonly { readonly resourceName: string; readonly port: number }[];
  readonly verify: readonly [
    {
      readonly name: string;
      readonly container: { readonly name: string; readonly image: string; readonly args: readonly string[] };
      readonly executionMode: { readonly kubernetesCluster: { readonly jobManifestPath: string } };
    },
  ];
  readonly profiles: readonly [
    { readonly patches: readonly { readonly path: string; readonly value: Readonly<Record<string, unknown>> }[] },
  ];
}

const project = (path: string) => readFile(new URL(`../../${path}`, import.meta.url), 'utf8');
const read = async () => parseYaml(await project('skaffold.yaml')) as Skaffold;

/** What Skaffold installs: the chart under the release's name, with `--set` as the dev profile says. */
async function release({ deploy, profiles }: Skaffold): Promise<readonly Manifest[]> {
  const values = profiles[0].patches.find(({ path }) => path.endsWith('/setValues'))?.value ?? {};
  const set = Object.entries(values).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  return render({ release: deploy.helm.releases[0].name, arguments: set });
}

test('the ports that skaffold forwards are ports of the release’s Services', async (t) => {
  const skaffold = await read();
  const manifests = await release(skaffold);
  t.true(skaffold.portForward.length > 0);
  for (const { resourceName, port } of skaffold.portForward) {
    const { ports } = find(manifests, 'Service', resourceName).spec as { ports: { port: number }[] };
    t.true(
      ports.some((there) => there.port === port),
      `${resourceName}:${port}`,
    );
  }
});

test('the dev profile makes the root file system writable, with valid values', async (t) => {
  const door = podOf(find(await release(await read()), 'Deployment', 'gatehouse-door'))?.spec.containers[0];
  t.is(door?.securityContext?.['readOnlyRootFilesystem'], false);
});

test('skaffold verify runs a restricted Job of the built image with the release’s key', async (t) => {
  const skaffold = await read();
  const [{ name, container, executionMode }] = skaffold.verify;
  const [job] = parseManifests(await project(executionMode.kubernetesCluster.jobManifestPath));
  const pod = job === undefined ? undefined : podOf(job);
  if (job === undefined || pod === undefined) {
    return t.fail('no Job');
  }
  for (const version of SUPPORTED) {
    t.deepEqual(faultsOf(job, apiTypes(version)), []);
  }
  t.deepEqual(restrictedFaults(pod.spec), []);
  t.is(job.metadata.name, name);
  t.is(pod.spec.containers[0]?.name, container.name);
  t.deepEqual(
    skaffold.build.artifacts.map(({ image }) => image),
    [container.image],
  );
  const manifests = await release(skaffold);
  const secretKeyRef = pod.spec.containers[0]?.env?.[0]?.valueFrom?.secretKeyRef;
  t.true((secretKeyRef?.key ?? '') in (find(manifests, 'Secret', secretKeyRef?.name ?? '').data ?? {}));
  const url = /--url (\S+)/.exec(container.args.join(' '))?.[1] ?? '';
  t.is(new URL(url).pathname, '/webhook');
  const { ports } = find(manifests, 'Service', new URL(url).hostname).spec as { ports: { port: number }[] };
  t.is(ports[0]?.port, Number(new URL(url).port || 80));
  return undefined;
});
