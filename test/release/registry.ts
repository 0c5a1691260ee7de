/**
 * `npm run test:release`: publishes the commit that is checked out to a real registry, twice, and verifies what is there
 * as an operator does. Needs Docker with registry:3 and the base image, and buildah, cosign and helm. With CLUSTER_CONTEXT
 * it also installs the published chart: RELEASE_REGISTRY is then a registry that this machine and the cluster's node
 * reach under the same name. Ends with 1 when something did not hold.
 */
import { strict as assert } from 'node:assert';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { REPOSITORY_MEDIA_TYPE } from '../../release/artifact-hub.ts';
import { npmFile } from '../../release/npm/pack.ts';
import { type Published, prepare, publish } from '../../release/publish.ts';
import { chartReference } from '../../release/publisher.ts';
import { runIn } from '../../release/run.ts';
import { type Publication, stepsOf } from '../../release/steps.ts';
import { readVersion } from '../../release/versions.ts';
import { eventually } from '../helpers/until.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NODE_IMAGE = 'node:24-trixie-slim';
const KEY_URL = 'https://code.example.test/cosign.pub';
const BUNDLED_IMAGES = ['postgres:17-alpine', 'redis:8-alpine'];

const name = `gatehouse-test-${randomBytes(4).toString('hex')}`;
// Inside the project, so that the checkouts find its node_modules.
await mkdir(join(ROOT, 'dist'), { recursive: true });
const folder = await mkdtemp(join(ROOT, 'dist/test-'));
const run = runIn(folder);
await using cleanup = new AsyncDisposableStack();
cleanup.defer(() => rm(folder, { recursive: true }));
// The key of this test has no password.
process.env['COSIGN_PASSWORD'] = '';

/** Does a part, and prints its seconds. */
async function timed<T>(title: string, part: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await part();
  process.stdout.write(`${((performance.now() - start) / 1_000).toFixed(1).padStart(7)} s  ${title}\n`);
  return result;
}

async function startRegistry(): Promise<string> {
  await run('docker', 'run', '--detach', '--rm', '--name', name, '--publish', '127.0.0.1::5000', 'registry:3');
  cleanup.defer(async () => {
    await run('docker', 'rm', '--force', '--volumes', name);
  });
  const address = await run('docker', 'port', name, '5000');
  await eventually('the registry answers', () =>
    fetch(`http://${address}/v2/`, { signal: AbortSignal.timeout(5_000) }).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return address;
}

/** Pushes the local base image, which then has a digest. */
async function pushBase(to: string): Promise<string> {
  await run('docker', 'tag', NODE_IMAGE, to);
  cleanup.defer(async () => {
    await run('docker', 'rmi', to);
  });
  const digest = /digest: (sha256:[0-9a-f]{64})/.exec(await run('docker', 'push', to))?.[1];
  return `${to.replace(/:[^:/]*$/, '')}@${digest}`;
}

/** Two clean checkouts of one commit: what is checked out here, published by somebody. */
async function checkouts(image: string): Promise<readonly [string, string]> {
  const [one, other] = [join(folder, 'one'), join(folder, 'other')];
  await run('git', 'clone', '--quiet', ROOT, one);
  const repository = 'https://code.example.test/platform/gatehouse';
  const publisher = {
    name: 'Example Publisher',
    contact: 'security@example.test',
    repository,
    image,
    npm: null,
    signKey: KEY_URL,
    artifactHub: randomUUID(),
  };
  await writeFile(join(one, 'publisher.json'), JSON.stringify(publisher));
  const git = ['-c', 'user.name=Tester', '-c', 'user.email=tester@example.test'];
  await runIn(one)('git', ...git, 'commit', '--quiet', '--all', '--message', 'Name the publisher');
  await run('git', 'clone', '--quiet', one, other);
  return [one, other];
}

const VERIFY = ['--key', 'cosign.pub', '--offline', '--insecure-ignore-tlog=true', '--allow-http-registry'];

const verify = (artefact: string) => run('cosign', 'verify', ...VERIFY, artefact);

/** What a signed statement says. Rejects when there is none that is signed by the key. */
async function statement(artefact: string, type: string): Promise<{ readonly components: readonly Component[] }> {
  const line = await run('cosign', 'verify-attestation', ...VERIFY, '--type', type, artefact);
  const { payload } = JSON.parse(line.split('\n')[0] ?? '') as { payload: string };
  return JSON.parse(Buffer.from(payload, 'base64').toString()).predicate;
}

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
}

