/** Probot with a handler that takes its time. Probot answers when the handler is done, and 202 after 9 seconds. */
import { createServer } from 'node:http';
import { announce } from './announce.ts';
import { makeProbotMiddleware } from './probot-middleware.ts';
import { work } from './work.ts';

announce(createServer(await makeProbotMiddleware((deliveryId) => work(deliveryId))));
