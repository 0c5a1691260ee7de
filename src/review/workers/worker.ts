/** A worker of worker-pool.ts: does one task after the other. */
import { deserialize, serialize } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import { parseCases } from '../cases/parse.ts';
import { evaluate, neededOwnerTeams } from '../evaluation/evaluate.ts';
import { MAX_OUTPUT_BYTES } from '../limits.ts';
import { parsePolicy } from '../policy/parse.ts';
import type { FromWorker, TaskInput, TaskName, TaskOutput, ToWorker } from './messages.ts';

/** The work of a worker. Nothing here may run on the event loop of a service. */
const TASKS: {
  readonly [Name in TaskName]: (input: TaskInput<Name>, onStep: (step: number) => void) => TaskOutput<Name>;
} = {
  parsePolicy: ({ text, origin, role }) => parsePolicy(text, origin, role),
  parseCases: ({ text, file, role }) => parseCases(text, file, role),
  evaluate: ({ policy, facts, observed }, onStep) => evaluate(policy, facts, observed, onStep),
  ownerTeams: ({ facts }) => neededOwnerTeams(facts),
};

parentPort?.on('message', ({ task, input }: ToWorker) => {
  let before = process.threadCpuUsage();
  const usedMs = () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
  try {
    const readInput = deserialize(input) as never;
    before = process.threadCpuUsage();
    send({ kind: 'started', before });
    const output = serialize(perform(task, readInput));
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

/** Messages are untyped: worker-pool.ts sends each task its own input. */
function perform(task: TaskName, input: never): unknown {
  return TASKS[task](input, (step) => send({ kind: 'step', step }));
}

function send(message: FromWorker): void {
  parentPort?.postMessage(message);
}
