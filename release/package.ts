/**
 * `npm run package`: packages the chart into dist/ with the publisher and the image of publisher.json, and prints the
 * command that builds the image. It pushes nothing.
 */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseDocument, stringify } from 'yaml';
import { withValues } from '../test/chart/readme.ts';
import { helm } from '../test/helpers/helm.ts';
import { type Change, changesOf } from './changelog.ts';
import { type Publisher, readPublisher } from './publisher.ts';
import { readVersion } from './versions.ts';

export interface Packaging {
  readonly root: string;
  readonly destination: string;
}

/** Returns the packaged chart's path. Throws, with nothing written, when publisher.json is not complete. */
export async function packageChart({ root, destination }: Packaging): Promise<string> {
  const publisher = await readPublisher(root);
  const version = await readVersion(root);
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-chart-'));
  try {
    const chart = join(folder, 'gatehouse');
    await cp(join(root, 'charts/gatehouse'), chart, { recursive: true });
    const changes = changesOf(await readFile(join(root, 'CHANGELOG.md'), 'utf8'), version);
    await fillIn(chart, publisher, { version, changes });
    await runHelm('lint', '--strict', chart);
    await runHelm('package', chart, '--destination', destination);
    return join(destination, `gatehouse-${version}.tgz`);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Writes the publisher, the image and the changes into a copy of the chart. A signature (provenance) is the publisher's to add. */
async function fillIn(
  chart: string,
  { name, contact, repository, image }: Publisher,
  { version, changes }: { readonly version: string; readonly changes: readonly Change[] },
): Promise<void> {
  await edit(join(chart, 'Chart.yaml'), (yaml) => {
    const document = parseDocument(yaml);
    document.set('home', repository);
    document.set('sources', [repository]);
    document.set('maintainers', [{ name, ...(contact.includes('://') ? { url: contact } : { email: contact }) }]);
    // Artifact Hub reads YAML from the text of an annotation.
    document.setIn(
      ['annotations', 'artifacthub.io/images'],
      stringify([{ name: 'gatehouse', image: `${image}:${version}` }]),
    );
    document.setIn(['annotations', 'artifacthub.io/changes'], stringify(changes));
    return document.toString({ lineWidth: 0 });
  });
  const values = await edit(join(chart, 'values.yaml'), (yaml) => {
    const document = parseDocument(yaml);
    document.setIn(['image', 'repository'], image);
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
    const path = await packageChart({ root, destination: join(root, 'dist') });
    const command = imageCommand(await readPublisher(root), await readVersion(root));
    process.stdout.write(`Packaged ${path}\n\nThe image that it installs is built by\n\n${command}\n`);
  } catch (error) {
    process.stderr.write(`Nothing was packaged: ${error instanceof Error ? error.message : error}\n`);
    process.exit(1);
  }
}
