import type { Case } from './case.ts';
import { eventually } from './eventually.ts';
import { expect } from './expect.ts';
import { type Namespace, RELEASE } from './namespace.ts';

async function uids(at: Namespace, component: string): Promise<string> {
  return (await at.pods(component))
    .map(({ uid }) => uid)
    .sort()
    .join(' ');
}

async function replicas(at: Namespace): Promise<number> {
  const { spec } = (await at.get(['deployment', 'gatehouse-door'])) as { spec: { replicas: number } };
  return spec.replicas;
}

export const UPGRADE_CASES: readonly Case[] = [
  {
    name: 'an upgrade without a change replaces no pod; a volume’s new size is refused',
    async play({ namespace }) {
      const at = await namespace('same');
      await at.install();
      const before = await uids(at, 'door');
      await at.install();
      expect((await uids(at, 'door')) === before, 'the same pods after the upgrade');
      const persistence = { bundled: { postgresql: { persistence: { size: '3Gi' } } } };
      const refusal = await at.install(persistence).then(
        () => 'no refusal',
        (error: Error) => error.message,
      );
      expect(/persistence\.size is 3Gi, and the volume was made with 2Gi/.test(refusal), `a sentence, not: ${refusal}`);
      return 'same pods; size refused with a sentence';
    },
  },
  {
    name: 'autoscaling switched on: three doors stay three; a fresh install waits for the fewest',
    async play({ namespace }) {
      const at = await namespace('scale');
      await at.install({ door: { autoscaling: { enabled: true, minReplicas: 2 } } });
      const fresh = (await at.pods('door')).filter(({ ready }) => ready).length;
      expect(fresh >= 2, `two ready doors after --wait, not ${fresh}`);
      await at.install({ door: { replicas: 3 } });
      const before = await uids(at, 'door');
      await at.install({ door: { autoscaling: { enabled: true, minReplicas: 2 } } });
      expect((await replicas(at)) === 3, `three replicas, not ${await replicas(at)}`);
      expect((await uids(at, 'door')) === before, 'the same three pods');
      return 'fresh: 2 ready; 3 doors stay';
    },
  },
  {
    name: 'eviction: the disruption budget lets one door go at a time',
    async play({ namespace }) {
      const at = await namespace('evict');
      await at.install();
      await eventually('the budget allows one', async () => {
        const { status } = (await at.get(['pdb', 'gatehouse-door'])) as { status: { disruptionsAllowed: number } };
        return status.disruptionsAllowed === 1;
      });
      const doors = await at.pods('door');
      const evict = (name: string) => {
        const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: at.name } };
        const path = `/api/v1/namespaces/${at.name}/pods/${name}/eviction`;
        return at.tryKubectl(['create', '--raw', path, '-f', '-'], JSON.stringify(eviction));
      };
      const [first, second] = [await evict(doors[0]?.name ?? ''), await evict(doors[1]?.name ?? '')];
      expect(first.ok, `the first eviction to be granted, not: ${first.stderr}`);
      expect(!second.ok && /disruption budget/.test(second.stderr), `the second to be refused, not: ${second.stderr}`);
      return 'first granted, second refused';
    },
  },
  {
    name: 'a memory limit too small: the old doors serve on, and helm rollback repairs it',
    async play({ namespace }) {
      const at = await namespace('memory');
      await at.install();
      const small = { door: { resources: { requests: { memory: '24Mi' }, limits: { memory: '24Mi' } } } };
      await at.install(small, []);
      await eventually('the new door fails', async () => (await at.pods('door')).some(({ restarts }) => restarts > 0));
      const serving = (await at.pods('door')).filter(({ ready }) => ready).length;
      expect(serving === 2, `two old doors that are ready, not ${serving}`);
      await at.helm(['rollback', RELEASE, '--wait', '--timeout', '4m']);
      await at.doorsBecome(true);
      expect((await at.deliver()) === '200', 'a delivery to be acknowledged after the rollback');
      return 'old doors ready throughout; rolled back';
    },
  },
];
