/** Which cluster kubectl means, and whether a test may use it. */

export interface Context {
  readonly name: string;
  /** URL of the API server. */
  readonly server: string;
}

const LOCAL_CONTEXT = /^(kind-|k3d-|minikube$)/;
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]', '0.0.0.0']);

/**
 * Why the tests must not touch a cluster, or undefined. Only a cluster on this machine, by name and by address, may be used,
 * or the one that the user names: the address alone proves nothing, since a tunnel to production is on loopback, too.
 */
export function contextFault({ name, server }: Context, named: string | undefined): string | undefined {
  if (named !== undefined && named !== '') {
    return named === name ? undefined : `kubectl's context is ${name}, and CLUSTER_CONTEXT names ${named}`;
  }
  if (!LOCAL_CONTEXT.test(name)) {
    return `the context ${name} is not kind-…, k3d-… or minikube: set CLUSTER_CONTEXT=${name} if the tests may use it`;
  }
  return LOOPBACK.has(new URL(server).hostname)
    ? undefined
    : `the context ${name} leads to ${new URL(server).hostname}: set CLUSTER_CONTEXT=${name} if the tests may use it`;
}

/** The command that loads images of the local Docker engine into the cluster; their names follow as arguments. */
export function loadCommand(context: string, given: string | undefined): readonly string[] {
  if (given !== undefined && given !== '') {
    return given.split(' ');
  }
  if (context.startsWith('kind-')) {
    return ['kind', 'load', 'docker-image', '--name', context.slice('kind-'.length)];
  }
  if (context.startsWith('k3d-')) {
    return ['k3d', 'image', 'import', '--cluster', context.slice('k3d-'.length)];
  }
  if (context === 'minikube') {
    return ['minikube', 'image', 'load'];
  }
  throw new Error('CLUSTER_LOAD_IMAGE is needed: the command that loads images into this cluster');
}
