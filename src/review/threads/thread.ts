/** A thread of thread-pool.ts: does one task after the other. */
import { deserialize, serialize } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import { MAX_OUTPUT_BYTES } from '../limits.ts';
import type { FromThread, TaskName, ToThread } from './messages.ts';
import { TASKS, type TaskContext } from './tasks.ts';

/** Of the processor time of a task, how much a task may use that can stop by itself. */
const OWN_SHARE = 0.75;

parentPort?.on('message', ({ task, input, maxMs }: ToThread) => {
  let before = process.threadCpuUsage();
  const usedMs = () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
  try {
    const readInput = deserialize(input) as never;
    before = process.threadCpuUsage();
    send({ kind: 'started', before });
    const isTimeUp = () => usedMs() > maxMs * OWN_SHARE;
    const output = serialize(perform(task, readInput, { onStep: (step) => send({ kind: 'step', step }), isTimeUp }));
    // The event loop reads it at once, whole.
    send(
      output.byteLength > MAX_OUTPUT_BYTES
        ? { kind: 'too-large', usedMs: usedMs() }
        : { kind: 'done', output, usedMs: usedMs() },
    );
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    send({ kind: 'failed', error: text, usedMs: usedMs() });
  }
});

/** Messages are untyped: thread-pool.ts sends each task its own input. */
function perform(task: TaskName, input: never, context: TaskContext): unknown {
  return TASKS[task](input, context);
}

function send(message: FromThread): void {
  parentPort?.postMessage(message);
}
