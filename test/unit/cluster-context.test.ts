import { contextFault } from '../cluster/context.ts';
import test from '../helpers/test.ts';

const HERE = 'https://127.0.0.1:6443';
const THERE = 'https://10.0.0.7:6443';

test('tests use a local cluster by name and address, or the context that CLUSTER_CONTEXT names', (t) => {
  const refused = ['production', 'my-kind-of-cluster', 'minikube-2', 'arn:aws:eks:eu-central-1:1:cluster/kind-x'];
  for (const [name, server, named, fault] of [
    ...['kind-kind', 'k3d-test', 'minikube'].map((name) => [name, HERE, undefined, /^$/] as const),
    ...refused.map((name) => [name, HERE, undefined, /CLUSTER_CONTEXT=/] as const),
    ['kind-kind', THERE, '', /leads to 10\.0\.0\.7/],
    ['staging', THERE, 'staging', /^$/],
    ['kind-kind', HERE, 'staging', /CLUSTER_CONTEXT names staging/],
  ] as const) {
    t.regex(contextFault({ name, server }, named) ?? '', fault, name);
  }
});
