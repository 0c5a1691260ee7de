import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { makeApp } from '../../src/http/app.ts';
import { makeLog } from '../../src/log.ts';
import { makeMetrics } from '../../src/metrics.ts';
import test from '../helpers/test.ts';

test('an unexpected error is logged with the delivery that it happened to', async (t) => {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const log = makeLog('info', { write: (line) => lines.push(JSON.parse(line)) });
  const app = makeApp({ log, metrics: makeMetrics(), isDraining: () => false }, (router) => {
    router.post('/webhook', (ctx) => {
      ctx.state['about'] = { delivery: 'a-delivery', repository: 'acme/widgets', pullRequest: 7 };
      throw new Error('unexpected');
    });
    router.get('/other', () => {
      throw new Error('unexpected');
    });
  });
  const server = createServer(app.callback()).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const ask = (path: string, method: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, { method, headers: { connection: 'close' } });
  t.is((await ask('/webhook', 'POST')).status, 500);
  t.is((await ask('/other', 'GET')).status, 500);
  const msg = 'a request failed unexpectedly';
  t.like(lines[0], { msg, delivery: 'a-delivery', repository: 'acme/widgets', pullRequest: 7, path: '/webhook' });
  t.like(lines[1], { msg, path: '/other' });
});
