/** A worker of worker-pool.ts: does one task after the other. */
import { deserialize, serialize } from 'node:v8';
import { parentPort } from 'node:worker_threads';
import { judgeCases } from '../cases/judge-cases.ts';
import { parseCases } from '../cases/parse.ts';
import { evaluate, neededOwnerTeams } from '../evaluation/evaluate.ts';
import { MAX_OUTPUT_BYTES } from '../limits.ts';
import { parsePolicy } from '../policy/parse.ts';
import type { FromWorker, TaskInput, TaskName, TaskOutput, ToWorker } from './messages.ts';

/** The share of a task's processor time that it may use if it can stop by itself. */
const OWN_SHARE = 0.75;

/** What a worker tells a task, and what a task tells its worker. */
interface TaskContext {
  readonly onStep: (step: number) => void;
  /** Whether most of the task's processor time is used up: time to return what it has. */
  readonly isTimeUp: () => boolean;
}

/** The work of a worker. Nothing here may run on the event loop of a service. */
const TASKS: {
  readonly [Name in TaskName]: (input: TaskInput<Name>, context: TaskContext) => TaskOutput<Name>;
} = {
  parsePolicy: ({ text, origin, role }) => parsePolicy(text, origin, role),
  parseCases: ({ text, file, role }) => parseCases(text, file, role),
  judgeCases: ({ policy, files }, { onStep, isTimeUp }) => judgeCases(policy, files, onStep, isTimeUp),
  evaluate: ({ policy, facts }, { onStep }) => evaluate(policy, facts, onStep),
  ownerTeams: ({ facts }) => neededOwnerTeams(facts),
};

parentPort?.on('message', ({ task, input, maxMs }: ToWorker) => {
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

/** Messages are untyped: worker-pool.ts sends each task its own input. */
function perform(task: TaskName, input: never, context: TaskContext): unknown {
  return TASKS[task](input, context);
}

function send(message: FromWorker): void {
  parentPort?.postMessage(message);
}
