import { once } from 'node:events';
import { copyFile, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { npmMaterials } from '../../release/bill-of-materials.ts';
import { npmFile, packNpm } from '../../release/npm/pack.ts';
import { type Run, runIn } from '../../release/run.ts';
import type { Source } from '../../release/source.ts';
import { stepsOf } from '../../release/steps.ts';

/** The npm package of a publisher who has named one. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NAME = '@team/gatehouse';

async function project(t: ExecutionContext): Promise<Source> {
  const root = await mkdtemp(join(tmpdir(), 'gatehouse-npm-test-'));
  t.teardown(() => rm(root, { recursive: true }));
  for (const path of ['src', 'release', 'node_modules']) {
    await symlink(join(ROOT, path), join(root, path));
  }
  for (const path of ['package.json', 'LICENSE']) {
    await copyFile(join(ROOT, path), join(root, path));
  }
  const publisher = {
    name: 'Example Publisher',
    contact: 'security@example.test',
    repository: 'https://code.example.test/platform/gatehouse',
    image: 'images.example.test/platform/gatehouse',
    npm: NAME,
    signKey: null,
    artifactHub: null,
  };
  await writeFile(join(root, 'publisher.json'), JSON.stringify(publisher));
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  return { root, publisher, version, revision: 'abc', time: new Date(0) };
}

interface Published {
  readonly url: string;
  readonly name: string;
  readonly access: string;
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
}

/** A registry that has nothing, and keeps what it is sent. */
async function startRegistry(t: ExecutionContext) {
  const published: Published[] = [];
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    if (request.method === 'PUT') {
      published.push({ ...JSON.parse(body.toString()), url: request.url });
    }
    response.writeHead(request.method === 'PUT' ? 201 : 404, { 'content-type': 'application/json' }).end('{}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  return { published, host: `127.0.0.1:${(server.address() as AddressInfo).port}` };
}

test('a release ends with the tarball, published under the publisher’s name', async (t) => {
  const source = await project(t);
  const destination = join(source.root, 'dist');
  const { tarball, packages } = await packNpm({ root: source.root, destination });
  t.is(tarball, join(destination, npmFile(source.version)));
  const { host, published } = await startRegistry(t);
  const settings = [
    '--registry',
    `http://${host}`,
    `--//${host}/:_authToken=secret`,
    '--cache',
    join(destination, 'npm'),
  ];
  const run: Run = (program, ...args) => runIn(source.root)(program, ...args, ...settings);
  const build = { nodeImage: 'node@sha256:1', platforms: 'linux/amd64', plainHttp: false };
  const steps = stepsOf(source, { ...build, root: source.root, destination, key: undefined, builder: undefined });
  await steps.at(-1)?.run({ run, image: '', chart: '', npmBill: undefined });
  t.deepEqual(
    published.map(({ url, name, access }) => ({ url, name, access })),
    [{ url: '/@team%2fgatehouse', name: NAME, access: 'public' }],
  );
  const [attachment] = Object.values(published[0]?._attachments ?? {});
  t.is(attachment?.data, (await readFile(tarball)).toString('base64'));

  const bill = npmMaterials(source, packages);
  const named = bill.components.map(({ name }) => name);
  t.true(named.includes('zod') && named.includes('re2js'), 'what is compiled in');
  t.false(named.includes('pg') || named.includes('koa'), 'what is not');
  for (const { name, version, purl } of bill.components) {
    t.is(purl, `pkg:npm/${name.replace('@', '%40')}@${version}`);
  }
});
