import { Worker } from 'node:worker_threads';
import type { Facts } from '../facts.ts';
import type { Policy } from '../policy/schema.ts';
import { type Evaluation, evaluate, neededOwnerTeams } from './evaluate.ts';

/**
 * What is judged at once, in steps: some tens of milliseconds, two hundred at worst. Work beyond it would hold up everything else that the
 * process does, webhooks included, so it is done over in a thread, for that evaluation alone.
 */
const MAX_STEPS_ON_MAIN_THREAD = 2_000_000;
/** A policy and a change are some megabytes; nothing that is made of them may take a pod's memory. */
const MAX_HEAP_MB = 256;

/** What the thread is asked. */
export type Question =
  | { readonly kind: 'evaluation'; readonly policy: Policy; readonly facts: Facts }
  | { readonly kind: 'owner teams'; readonly facts: Facts };

/** As {@link evaluate}, without holding up the event loop. Rejects when the thread runs out of memory. */
export async function evaluateNonBlocking(policy: Policy, facts: Facts): Promise<Evaluation> {
  const quick = evaluate(policy, facts, MAX_STEPS_ON_MAIN_THREAD);
  return quick.steps < MAX_STEPS_ON_MAIN_THREAD ? quick : inThread({ kind: 'evaluation', policy, facts });
}

/** As {@link neededOwnerTeams}, without holding up the event loop. */
export async function ownerTeamsNonBlocking(facts: Facts): Promise<readonly string[]> {
  return neededOwnerTeams(facts, MAX_STEPS_ON_MAIN_THREAD) ?? (await inThread({ kind: 'owner teams', facts })) ?? [];
}

/** What the thread answers. */
export type Answer<Asked extends Question> = Asked extends { readonly kind: 'evaluation' }
  ? ReturnType<typeof evaluate>
  : ReturnType<typeof neededOwnerTeams>;

async function inThread<Asked extends Question>(question: Asked): Promise<Answer<Asked>> {
  // A message has no type of its own: the thread's file holds what it sends against the same one.
  const answer = Promise.withResolvers<Answer<Asked>>();
  const thread = new Worker(new URL('./non-blocking-thread.ts', import.meta.url), {
    workerData: question,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
  });
  thread.once('message', answer.resolve);
  thread.once('error', answer.reject);
  thread.once('exit', () => answer.reject(new Error('the thread ended without an answer')));
  return answer.promise;
}
