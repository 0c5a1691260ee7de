/** A thread of thread-pool.ts: does one task after the other. */
import { deserialize } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import { type FromThread, TASKS, type TaskName, type ToThread } from './tasks.ts';

parentPort?.on('message', ({ task, input }: ToThread) => {
  try {
    const readInput = deserialize(input) as never;
    send({ kind: 'started' });
    send({ kind: 'done', output: perform(task, readInput) });
  } catch (error) {
    send({ kind: 'failed', error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});

/** Messages are untyped: thread-pool.ts sends each task its own input. */
function perform(task: TaskName, input: never): unknown {
  return TASKS[task](input, (step) => send({ kind: 'step', step }));
}

function send(message: FromThread): void {
  parentPort?.postMessage(message);
}
