/** Probot, as a middleware of node:http. It stores nothing, answers when the handler is done, and 202 after 9 seconds. */
import { generateKeyPairSync } from 'node:crypto';
import { createServer } from 'node:http';
import { createNodeMiddleware, Probot } from 'probot';
import { announce, SECRET } from './announce.ts';
import { work } from './work.ts';

const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const probot = new Probot({ appId: 1, privateKey, secret: SECRET, logLevel: 'warn' });
/** Only `npm run bench -- --kill` asks for work. */
const handle = process.env['WORK_MS'] === undefined ? () => {} : work;
const middleware = await createNodeMiddleware((app) => app.on('pull_request', ({ id }) => handle(id)), {
  probot,
  webhooksPath: '/webhook',
});
announce(createServer(middleware));
