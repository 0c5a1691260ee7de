import { withTimeout } from '../../common/timeout.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { PreloadedFacts } from '../../forges/port/pull-request.ts';
import type { Facts } from '../facts.ts';
import { neededBeside, neededFacts, needsReading } from '../policy/needs.ts';
import type { Policy } from '../policy/policy.ts';
import { say } from '../text.ts';
import type { EvaluatedRule, Evaluation, EvaluationWorkers } from './evaluation.ts';
import { gatherMore, type ReadChecks } from './gather-facts.ts';
import { notEvaluated } from './not-evaluated.ts';

/** Milliseconds that a review waits for what only observed rules ask of the forge. */
const MAX_READING_MS = 10_000;

/** What reading for observed rules takes. */
export interface ObserveDeps {
  readonly forge: Forge;
  readonly workers: EvaluationWorkers;
  /** What came with the pull request. */
  readonly preloaded: PreloadedFacts;
  readonly baseSha: string;
  readonly readChecks: ReadChecks;
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
  const missing = neededBeside(neededFacts(rulesInForce(policy)), neededFacts(observed));
  const facts = needsReading(missing) && deps.mayRead() ? await readMore(missing, before, deps) : before;
  const { rules } = await deps.workers.evaluate(observed, facts);
  return { rules, facts };
}

/** What was read before, where the forge does not answer with more in time. */
async function readMore(
  missing: ReturnType<typeof neededBeside>,
  before: Facts,
  { forge, workers, preloaded, baseSha, readChecks, maxReadingMs = MAX_READING_MS }: ObserveDeps,
): Promise<Facts> {
  try {
    const all = gatherMore(forge, workers, missing, before, preloaded, baseSha, readChecks);
    return await withTimeout(maxReadingMs, all, () => before);
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
