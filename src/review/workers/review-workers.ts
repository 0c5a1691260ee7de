import type { CasesRole, ParsedCases } from '../cases/parse.ts';
import type { EvaluationWorkers } from '../evaluation/evaluation.ts';
import { notEvaluated } from '../evaluation/not-evaluated.ts';
import { rulesInForce } from '../evaluation/observe.ts';
import { MAX_OUTPUT_BYTES } from '../limits.ts';
import type { PolicyWorkers } from '../policy/parse.ts';
import { say } from '../text.ts';
import { type Limit, MAX_TASK_MS, MAX_WORKER_HEAP_MB, makeWorkerPool, type WorkerPoolOptions } from './worker-pool.ts';

/**
 * Two, so that a repository whose policy uses up its time leaves one to all others. More would take the processor from
 * the event loop, and 35 MiB of memory each.
 */
const WORKERS = 2;

/** Parses and evaluates what people wrote whom Gatehouse does not know, off the event loop and within limits. */
export interface ReviewWorkers extends PolicyWorkers, EvaluationWorkers {
  /** The cases of a file. `repository` as in {@link PolicyWorkers.parsePolicy}. */
  parseCases(repository: string, text: string, file: string, role: CasesRole): Promise<ParsedCases>;
  close(): Promise<void>;
}

export function makeReviewWorkers(options: Partial<WorkerPoolOptions> = {}): ReviewWorkers {
  const pool = makeWorkerPool({ size: WORKERS, ...options });
  const limits: Readonly<Record<Limit, string>> = {
    time: `more than the ${(options.maxTaskMs ?? MAX_TASK_MS) / 1_000} seconds of processor time`,
    memory: `more than the ${MAX_WORKER_HEAP_MB} MB of memory`,
    size: `more than the ${MAX_OUTPUT_BYTES / 1024 / 1024} MB of result`,
  };

  const evaluate: ReviewWorkers['evaluate'] = async (policy, facts, observed = facts) => {
    const result = await pool.run(facts.pullRequest.repository, 'evaluate', { policy, facts, observed });
    if (result.kind === 'done') {
      return result.output;
    }
    const at = policy.rules[result.step];
    const reason = say`the evaluation takes ${[limits[result.limit]]} that it may take, at the rule ${at?.id ?? ''}`;
    if (at?.level !== 'observe') {
      return { rules: policy.rules.map((rule) => notEvaluated(rule, reason)), ended: true };
    }
    // The rules in force were judged by then, but the worker's result is gone.
    const { rules, ended } = await evaluate(rulesInForce(policy), facts);
    const judged = new Map(rules.map((evaluated) => [evaluated.rule.id, evaluated]));
    return {
      rules: policy.rules.map((rule) => judged.get(rule.id) ?? notEvaluated(rule, reason)),
      ...(ended && { ended }),
    };
  };

  return {
    async parsePolicy(repository, text, origin, role = 'own') {
      const result = await pool.run(repository, 'parsePolicy', { text, origin, role });
      if (result.kind === 'done') {
        return result.output;
      }
      const message = `reading this policy takes ${limits[result.limit]} that it may take: use fewer and simpler patterns`;
      return { ok: false, faults: [{ file: origin.path, line: 1, column: 1, message }] };
    },

    async parseCases(repository, text, file, role) {
      const result = await pool.run(repository, 'parseCases', { text, file, role });
      if (result.kind === 'done') {
        return result.output;
      }
      const message = `reading these cases takes ${limits[result.limit]} that it may take: use fewer or smaller ones`;
      return { ok: false, faults: [{ file, line: 1, column: 1, message }] };
    },

    evaluate,

    async ownerTeams(facts) {
      const result = await pool.run(facts.pullRequest.repository, 'ownerTeams', { facts });
      return result.kind === 'done' ? result.output : [];
    },

    close: () => pool.close(),
  };
}
