import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ava, { type ExecutionContext } from 'ava';
import { chartMaterials, debianPackages, npmPackages } from '../../release/bill-of-materials.ts';
import { packageChart } from '../../release/package.ts';
import { describe, prepare } from '../../release/publish.ts';
import { runIn } from '../../release/run.ts';
import type { Source } from '../../release/source.ts';
import { type Publication, type Step, stepsOf } from '../../release/steps.ts';
import { test } from '../helpers/test-with-helm.ts';

/** What needs no registry. The rest is `npm run test:release`. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NODE_IMAGE = `images.example.test/node@sha256:${'0'.repeat(64)}`;
const TIME = new Date(1_700_000_000_000);

const PUBLISHER = {
  name: 'Example Publisher',
  contact: 'security@example.test',
  repository: 'https://code.example.test/platform/gatehouse',
  image: 'images.example.test/platform/gatehouse',
  npm: null,
  signKey: null,
  artifactHub: null,
};

async function checkout(t: ExecutionContext, publisher: object) {
  const root = await mkdtemp(join(tmpdir(), 'gatehouse-publish-'));
  t.teardown(() => rm(root, { recursive: true }));
  for (const path of ['charts', 'package.json', 'CHANGELOG.md']) {
    await cp(join(ROOT, path), join(root, path), { recursive: true });
  }
  await writeFile(join(root, 'publisher.json'), JSON.stringify(publisher));
  const git = (...args: string[]) =>
    runIn(root)('git', '-c', 'user.name=Tester', '-c', 'user.email=tester@example.test', ...args);
  await git('init', '--quiet');
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'Everything');
  return root;
}

ava('a release stops first where publisher.json is incomplete, and names every field', async (t) => {
  const { npm: _, signKey: __, artifactHub: ___, ...required } = PUBLISHER;
  const empty = Object.fromEntries(Object.keys(required).map((field) => [field, null]));
  const root = await checkout(t, { ...PUBLISHER, ...empty });
  const error = await t.throwsAsync(prepare({ root, nodeImage: '' }));
  for (const field of Object.keys(required)) {
    t.regex(error?.message ?? '', new RegExp(`^  ${field}: expected `, 'm'));
  }
});

ava('a release is refused with uncommitted changes, and with an unpinned base', async (t) => {
  const root = await checkout(t, PUBLISHER);
  for (const nodeImage of ['', 'node:24-trixie-slim', 'node@sha256:0']) {
    await t.throwsAsync(prepare({ root, nodeImage }), { message: /must name the base image by digest/ }, nodeImage);
  }
  await writeFile(join(root, 'CHANGELOG.md'), '');
  await t.throwsAsync(prepare({ root, nodeImage: NODE_IMAGE }), { message: /uncommitted changes.*\n.*CHANGELOG\.md/ });
});

const source: Source = { root: ROOT, publisher: PUBLISHER, version: '1.2.3', revision: 'abc', time: TIME };

const publication: Publication = {
  root: ROOT,
  destination: 'dist',
  nodeImage: NODE_IMAGE,
  platforms: 'linux/arm64',
  plainHttp: false,
  key: 'cosign.key',
  builder: undefined,
};

const filesOf = (steps: readonly Step[]) => steps.flatMap(({ files = [] }) => files);

ava('a dry run says everything: inputs, artefacts, references, documents, signatures', (t) => {
  const publisher = { ...PUBLISHER, npm: '@team/gatehouse', artifactHub: '0b55ca8d-8ae2-4a1e-9d4b-5a0f1f6e1d10' };
  const text = stepsOf({ ...source, publisher }, publication)
    .map(describe)
    .join('\n');
  const image = 'images.example.test/platform/gatehouse';
  const chart = 'images.example.test/platform/charts/gatehouse';
  let rest = text;
  for (const said of [
    'compile the npm package of commit abc, at its time 2023-11-14T22:13:20.000Z',
    'dist/gatehouse-npm-1.2.3.tgz',
    `build the image of commit abc, at its time 2023-11-14T22:13:20.000Z, for linux/arm64, on ${NODE_IMAGE}`,
    `${image}:1.2.3`,
    'dist/gatehouse-1.2.3.tgz',
    `${chart}:1.2.3`,
    'dist/artifacthub-repo.yml',
    `${chart}:artifacthub.io`,
    'dist/npm.cdx.json',
    'dist/image.cdx.json',
    'dist/chart.cdx.json',
    'dist/provenance.json',
    'dist/notes.md',
    'dist/SHA256SUMS',
    'sign the image with cosign.key',
    `${image}:sha256-<digest>.sig`,
    `${image}:sha256-<digest>.att`,
    'sign the chart with cosign.key',
    `${chart}:sha256-<digest>.sig`,
    `${chart}:sha256-<digest>.att`,
    'dist/gatehouse-npm-1.2.3.tgz.cyclonedx.att',
    'dist/gatehouse-npm-1.2.3.tgz.slsaprovenance1.att',
    'dist/SHA256SUMS.sig',
    'publish @team/gatehouse@1.2.3 to the npm registry',
  ]) {
    t.true(rest.includes(said), `${said}, after what comes before it, in\n${text}`);
    rest = rest.slice(rest.indexOf(said) + said.length);
  }
});

ava('a dry run names only the registries that publisher.json names', (t) => {
  const publisher = { ...PUBLISHER, contact: 'https://code.example.test/contact' };
  const text = stepsOf({ ...source, publisher }, { ...publication, key: undefined })
    .map(describe)
    .join('\n');
  t.notRegex(text, /npm registry|artifacthub/i);
  t.regex(text, /sign the image without a key/);
  t.regex(text, /dist\/SHA256SUMS\.bundle/);
});

ava('no file of a release overwrites another one', (t) => {
  for (const npm of [null, '@team/gatehouse', '@npm/gatehouse']) {
    const files = filesOf(stepsOf({ ...source, publisher: { ...PUBLISHER, npm } }, publication));
    t.deepEqual([...new Set(files)], files);
  }
});

test('a chart that is packaged again is the same, byte by byte', async (t) => {
  const root = await checkout(t, PUBLISHER);
  const packages: Buffer[] = [];
  for (const destination of ['one', 'other']) {
    const imageDigest = `sha256:${'1'.repeat(64)}`;
    packages.push(
      await readFile(await packageChart({ root, destination: join(root, destination), time: TIME, imageDigest })),
    );
  }
  t.true(packages[0]?.equals(packages[1] ?? Buffer.alloc(0)));
});

ava('the packages of the base are those that dpkg has installed', (t) => {
  const status = `Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.41-12
Description: a library
 of C

Package: gone
Status: deinstall ok config-files
Version: 1
`;
  t.deepEqual(debianPackages(status), [
    { type: 'library', name: 'libc6', version: '2.41-12', purl: 'pkg:deb/debian/libc6@2.41-12?arch=amd64' },
  ]);
});

ava('the npm packages are those that npm has installed, nested and scoped too', (t) => {
  const packages = {
    'node_modules/@koa/router': { version: '1.0.0', license: 'MIT', integrity: 'sha512-AAE=' },
    'node_modules/koa/node_modules/debug': { version: '2.0.0' },
  };
  t.deepEqual(npmPackages(JSON.stringify({ packages })), [
    {
      type: 'library',
      name: '@koa/router',
      version: '1.0.0',
      purl: 'pkg:npm/%40koa/router@1.0.0',
      licenses: [{ license: { name: 'MIT' } }],
      hashes: [{ alg: 'SHA-512', content: '0001' }],
    },
    { type: 'library', name: 'debug', version: '2.0.0', purl: 'pkg:npm/debug@2.0.0' },
  ]);
});

ava('the materials of a chart are the images that it installs', (t) => {
  const manifests = 'spec:\n  - image: "postgres:17-alpine"\n    image: host:5000/a/gatehouse@sha256:12\n';
  t.deepEqual(
    chartMaterials(source, manifests).components.map(({ name, version }) => `${name} ${version}`),
    ['host:5000/a/gatehouse sha256:12', 'postgres 17-alpine'],
  );
});
