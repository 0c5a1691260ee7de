import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { docker, tryDocker } from './docker.ts';
import { type Container, find, type Manifest, podOf, secretData, type Volume } from './manifests.ts';

export interface Origin {
  readonly kind: string;
  readonly name: string;
  readonly container: string;
}

export interface Running {
  readonly id: string;
  /** Where this machine reaches a port of the container. */
  address(containerPort: number): Promise<string>;
  exec(command: readonly string[]): Promise<string>;
  output(): Promise<string>;
  ended(): Promise<Finished>;
  /** SIGTERM, and SIGKILL after the pod's grace period, as kubelet does. Resolves with the exit code. */
  stop(): Promise<number>;
}

export interface Finished {
  readonly code: number;
  readonly output: string;
}

const DEFAULT_GRACE_SECONDS = 30;
/** Longer than `gatehouse migrate --wait 60`. */
const FINISH_MS = 120_000;

export type Playground = Awaited<ReturnType<typeof makePlayground>>;

/** A Docker network on which the containers of a rendered chart find each other by the names of their Services. */
export async function makePlayground(name: string) {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-pods-'));
  // The containers' users are not this one.
  await chmod(folder, 0o755);
  const containers: string[] = [];
  const label = `gatehouse.playground=${name}`;
  await docker(['network', 'create', name]);

  async function create(manifests: readonly Manifest[], origin: Origin): Promise<string> {
    const args = await runArguments(manifests, origin, { folder: join(folder, `${containers.length}`), label });
    return createWith(args);
  }

  async function createWith(args: readonly string[]): Promise<string> {
    const id = await docker(['create', '--network', name, ...args]);
    containers.push(id);
    return id;
  }

  async function run(id: string, graceSeconds: number): Promise<Running> {
    await docker(['start', id]);
    return {
      id,
      async address(port) {
        const bound = await docker(['port', id, `${port}/tcp`]);
        return bound.split('\n')[0] ?? '';
      },
      exec: (command) => docker(['exec', id, ...command]),
      output: () => docker(['logs', id]),
      async ended() {
        const code = Number(await docker(['wait', id], FINISH_MS));
        const { stdout, stderr } = await tryDocker(['logs', id]);
        return { code, output: `${stdout}${stderr}` };
      },
      async stop() {
        await docker(['stop', '-t', String(graceSeconds), id], (graceSeconds + 30) * 1000);
        return Number(await docker(['inspect', '--format', '{{.State.ExitCode}}', id]));
      },
    };
  }

  return {
    /** Starts a container of an object's pod just as the manifest says, and leaves it running. */
    async start(manifests: readonly Manifest[], origin: Origin): Promise<Running> {
      const pod = podOf(find(manifests, origin.kind, origin.name));
      return run(await create(manifests, origin), pod?.spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS);
    },
    /** Starts a container that no manifest knows, under its own name. The arguments are those of `docker create`. */
    async startBeside(alias: string, args: readonly string[]): Promise<Running> {
      return run(await createWith(['--network-alias', alias, ...args]), DEFAULT_GRACE_SECONDS);
    },
    /** Runs a container of an object's pod to its end, as kubelet would an init container or a test. */
    async finish(manifests: readonly Manifest[], origin: Origin): Promise<Finished> {
      const running = await run(await create(manifests, origin), DEFAULT_GRACE_SECONDS);
      return running.ended();
    },
    async close() {
      if (containers.length > 0) {
        await docker(['rm', '--force', '--volumes', ...containers]);
      }
      const volumes = await docker(['volume', 'ls', '--quiet', '--filter', `label=${label}`]);
      if (volumes !== '') {
        await docker(['volume', 'rm', ...volumes.split('\n')]);
      }
      await docker(['network', 'rm', name]);
      await rm(folder, { recursive: true });
    },
  };
}

interface Place {
  readonly folder: string;
  readonly label: string;
}

/** The arguments of `docker create` for a container of a pod: user, root, privileges, environment, mounts, limit, command. */
async function runArguments(manifests: readonly Manifest[], origin: Origin, place: Place) {
  const manifest = find(manifests, origin.kind, origin.name);
  const pod = podOf(manifest);
  const all = [...(pod?.spec.initContainers ?? []), ...(pod?.spec.containers ?? [])];
  const container = all.find(({ name }) => name === origin.container);
  if (pod === undefined || container === undefined) {
    throw new Error(`no container ${origin.container}`);
  }
  const [command, ...words] = container.command ?? [];
  return [
    ...security({ ...pod.spec.securityContext, ...container.securityContext }),
    ...environment(container, manifests).flatMap((variable) => ['--env', variable]),
    ...(await mounts(container, manifest, manifests, place)),
    ...serviceNames(pod.metadata.labels ?? {}, manifests).flatMap((name) => ['--network-alias', name]),
    ...(container.ports ?? []).flatMap(({ containerPort }) => ['--publish', `127.0.0.1::${containerPort}`]),
    ...memory(container),
    ...(command === undefined ? [] : ['--entrypoint', command]),
    container.image,
    ...words,
    ...(container.args ?? []),
  ];
}

