import { setTimeout as sleep } from 'node:timers/promises';
import type { Case } from './case.ts';
import { expect } from './expect.ts';
import type { Cluster, Namespace } from './namespace.ts';
import { countRefused, expectStored, refusals, startSenderPod } from './pods.ts';
import { type Sent, startSender, type Target } from './sender.ts';

const HOST = 'gatehouse.test';
const STEADY_MS = 3_000;
const INGRESS_PAUSE_MS = 500;
const MAX_INGRESS_TRIES = 60;

/** Only the sleep before SIGTERM keeps a leaving door in service, so that the load shows whether it is there. */
const NO_DRAIN = { config: { drainSeconds: 0 } };
const INGRESS = { ingress: { enabled: true, className: 'nginx', hosts: [HOST] } };

/** Sends through the Service, and through the ingress where there is one, while something is done. */
async function underLoad(cluster: Cluster, at: Namespace, work: () => Promise<void>): Promise<readonly Sent[]> {
  const secret = await at.signingKey();
  const senders = [await startSenderPod(cluster, at, secret)];
  if (cluster.ingress !== undefined) {
    const target = { url: `${cluster.ingress}/webhook`, host: HOST, secret };
    await ingressLeadsToDoor(target);
    senders.push(startSender(target));
  }
  try {
    await sleep(STEADY_MS);
    await work();
    await sleep(STEADY_MS);
  } catch (error) {
    await Promise.allSettled(senders.map((sender) => sender.stop()));
    throw error;
  }
  return Promise.all(senders.map((sender) => sender.stop()));
}

/** A controller learns of new endpoints somewhat after the pods are ready, and answers 503 until then. */
async function ingressLeadsToDoor(target: Target): Promise<void> {
  for (let tries = 0; tries < MAX_INGRESS_TRIES; tries++) {
    const { refused } = await startSender(target).stop();
    if (Object.keys(refused).length === 0) {
      return;
    }
    await sleep(INGRESS_PAUSE_MS);
  }
  throw new Error('the ingress does not lead to a ready door');
}

export const LOAD_CASES: readonly Case[] = [
  {
    name: 'load through Service and ingress, one rollout: nothing refused, nothing lost',
    short: true,
    async play({ cluster, namespace }) {
      const at = await namespace('rollout');
      await at.install({ ...NO_DRAIN, ...(cluster.ingress !== undefined && INGRESS) });
      const sent = await underLoad(cluster, at, () => at.restartDoors());
      const { acknowledged } = await expectStored(at, sent);
      expect(countRefused(sent) === 0, `nothing refused during a rollout, not ${refusals(sent)}`);
      return `${acknowledged} acknowledged, 0 refused, 0 lost`;
    },
  },
  {
    name: 'load, two rollouts, a forced deletion and a kill -9: nothing lost',
    async play({ cluster, namespace }) {
      const at = await namespace('faults');
      await at.install({ ...NO_DRAIN, ...(cluster.ingress !== undefined && INGRESS) });
      // The first process of a container is deaf to SIGKILL from inside; with the namespace shared, it is not the first.
      const patch = { spec: { template: { spec: { shareProcessNamespace: true } } } };
      await at.kubectl(['patch', 'deployment/gatehouse-door', '--type=merge', '-p', JSON.stringify(patch)]);
      await at.kubectl(['rollout', 'status', 'deployment/gatehouse-door', '--timeout=240s']);
      const sent = await underLoad(cluster, at, async () => {
        await at.restartDoors();
        const [victim] = await at.pods('door');
        await at.kubectl(['delete', 'pod', victim?.name ?? '', '--force', '--grace-period=0']);
        await at.kubectl(['rollout', 'status', 'deployment/gatehouse-door', '--timeout=240s']);
        await at.doorsBecome(true);
        const kill = `for p in /proc/[0-9]*; do grep -aq main.js "$p/cmdline" && kill -9 "\${p#/proc/}"; done; true`;
        await at.tryKubectl(['exec', 'deployment/gatehouse-door', '-c', 'door', '--', 'sh', '-c', kill]);
        await at.doorsBecome(true);
        await at.restartDoors();
      });
      const { acknowledged, refused } = await expectStored(at, sent);
      return `${acknowledged} acknowledged, ${refused} refused ${refused === 0 ? '' : refusals(sent)}, 0 lost`;
    },
  },
];
