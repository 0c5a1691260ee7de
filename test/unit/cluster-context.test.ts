import { contextFault, loadCommand } from '../cluster/context.ts';
import test from '../helpers/test.ts';

const HERE = 'https://127.0.0.1:6443';

test('a local cluster by name and address may be used', (t) => {
  for (const name of ['kind-kind', 'k3d-test', 'minikube']) {
    t.is(contextFault({ name, server: HERE }, undefined), undefined, name);
  }
});

test('any other context is refused, even on a loopback address', (t) => {
  for (const name of ['production', 'my-kind-of-cluster', 'minikube-2', 'arn:aws:eks:eu-central-1:1:cluster/kind-x']) {
    t.regex(contextFault({ name, server: HERE }, undefined) ?? '', /CLUSTER_CONTEXT=/, name);
  }
});

test('a local name at an address elsewhere is refused', (t) => {
  t.regex(contextFault({ name: 'kind-kind', server: 'https://10.0.0.7:6443' }, '') ?? '', /leads to 10\.0\.0\.7/);
});

test('CLUSTER_CONTEXT allows the context that it names, and no other', (t) => {
  t.is(contextFault({ name: 'staging', server: 'https://10.0.0.7:6443' }, 'staging'), undefined);
  t.regex(contextFault({ name: 'kind-kind', server: HERE }, 'staging') ?? '', /CLUSTER_CONTEXT names staging/);
});

test('images are loaded by the cluster’s own tool, or by CLUSTER_LOAD_IMAGE', (t) => {
  t.deepEqual(loadCommand('kind-a', undefined), ['kind', 'load', 'docker-image', '--name', 'a']);
  t.deepEqual(loadCommand('k3d-b', ''), ['k3d', 'image', 'import', '--cluster', 'b']);
  t.deepEqual(loadCommand('minikube', undefined), ['minikube', 'image', 'load']);
  t.deepEqual(loadCommand('staging', './load --quiet'), ['./load', '--quiet']);
  t.throws(() => loadCommand('staging', undefined), { message: /CLUSTER_LOAD_IMAGE/ });
});
