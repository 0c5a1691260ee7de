import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { REPOSITORY_FILE, REPOSITORY_MEDIA_TYPE, REPOSITORY_TAG, repositoryFile } from './artifact-hub.ts';
import { type BillOfMaterials, chartMaterials, imageMaterials, npmMaterials } from './bill-of-materials.ts';
import { sectionOf } from './changelog.ts';
import { type Build, buildImage, inspectImage, pushImage } from './image.ts';
import { npmFile, packNpm } from './npm/pack.ts';
import { chartFile, packageChart } from './package.ts';
import { provenance } from './provenance.ts';
import { chartReference, pageUrl } from './publisher.ts';
import type { Run } from './run.ts';
import {
  attest,
  attestFile,
  fingerprintOf,
  type Signer,
  type Statement,
  sign,
  signatureFile,
  signFile,
  statementFile,
  uploadFile,
} from './sign.ts';
import type { Source } from './source.ts';

export interface Publication extends Build {
  readonly root: string;
  /** Where the files are written; emptied first. */
  readonly destination: string;
  /** A file, or a reference to a key service as cosign knows it. Without it, cosign asks for an OpenID Connect token. */
  readonly key: string | undefined;
  /** The URI of what runs this. */
  readonly builder: string | undefined;
}

/** One thing that a release does. A dry run prints the steps, and a release does them: both have the same list. */
export interface Step {
  readonly title: string;
  /** The files that it writes, by their names in the destination. */
  readonly files?: readonly string[];
  /** The tags that it pushes, as `name:tag`. */
  readonly tags?: readonly string[];
  readonly run: (made: Made) => Promise<void>;
}

/** What the steps before have found out. */
export interface Made {
  readonly run: Run;
  /** Both as `name@sha256:…`, once they are pushed. */
  image: string;
  chart: string;
  npmBill: BillOfMaterials | undefined;
}

/** The statements about each artefact: what is in it, and where it was built from. */
const PROVENANCE = 'provenance.json';
const SUMS = 'SHA256SUMS';
const DIGEST = 'sha256-<digest>';

type Context = Source & { readonly publication: Publication };

/** What a release does, in this order: nothing is signed before everything is there, and what npm takes stays taken. */
export function stepsOf(source: Source, publication: Publication): readonly Step[] {
  const context = { ...source, publication };
  const steps = [...buildSteps(context), ...documentSteps(context)];
  const files = steps.flatMap(({ files = [] }) => files);
  return [...steps, checksumStep(context, files), ...signSteps(context), ...npmSteps(context)];
}

function buildSteps(context: Context): readonly Step[] {
  const { publication, publisher, version, revision, time } = context;
  const { root, destination, nodeImage, platforms, plainHttp, key } = publication;
  const tag = `${publisher.image}:${version}`;
  const chart = chartReference(publisher);
  const of = `commit ${revision}, at its time ${time.toISOString()}`;
  return [
    {
      title: `compile the npm package of ${of}`,
      files: [npmFile(version)],
      run: async (made) => {
        made.npmBill = npmMaterials(context, (await packNpm({ root, destination })).packages);
      },
    },
    {
      title: `build the image of ${of}, for ${platforms}, on ${nodeImage}, and push it`,
      tags: [tag],
      run: async (made) => {
        await buildImage(made.run, context, publication);
        made.image = `${publisher.image}@${await pushImage(made.run, tag, plainHttp)}`;
      },
    },
    {
      title: `package the chart of ${of}, which installs that image by its digest`,
      files: [chartFile(version)],
      run: async ({ run, image }) => {
        const fingerprint = key === undefined || publisher.signKey === null ? undefined : await fingerprintOf(run, key);
        const imageDigest = image.replace(/^.*@/, '');
        const built = { imageDigest, platforms: platforms.split(','), fingerprint };
        await packageChart({ root, destination, time, ...built });
      },
    },
    {
      title: 'push the chart',
      tags: [`${chart}:${version}`],
      run: async (made) => {
        const digest = await pushChart(made.run, join(destination, chartFile(version)), chart, plainHttp);
        made.chart = `${chart}@${digest}`;
      },
    },
    ...repositorySteps(context),
  ];
}

/** Nothing where publisher.json says nothing that Artifact Hub asks for. */
function repositorySteps({ publication, publisher }: Context): readonly Step[] {
  const content = repositoryFile(publisher);
  const file = join(publication.destination, REPOSITORY_FILE);
  const reference = `${chartReference(publisher)}:${REPOSITORY_TAG}`;
  return content === undefined
    ? []
    : [
        {
          title: 'push what Artifact Hub reads about the repository of the chart',
          files: [REPOSITORY_FILE],
          tags: [reference],
          run: async ({ run }) => {
            await writeFile(file, content);
            await uploadFile(run, file, { reference, mediaType: REPOSITORY_MEDIA_TYPE }, publication);
          },
        },
      ];
}

