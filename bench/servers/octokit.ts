/** Octokit's own middleware, as its README shows it. It stores nothing. */
import { createServer } from 'node:http';
import { createNodeMiddleware, Webhooks } from '@octokit/webhooks';
import { announce, SECRET } from './announce.ts';

const webhooks = new Webhooks({ secret: SECRET });
webhooks.on('pull_request', () => {});
announce(createServer(createNodeMiddleware(webhooks, { path: '/webhook' })));
