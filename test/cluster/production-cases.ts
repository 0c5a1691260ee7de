import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { signatureOf } from '../helpers/signature.ts';
import type { Case } from './case.ts';
import { eventually } from './eventually.ts';
import { expect } from './expect.ts';
import { RELEASE } from './namespace.ts';
import { startStranger, strangerGets } from './pods.ts';

const HOST = 'production.gatehouse.test';
const KEY = 'a-signing-key-of-the-cluster-tests';
const LARGE_BYTES = 20_000_000;

interface Ask {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The status that the ingress answers for a host, over a connection of its own. */
function throughIngress(
  ingress: string,
  path: string,
  { method = 'GET', headers = {}, body = '' }: Ask = {},
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const length = { 'content-length': Buffer.byteLength(body) };
  const options = { agent: false, method, headers: { ...headers, ...length, host: HOST, connection: 'close' } };
  const outgoing = request(`${ingress}${path}`, options, (response) => {
    response.resume();
    resolve(String(response.statusCode));
  });
  outgoing.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'error'));
  outgoing.end(body);
  return promise;
}

function delivery(body: string, key: string): Ask {
  return {
    method: 'POST',
    body,
    headers: {
      'content-type': 'application/json',
      'x-forge-event': 'ping',
      'x-forge-delivery': randomUUID(),
      'x-hub-signature-256': signatureOf(body, key),
    },
  };
}

export const PRODUCTION_CASES: readonly Case[] = [
  {
    name: 'production values: own stores and Secrets, ingress, HPA, PDB, NetworkPolicy',
    needsIngress: true,
    async play({ cluster, namespace }) {
      const ingress = cluster.ingress ?? '';
      // The stores of another release are somebody else's stores to this one.
      const stores = await namespace('stores');
      await stores.install({ door: { replicas: 1 } });
      const url = async (secret: string) => {
        const { data } = (await stores.get(['secret', secret])) as { data: Record<string, string> };
        const text = Buffer.from(data['url'] ?? '', 'base64').toString();
        return text.replace(`@${secret}:`, `@${secret}.${stores.name}.svc:`);
      };
      const at = await namespace('production');
      const secret = (name: string, stringData: Record<string, string>) =>
        at.create([{ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData }]);
      await secret('gatehouse-webhook', { 'webhook-secret': KEY });
      await secret('gatehouse-stores', {
        'database-url': await url('gatehouse-postgresql'),
        'redis-url': await url('gatehouse-redis'),
      });
      const peer = (name: string) => [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } } }];
      await at.install({
        bundled: { postgresql: { enabled: false }, redis: { enabled: false } },
        webhookSecret: { existingSecret: 'gatehouse-webhook' },
        database: { existingSecret: 'gatehouse-stores' },
        redis: { existingSecret: 'gatehouse-stores' },
        door: { autoscaling: { enabled: true } },
        ingress: {
          enabled: true,
          className: 'nginx',
          hosts: [HOST],
          annotations: { 'nginx.ingress.kubernetes.io/proxy-body-size': '25m' },
        },
        networkPolicy: { enabled: true, webhookFrom: peer('ingress-nginx'), metricsFrom: peer('monitoring') },
      });
      const signed = (body = '{}') => throughIngress(ingress, '/webhook', delivery(body, KEY));
      await eventually('the ingress leads to the door', async () => (await signed()) === '200');
      const seen = {
        large: await signed(JSON.stringify({ padding: 'x'.repeat(LARGE_BYTES) })),
        unsigned: await throughIngress(ingress, '/webhook', { method: 'POST', body: '{}' }),
        health: await throughIngress(ingress, '/health'),
        metrics: await throughIngress(ingress, '/metrics'),
      };
      const wanted = { large: '200', unsigned: '401', health: '404', metrics: '404' };
      expect(JSON.stringify(seen) === JSON.stringify(wanted), `${JSON.stringify(wanted)}, not ${JSON.stringify(seen)}`);
      await startStranger(cluster, stores);
      const door = (await at.pods('door'))[0]?.ip ?? '';
      for (const target of [`http://${door}:8080/health/live`, `http://${door}:9090/metrics`]) {
        const answer = await strangerGets(stores, target);
        expect(/Timeout/i.test(answer), `no way from another namespace to ${target}, not ${answer}`);
      }
      await at.helm(['test', RELEASE]);
      return 'signed 200, 20 MB 200, unsigned 401, /health and /metrics 404; policies hold';
    },
  },
];
