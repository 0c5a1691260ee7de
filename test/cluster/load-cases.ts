import { setTimeout as sleep } from 'node:timers/promises';
import type { Case } from './case.ts';
import { expect } from './expect.ts';
import { type Cluster, type Namespace, RELEASE } from './namespace.ts';
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
async function underLoad(
  cluster: Cluster,
  at: Namespace,
  secret: string,
  work: () => Promise<void>,
): Promise<readonly Sent[]> {
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

async function expectNoneRefused(at: Namespace, sent: readonly Sent[]): Promise<string> {
  const acknowledged = await expectStored(at, sent);
  expect(countRefused(sent) === 0, `no refused delivery, not ${refusals(sent)}`);
  return `${acknowledged} acknowledged, 0 refused, 0 lost`;
}

export const LOAD_CASES: readonly Case[] = [
  {
    name: 'load through Service and ingress, one rollout: nothing refused, nothing lost',
    short: true,
    async play({ cluster, namespace }) {
      const at = await namespace('rollout');
      await at.install({ ...NO_DRAIN, ...(cluster.ingress !== undefined && INGRESS) });
      return expectNoneRefused(at, await underLoad(cluster, at, await at.signingKey(), () => at.restartDoors()));
    },
  },
  {
    name: 'signing key rotated by value under load, and rolled back: no delivery refused',
    async play({ cluster, namespace }) {
      const at = await namespace('keys');
      const values = cluster.ingress !== undefined ? INGRESS : {};
      await at.install(values);
      const previous = await at.signingKey();
      const value = `a-new-key-${cluster.run}-of-this-test`;
      const rotated = await underLoad(cluster, at, previous, async () => {
        await at.install({ ...values, webhookSecret: { value, previous } });
      });
      const rolledBack = await underLoad(cluster, at, value, async () => {
        await at.helm(['rollback', RELEASE, '1', '--wait', '--timeout', '4m']);
        await at.kubectl(['rollout', 'status', 'deployment/gatehouse-door', '--timeout=240s']);
      });
      const seen = await expectNoneRefused(at, [...rotated, ...rolledBack]);
      expect((await at.signingKey()) === value, 'the new key after the rollback');
      return seen;
    },
  },
];
