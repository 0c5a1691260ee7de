import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** What stands before the doors: as a Kubernetes Service does, it gives each new connection to one that is ready. */
export interface Balancer {
  readonly port: number;
  /** The doors that new connections go to. Those that stand are left alone. */
  targets: readonly number[];
  /** Resets every connection that is open. */
  cut(): void;
  close(): Promise<void>;
}

export async function startBalancer(): Promise<Balancer> {
  const clients = new Set<Socket>();
  let turn = 0;
  const server = createServer({ noDelay: true }, (client) => {
    clients.add(client);
    const port = balancer.targets[turn++ % Math.max(1, balancer.targets.length)];
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
      server.close();
      await once(server, 'close');
    },
  };
  return balancer;
}
