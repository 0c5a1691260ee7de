import { type CaseOutcomes, outcomesOf } from '../cases/outcomes.ts';
import { type Case, type CasesRole, type ParsedCases, parseCases } from '../cases/parse.ts';
import { type Evaluation, evaluate, neededOwnerTeams } from '../evaluation/evaluate.ts';
import type { Facts } from '../facts.ts';
import { type ParsedPolicy, type PolicyRole, parsePolicy } from '../policy/parse.ts';
import type { Policy, PolicyOrigin } from '../policy/schema.ts';

/** What threads do: all that reads, compiles or matches text of people whom Gatehouse does not know. */
interface Tasks {
  readonly parsePolicy: {
    readonly input: { readonly text: string; readonly origin: PolicyOrigin; readonly role: PolicyRole };
    readonly output: ParsedPolicy;
  };
  readonly parseCases: {
    readonly input: { readonly text: string; readonly file: string; readonly role: CasesRole };
    readonly output: ParsedCases;
  };
  readonly runCases: {
    readonly input: { readonly policy: Policy; readonly cases: readonly Case[] };
    readonly output: CaseOutcomes;
  };
  /** Its steps are the indices of the policy's rules. */
  readonly evaluate: {
    readonly input: { readonly policy: Policy; readonly facts: Facts };
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
type OnStep = (step: number) => void;

export const TASKS: {
  readonly [Name in TaskName]: (input: TaskInput<Name>, onStep: OnStep) => TaskOutput<Name>;
} = {
  parsePolicy: ({ text, origin, role }) => parsePolicy(text, origin, role),
  parseCases: ({ text, file, role }) => parseCases(text, file, role),
  runCases: ({ policy, cases }) => outcomesOf(policy, cases),
  evaluate: ({ policy, facts }, onStep) => evaluate(policy, facts, onStep),
  ownerTeams: ({ facts }) => neededOwnerTeams(facts),
};

export const TASK_NAMES = Object.keys(TASKS);

/** What a thread is sent. */
export interface ToThread {
  readonly task: TaskName;
  /** The task's input, as v8.serialize writes it. */
  readonly input: Uint8Array;
}

/** What a thread sends. `started` and `step` come before what they announce, so that a task that hangs has sent them. */
export type FromThread =
  | { readonly kind: 'started' }
  | { readonly kind: 'step'; readonly step: number }
  | { readonly kind: 'done'; readonly output: unknown }
  | { readonly kind: 'failed'; readonly error: string };
