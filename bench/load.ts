import { fork } from 'node:child_process';
import { once } from 'node:events';

export interface LoadOrder {
  readonly port: number;
  readonly path: string;
  readonly secret: string;
  readonly connections: number;
  readonly seconds: number;
  /** Deliveries in a row that are about one pull request. */
  readonly perPullRequest: number;
  /** Deliveries a second, due at even intervals whether or not earlier ones are answered; absent: as fast as it goes. */
  readonly rate?: number;
}

export interface LoadResult {
  /** Answered 200 within the measured time. */
  readonly acknowledged: number;
  readonly perSecond: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** Milliseconds to the end of the answer: from sending, or, at a fixed rate, from when it was due. */
  readonly p50: number;
  readonly p99: number;
  readonly longest: number;
  /** What the generator itself used. */
  readonly cpuSeconds: number;
}

type Message = { readonly result: LoadResult } | { readonly failure: string };

/** Puts this load on a server and returns the results. */
export async function load(order: LoadOrder): Promise<LoadResult> {
  const child = fork(new URL('./load-process.ts', import.meta.url), { execArgv: [] });
  try {
    child.send(order);
    const [message]: Message[] = await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => [{ failure: 'the load generator ended' }]),
    ]);
    if (message === undefined || 'failure' in message) {
      throw new Error(message?.failure);
    }
    return message.result;
  } finally {
    if (child.connected) {
      child.disconnect();
    }
  }
}
