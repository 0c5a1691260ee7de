/** The thread of aside.ts: answers the one question that it was started with, and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Question } from './aside.ts';
import { evaluate, neededOwnerTeams } from './evaluate.ts';

const question: Question = workerData;
parentPort?.postMessage(
  question.kind === 'evaluation' ? evaluate(question.policy, question.facts) : neededOwnerTeams(question.facts),
);
