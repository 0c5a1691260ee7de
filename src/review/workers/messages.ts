import type { Facts } from '../../facts/table.ts';
import type { CasesRole, ParsedCases } from '../cases/parse.ts';
import type { Evaluation } from '../evaluation/evaluation.ts';
import type { ParsedPolicy, PolicyRole } from '../policy/parse.ts';
import type { Policy, PolicyOrigin } from '../policy/policy.ts';

/** What workers do: all that reads, compiles or matches text of people whom Gatehouse does not know. */
export interface Tasks {
  readonly parsePolicy: {
    readonly input: { readonly text: string; readonly origin: PolicyOrigin; readonly role: PolicyRole };
    readonly output: ParsedPolicy;
  };
  readonly parseCases: {
    readonly input: { readonly text: string; readonly file: string; readonly role: CasesRole };
    readonly output: ParsedCases;
  };
  /** Its steps are the indices of the policy's rules. */
  readonly evaluate: {
    readonly input: { readonly policy: Policy; readonly facts: Facts; readonly observed: Facts };
    readonly output: Evaluation;
  };
  readonly ownerTeams: {
    readonly input: { readonly facts: Facts };
    readonly output: readonly string[];
  };
}

export type TaskName = keyof Tasks;
export type TaskInput<Name extends TaskName> = Tasks[Name]['input'];
export type TaskOutput<Name extends TaskName> = Tasks[Name]['output'];

const EACH: Readonly<Record<TaskName, true>> = {
  parsePolicy: true,
  parseCases: true,
  evaluate: true,
  ownerTeams: true,
};
export const TASK_NAMES = Object.keys(EACH);

/** What a worker is sent. */
export interface ToWorker {
  readonly task: TaskName;
  /** The task's input, as v8.serialize writes it. */
  readonly input: Uint8Array;
}

/**
 * What a worker sends. `started` and `step` come before what they announce, so that a task that hangs has sent them.
 * `before` is the processor time that the worker had used then, and `usedMs` that of the task: to ask a worker
 * interrupts it.
 */
export type FromWorker =
  | { readonly kind: 'started'; readonly before: NodeJS.CpuUsage }
  | { readonly kind: 'step'; readonly step: number }
  | Ended;

type Ended = { readonly usedMs: number } & (
  | /** `output` is the task's, as v8.serialize writes it. */ { readonly kind: 'done'; readonly output: Uint8Array }
  /** Its output is larger than MAX_OUTPUT_BYTES. */
  | { readonly kind: 'too-large' }
  | { readonly kind: 'failed'; readonly error: string }
);

const KINDS: readonly string[] = ['started', 'step', 'done', 'too-large', 'failed'] satisfies FromWorker['kind'][];

/**
 * Whether a worker's own code has sent it. Under `node --watch`, Node posts messages of its own to the parent: files to
 * watch.
 */
export function isFromWorker(message: object): message is FromWorker {
  return 'kind' in message && typeof message.kind === 'string' && KINDS.includes(message.kind);
}
