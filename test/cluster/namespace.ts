import { fileURLToPath } from 'node:url';
import { command, type Result, tryCommand } from './commands.ts';
import { eventually } from './eventually.ts';

const CHART = fileURLToPath(new URL('../../charts/gatehouse', import.meta.url));
export const RELEASE = 'gatehouse';
const INSTALL_TIMEOUT = '4m';

export interface Cluster {
  /** kubectl's context, named in every call, so that nobody can switch it in the middle. */
  readonly context: string;
  /** The image under test, as `repository:tag`. */
  readonly image: string;
  /** Marks the namespaces of this run. */
  readonly run: string;
  /** URL of the ingress controller of class nginx; undefined where the cluster has none. */
  readonly ingress: string | undefined;
}

export interface Pod {
  readonly name: string;
  readonly uid: string;
  readonly ip: string;
  readonly ready: boolean;
  readonly terminating: boolean;
  /** Of all containers, init containers included. */
  readonly restarts: number;
  readonly annotations: Readonly<Record<string, string>>;
}

/** A namespace that a case made, with a release of the chart in it. */
export type Namespace = ReturnType<typeof openNamespace>;

export async function makeNamespace(cluster: Cluster, name: string): Promise<Namespace> {
  const labels = {
    'gatehouse-test': cluster.run,
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/warn': 'restricted',
  };
  const metadata = { name: `gatehouse-test-${cluster.run}-${name}`, labels };
  const manifest = { apiVersion: 'v1', kind: 'Namespace', metadata };
  await command('kubectl', ['--context', cluster.context, 'create', '-f', '-'], { input: JSON.stringify(manifest) });
  return openNamespace(cluster, metadata.name);
}

function openNamespace(cluster: Cluster, name: string) {
  const inNamespace = ['--context', cluster.context, '--namespace', name];
  const kubectl = (args: readonly string[], input?: string) => command('kubectl', [...inNamespace, ...args], { input });
  const tryKubectl = (args: readonly string[], input?: string) =>
    tryCommand('kubectl', [...inNamespace, ...args], { input });
  const get = async (args: readonly string[]) => JSON.parse(await kubectl(['get', ...args, '-o', 'json']));

  /** Runs helm on this namespace, with values as JSON. */
  async function helm(args: readonly string[], values: object = {}): Promise<Result> {
    const inRelease = ['--kube-context', cluster.context, '--namespace', name, ...args];
    const result = await tryCommand('helm', inRelease, { input: JSON.stringify(values) });
    if (!result.ok) {
      throw new Error(`helm ${args[0]}: ${result.stderr.trim()}\n${await kubectl(['get', 'pods'])}`);
    }
    return result;
  }
  const IN_DOOR = ['exec', 'deployment/gatehouse-door', '-c', 'door', '--'];
  /** Runs a command in a door. */
  const inDoor = (...args: readonly string[]) => kubectl([...IN_DOOR, ...args]);

  async function pods(component: string): Promise<readonly Pod[]> {
    const { items } = (await get(['pods', '-l', `app.kubernetes.io/component=${component}`])) as { items: ApiPod[] };
    return items.map(({ metadata, status }) => ({
      name: metadata.name,
      uid: metadata.uid,
      ip: status.podIP ?? '',
      ready: (status.conditions ?? []).some(({ type, status: holds }) => type === 'Ready' && holds === 'True'),
      terminating: metadata.deletionTimestamp !== undefined,
      restarts: [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].reduce(
        (sum, { restartCount }) => sum + restartCount,
        0,
      ),
      annotations: metadata.annotations ?? {},
    }));
  }

  const [repository, tag] = cluster.image.split(':');
  return {
    name,
    kubectl,
    tryKubectl,
    get,
    helm,
    inDoor,
    pods,
    /** Creates objects. */
    create: (items: readonly object[]) =>
      kubectl(['create', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items })),
    /** Installs the chart, or upgrades it, and waits until everything is ready. */
    install: (values: object = {}, args: readonly string[] = ['--wait']) =>
      helm(['upgrade', '--install', RELEASE, CHART, '--timeout', INSTALL_TIMEOUT, '--values', '-', ...args], {
        ...values,
        image: { repository, tag, pullPolicy: 'Never' },
      }),
    doorsBecome: (ready: boolean) =>
      eventually(`every door is ${ready ? 'ready' : 'unready'}`, async () => {
        const doors = (await pods('door')).filter(({ terminating }) => !terminating);
        return doors.length > 0 && doors.every((door) => door.ready === ready);
      }),
    /** Replaces every door, and waits until the last of the old ones is gone: it answers for some seconds more. */
    async restartDoors(): Promise<void> {
      await kubectl(['rollout', 'restart', 'deployment/gatehouse-door']);
      await kubectl(['rollout', 'status', 'deployment/gatehouse-door', '--timeout=240s']);
      await eventually('the old doors are gone', async () =>
        (await pods('door')).every(({ terminating }) => !terminating),
      );
    },
    /** What a signed delivery through the Service is answered, sent from inside a door. The Service may be some seconds late. */
    async deliver(): Promise<string> {
      const send = `echo '{}' | gatehouse send - --url http://${RELEASE}/webhook --event ping --wait 30`;
      const { stdout, stderr } = await tryKubectl([...IN_DOOR, 'sh', '-c', send]);
      return /^(\d{3}) /m.exec(stdout)?.[1] ?? `none: ${stderr.trim()}`;
    },
    /** What a door answers, asked by its own address: status and body. */
    async ask(path: string): Promise<{ readonly status: number; readonly text: string }> {
      const script = `fetch('http://localhost:8080${path}').then(async (r) => console.log(JSON.stringify({ status: r.status, text: await r.text() })))`;
      return JSON.parse(await inDoor('node', '-e', script));
    },
    async sql(query: string): Promise<string> {
      const psql = ['psql', '-U', 'gatehouse', '-d', 'gatehouse', '-qtA'];
      return (await kubectl(['exec', '-i', 'statefulset/gatehouse-postgresql', '--', ...psql], query)).trim();
    },
    async signingKey(): Promise<string> {
      const { data } = (await get(['secret', RELEASE])) as { data: Record<string, string> };
      return Buffer.from(data['webhook-secret'] ?? '', 'base64').toString();
    },
    scale: async (target: string, replicas: number) => {
      await kubectl(['scale', target, `--replicas=${replicas}`]);
      if (replicas > 0) {
        await kubectl(['rollout', 'status', target, '--timeout=180s']);
      }
    },
    remove: () => kubectl(['delete', 'namespace', name, '--wait=false']),
  };
}

interface ApiPod {
  readonly metadata: Pick<Pod, 'name' | 'uid'> & Partial<Pick<Pod, 'annotations'>> & { deletionTimestamp?: string };
  readonly status: {
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly { readonly restartCount: number }[];
    readonly initContainerStatuses?: readonly { readonly restartCount: number }[];
  };
}