function security(context: Readonly<Record<string, unknown>>): string[] {
  const { drop = [] } = (context['capabilities'] ?? {}) as { drop?: string[] };
  return [
    ...['--user', `${context['runAsUser']}:${context['runAsGroup']}`],
    ...drop.flatMap((capability) => ['--cap-drop', capability]),
    ...(context['readOnlyRootFilesystem'] ? ['--read-only'] : []),
    ...(context['allowPrivilegeEscalation'] === false ? ['--security-opt', 'no-new-privileges'] : []),
  ];
}

function environment({ env = [] }: Container, manifests: readonly Manifest[]): string[] {
  return env.flatMap(({ name, value, valueFrom }) => {
    const ref = valueFrom?.secretKeyRef;
    if (ref === undefined) {
      return `${name}=${value ?? ''}`;
    }
    const found = secretData(find(manifests, 'Secret', ref.name))[ref.key];
    if (found === undefined && !ref.optional) {
      throw new Error(`${ref.name} has no ${ref.key}`);
    }
    return found === undefined ? [] : `${name}=${found}`;
  });
}

/** An emptyDir and a claim are a volume of the pod's fsGroup, as kubelet makes them; the others are folders of files. */
async function mounts(container: Container, owner: Manifest, manifests: readonly Manifest[], { folder, label }: Place) {
  const spec = podOf(owner)?.spec;
  const wanted = container.volumeMounts ?? [];
  const filesOf = (name: string) => {
    const volume = spec?.volumes?.find((candidate) => candidate.name === name);
    return volume && volumeFiles(volume, manifests);
  };
  const volumes = await emptyVolumes(
    container.image,
    wanted.map(({ name }) => name).filter((name) => filesOf(name) === undefined),
    spec?.securityContext?.['fsGroup'] ?? 0,
    label,
  );
  const args: string[] = [];
  for (const { name, mountPath, readOnly } of wanted) {
    const files = filesOf(name);
    // Without nocopy, Docker would give an empty volume what the image has at that path, the owner included.
    let from = `${volumes.get(name)}:${mountPath}:nocopy`;
    if (files !== undefined) {
      for (const [path, text] of files) {
        const file = join(folder, name, path);
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, text, { mode: 0o644 });
      }
      from = `${join(folder, name)}:${mountPath}${readOnly ? ':ro' : ''}`;
    }
    args.push('--volume', from);
  }
  return args;
}

/** What a volume of a Secret or a ConfigMap has, by path; undefined for other volumes. */
function volumeFiles({ secret, configMap }: Volume, manifests: readonly Manifest[]): Map<string, string> | undefined {
  if (configMap !== undefined) {
    return new Map(Object.entries(find(manifests, 'ConfigMap', configMap.name).data ?? {}));
  }
  if (secret === undefined) {
    return undefined;
  }
  const data = secretData(find(manifests, 'Secret', secret.secretName));
  const items = secret.items ?? Object.keys(data).map((key) => ({ key, path: key }));
  return new Map(items.map(({ key, path }) => [path, data[key] ?? '']));
}

async function emptyVolumes(image: string, names: readonly string[], group: unknown, label: string) {
  const volumes = new Map<string, string>();
  for (const name of names) {
    volumes.set(name, await docker(['volume', 'create', '--label', label]));
  }
  if (volumes.size > 0) {
    const mounted = [...volumes].flatMap(([name, volume]) => ['--volume', `${volume}:/mnt/${name}`]);
    const prepare = `chown 0:${group} /mnt/* && chmod 2770 /mnt/*`;
    await docker(['run', '--rm', '--user', '0', ...mounted, '--entrypoint', 'sh', image, '-c', prepare]);
  }
  return volumes;
}

function serviceNames(labels: Readonly<Record<string, string>>, manifests: readonly Manifest[]): string[] {
  const services = manifests.filter(({ kind }) => kind === 'Service');
  const leading = services.filter(({ spec }) => {
    const selector = (spec?.['selector'] ?? {}) as Readonly<Record<string, string>>;
    return Object.entries(selector).every(([label, value]) => labels[label] === value);
  });
  return leading.map(({ metadata }) => metadata.name);
}

const BYTES: Readonly<Record<string, string>> = { Mi: 'm', Gi: 'g' };

function memory({ resources }: Container): string[] {
  const [, amount, unit = ''] = /^(\d+)(Mi|Gi)$/.exec(resources?.limits?.['memory'] ?? '') ?? [];
  return amount === undefined ? [] : ['--memory', `${amount}${BYTES[unit]}`];
}