/** What is said about the artefacts, for people and for programs. */
function documentSteps(context: Context): readonly Step[] {
  const { publication, publisher, version, revision, root } = context;
  const builder = publication.builder ?? pageUrl(publisher, version, 'release');
  const document = (title: string, name: string, content: (made: Made) => Promise<object | string>): Step => ({
    title,
    files: [name],
    run: async (made) => {
      const text = await content(made);
      const written = typeof text === 'string' ? text : `${JSON.stringify(text, null, 2)}\n`;
      await writeFile(join(publication.destination, name), written);
    },
  });
  return [
    document('list what is in the npm package (CycloneDX)', billFile('npm'), async ({ npmBill }) => npmBill ?? {}),
    document('list what is in the image (CycloneDX)', billFile('image'), async ({ run }) =>
      imageMaterials(context, await inspectImage(run)),
    ),
    document('list the images that the chart installs (CycloneDX)', billFile('chart'), async ({ run }) => {
      const tarball = join(publication.destination, chartFile(version));
      return chartMaterials(context, await run('helm', 'template', tarball, '--set', 'generateWithoutCluster=true'));
    }),
    document(`say where all was built from, by ${builder} (SLSA provenance)`, PROVENANCE, async () =>
      provenance(context, publication, builder),
    ),
    document('write the notes, from the changelog', 'notes.md', async ({ image, chart }) => {
      const changes = sectionOf(await readFile(join(root, 'CHANGELOG.md'), 'utf8'), version);
      const what = `Image: \`${image}\`\nChart: \`${chart}\`\nCommit: \`${revision}\``;
      return `# Gatehouse ${version}\n\n${what}\n\n${changes.trim()}\n`;
    }),
  ];
}

const billFile = (artefact: 'npm' | 'image' | 'chart') => `${artefact}.cdx.json`;

/** As `sha256sum --check` reads them. */
function checksumStep({ publication: { destination } }: Context, files: readonly string[]): Step {
  return {
    title: `write the checksums of ${files.join(', ')}`,
    files: [SUMS],
    run: async () => {
      const lines = files.map(async (file) => {
        const content = await readFile(join(destination, file));
        return `${createHash('sha256').update(content).digest('hex')}  ${file}\n`;
      });
      await writeFile(join(destination, SUMS), (await Promise.all(lines)).join(''));
    },
  };
}

function signSteps({ publication, publisher, version }: Context): readonly Step[] {
  const signer: Signer = publication;
  const by = signer.key === undefined ? 'without a key' : `with ${signer.key}`;
  const inDestination = (name: string) => join(publication.destination, name);
  const statements = (artefact: 'npm' | 'image' | 'chart'): readonly Statement[] => [
    { type: 'cyclonedx', file: inDestination(billFile(artefact)) },
    { type: 'slsaprovenance1', file: inDestination(PROVENANCE) },
  ];
  const pushed = (artefact: 'image' | 'chart', name: string): readonly Step[] => [
    {
      title: `sign the ${artefact} ${by}`,
      tags: [`${name}:${DIGEST}.sig`],
      run: (made) => sign(made.run, made[artefact], signer),
    },
    ...statements(artefact).map((statement) => ({
      title: `sign ${basename(statement.file)} as a statement about the ${artefact} ${by}`,
      tags: [`${name}:${DIGEST}.att`],
      run: (made: Made) => attest(made.run, made[artefact], statement, signer),
    })),
  ];
  const npm = npmFile(version);
  return [
    ...pushed('image', publisher.image),
    ...pushed('chart', chartReference(publisher)),
    ...statements('npm').map((statement) => ({
      title: `sign ${basename(statement.file)} as a statement about the npm package ${by}`,
      files: [statementFile(npm, statement.type, signer)],
      run: ({ run }: Made) => attestFile(run, inDestination(npm), statement, signer),
    })),
    {
      title: `sign the checksums ${by}`,
      files: [signatureFile(SUMS, signer)],
      run: ({ run }) => signFile(run, inDestination(SUMS), signer),
    },
  ];
}

/** Last: npm takes a version once, and never gives it back. */
function npmSteps({ publication, publisher, version }: Context): readonly Step[] {
  return publisher.npm === null
    ? []
    : [
        {
          title: `publish ${publisher.npm}@${version} to the npm registry`,
          run: async ({ run }) => {
            await run('npm', 'publish', '--access', 'public', join(publication.destination, npmFile(version)));
          },
        },
      ];
}

/** Returns the digest. */
async function pushChart(run: Run, tarball: string, chart: string, plainHttp: boolean): Promise<string> {
  // helm prints the digest to standard error, and adds the name of the chart to where it pushes.
  const to = `oci://${chart.replace(/\/[^/]*$/, '')}`;
  const printed = await run('sh', '-c', `helm push "$0" "$1" ${plainHttp ? '--plain-http' : ''} 2>&1`, tarball, to);
  const digest = /Digest: (sha256:[0-9a-f]{64})/.exec(printed)?.[1];
  if (digest === undefined) {
    throw new Error(`helm push printed no digest:\n${printed}`);
  }
  return digest;
}
