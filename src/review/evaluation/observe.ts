import { withTimeout } from '../../common/timeout.ts';
import { gatherFacts, type Sources } from '../../facts/gather.ts';
import { needsBeside, needsReading } from '../../facts/needs.ts';
import type { Facts, Needs } from '../../facts/table.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import { neededFacts } from '../policy/needs.ts';
import type { Policy } from '../policy/policy.ts';
import { say } from '../text.ts';
import type { EvaluatedRule, Evaluation, EvaluationWorkers } from './evaluation.ts';
import { notEvaluated } from './not-evaluated.ts';

/** Milliseconds that a review waits for what only observed rules ask of the forge. */
const MAX_READING_MS = 10_000;

/** What reading for observed rules takes. */
export interface ObserveDeps {
  readonly sources: Sources;
  readonly workers: Pick<EvaluationWorkers, 'evaluate'>;
  /** Whether the forge may be asked for more than the rules in force need. */
  readonly mayRead: () => boolean;
  /** For tests. */
  readonly maxReadingMs?: number;
}

/** The policy without its observed rules: all that a verdict depends on. */
export function rulesInForce(policy: Policy): Policy {
  return { ...policy, rules: policy.rules.filter(({ level }) => level !== 'observe') };
}

/**
 * Judges the observed rules of a policy, after those in force: with what these have read, and with whatever else the
 * forge tells at once. It never fails. What could not be read leaves a rule undecided, and a limit of the evaluation
 * only these rules.
 */
export async function observe(
  policy: Policy,
  before: Facts,
  deps: ObserveDeps,
): Promise<{ readonly rules: readonly EvaluatedRule[]; readonly facts: Facts }> {
  const observed = { ...policy, rules: policy.rules.filter(({ level }) => level === 'observe') };
  if (observed.rules.length === 0) {
    return { rules: [], facts: before };
  }
  const missing = needsBeside(neededFacts(rulesInForce(policy)), neededFacts(observed));
  const facts = needsReading(missing) && deps.mayRead() ? await readMore(missing, before, deps) : before;
  const { rules } = await deps.workers.evaluate(observed, facts);
  return { rules, facts };
}

/** What was read before, where the forge does not answer with more in time. */
async function readMore(
  missing: Needs,
  before: Facts,
  { sources, maxReadingMs = MAX_READING_MS }: ObserveDeps,
): Promise<Facts> {
  try {
    return await withTimeout(maxReadingMs, gatherFacts(sources, missing, before), () => before);
  } catch (error) {
    if (error instanceof ForgeError) {
      return before;
    }
    throw error;
  }
}

/** An evaluation of the rules in force together with the observed ones, in the order of the policy. */
export function withObserved(policy: Policy, inForce: Evaluation, observed: readonly EvaluatedRule[]): Evaluation {
  const byId = new Map([...inForce.rules, ...observed].map((evaluated) => [evaluated.rule.id, evaluated]));
  const rules = policy.rules.map((rule) => byId.get(rule.id) ?? notEvaluated(rule, say`it has not been judged`));
  return { ...inForce, rules };
}
