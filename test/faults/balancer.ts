import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** How often it asks, in milliseconds. kubelet asks every few seconds. */
const PROBE_INTERVAL_MS = 500;
const PROBE_TIMEOUT_MS = 3_000;

/**
 * What stands before the doors: as a Kubernetes Service does, it gives each new connection to one that is ready, and
 * refuses it where none is.
 */
export interface Balancer {
  readonly port: number;
  /** The doors that new connections go to while they are ready. Those that stand are left alone. */
  targets: readonly number[];
  /** Resets every connection that is open. */
  cut(): void;
  close(): Promise<void>;
}

export async function startBalancer(): Promise<Balancer> {
  const clients = new Set<Socket>();
  let ready: readonly number[] = [];
  let open = true;
  let turn = 0;
  const server = createServer({ noDelay: true }, (client) => {
    clients.add(client);
    const eligible = balancer.targets.filter((target) => ready.includes(target));
    const port = eligible[turn++ % Math.max(1, eligible.length)];
    client.on('error', () => {});
    client.once('close', () => clients.delete(client));
    if (port === undefined) {
      client.resetAndDestroy();
      return;
    }
    const target = connect({ port, host: '127.0.0.1', noDelay: true });
    target.on('error', () => client.resetAndDestroy());
    target.once('close', () => client.destroy());
    client.once('close', () => target.destroy());
    client.pipe(target).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const balancer: Balancer = {
    port: (server.address() as AddressInfo).port,
    targets: [],
    cut() {
      for (const client of clients) {
        client.resetAndDestroy();
      }
    },
    async close() {
      for (const client of clients) {
        client.destroy();
      }
      open = false;
      server.close();
      await Promise.all([once(server, 'close'), probing]);
    },
  };
  const probing = (async () => {
    while (open) {
      const { targets } = balancer;
      const answers = await Promise.all(targets.map(isReady));
      ready = targets.filter((_, index) => answers[index]);
      await sleep(PROBE_INTERVAL_MS);
    }
  })();
  return balancer;
}

async function isReady(port: number): Promise<boolean> {
  const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS);
  return fetch(`http://127.0.0.1:${port}/health/ready`, { signal }).then(
    ({ ok }) => ok,
    () => false,
  );
}
