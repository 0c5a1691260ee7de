import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { eventually } from './eventually.ts';
import { expect } from './expect.ts';
import { type Cluster, type Namespace, RELEASE } from './namespace.ts';
import type { Sent } from './sender.ts';

/** Where a pod that the tests add has its program. */
const FOLDER = '/program';
const FILE = 'program.mjs';
const PROJECT = fileURLToPath(new URL('../../', import.meta.url));
/** For what it bundles that is no module. */
const REQUIRE = "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

interface PodPlan {
  readonly name: string;
  readonly userId: number;
  readonly container: object;
  readonly volumes: readonly object[];
  /** A port by which others reach it under its name. */
  readonly port?: number;
}

/** Runs a pod that meets Pod Security "restricted" beside the release, and waits until it is ready. */
export async function createPod(at: Namespace, { name, userId, container, volumes, port }: PodPlan): Promise<void> {
  const securityContext = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };
  const pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name } },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: {
        ...{ runAsNonRoot: true, runAsUser: userId, runAsGroup: userId, fsGroup: userId },
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [{ name, securityContext, ...container }],
      volumes,
    },
  };
  const spec = { selector: { app: name }, ports: [{ port }] };
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec };
  await at.create(port === undefined ? [pod] : [service, pod]);
  await at.kubectl(['wait', '--for=condition=Ready', `pod/${name}`, '--timeout=180s']);
}

interface Program {
  readonly name: string;
  /** A file of the project, which the pod runs, bundled with all that it imports. */
  readonly program: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs a program of the tests in a pod of the image under test. */
async function startPod(cluster: Cluster, at: Namespace, { name, program, env = {} }: Program): Promise<void> {
  const bundle = { bundle: true, minify: true, platform: 'node', format: 'esm', banner: { js: REQUIRE } } as const;
  const { outputFiles } = await build({ ...bundle, entryPoints: [`${PROJECT}${program}`], write: false });
  await at.create([
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { [FILE]: outputFiles[0]?.text } },
  ]);
  await createPod(at, {
    name,
    userId: 65532,
    container: {
      image: cluster.image,
      imagePullPolicy: 'Never',
      command: ['node', `${FOLDER}/${FILE}`],
      env: Object.entries(env).map(([variable, value]) => ({ name: variable, value })),
      volumeMounts: [{ name: 'program', mountPath: FOLDER }],
    },
    volumes: [{ name: 'program', configMap: { name } }],
  });
}

/** Sends through the Service, from a pod of its own. */
export async function startSenderPod(
  cluster: Cluster,
  at: Namespace,
  secret: string,
): Promise<{ stop(): Promise<Sent> }> {
  const name = `sender-${Math.random().toString(36).slice(2, 8)}`;
  await startPod(cluster, at, {
    name,
    program: 'test/cluster/sender.ts',
    env: { URL: `http://${RELEASE}/webhook`, SECRET: secret },
  });
  return {
    async stop() {
      await at.kubectl(['exec', name, '--', 'sh', '-c', 'kill -TERM 1']);
      await eventually('the sender has ended', async () => {
        const { status } = (await at.get(['pod', name])) as { status: { phase: string } };
        return status.phase === 'Succeeded';
      });
      const lines = (await at.kubectl(['logs', name])).trim().split('\n');
      await at.kubectl(['delete', 'pod', name, '--wait=false']);
      return JSON.parse(lines.at(-1) ?? '') as Sent;
    },
  };
}

/** A pod that does nothing, to try from it what can be reached. */
export function startStranger(cluster: Cluster, at: Namespace): Promise<void> {
  return startPod(cluster, at, { name: 'stranger', program: 'test/cluster/idle.ts' });
}

/** The status that the stranger is answered, or why there was none. */
export async function strangerGets(at: Namespace, url: string): Promise<string> {
  const script = `fetch(process.argv[1], { signal: AbortSignal.timeout(4000) }).then((r) => console.log(r.status), (e) => console.log(e.cause?.code ?? e.name))`;
  return (await at.kubectl(['exec', 'stranger', '--', 'node', '-e', script, url])).trim();
}

/** How many were acknowledged. Throws when one of them is not stored. */
export async function expectStored(at: Namespace, all: readonly Sent[]): Promise<number> {
  const acknowledged = all.flatMap((sent) => sent.acknowledged);
  const stored = new Set((await at.sql('SELECT delivery_id FROM gatehouse.deliveries')).split('\n'));
  const lost = acknowledged.filter((id) => !stored.has(id));
  expect(lost.length === 0, `nothing to be lost, not ${lost.length} of ${acknowledged.length}`);
  expect(acknowledged.length >= 100, `100 deliveries or more, not ${acknowledged.length}: ${refusals(all)}`);
  return acknowledged.length;
}

export const countRefused = (all: readonly Sent[]) =>
  all.flatMap(({ refused }) => Object.values(refused)).reduce((sum, times) => sum + times, 0);

export const refusals = (all: readonly Sent[]) => all.map(({ refused }) => JSON.stringify(refused)).join(' ');
