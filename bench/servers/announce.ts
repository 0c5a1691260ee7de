import type { Server } from 'node:http';

export const SECRET = process.env['WEBHOOK_SECRET'] ?? '';

/** Listens on the port that the environment names, until the parent process ends. */
export function announce(server: Server): void {
  server.listen(Number(process.env['PORT']), '127.0.0.1');
  process.on('disconnect', () => process.exit());
}