/** Puts a changed artefact into the registry, with the signature of the unchanged one beside it. Returns its name. */
async function forge(artefact: string): Promise<string> {
  const [, registry = '', repository = '', digest = ''] = /^([^/]+)\/(.+)@(.+)$/.exec(artefact) ?? [];
  const address = (reference: string) => `http://${registry}/v2/${repository}/manifests/${reference}`;
  const accept = 'application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json';
  const read = async (reference: string) => {
    const response = await fetch(address(reference), { headers: { accept } });
    assert.equal(response.status, 200, reference);
    return { type: response.headers.get('content-type') ?? '', body: await response.text() };
  };
  const write = async (reference: string, type: string, body: string) => {
    const response = await fetch(address(reference), { method: 'PUT', headers: { 'content-type': type }, body });
    assert.equal(response.status, 201, await response.text());
    return response.headers.get('docker-content-digest') ?? '';
  };
  const signatureOf = (of: string) => `${of.replace(':', '-')}.sig`;
  const { type, body } = await read(digest);
  const changed = await write(
    'changed',
    type,
    JSON.stringify({ ...JSON.parse(body), annotations: { changed: 'yes' } }),
  );
  assert.notEqual(changed, digest);
  const signature = await read(signatureOf(digest));
  await write(signatureOf(changed), signature.type, signature.body);
  return `${registry}/${repository}@${changed}`;
}

interface Tree {
  readonly dependencies?: Readonly<Record<string, Tree & { readonly version?: string }>>;
}

function packagesIn({ dependencies = {} }: Tree): readonly string[] {
  return Object.entries(dependencies).flatMap(([name, inner]) => [
    ...(inner.version === undefined ? [] : [`${name}@${inner.version}`]),
    ...packagesIn(inner),
  ]);
}

/** The bill of materials has every production package and nothing of development. */
async function compareBill(checkout: string, image: string): Promise<string> {
  const { components } = await statement(image, 'cyclonedx');
  const listed = JSON.parse(await runIn(checkout)('npm', 'ls', '--omit=dev', '--all', '--package-lock-only', '--json'));
  const named = (kind: string) => components.filter(({ purl }) => purl?.startsWith(`pkg:${kind}/`));
  const npm = new Set(named('npm').map(({ name, version }) => `${name}@${version}`));
  assert.deepEqual([...npm].sort(), [...new Set(packagesIn(listed))].sort());
  assert.ok(named('deb').some(({ name }) => name === 'libc6'));
  assert.equal(named('generic').length, 1);
  return `${npm.size} npm packages, ${named('deb').length} of Debian, and Node`;
}

/** A dry run named exactly the files and the tags that are there afterwards. */
async function comparePlan(publication: Publication): Promise<void> {
  const source = await prepare(publication);
  const steps = stepsOf(source, publication);
  const files = steps.flatMap(({ files = [] }) => files);
  assert.deepEqual((await readdir(publication.destination)).sort(), [...files].sort());
  const said = new Set(steps.flatMap(({ tags = [] }) => tags));
  const found: string[] = [];
  for (const name of [source.publisher.image, chartReference(source.publisher)]) {
    const [, host = '', path = ''] = /^([^/]+)\/(.*)$/.exec(name) ?? [];
    const { tags } = (await (await fetch(`http://${host}/v2/${path}/tags/list`)).json()) as { tags: readonly string[] };
    found.push(...tags.map((tag) => `${name}:${tag.replace(/^sha256-[0-9a-f]{64}/, 'sha256-<digest>')}`));
  }
  assert.deepEqual(found.sort(), [...said].sort());
  process.stdout.write(`           a dry run names these ${files.length} files and ${said.size} tags\n`);
}

/** What Artifact Hub asks a registry for. */
async function readRepositoryFile(chart: string): Promise<string> {
  const [, host = '', path = ''] = /^([^/]+)\/(.*)@/.exec(chart) ?? [];
  const accept = 'application/vnd.oci.image.manifest.v1+json';
  const answer = await fetch(`http://${host}/v2/${path}/manifests/artifacthub.io`, { headers: { accept } });
  const { layers } = (await answer.json()) as { layers: readonly { mediaType: string; digest: string }[] };
  const layer = layers.find(({ mediaType }) => mediaType === REPOSITORY_MEDIA_TYPE);
  return (await fetch(`http://${host}/v2/${path}/blobs/${layer?.digest}`)).text();
}

/** The statements about the npm package are signed, and of this package only. */
async function verifyNpm(dist: string, by: readonly string[]): Promise<void> {
  const tarball = join(dist, npmFile(await readVersion(ROOT)));
  for (const type of ['cyclonedx', 'slsaprovenance1']) {
    const check = ['verify-blob-attestation', ...by, `${tarball}.${type}.att`, '--type', type];
    await run('cosign', ...check, tarball);
    await assert.rejects(run('cosign', ...check, join(dist, 'notes.md')), `${type} of another file`);
  }
  const bill = JSON.parse(await readFile(join(dist, 'npm.cdx.json'), 'utf8')) as { components: readonly Component[] };
  const named = bill.components.map(({ name }) => name);
  assert.ok(named.includes('zod') && named.includes('yaml') && !named.includes('pg'), named.join(', '));
  await timed('npx from the tarball in an empty folder: check refuses a broken policy', () => checkBroken(tarball));
}

