import { readFile } from 'node:fs/promises';
import { eventually } from './eventually.ts';
import { type Cluster, type Namespace, RELEASE } from './namespace.ts';
import type { Sent } from './sender.ts';

/** Pod Security "restricted", for the pods that the tests add. */
export const RESTRICTED_POD = {
  runAsNonRoot: true,
  runAsUser: 65532,
  seccompProfile: { type: 'RuntimeDefault' },
};
export const RESTRICTED_CONTAINER = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };

interface ExtraPod {
  readonly name: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string>>;
}

/** Runs a pod of the image under test beside the release, with files in /test. */
async function startPod(
  cluster: Cluster,
  at: Namespace,
  { name, command, env = {}, files = {} }: ExtraPod,
): Promise<void> {
  const objects = [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: files },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name, labels: { app: name } },
      spec: {
        restartPolicy: 'Never',
        automountServiceAccountToken: false,
        securityContext: RESTRICTED_POD,
        containers: [
          {
            name,
            image: cluster.image,
            imagePullPolicy: 'Never',
            command,
            env: Object.entries(env).map(([variable, value]) => ({ name: variable, value })),
            securityContext: RESTRICTED_CONTAINER,
            volumeMounts: [{ name: 'files', mountPath: '/test' }],
          },
        ],
        volumes: [{ name: 'files', configMap: { name } }],
      },
    },
  ];
  await at.kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }));
  await at.kubectl(['wait', '--for=condition=Ready', `pod/${name}`, '--timeout=120s']);
}

/** Sends through the Service, from a pod of its own. */
export async function startSenderPod(
  cluster: Cluster,
  at: Namespace,
  secret: string,
): Promise<{ stop(): Promise<Sent> }> {
  const name = `sender-${Math.random().toString(36).slice(2, 8)}`;
  const source = await readFile(new URL('./sender.ts', import.meta.url), 'utf8');
  await startPod(cluster, at, {
    name,
    command: ['node', '/test/sender.ts'],
    env: { URL: `http://${RELEASE}/webhook`, SECRET: secret },
    files: { 'sender.ts': source },
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
  return startPod(cluster, at, { name: 'stranger', command: ['node', '-e', 'setInterval(() => {}, 1e6)'] });
}

/** The status that the stranger is answered, or why there was none. */
export async function strangerGets(at: Namespace, url: string): Promise<string> {
  const script = `fetch(process.argv[1], { signal: AbortSignal.timeout(4000) }).then((r) => console.log(r.status), (e) => console.log(e.cause?.code ?? e.name))`;
  return (await at.kubectl(['exec', 'stranger', '--', 'node', '-e', script, url])).trim();
}

/** Throws when something that was acknowledged is not stored. */
export async function expectStored(
  at: Namespace,
  all: readonly Sent[],
): Promise<{ acknowledged: number; refused: number }> {
  const acknowledged = all.flatMap((sent) => sent.acknowledged);
  const stored = new Set((await at.sql('SELECT delivery_id FROM gatehouse.deliveries')).split('\n'));
  const lost = acknowledged.filter((id) => !stored.has(id));
  if (lost.length > 0) {
    throw new Error(`${lost.length} of ${acknowledged.length} acknowledged deliveries are not stored`);
  }
  if (acknowledged.length < 100) {
    throw new Error(`only ${acknowledged.length} deliveries were acknowledged: ${refusals(all)}`);
  }
  return { acknowledged: acknowledged.length, refused: countRefused(all) };
}

export const countRefused = (all: readonly Sent[]) =>
  all.flatMap(({ refused }) => Object.values(refused)).reduce((sum, times) => sum + times, 0);

export const refusals = (all: readonly Sent[]) => all.map(({ refused }) => JSON.stringify(refused)).join(' ');
