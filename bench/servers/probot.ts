/** Probot, as a middleware of node:http. It stores nothing. */
import { createServer } from 'node:http';
import { announce } from './announce.ts';
import { makeProbotMiddleware } from './probot-middleware.ts';

announce(createServer(await makeProbotMiddleware(() => {})));
