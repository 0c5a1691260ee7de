/**
 * `npm run release:publish`: builds the image, the chart and the npm package from the checked-out commit, with a bill of
 * materials and the provenance of each, pushes image and chart to the registry of publisher.json, and signs them.
 */
import { createHash } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { chartMaterials, imageMaterials } from './bill-of-materials.ts';
import { sectionOf } from './changelog.ts';
import { type Build, buildImage, inspectImage, pushImage, removeImage } from './image.ts';
import { packNpm } from './npm/pack.ts';
import { packageChart } from './package.ts';
import { provenance } from './provenance.ts';
import { type Run, runIn } from './run.ts';
import { attest, type Signer, sign, signFile } from './sign.ts';
import { readSource, type Source } from './source.ts';

export interface Publication extends Build {
  readonly root: string;
  /** Where the files are written; emptied first. */
  readonly destination: string;
  /** A file, or a reference to a key service as cosign knows it. Without it, cosign asks for an OpenID Connect token. */
  readonly key: string | undefined;
  /** The URI of what runs this. */
  readonly builder: string | undefined;
}

export interface Published {
  /** Both as `name@sha256:…`. */
  readonly image: string;
  readonly chart: string;
  readonly files: readonly string[];
}

const TOOLS = ['buildah', 'cosign', 'helm'];

/** Everything that can be missing is looked for here, before anything is built. */
export async function prepare({ root, nodeImage }: Pick<Publication, 'root' | 'nodeImage'>): Promise<Source> {
  const run = runIn(root);
  const source = await readSource(root, run);
  if (!/^[^@\s]+@sha256:[0-9a-f]{64}$/.test(nodeImage)) {
    throw new Error('--node-image, or NODE_IMAGE, must name the base image by digest, such as node@sha256:…');
  }
  for (const tool of TOOLS) {
    await run(tool, tool === 'buildah' ? '--version' : 'version');
  }
  return source;
}

/** Where a chart is pushed to: beside the image. */
export function chartRepository({ publisher: { image } }: Source): string {
  return `${dirname(image)}/charts`;
}

/** What {@link publish} does, one line each. */
export function plan(source: Source, { nodeImage, platforms, key, destination }: Publication): readonly string[] {
  const { publisher, version, revision } = source;
  const chart = `${chartRepository(source)}/gatehouse:${version}`;
  return [
    `build the image ${publisher.image}:${version} of commit ${revision} for ${platforms}, on ${nodeImage}`,
    `package the chart ${chart}, which installs that image by digest`,
    `write to ${destination}: the chart, the npm package, bills of materials (CycloneDX), provenance (SLSA), notes, SHA256SUMS`,
    `push the image and the chart`,
    `sign both, their bills of materials and their provenance, and SHA256SUMS, ${key === undefined ? 'without a key' : `with ${key}`}`,
  ];
}

export async function publish(publication: Publication): Promise<Published> {
  const { root, destination, nodeImage, plainHttp } = publication;
  const source = await prepare({ root, nodeImage });
  const { publisher, version, time } = source;
  const run = runIn(root);
  const signer: Signer = publication;
  await rm(destination, { recursive: true, force: true });
  await mkdir(destination, { recursive: true });
  const npm = await packNpm({ root, destination });
  try {
    await buildImage(run, source, publication);
    const imageDigest = await pushImage(run, `${publisher.image}:${version}`, destination, plainHttp);
    const image = `${publisher.image}@${imageDigest}`;
    const tarball = await packageChart({ root, destination, time, imageDigest });
    const chart = await pushChart(run, tarball, chartRepository(source), plainHttp);

    const write = async (name: string, content: object | string) => {
      const path = join(destination, name);
      await writeFile(path, typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`);
      return path;
    };
    const imageBill = await write('image.cdx.json', imageMaterials(source, await inspectImage(run)));
    const chartBill = await write(
      'chart.cdx.json',
      chartMaterials(source, await run('helm', 'template', tarball, '--set', 'generateWithoutCluster=true')),
    );
    const built = provenance(
      source,
      publication,
      publication.builder ?? `${publisher.repository}/blob/v${version}/release`,
    );
    const origin = await write('provenance.json', built);
    const notes = await write('notes.md', await notesOf(source, { image, chart }));

    for (const [artefact, file] of [
      [image, imageBill],
      [chart, chartBill],
    ] as const) {
      await sign(run, artefact, signer);
      await attest(run, artefact, { type: 'cyclonedx', file }, signer);
      await attest(run, artefact, { type: 'slsaprovenance1', file: origin }, signer);
    }
    const files = [tarball, npm, imageBill, chartBill, origin, notes];
    await signFile(run, await write('SHA256SUMS', await checksums(files)), signer);
    return { image, chart, files };
  } finally {
    await removeImage(run);
  }
}

/** Returns the chart as `name@sha256:…`. */
async function pushChart(run: Run, tarball: string, repository: string, plainHttp: boolean): Promise<string> {
  // helm prints the digest to standard error.
  const printed = await run(
    'sh',
    '-c',
    `helm push "$0" "$1" ${plainHttp ? '--plain-http' : ''} 2>&1`,
    tarball,
    `oci://${repository}`,
  );
  const digest = /Digest: (sha256:[0-9a-f]{64})/.exec(printed)?.[1];
  if (digest === undefined) {
    throw new Error(`helm push printed no digest:\n${printed}`);
  }
  return `${repository}/gatehouse@${digest}`;
}

async function notesOf({ root, version, revision }: Source, { image, chart }: Pick<Published, 'image' | 'chart'>) {
  const changes = sectionOf(await readFile(join(root, 'CHANGELOG.md'), 'utf8'), version);
  return `# Gatehouse ${version}\n\nImage: \`${image}\`\nChart: \`${chart}\`\nCommit: \`${revision}\`\n\n${changes.trim()}\n`;
}

/** As `sha256sum --check` reads them. */
async function checksums(files: readonly string[]): Promise<string> {
  const lines = files.map(async (file) => {
    const digest = createHash('sha256')
      .update(await readFile(file))
      .digest('hex');
    return `${digest}  ${basename(file)}\n`;
  });
  return (await Promise.all(lines)).join('');
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      'node-image': { type: 'string', default: process.env['NODE_IMAGE'] ?? '' },
      platforms: { type: 'string', default: process.env['PLATFORMS'] ?? 'linux/amd64' },
      key: { type: 'string' },
      builder: { type: 'string', default: process.env['BUILDER'] ?? '' },
      'plain-http': { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
    },
  });
  const root = fileURLToPath(new URL('..', import.meta.url));
  const publication: Publication = {
    root,
    destination: join(root, 'dist'),
    nodeImage: values['node-image'],
    platforms: values.platforms,
    key: values.key,
    builder: values.builder || undefined,
    plainHttp: values['plain-http'],
  };
  if (values['dry-run']) {
    const lines = plan(await prepare(publication), publication);
    process.stdout.write(`A release would\n${lines.map((line) => `- ${line}\n`).join('')}`);
    return;
  }
  const { image, chart, files } = await publish(publication);
  process.stdout.write(
    `Published and signed\n  ${image}\n  ${chart}\nWritten\n${files.map((file) => `  ${file}\n`).join('')}`,
  );
}

if (import.meta.main) {
  await main().catch((error: unknown) => {
    process.stderr.write(`Stopped: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  });
}
