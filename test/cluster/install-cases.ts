import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { Case } from './case.ts';
import { eventually } from './eventually.ts';
import { expect } from './expect.ts';
import { type Namespace, RELEASE } from './namespace.ts';

/**
 * Warnings that a chart can cause though its pods become ready. Others are the cluster's own, of a volume, an address, a right or a
 * cache that is a moment late: had one of them lasted, the pods would not be ready.
 */
const CHART_WARNINGS =
  /\((Unhealthy|ProbeWarning|BackOff|Failed|FailedCreate|FailedPostStartHook|FailedPreStopHook)\)$|not found \(FailedMount\)$/;

/**
 * A server that is just starting refuses the first startup probe. A kubelet waits one second for its copy of a pod's Secrets and
 * ConfigMaps, and tries again: of one that does not exist it says "not found".
 */
const USUAL_WARNINGS =
  /^pod\/gatehouse-(door|worker)\S* Startup probe failed|failed to sync (secret|configmap) cache: timed out waiting/;

/** Helm's Kubernetes client logs a watch that the API server ended, and watches again. */
const LOST_WATCH = /watch ended with error/;

async function warnings(at: Namespace): Promise<readonly string[]> {
  const { items } = (await at.get(['events', '--field-selector', 'type=Warning'])) as {
    items: { message: string; reason: string; involvedObject: { kind: string; name: string } }[];
  };
  return items
    .map(
      ({ involvedObject, reason, message }) =>
        `${involvedObject.kind.toLowerCase()}/${involvedObject.name} ${message} (${reason})`,
    )
    .filter((text) => CHART_WARNINGS.test(text) && !USUAL_WARNINGS.test(text));
}

export const INSTALL_CASES: readonly Case[] = [
  {
    name: 'no values, Pod Security restricted: ready, no warning, helm test',
    short: true,
    async play({ namespace }) {
      const at = await namespace('install');
      const start = performance.now();
      const { stderr } = await at.install();
      const seconds = (performance.now() - start) / 1_000;
      const warned = stderr.split('\n').filter((line) => /warn/i.test(line) && !LOST_WATCH.test(line));
      expect(warned.length === 0, `no warning of helm, not: ${warned.join('; ')}`);
      const doors = await at.pods('door');
      expect(doors.length === 2 && doors.every(({ ready }) => ready), 'two ready doors');
      await at.helm(['test', RELEASE]);
      expect((await at.pods('test')).length === 0, 'no test pod left behind');
      const seen = await warnings(at);
      expect(seen.length === 0, `no warning events, not: ${seen.join('; ')}`);
      return `all ready after ${seconds.toFixed(0)} s, helm test passed`;
    },
  },
  {
    name: 'probes: Redis away, PostgreSQL away, both back',
    short: true,
    async play({ namespace }) {
      const at = await namespace('probes');
      // With a worker, whose forge does not exist.
      await at.install({
        config: { forgeUrl: 'http://forge' },
        forgeToken: { value: 'a-forge-token-of-the-cluster-tests' },
      });
      await at.scale('deployment/gatehouse-redis', 0);
      await eventually('/health reports Redis down', async () => (await at.ask('/health')).status === 503);
      const ready = await at.ask('/health/ready');
      expect(
        ready.status === 200 && /"error":\{"redis"/.test(ready.text),
        `200 naming redis, not ${ready.status} ${ready.text}`,
      );
      const answer = await at.deliver();
      expect(answer === '200', `200 for a delivery without Redis, not ${answer}`);
      await at.scale('statefulset/gatehouse-postgresql', 0);
      await at.doorsBecome(false);
      const health = await at.ask('/health/ready');
      expect(health.status === 503, `503 without PostgreSQL, not ${health.status}`);
      await at.scale('statefulset/gatehouse-postgresql', 1);
      await at.scale('deployment/gatehouse-redis', 1);
      await at.doorsBecome(true);
      await eventually('/health is 200', async () => (await at.ask('/health')).status === 200);
      const pods = [...(await at.pods('door')), ...(await at.pods('worker'))];
      const restarts = pods.reduce((sum, pod) => sum + pod.restarts, 0);
      expect(pods.length === 4 && restarts === 0, `no restart of 4 pods, not ${restarts} of ${pods.length}`);
      return 'Redis away: ready, 200; PostgreSQL away: unready, 503; back: ready, 0 restarts';
    },
  },
  {
    name: 'uninstall and install again: same key, same deliveries',
    async play({ namespace }) {
      const at = await namespace('again');
      await at.install();
      expect((await at.deliver()) === '200', 'a delivery to be acknowledged');
      const key = await at.signingKey();
      const count = await at.sql('SELECT count(*) FROM gatehouse.deliveries');
      await at.helm(['uninstall', RELEASE]);
      await eventually(
        'the pods are gone',
        async () => (await at.kubectl(['get', 'pods', '-o', 'name'])).trim() === '',
      );
      const left = (await at.kubectl(['get', 'secret,pvc,pod,service,deployment,statefulset', '-o', 'name']))
        .trim()
        .split('\n');
      const kept = left.filter((name) => !/^service\/kubernetes$/.test(name)).sort();
      expect(
        kept.join(' ') ===
          'persistentvolumeclaim/data-gatehouse-postgresql-0 secret/gatehouse secret/gatehouse-postgresql secret/gatehouse-redis',
        `three Secrets and the volume to be left, not: ${kept.join(' ')}`,
      );
      await at.install();
      expect((await at.signingKey()) === key, 'the same signing key');
      const again = await at.sql('SELECT count(*) FROM gatehouse.deliveries');
      expect(again === count, `${count} deliveries, not ${again}`);
      return `left: ${kept.length} objects; the same key and ${again} delivery`;
    },
  },
  {
    name: 'an upgrade without a change replaces no pod',
    async play({ namespace }) {
      const at = await namespace('same');
      const uids = async () =>
        (await at.pods('door'))
          .map(({ uid }) => uid)
          .sort()
          .join();
      await at.install();
      const before = await uids();
      await at.install();
      expect((await uids()) === before, 'the same pods after the upgrade');
      return 'the same pods';
    },
  },
  {
    name: 'the Job of skaffold verify, applied by kubectl with what skaffold would fill in',
    async play({ cluster, namespace }) {
      const at = await namespace('verify');
      await at.install();
      const project = async (path: string) => parse(await readFile(new URL(`../../${path}`, import.meta.url), 'utf8'));
      const { container, executionMode } = (await project('skaffold.yaml')).verify[0];
      const job = await project(executionMode.kubernetesCluster.jobManifestPath);
      const { command, args } = container;
      const filled = { image: cluster.image, imagePullPolicy: 'Never', command, args };
      Object.assign(job.spec.template.spec.containers[0], filled);
      await at.kubectl(['create', '-f', '-'], JSON.stringify(job));
      await at.kubectl(['wait', '--for=condition=Complete', `job/${job.metadata.name}`, '--timeout=120s']);
      return 'completed: a signed delivery through the Service';
    },
  },
];
