import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { packNpm } from '../../release/npm/pack.ts';
import { execute } from '../helpers/execute.ts';
import test from '../helpers/test.ts';

/** The npm package under a name of the publisher's own. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NAME = '@team/gatehouse';
const REPOSITORY = 'https://code.example.test/platform/gatehouse';

interface Published {
  readonly url: string;
  readonly name: string;
  readonly access: string;
  readonly versions: Readonly<Record<string, { readonly repository: object }>>;
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

test('npm publishes the tarball under the name that it was packed for', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-npm-test-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const publishedAs = { name: NAME, repository: REPOSITORY };
  const tarball = await packNpm({ root: ROOT, destination: folder, publishedAs });
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  t.is(tarball, join(folder, `gatehouse-npm-${version}.tgz`));

  const { host, published } = await startRegistry(t);
  const settings = ['--registry', `http://${host}`, `--//${host}/:_authToken=secret`, '--cache', join(folder, 'npm')];
  await execute('npm', ['publish', '--access', 'public', tarball, ...settings], { cwd: folder });
  t.deepEqual(
    published.map(({ url, name, access }) => ({ url, name, access })),
    [{ url: '/@team%2fgatehouse', name: NAME, access: 'public' }],
  );
  t.deepEqual(published[0]?.versions[version]?.repository, { type: 'git', url: `git+${REPOSITORY}.git` });
  const [attachment] = Object.values(published[0]?._attachments ?? {});
  t.is(attachment?.data, (await readFile(tarball)).toString('base64'));
});
