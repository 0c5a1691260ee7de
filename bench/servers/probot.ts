/** Probot, as a middleware of node:http. It stores nothing. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { createNodeMiddleware, Probot } from 'probot';
import { announce, SECRET } from './announce.ts';

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const probot = new Probot({ appId: 1, privateKey, secret: SECRET, logLevel: 'warn' });
const middleware = await createNodeMiddleware(
  (app) => {
    app.on('pull_request', () => {});
  },
  { probot, webhooksPath: '/webhook' },
);
announce(createServer(middleware));
