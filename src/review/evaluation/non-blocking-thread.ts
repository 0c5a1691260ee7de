/** The thread of non-blocking.ts: answers the one question that it was started with, and ends. */
import { parentPort, workerData } from 'node:worker_threads';
import { evaluate, neededOwnerTeams } from './evaluate.ts';
import type { Answer, Question } from './non-blocking.ts';

// Untyped like every message: non-blocking.ts starts this with nothing else.
const question: Question = workerData;
const answer: Answer<Question> =
  question.kind === 'evaluation' ? evaluate(question.policy, question.facts) : neededOwnerTeams(question.facts);
parentPort?.postMessage(answer);
