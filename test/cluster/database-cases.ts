import { setTimeout as sleep } from 'node:timers/promises';
import type { Case } from './case.ts';
import { expect } from './expect.ts';
import type { Cluster, Namespace } from './namespace.ts';
import { countRefused, expectStored, refusals, startPod, startSenderPod } from './pods.ts';
import { startPostgresPair } from './postgres-pair.ts';
import { CONTROL_PORT, RELAY_PORT } from './relay.ts';

/** Added to each round trip, half of it each way. */
const LATE_MS = 600;
/** Longer than three readiness probes take to fail. */
const WATCH_MS = 30_000;
const POLL_MS = 500;
/** Longer than the database's pool keeps an idle connection. */
const QUIET_MS = 15_000;
const STEADY_MS = 5_000;
/** From the moment that the new primary can write. */
const READY_AGAIN_S = 10;

interface Relay {
  /** `pass`, `hang` or `delay/<milliseconds>`. */
  set(behaviour: string): Promise<void>;
}

/** Puts a relay between PostgreSQL and everything that connects to its Service from now on. */
async function putRelayBeforePostgres(cluster: Cluster, at: Namespace): Promise<Relay> {
  const { status } = (await at.get(['pod', 'gatehouse-postgresql-0'])) as { status: { podIP: string } };
  const name = 'relay';
  await startPod(cluster, at, {
    name,
    program: 'test/cluster/relay.ts',
    env: { TARGET: `postgres://${status.podIP}:${RELAY_PORT}` },
  });
  const replaced = { '/spec/selector': { app: name }, '/spec/ports/0/targetPort': RELAY_PORT };
  const patch = Object.entries(replaced).map(([path, value]) => ({ op: 'replace', path, value }));
  await at.kubectl(['patch', 'service/gatehouse-postgresql', '--type=json', '-p', JSON.stringify(patch)]);
  return {
    async set(behaviour) {
      const script = 'const { status } = await fetch(process.argv[1]); if (status !== 200) process.exit(1);';
      const url = `http://127.0.0.1:${CONTROL_PORT}/${behaviour}`;
      await at.kubectl(['exec', name, '--', 'node', '--input-type=module', '-e', script, url]);
    },
  };
}

/** The doors that were unready at any time while they were watched. */
async function unreadyWhileWatched(at: Namespace): Promise<readonly string[]> {
  const unready = new Set<string>();
  const end = performance.now() + WATCH_MS;
  while (performance.now() < end) {
    for (const door of await at.pods('door')) {
      if (!door.ready) {
        unready.add(door.name);
      }
    }
    await sleep(POLL_MS);
  }
  return [...unready];
}

export const DATABASE_CASES: readonly Case[] = [
  {
    name: 'a database 600 ms slow leaves every door ready; one that hangs does not',
    async play({ cluster, namespace }) {
      const at = await namespace('slow');
      await at.install();
      const relay = await putRelayBeforePostgres(cluster, at);
      await at.restartDoors();
      const sender = await startSenderPod(cluster, at, await at.signingKey());
      await relay.set(`delay/${LATE_MS / 2}`);
      const unready = await unreadyWhileWatched(at);
      const sent = [await sender.stop()];
      expect(unready.length === 0, `every door to stay ready, not unready: ${unready.join(' ')}`);
      expect(countRefused(sent) === 0, `no refused delivery, not ${refusals(sent)}`);
      const { acknowledged } = await expectStored(at, sent);
      await relay.set('hang');
      await at.doorsBecome(false);
      const log = await at.kubectl(['logs', '-l', 'app.kubernetes.io/component=door', '-c', 'door', '--tail=-1']);
      expect(/"reasons":\["database: [^"]+"\],"msg":"not ready"/.test(log), 'the log to name the reason');
      await relay.set('pass');
      await at.doorsBecome(true);
      const restarts = (await at.pods('door')).reduce((sum, door) => sum + door.restarts, 0);
      expect(restarts === 0, `no restart, not ${restarts}`);
      return `${acknowledged} acknowledged, 0 refused, always ready; hangs: unready, with the reason in the log`;
    },
  },
  {
    name: 'a failover of two PostgreSQL pods behind one Service loses nothing, ready within 10 s',
    async play({ cluster, namespace }) {
      const at = await namespace('failover');
      const pair = await startPostgresPair(at);
      await at.install({ bundled: { postgresql: { enabled: false } }, database: { url: pair.url } });
      const sender = await startSenderPod(cluster, at, await at.signingKey());
      await sleep(STEADY_MS);
      // Unready doors get no traffic that would heal them.
      await pair.failOver(() => at.doorsBecome(false));
      const writable = performance.now();
      await at.doorsBecome(true);
      const seconds = (performance.now() - writable) / 1_000;
      await sleep(STEADY_MS);
      const sent = [await sender.stop()];
      const stored = new Set((await pair.sql('SELECT delivery_id FROM gatehouse.deliveries')).split('\n'));
      const acknowledged = sent.flatMap((each) => each.acknowledged);
      const lost = acknowledged.filter((id) => !stored.has(id));
      expect(lost.length === 0, `nothing to be lost, not ${lost.length} of ${acknowledged.length}`);
      expect(acknowledged.length >= 100, `100 deliveries or more, not ${acknowledged.length}: ${refusals(sent)}`);
      expect(
        seconds <= READY_AGAIN_S,
        `the doors to be ready ${READY_AGAIN_S} s after it, not ${seconds.toFixed(1)} s`,
      );
      const restarts = (await at.pods('door')).reduce((sum, door) => sum + door.restarts, 0);
      expect(restarts === 0, `no restart, not ${restarts}`);
      return `${acknowledged.length} acknowledged, 0 lost, ${countRefused(sent)} refused; unready meanwhile, ready ${seconds.toFixed(1)} s after the promotion`;
    },
  },
  {
    name: 'PostgreSQL shut down smartly: a door that is ready stores, and all recover',
    async play({ namespace }) {
      const at = await namespace('smart');
      await at.install();
      // SIGTERM: it accepts no new connections, and waits for the old ones to end.
      await at.kubectl(['exec', 'statefulset/gatehouse-postgresql', '--', 'sh', '-c', 'kill -TERM 1']);
      await sleep(QUIET_MS);
      const doors = await at.pods('door');
      expect(
        doors.every(({ ready }) => ready),
        'the doors to be ready over the connections that they have',
      );
      const answer = await at.deliver();
      expect(answer === '200', `200 of a door that is ready, not ${answer}`);
      await at.kubectl(['delete', 'pod', 'gatehouse-postgresql-0']);
      await at.kubectl(['rollout', 'status', 'statefulset/gatehouse-postgresql', '--timeout=180s']);
      await at.doorsBecome(true);
      const stored = await at.sql('SELECT count(*) FROM gatehouse.deliveries');
      expect(stored === '1', `the delivery to be stored, not ${stored}`);
      return 'no new connections: ready, 200, stored; ready again with the next pod';
    },
  },
];
