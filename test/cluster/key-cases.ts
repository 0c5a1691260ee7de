import { setTimeout as sleep } from 'node:timers/promises';
import type { Case } from './case.ts';
import { expect } from './expect.ts';
import { type Cluster, type Namespace, RELEASE } from './namespace.ts';
import { countRefused, expectStored, refusals, startSenderPod } from './pods.ts';
import type { Sent } from './sender.ts';

const STEADY_MS = 3_000;
const SECRET = 'gatehouse-webhook';

/** Sends with a key through the Service, while something is done. */
async function underLoadWith(
  cluster: Cluster,
  at: Namespace,
  key: string,
  work: () => Promise<unknown>,
): Promise<Sent> {
  const sender = await startSenderPod(cluster, at, key);
  await sleep(STEADY_MS);
  await work();
  await sleep(STEADY_MS);
  return sender.stop();
}

async function expectNoneRefused(at: Namespace, sent: readonly Sent[]): Promise<number> {
  const { acknowledged } = await expectStored(at, sent);
  expect(countRefused(sent) === 0, `no refused delivery, not ${refusals(sent)}`);
  return acknowledged;
}

export const KEY_CASES: readonly Case[] = [
  {
    name: 'signing key: rotated by value under load, and rolled back: no delivery refused',
    async play({ cluster, namespace }) {
      const at = await namespace('keys');
      await at.install();
      const previous = await at.signingKey();
      const value = `a-new-key-${cluster.run}-of-this-test`;
      const sent = await underLoadWith(cluster, at, previous, () => at.install({ webhookSecret: { value, previous } }));
      const after = await underLoadWith(cluster, at, value, async () => {
        await at.helm(['rollback', RELEASE, '1', '--wait', '--timeout', '4m']);
        await at.kubectl(['rollout', 'status', 'deployment/gatehouse-door', '--timeout=240s']);
      });
      const acknowledged = await expectNoneRefused(at, [sent, after]);
      expect((await at.signingKey()) === value, 'the new key after the rollback');
      return `${acknowledged} acknowledged with the old and the new key, 0 refused`;
    },
  },
  {
    // The three steps of docs/operations.md.
    name: 'signing key in an own Secret: rotated under load: no delivery refused',
    async play({ cluster, namespace }) {
      const at = await namespace('own-key');
      const [old, fresh] = [`the-old-key-${cluster.run}-of-this-test`, `the-new-key-${cluster.run}-of-this-test`];
      const write = (verb: 'create' | 'replace', stringData: Readonly<Record<string, string>>) => {
        const manifest = { apiVersion: 'v1', kind: 'Secret', metadata: { name: SECRET }, stringData };
        return at.kubectl([verb, '-f', '-'], JSON.stringify(manifest));
      };
      await write('create', { 'webhook-secret': old });
      await at.install({ webhookSecret: { existingSecret: SECRET } });
      const first = await underLoadWith(cluster, at, old, async () => {
        await write('replace', { 'webhook-secret': fresh, 'webhook-secret-previous': old });
        await at.restartDoors();
      });
      const second = await underLoadWith(cluster, at, fresh, async () => {
        await write('replace', { 'webhook-secret': fresh });
        await at.restartDoors();
      });
      const acknowledged = await expectNoneRefused(at, [first, second]);
      const third = await startSenderPod(cluster, at, old);
      await sleep(STEADY_MS);
      const { acknowledged: late, refused } = await third.stop();
      expect(
        late.length === 0 && (refused['401'] ?? 0) > 0,
        `401 with the old key in the end, not ${late.length} × 200`,
      );
      return `${acknowledged} acknowledged with the old and the new key, 0 refused; then the old one 401`;
    },
  },
];
