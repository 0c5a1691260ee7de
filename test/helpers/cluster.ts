import { once } from 'node:events';
import { createServer } from 'node:http';
import { CUSTOM_KINDS } from './custom-resources.ts';
import { KINDS } from './kubernetes-api.ts';
import type { Manifest } from './manifests.ts';

/**
 * As much of a Kubernetes API server as helm needs to render a chart against a cluster: it says what kinds there are,
 * and answers a `lookup` with the objects it was given. It runs nothing, and nothing can be written to it over HTTP.
 */
export async function startCluster(kubernetes: string, namespace: string) {
  const objects = new Map<string, Manifest>();
  /** Of a namespace that is not there it is empty, as that of a real server is. */
  const listAt = (path: string) => {
    const resource = RESOURCES.find(
      ({ plural }) => /^\/apis?\/.+\/namespaces\/[^/]+\/[^/]+$/.test(path) && path.endsWith(`/${plural}`),
    );
    const items = [...objects].filter(([at]) => at.startsWith(`${path}/`)).map(([, object]) => object);
    return resource && { apiVersion: resource.groupVersion, kind: `${resource.kind}List`, metadata: {}, items };
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://cluster');
    const found = discovery(pathname, kubernetes) ?? objects.get(pathname) ?? listAt(pathname);
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? { apiVersion: 'v1', kind: 'Status', reason: 'NotFound', code: 404 }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') {
    throw new Error('the cluster has no port');
  }
  const url = `http://127.0.0.1:${address.port}`;

  return {
    helmArguments: ['--dry-run=server', '--kube-apiserver', url, '--disable-openapi-validation'],
    put(manifests: readonly Manifest[]) {
      for (const manifest of manifests) {
        const resource = RESOURCES.find(({ id }) => id === `${manifest.apiVersion}/${manifest.kind}`);
        if (resource === undefined) {
          throw new Error(`no such kind: ${manifest.kind}`);
        }
        const { root, groupVersion, plural } = resource;
        objects.set(`/${root}/${groupVersion}/namespaces/${namespace}/${plural}/${manifest.metadata.name}`, manifest);
      }
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const RESOURCES = [...KINDS, ...CUSTOM_KINDS].map((id) => {
  const [kind = '', version, group] = id.split('/').reverse();
  const groupVersion = group === undefined ? `${version}` : `${group}/${version}`;
  const plural = `${kind.toLowerCase().replace(/y$/, 'ie').replace(/s$/, 'se')}s`;
  return { id, root: group === undefined ? 'api' : 'apis', group, groupVersion, kind, plural };
});

function discovery(path: string, kubernetes: string): unknown {
  if (path === '/version') {
    const [major, minor] = kubernetes.split('.');
    return { major, minor, gitVersion: `v${kubernetes}.0` };
  }
  if (path === '/api') {
    return { kind: 'APIVersions', versions: ['v1'] };
  }
  if (path === '/apis') {
    const groups = new Map(RESOURCES.filter(({ group }) => group !== undefined).map((r) => [r.groupVersion, r.group]));
    return {
      kind: 'APIGroupList',
      apiVersion: 'v1',
      groups: [...groups].map(([groupVersion, name]) => {
        const version = { groupVersion, version: groupVersion.split('/').at(-1) };
        return { name, versions: [version], preferredVersion: version };
      }),
    };
  }
  const resources = RESOURCES.filter(({ root, groupVersion }) => path === `/${root}/${groupVersion}`);
  if (resources.length === 0) {
    return undefined;
  }
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: resources[0]?.groupVersion,
    resources: resources.map(({ kind, plural }) => {
      return { name: plural, singularName: kind.toLowerCase(), namespaced: true, kind, verbs: ['get', 'list'] };
    }),
  };
}
