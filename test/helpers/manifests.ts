import { fileURLToPath } from 'node:url';
import { parseAllDocuments, parseDocument } from 'yaml';
import { helm } from './helm.ts';

/** A Kubernetes object, as far as the tests look into one. What a kind does not have is undefined. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}

export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface PodSpec {
  readonly automountServiceAccountToken?: boolean;
  readonly enableServiceLinks?: boolean;
  readonly serviceAccountName?: string;
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly terminationGracePeriodSeconds?: number;
  readonly topologySpreadConstraints?: readonly unknown[];
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes?: readonly Volume[];
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly unknown[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext?: Readonly<Record<string, unknown>>;
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
  readonly lifecycle?: unknown;
  readonly startupProbe?: unknown;
  readonly livenessProbe?: unknown;
  readonly readinessProbe?: unknown;
  readonly resources?: { readonly limits?: Quantities; readonly requests?: Quantities };
}

type Quantities = Readonly<Record<string, string>>;

export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: { readonly name: string; readonly key: string; readonly optional?: boolean };
  };
}

export interface Volume {
  readonly name: string;
  readonly emptyDir?: unknown;
  readonly secret?: {
    readonly secretName: string;
    readonly items?: readonly { readonly key: string; readonly path: string }[];
  };
  readonly configMap?: { readonly name: string };
  readonly [source: string]: unknown;
}

export const CHART = fileURLToPath(new URL('../../charts/gatehouse/', import.meta.url));
export const NAMESPACE = 'gatehouse-test';
const RELEASE = 'gh';

export const OWN_STORES = {
  bundled: { postgresql: { enabled: false }, redis: { enabled: false } },
  database: { existingSecret: 'stores' },
  redis: { existingSecret: 'stores' },
};

export interface Rendering {
  readonly chart?: string;
  readonly release?: string;
  readonly values?: unknown;
  readonly valuesFile?: string;
  readonly kubernetes?: string;
  readonly arguments?: readonly string[];
  /** What `lookup` finds. */
  readonly cluster?: { readonly helmArguments: readonly string[] };
  /** As shipped: what would be generated without a cluster is refused. */
  readonly refusesToGenerate?: boolean;
  /** Not the manifests that another test has had. */
  readonly again?: boolean;
}

type Rendered =
  | { readonly manifests: readonly Manifest[]; readonly error?: undefined }
  | { readonly error: string; readonly manifests?: undefined };

/** By what was asked for: many tests look at the same manifests. */
const rendered = new Map<string, Promise<Rendered>>();

/** Renders the chart. A failure is a value: tests look at what it says. */
export function tryRender(rendering: Rendering = {}): Promise<Rendered> {
  // What is in a cluster may change from one to the next.
  if (rendering.again === true || rendering.cluster !== undefined) {
    return runHelm(rendering);
  }
  const key = JSON.stringify(rendering);
  const known = rendered.get(key) ?? runHelm(rendering);
  rendered.set(key, known);
  return known;
}

async function runHelm(rendering: Rendering): Promise<Rendered> {
  const { chart = CHART, release = RELEASE, values, valuesFile, kubernetes = '1.36' } = rendering;
  const result = await helm(
    [
      ...['template', release, chart, '--namespace', NAMESPACE, '--kube-version', kubernetes],
      ...(valuesFile === undefined ? [] : ['--values', valuesFile]),
      ...(values === undefined ? [] : ['--values', '-']),
      ...(rendering.refusesToGenerate === true ? [] : ['--set', 'generateWithoutCluster=true']),
      ...(rendering.cluster === undefined ? [] : rendering.cluster.helmArguments),
      ...(rendering.arguments ?? []),
    ],
    values === undefined ? '' : JSON.stringify(values),
  );
  return result.ok ? { manifests: parseManifests(result.stdout) } : { error: result.stderr };
}

export async function render(rendering: Rendering = {}): Promise<readonly Manifest[]> {
  const { manifests, error } = await tryRender(rendering);
  if (manifests === undefined) {
    throw new Error(error);
  }
  return manifests;
}

/** As YAML 1.2 with no key twice, which is what Kubernetes' own decoder insists on. */
export function parseManifests(text: string): readonly Manifest[] {
  return parseAllDocuments(text, { uniqueKeys: true }).flatMap((document) => {
    if ('errors' in document && document.errors[0] !== undefined) {
      throw document.errors[0];
    }
    const manifest = document.toJS() as Manifest | null;
    return manifest === null ? [] : [manifest];
  });
}

export function find(manifests: readonly Manifest[], kind: string, name: string): Manifest {
  const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name);
  if (found === undefined) {
    const there = manifests.map((manifest) => `${manifest.kind}/${manifest.metadata.name}`).join(', ');
    throw new Error(`no ${kind}/${name} among ${there}`);
  }
  return found;
}

/** The pod that an object is, or makes; undefined for an object without one. */
export function podOf(manifest: Manifest): { readonly metadata: Metadata; readonly spec: PodSpec } | undefined {
  if (manifest.kind === 'Pod') {
    return { metadata: manifest.metadata, spec: manifest.spec as unknown as PodSpec };
  }
  const template = manifest.spec?.['template'];
  return template === undefined ? undefined : (template as { metadata: Metadata; spec: PodSpec });
}

export const containersOf = (pod: PodSpec): readonly Container[] => [...(pod.initContainers ?? []), ...pod.containers];

export function secretData(secret: Manifest): Readonly<Record<string, string>> {
  const entries = Object.entries(secret.data ?? {});
  return Object.fromEntries(entries.map(([key, value]) => [key, Buffer.from(value, 'base64').toString('utf8')]));
}

export function parseYaml(text: string): unknown {
  const document = parseDocument(text, { uniqueKeys: true });
  if (document.errors[0] !== undefined) {
    throw document.errors[0];
  }
  return document.toJS();
}
