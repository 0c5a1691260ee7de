import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { Case } from './case.ts';

interface Verify {
  readonly container: { readonly command: readonly string[]; readonly args: readonly string[] };
  readonly executionMode: { readonly kubernetesCluster: { readonly jobManifestPath: string } };
}

interface Job {
  readonly metadata: { readonly name: string };
  readonly spec: { readonly template: { readonly spec: { readonly containers: readonly [object] } } };
}

const project = async (path: string) => parse(await readFile(new URL(`../../${path}`, import.meta.url), 'utf8'));

export const SKAFFOLD_CASES: readonly Case[] = [
  {
    name: 'the Job of skaffold verify, applied by kubectl with what skaffold would fill in',
    async play({ cluster, namespace }) {
      const at = await namespace('verify');
      await at.install();
      const { verify } = (await project('skaffold.yaml')) as { verify: readonly [Verify] };
      const [{ container, executionMode }] = verify;
      const job = (await project(executionMode.kubernetesCluster.jobManifestPath)) as Job;
      const [listed] = job.spec.template.spec.containers;
      const { command, args } = container;
      Object.assign(listed, { image: cluster.image, imagePullPolicy: 'Never', command, args });
      await at.kubectl(['create', '-f', '-'], JSON.stringify(job));
      await at.kubectl(['wait', '--for=condition=Complete', `job/${job.metadata.name}`, '--timeout=120s']);
      return 'completed: a signed delivery through the Service';
    },
  },
];
