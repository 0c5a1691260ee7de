/**
 * A program in a pod: a TCP relay before a store. Its control port on loopback takes `/pass`, `/hang` and
 * `/delay/<milliseconds>`.
 */
import { createServer } from 'node:http';
import { startProxy } from '../helpers/proxy.ts';

export const RELAY_PORT = 5432;
export const CONTROL_PORT = 8081;

if (import.meta.main) {
  const proxy = await startProxy(process.env['TARGET'] ?? '', { host: '0.0.0.0', port: RELAY_PORT });
  createServer(async (request, response) => {
    const [, action, milliseconds] = (request.url ?? '').split('/');
    if (action === 'delay') {
      await proxy.delay(Number(milliseconds));
    } else if (action === 'hang') {
      await proxy.hang();
    } else {
      await proxy.pass();
    }
    response.end();
  }).listen(CONTROL_PORT, '127.0.0.1');
}
