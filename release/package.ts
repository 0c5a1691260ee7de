/**
 * `npm run package`: packages the chart into dist/ with the publisher and the image of publisher.json, and prints the
 * command that builds the image. It pushes nothing.
 */
import { cp, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { create, extract } from 'tar';
import { parseDocument, stringify } from 'yaml';
import { withValues } from '../test/chart/readme.ts';
import { helm } from '../test/helpers/helm.ts';
import { type Change, changesOf } from './changelog.ts';
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
  /** As `sha256:…`. With it, the chart installs this image, whatever becomes of the tag. */
  readonly imageDigest?: string;
}

/** Returns the packaged chart's path. Throws, with nothing written, when publisher.json is not complete. */
export async function packageChart({ root, destination, time, imageDigest }: ChartPackaging): Promise<string> {
  const publisher = await readPublisher(root);
  const version = await readVersion(root);
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-chart-'));
  try {
    const chart = join(folder, 'gatehouse');
    await cp(join(root, 'charts/gatehouse'), chart, { recursive: true });
    const changes = changesOf(await readFile(join(root, 'CHANGELOG.md'), 'utf8'), version);
    await fillIn(chart, publisher, { version, changes, imageDigest });
    await runHelm('lint', '--strict', chart);
    await runHelm('package', chart, '--destination', destination);
    const tarball = join(destination, `gatehouse-${version}.tgz`);
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
  { name, contact, repository, image }: Publisher,
  {
    version,
    changes,
    imageDigest,
  }: { readonly version: string; readonly changes: readonly Change[]; readonly imageDigest: string | undefined },
): Promise<void> {
  await edit(join(chart, 'Chart.yaml'), (yaml) => {
    const document = parseDocument(yaml);
    document.set('home', repository);
    document.set('sources', [repository]);
    document.set('maintainers', [{ name, ...(contact.includes('://') ? { url: contact } : { email: contact }) }]);
    // Artifact Hub reads YAML from the text of an annotation.
    document.setIn(
      ['annotations', 'artifacthub.io/images'],
      stringify([
        { name: 'gatehouse', image: imageDigest === undefined ? `${image}:${version}` : `${image}@${imageDigest}` },
      ]),
    );
    document.setIn(['annotations', 'artifacthub.io/changes'], stringify(changes));
    return document.toString({ lineWidth: 0 });
  });
  const values = await edit(join(chart, 'values.yaml'), (yaml) => {
    const document = parseDocument(yaml);
    document.setIn(['image', 'repository'], image);
    if (imageDigest !== undefined) {
      document.setIn(['image', 'digest'], imageDigest);
    }
    return document.toString({ lineWidth: 0 });
  });
  await edit(join(chart, 'README.md'), (readme) => withValues(readme, values));
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
