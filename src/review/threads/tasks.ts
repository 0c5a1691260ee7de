import { judgeCases } from '../cases/judge-cases.ts';
import { parseCases } from '../cases/parse.ts';
import { evaluate, neededOwnerTeams } from '../evaluation/evaluate.ts';
import { parsePolicy } from '../policy/parse.ts';
import type { TaskInput, TaskName, TaskOutput } from './messages.ts';

/** What a thread tells a task, and what a task tells its thread. */
export interface TaskContext {
  readonly onStep: (step: number) => void;
  /** Whether most of the task's processor time is used up: time to return what it has. */
  readonly isTimeUp: () => boolean;
}

/** The work of a thread. Only thread.ts imports it: nothing here may run on the event loop of a service. */
export const TASKS: {
  readonly [Name in TaskName]: (input: TaskInput<Name>, context: TaskContext) => TaskOutput<Name>;
} = {
  parsePolicy: ({ text, origin, role }) => parsePolicy(text, origin, role),
  parseCases: ({ text, file, role }) => parseCases(text, file, role),
  judgeCases: ({ policy, files }, { onStep, isTimeUp }) => judgeCases(policy, files, onStep, isTimeUp),
  evaluate: ({ policy, facts }, { onStep }) => evaluate(policy, facts, onStep),
  ownerTeams: ({ facts }) => neededOwnerTeams(facts),
};
