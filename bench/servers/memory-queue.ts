/** The queue that most people write: an array in memory, answered 200 at once, processed a few at a time. */
import { createServer } from 'node:http';
import { announce } from './announce.ts';
import { signedApp } from './signed-app.ts';
import { CONCURRENCY, work } from './work.ts';

const waiting: string[] = [];
let running = 0;

function startNext(): void {
  while (running < CONCURRENCY) {
    const deliveryId = waiting.shift();
    if (deliveryId === undefined) {
      return;
    }
    running += 1;
    void work(deliveryId).finally(() => {
      running -= 1;
      startNext();
    });
  }
}

const app = signedApp((ctx) => {
  waiting.push(ctx.get('X-GitHub-Delivery'));
  startNext();
  ctx.body = { received: true };
});
announce(createServer(app.callback()));
