import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export const SECRET = process.env['WEBHOOK_SECRET'] ?? '';

/** Listens on a free port and sends it to the parent process. */
export async function announce(server: Server): Promise<void> {
  server.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  process.send?.(port);
  process.on('disconnect', () => process.exit());
}
