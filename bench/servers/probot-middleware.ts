import { generateKeyPairSync } from 'node:crypto';
import { createNodeMiddleware, Probot } from 'probot';
import { SECRET } from './announce.ts';

/** Probot as a middleware of node:http, with one handler for pull requests. */
export function makeProbotMiddleware(handle: (deliveryId: string) => Promise<void> | void) {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const probot = new Probot({ appId: 1, privateKey, secret: SECRET, logLevel: 'warn' });
  return createNodeMiddleware(
    (app) => {
      app.on('pull_request', ({ id }) => handle(id));
    },
    { probot, webhooksPath: '/webhook' },
  );
}
