import { createHash } from 'node:crypto';
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../helpers/until.ts';
import type { Webhook } from '../simulated-forge/webhooks.ts';

/** What a forge cannot do and a test can: it remembers what it was promised. */
export interface Client {
  /** Delivery id → SHA-256 of the body, for every delivery that was answered 200. */
  readonly acknowledged: ReadonlyMap<string, string>;
  /** How often something else came back, by what it was: a status, or `cut`. */
  readonly refusals: ReadonlyMap<string, number>;
  /** Sends everything again that was acknowledged since then, by `performance.now()`, as people redeliver at a forge. */
  redeliver(since: number): Promise<void>;
  /** Sends no new delivery; those that have not been acknowledged are sent on until they are. */
  finish(): Promise<void>;
}

/** Forges give up after about as long. */
const ANSWER_TIMEOUT_MS = 10_000;
const PAUSE_MS = 10;
const RETRY_MS = 100;
const FINISH_MS = 60_000;

/** Each lane sends one delivery after the other, and one that was not acknowledged again, under its own id. */
export function startClient(options: {
  readonly port: number;
  readonly lanes: number;
  readonly next: (lane: number) => Webhook & { readonly id: string };
}): Client {
  const { port, lanes, next } = options;
  // A new connection for each: one that stays open would keep an unready door busy, whatever the balancer thinks of it.
  const agent = new Agent({ keepAlive: false });
  const acknowledged = new Map<string, string>();
  const sent: { readonly at: number; readonly delivery: Webhook }[] = [];
  const refusals = new Map<string, number>();
  let sending = true;
  let deadline = Number.POSITIVE_INFINITY;

  const lane = async (index: number) => {
    while (sending) {
      const delivery = next(index);
      for (;;) {
        const outcome = await post(agent, port, delivery);
        if (outcome === '200') {
          acknowledged.set(delivery.id, createHash('sha256').update(delivery.body).digest('hex'));
          sent.push({ at: performance.now(), delivery });
          break;
        }
        refusals.set(outcome, (refusals.get(outcome) ?? 0) + 1);
        if (performance.now() > deadline) {
          return;
        }
        await sleep(RETRY_MS);
      }
      await sleep(PAUSE_MS);
    }
  };
  const running = Array.from({ length: lanes }, (_, index) => lane(index));

  return {
    acknowledged,
    refusals,
    async redeliver(since) {
      for (const { delivery } of sent.filter(({ at }) => at >= since)) {
        await eventually(
          'a delivery that is sent again is acknowledged',
          async () => (await post(agent, port, delivery)) === '200',
        );
      }
    },
    async finish() {
      sending = false;
      deadline = performance.now() + FINISH_MS;
      await Promise.all(running);
      agent.destroy();
    },
  };
}

/** The status of the answer, or `cut` where there was none. */
export function post(agent: Agent, port: number, { headers, body }: Webhook): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const outgoing = request(
    {
      agent,
      port,
      host: '127.0.0.1',
      path: '/webhook',
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      timeout: ANSWER_TIMEOUT_MS,
    },
    (response) => {
      response.resume();
      // Only a whole answer is one: what breaks off may have promised nothing.
      response.on('end', () => resolve(response.complete ? String(response.statusCode) : 'cut'));
      response.on('error', () => resolve('cut'));
    },
  );
  outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')));
  outgoing.on('error', () => resolve('cut'));
  outgoing.on('close', () => resolve('cut'));
  outgoing.end(body);
  return promise;
}
