import { createHash } from 'node:crypto';
import type { Contents } from './image.ts';
import type { CompiledPackage } from './npm/pack.ts';
import type { Source } from './source.ts';

/** A bill of materials in CycloneDX 1.5. */
export interface BillOfMaterials {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: '1.5';
  readonly components: readonly Component[];
}

interface Component {
  readonly type: string;
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
  readonly licenses?: readonly object[];
  readonly hashes?: readonly object[];
}

/** What is compiled into the npm package. */
export function npmMaterials(source: Source, packages: readonly CompiledPackage[]): BillOfMaterials {
  const name = source.publisher.npm ?? 'gatehouse';
  return bill(source, { type: 'application', name }, packages.map(npmComponent));
}

/** What is in the image: npm packages, Node, and the packages of the base. */
export function imageMaterials(source: Source, { dpkg, node, npm }: Contents): BillOfMaterials {
  const version = node.replace(/^v/, '');
  return bill(source, { type: 'container', name: source.publisher.image }, [
    ...npmPackages(npm),
    { type: 'application', name: 'node', version, purl: `pkg:generic/node@${version}` },
    ...debianPackages(dpkg),
  ]);
}

/**
 * The packages that npm has installed, as it notes in node_modules/.package-lock.json. `npm sbom --omit=dev` leaves out
 * those that a development dependency needs too.
 */
export function npmPackages(lockfile: string): readonly Component[] {
  const { packages } = JSON.parse(lockfile) as {
    packages: Readonly<Record<string, { name?: string; version: string; license?: string; integrity?: string }>>;
  };
  return Object.entries(packages).map(
    ([path, { name = path.replace(/^.*node_modules\//, ''), integrity, ...rest }]) => ({
      ...npmComponent({ name, ...rest }),
      ...(integrity?.startsWith('sha512-') && {
        hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex') }],
      }),
    }),
  );
}

function npmComponent({ name, version, license }: CompiledPackage): Component {
  return {
    type: 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(license === undefined ? {} : { licenses: [{ license: { name: license } }] }),
  };
}

/** The packages that dpkg's status file lists as installed. */
export function debianPackages(status: string): readonly Component[] {
  return status
    .split('\n\n')
    .map((paragraph) => (field: string) => new RegExp(`^${field}: (.*)$`, 'm').exec(paragraph)?.[1] ?? '')
    .filter((field) => field('Status') === 'install ok installed')
    .map((field) => ({
      type: 'library',
      name: field('Package'),
      version: field('Version'),
      purl: `pkg:deb/debian/${field('Package')}@${encodeURIComponent(field('Version'))}?arch=${field('Architecture')}`,
    }));
}

/** The images that a chart installs with its defaults. `manifests`: as `helm template` prints them. */
export function chartMaterials(source: Source, manifests: string): BillOfMaterials {
  const images = new Set([...manifests.matchAll(/^ *(?:- )?image: "?([^"\s]+)"?$/gm)].map(([, image = '']) => image));
  return bill(
    source,
    { type: 'application', name: 'gatehouse chart' },
    [...images].sort().map((image) => {
      const [, name = image, version = ''] = /^(.*?)[:@]([^/]+)$/.exec(image) ?? [];
      return { type: 'container', name, version };
    }),
  );
}

/** Nothing in it differs between two builds of one commit. */
function bill(
  { version, revision, time }: Source,
  subject: { readonly type: string; readonly name: string },
  components: readonly Component[],
): BillOfMaterials {
  const hash = createHash('sha256').update(`${subject.name} ${revision}`).digest('hex');
  const uuid = [
    hash.slice(0, 8),
    hash.slice(8, 12),
    `5${hash.slice(13, 16)}`,
    `8${hash.slice(17, 20)}`,
    hash.slice(20, 32),
  ];
  const document = {
    bomFormat: 'CycloneDX' as const,
    specVersion: '1.5' as const,
    serialNumber: `urn:uuid:${uuid.join('-')}`,
    version: 1,
    metadata: { timestamp: time.toISOString(), component: { ...subject, version } },
    components,
  };
  return document;
}
