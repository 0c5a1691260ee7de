/**
 * `npm run package`: packages the chart into dist/ with the publisher and the image of publisher.json, and prints the
 * command that builds the image. It pushes nothing.
 */
import { cp, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { create, extract } from 'tar';
import { parse, parseDocument } from 'yaml';
import { withValues } from '../test/chart/readme.ts';
import { helm } from '../test/helpers/helm.ts';
import { chartAnnotations, type Image } from './artifact-hub.ts';
import { type Change, changesOf } from './changelog.ts';
import { publishedReadme } from './chart-readme.ts';
import { type Publisher, readPublisher } from './publisher.ts';
import { runIn } from './run.ts';
import { commitTime } from './source.ts';
import { readVersion } from './versions.ts';

export interface Packaging {
  readonly root: string;
  readonly destination: string;
}

interface ChartPackaging extends Packaging {
  /** That of every file in the package. */
  readonly time: Date;
  /** As `sha256:…`, in a release, which is signed. The chart then installs this image, whatever becomes of the tag. */
  readonly imageDigest?: string;
  /** Those of the image, as `linux/amd64`. */
  readonly platforms?: readonly string[];
  /** Of the key that the chart is going to be signed with. */
  readonly fingerprint?: string | undefined;
}

/** The name of the file that {@link packageChart} writes: as `helm package` names it. */
export const chartFile = (version: string) => `gatehouse-${version}.tgz`;

/** Returns the packaged chart's path. Throws, with nothing written, when publisher.json is not complete. */
export async function packageChart(packaging: ChartPackaging): Promise<string> {
  const { root, destination, time } = packaging;
  const publisher = await readPublisher(root);
  const version = await readVersion(root);
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-chart-'));
  try {
    const chart = join(folder, 'gatehouse');
    await cp(join(root, 'charts/gatehouse'), chart, { recursive: true });
    const changes = changesOf(await readFile(join(root, 'CHANGELOG.md'), 'utf8'), version);
    await fillIn(chart, publisher, { ...packaging, version, changes });
    await runHelm('lint', '--strict', chart);
    await runHelm('package', chart, '--destination', destination);
    const tarball = join(destination, chartFile(version));
    await repack(tarball, folder, time);
    return tarball;
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Helm writes the time of packaging into a package: this one is the same whenever it is made. */
async function repack(tarball: string, folder: string, time: Date): Promise<void> {
  const cwd = await mkdtemp(join(folder, 'packed-'));
  await extract({ file: tarball, cwd });
  const entries = await readdir(cwd, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(cwd, join(parentPath, name)));
  await create({ file: tarball, cwd, gzip: true, portable: true, mtime: time, noDirRecurse: true }, files.sort());
  // `helm push` takes the time of the manifest from that of the file.
  await utimes(tarball, time, time);
}

/** Writes the publisher, the image and the changes into a copy of the chart. A signature (provenance) is the publisher's to add. */
async function fillIn(
  chart: string,
  publisher: Publisher,
  {
    version,
    changes,
    imageDigest,
    platforms,
    fingerprint,
  }: Omit<ChartPackaging, keyof Packaging> & { readonly version: string; readonly changes: readonly Change[] },
): Promise<void> {
  const { name, contact, repository, image } = publisher;
  const values = await edit(join(chart, 'values.yaml'), (yaml) => {
    const document = parseDocument(yaml.replace(/(# -- The image, without its tag\.) Set this.*$/m, '$1'));
    document.setIn(['image', 'repository'], image);
    if (imageDigest !== undefined) {
      document.setIn(['image', 'digest'], imageDigest);
    }
    return document.toString({ lineWidth: 0 });
  });
  const own = {
    name: 'gatehouse',
    image: imageDigest === undefined ? `${image}:${version}` : `${image}@${imageDigest}`,
  };
  const images = [platforms === undefined ? own : { ...own, platforms }, ...bundledImages(values)];
  await edit(join(chart, 'Chart.yaml'), (yaml) => {
    const document = parseDocument(yaml);
    document.set('home', repository);
    document.set('sources', [repository]);
    document.set('maintainers', [{ name, ...(contact.includes('://') ? { url: contact } : { email: contact }) }]);
    const annotations = chartAnnotations(publisher, { version, changes, images, fingerprint });
    for (const [key, value] of Object.entries(annotations)) {
      document.setIn(['annotations', key], value);
    }
    return document.toString({ lineWidth: 0 });
  });
  await edit(join(chart, 'README.md'), (readme) =>
    publishedReadme(withValues(readme, values), publisher, { version, signed: imageDigest !== undefined }),
  );
}

/** Those of the stores for evaluation, which the chart installs by default. */
function bundledImages(values: string): readonly Image[] {
  const { bundled } = parse(values) as { bundled: Readonly<Record<string, { readonly image: string }>> };
  return Object.entries(bundled).map(([name, { image }]) => ({ name, image }));
}

async function edit(path: string, change: (text: string) => string): Promise<string> {
  const changed = change(await readFile(path, 'utf8'));
  await writeFile(path, changed);
  return changed;
}

async function runHelm(...args: string[]): Promise<void> {
  const { ok, stdout, stderr } = await helm(args);
  if (!ok) {
    throw new Error(`helm ${args[0]} failed:\n${stdout}${stderr}`);
  }
}

/** The command that builds the image which the packaged chart installs, with the labels of the publisher. */
export function imageCommand({ name, contact, repository, image }: Publisher, version: string): string {
  const labels = { source: repository, url: repository, vendor: name, authors: contact };
  return [
    `docker build --tag ${image}:${version}`,
    `  --build-arg VERSION=${version} --build-arg REVISION="$(git rev-parse HEAD)"`,
    ...Object.entries(labels).map(
      ([label, value]) => `  --label org.opencontainers.image.${label}=${shellQuoted(value)}`,
    ),
    '  .',
  ].join(' \\\n');
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  try {
    const time = await commitTime(runIn(root));
    const path = await packageChart({ root, destination: join(root, 'dist'), time });
    const command = imageCommand(await readPublisher(root), await readVersion(root));
    process.stdout.write(`Packaged ${path}\n\nThe image that it installs is built by\n\n${command}\n`);
  } catch (error) {
    process.stderr.write(`Nothing was packaged: ${error instanceof Error ? error.message : error}\n`);
    process.exit(1);
  }
}