/** Without a registry, and with nothing in npm's cache. */
async function checkBroken(tarball: string): Promise<void> {
  const empty = await mkdtemp(join(tmpdir(), 'gatehouse-npx-'));
  cleanup.defer(() => rm(empty, { recursive: true }));
  await writeFile(join(empty, '.gatehouse.yml'), 'version: 1\nrules: [{ id: a, requires: { title: x } }]\n');
  const line =
    'npm_config_cache="$1" npx --yes --offline --package "$0" gatehouse check 2>&1 || true; du -sm "$1/_npx"';
  const printed = await runIn(empty)('sh', '-c', line, tarball, join(empty, '.npm'));
  assert.match(printed, /requires/);
  process.stdout.write(`           ${/^\d+/m.exec(printed.split('\n').at(-1) ?? '')?.[0]} MB are installed\n`);
}

/** Installs the published chart with its bundled stores, and sends it a signed delivery. */
async function install(context: string, chart: string): Promise<void> {
  const [, repository = ''] = /^(.+)@/.exec(chart) ?? [];
  const [load = '', ...args] = (process.env['CLUSTER_LOAD_IMAGE'] ?? '').split(' ');
  await runIn(ROOT)(load, ...args, ...BUNDLED_IMAGES);
  const target = ['--kube-context', context, '--namespace', name];
  cleanup.defer(async () => {
    await run('kubectl', '--context', context, 'delete', 'namespace', name, '--wait=false');
  });
  await timed('helm install, to Ready', async () =>
    run(
      ...(['helm', 'install', 'gatehouse', `oci://${repository}`, '--plain-http'] as const),
      ...['--version', await readVersion(ROOT), ...target, '--create-namespace', '--wait', '--timeout', '5m'],
    ),
  );
  await timed('a signed delivery', () => run('helm', 'test', 'gatehouse', ...target));
}

async function verifyPublished({ image, chart }: Published): Promise<void> {
  assert.match(await readRepositoryFile(chart), /^repositoryID: [0-9a-f-]{36}\n/);
  for (const [kind, artefact] of Object.entries({ image, chart })) {
    await timed(`cosign verify, the ${kind}`, () => verify(artefact));
    const forged = await forge(artefact);
    const refusal = await timed(`cosign refuses a changed ${kind}`, () =>
      verify(forged).then(() => assert.fail(`cosign accepted a changed ${kind}`), String),
    );
    process.stdout.write(`           ${refusal.split('\n').at(-1)}\n`);
    await statement(artefact, 'slsaprovenance1');
    await statement(artefact, 'cyclonedx');
  }
}

const registry = process.env['RELEASE_REGISTRY'] || (await timed('start a registry', startRegistry));
const image = `${registry}/${name}/gatehouse`;
const nodeImage = await timed('push the base image', () => pushBase(`${registry}/${name}/node:24`));
const [one, other] = await checkouts(image);
await run('cosign', 'generate-key-pair');
const publicationOf = (root: string): Publication => ({
  root,
  destination: join(root, 'dist'),
  nodeImage,
  platforms: 'linux/amd64',
  plainHttp: true,
  key: join(folder, 'cosign.key'),
  builder: undefined,
});
const release = (root: string): Promise<Published> => publish(publicationOf(root), () => undefined);
const published = await timed('publish', () => release(one));
await comparePlan(publicationOf(one));
await verifyPublished(published);
process.stdout.write(`           ${await compareBill(one, published.image)}\n`);
await runIn(join(one, 'dist'))('sha256sum', '--check', '--strict', 'SHA256SUMS');
const blob = ['--key', 'cosign.pub', '--insecure-ignore-tlog=true', '--signature'];
await run('cosign', 'verify-blob', ...blob, 'one/dist/SHA256SUMS.sig', 'one/dist/SHA256SUMS');
await verifyNpm(join(one, 'dist'), blob);
const context = process.env['CLUSTER_CONTEXT'];
if (context === undefined || context === '') {
  process.stdout.write('           the chart was not installed: CLUSTER_CONTEXT names no cluster\n');
} else {
  await install(context, published.chart);
}

const again = await timed('publish the same commit again', () => release(other));
assert.deepEqual([again.image, again.chart], [published.image, published.chart], 'two builds of one commit differ');
const sums = (root: string) => readFile(join(root, 'dist/SHA256SUMS'), 'utf8');
assert.equal(await sums(other), await sums(one), 'the files of two builds of one commit differ');
process.stdout.write(`           both builds are\n           ${again.image}\n           ${again.chart}\n`);
