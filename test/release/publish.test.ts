import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { chartMaterials, debianPackages, npmPackages } from '../../release/bill-of-materials.ts';
import { packageChart } from '../../release/package.ts';
import { plan, prepare } from '../../release/publish.ts';
import { runIn } from '../../release/run.ts';
import type { Source } from '../../release/source.ts';

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

test('a release stops first where publisher.json is incomplete, and names every field', async (t) => {
  const { npm: _, ...required } = PUBLISHER;
  const empty = Object.fromEntries(Object.keys(required).map((field) => [field, null]));
  const root = await checkout(t, { ...empty, npm: null });
  const error = await t.throwsAsync(prepare({ root, nodeImage: '' }));
  for (const field of Object.keys(required)) {
    t.regex(error?.message ?? '', new RegExp(`^  ${field}: expected `, 'm'));
  }
});

test('a release is refused with uncommitted changes, and with an unpinned base', async (t) => {
  const root = await checkout(t, PUBLISHER);
  for (const nodeImage of ['', 'node:24-trixie-slim', 'node@sha256:0']) {
    await t.throwsAsync(prepare({ root, nodeImage }), { message: /must name the base image by digest/ }, nodeImage);
  }
  await writeFile(join(root, 'CHANGELOG.md'), '');
  await t.throwsAsync(prepare({ root, nodeImage: NODE_IMAGE }), { message: /uncommitted changes.*\n.*CHANGELOG\.md/ });
});

const source: Source = { root: ROOT, publisher: PUBLISHER, version: '1.2.3', revision: 'abc', time: TIME };

test('a dry run names what is built, on what, where it is pushed, and who signs', (t) => {
  const options = {
    root: ROOT,
    destination: 'dist',
    nodeImage: NODE_IMAGE,
    platforms: 'linux/arm64',
    plainHttp: false,
  };
  const text = plan(source, { ...options, key: 'cosign.key', builder: undefined }).join('\n');
  for (const said of [
    'images.example.test/platform/gatehouse:1.2.3 of commit abc for linux/arm64',
    NODE_IMAGE,
    'images.example.test/platform/charts/gatehouse:1.2.3',
    'with cosign.key',
  ]) {
    t.true(text.includes(said), said);
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

test('the packages of the base are those that dpkg has installed', (t) => {
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

test('the npm packages are those that npm has installed, nested and scoped too', (t) => {
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

test('the materials of a chart are the images that it installs', (t) => {
  const manifests = 'spec:\n  - image: "postgres:17-alpine"\n    image: host:5000/a/gatehouse@sha256:12\n';
  t.deepEqual(
    chartMaterials(source, manifests).components.map(({ name, version }) => `${name} ${version}`),
    ['host:5000/a/gatehouse sha256:12', 'postgres 17-alpine'],
  );
});
