/**
 * A thread of liveness.ts: asks each port for `GET /health/live`, again and again, and sends what came when it is told to
 * stop. A thread of its own, so that the simulated forge beside it does not add to the times.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

export interface Answers {
  /** Of the answers with 200, ascending. */
  readonly times: readonly number[];
  /** What came instead of a 200. */
  readonly others: readonly string[];
}

const PAUSE_MS = 5;
const MAX_WAIT_MS = 10_000;

async function ask(port: number, isOver: () => boolean): Promise<Answers> {
  const times: number[] = [];
  const others: string[] = [];
  for (; !isOver(); await sleep(PAUSE_MS)) {
    const begin = performance.now();
    const answer = await fetch(`http://127.0.0.1:${port}/health/live`, { signal: AbortSignal.timeout(MAX_WAIT_MS) })
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch((error: Error) => ({ status: 0, text: error.message }));
    if (answer.status === 200) {
      times.push(performance.now() - begin);
    } else {
      others.push(`${answer.status} ${answer.text}`);
    }
  }
  return { times: times.toSorted((one, other) => one - other), others };
}

let over = false;
parentPort?.once('message', () => {
  over = true;
});
parentPort?.postMessage(await Promise.all((workerData as readonly number[]).map((port) => ask(port, () => over))));
