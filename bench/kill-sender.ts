import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { post } from '../test/faults/client.ts';
import type { Webhook } from '../test/simulated-forge/webhooks.ts';

export interface KillDelivery extends Webhook {
  readonly id: string;
  /** Of its pull request. */
  readonly number: number;
}

export interface Sent {
  /** The ids of those that were answered with 2xx. */
  readonly acknowledged: ReadonlySet<string>;
  readonly refused: number;
}

const RETRY_MS = 50;

/** Sends each delivery once, as forges do, at even intervals whether or not earlier ones are answered. */
export async function sendAtRate(port: number, deliveries: readonly KillDelivery[], perSecond: number): Promise<Sent> {
  const agent = new Agent();
  const acknowledged = new Set<string>();
  let refused = 0;
  const begin = performance.now();
  const sent = deliveries.map(async (delivery, index) => {
    await sleep(Math.max(0, begin + (index * 1_000) / perSecond - performance.now()));
    const outcome = await post(agent, port, delivery);
    if (outcome.startsWith('2')) {
      acknowledged.add(delivery.id);
    } else {
      refused += 1;
    }
  });
  await Promise.all(sent);
  agent.destroy();
  return { acknowledged, refused };
}

/** Sends one delivery again and again until it is acknowledged: the server is then ready. */
export async function sendUntilAcknowledged(port: number, delivery: KillDelivery, giveUpMs: number): Promise<void> {
  const agent = new Agent();
  const deadline = performance.now() + giveUpMs;
  while (!(await post(agent, port, delivery)).startsWith('2')) {
    if (performance.now() > deadline) {
      throw new Error(`nothing was acknowledged within ${giveUpMs} ms`);
    }
    await sleep(RETRY_MS);
  }
  agent.destroy();
}
