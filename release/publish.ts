/**
 * `npm run release:publish`: builds the image, the chart and the npm package from the checked-out commit, with a bill of
 * materials and the provenance of each, pushes image and chart to the registry of publisher.json, and signs them.
 */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { removeImage } from './image.ts';
import { runIn } from './run.ts';
import { readSource, type Source } from './source.ts';
import { type Made, type Publication, type Step, stepsOf } from './steps.ts';

/** Both as `name@sha256:…`. */
export type Published = Pick<Made, 'image' | 'chart'>;

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

/** What a dry run says of a step, and a release when it begins it. */
export function describe({ title, files = [], tags = [] }: Step): string {
  const made = [...files.map((file) => `dist/${file}`), ...tags];
  return [title, ...made.map((name) => `   → ${name}`)].join('\n');
}

/** `tell` is called with each step before it is done. */
export async function publish(publication: Publication, tell: (step: Step) => void): Promise<Published> {
  const { root, destination } = publication;
  const source = await prepare(publication);
  const made: Made = { run: runIn(root), image: '', chart: '', npmBill: undefined };
  await rm(destination, { recursive: true, force: true });
  await mkdir(destination, { recursive: true });
  try {
    for (const step of stepsOf(source, publication)) {
      tell(step);
      await step.run(made);
    }
  } finally {
    await removeImage(made.run);
  }
  return made;
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
  const say = (step: Step) => process.stdout.write(`- ${describe(step)}\n`);
  if (values['dry-run']) {
    const steps = stepsOf(await prepare(publication), publication);
    process.stdout.write('A release would, in this order,\n');
    steps.forEach(say);
    return;
  }
  const { image, chart } = await publish(publication, say);
  process.stdout.write(`Published and signed\n  ${image}\n  ${chart}\nThe files are in ${publication.destination}\n`);
}

if (import.meta.main) {
  await main().catch((error: unknown) => {
    process.stderr.write(`Stopped: ${error instanceof Error ? error.message : error}\n`);
    process.exitCode = 1;
  });
}
