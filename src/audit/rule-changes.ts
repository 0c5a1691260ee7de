import type { RecordedRule, VerdictRecord } from './verdict-record.ts';

/** What happened to a rule between two verdicts on a pull request. */
export interface RuleChange {
  readonly rule: string;
  readonly change: 'failed' | 'overridden' | 'passed' | ObservedChange;
  /** For `passed`: how long it had not held. */
  readonly seconds: number | null;
}

/** What a rule of level observe would have begun to do. */
export type ObservedChange = 'would-pass' | 'would-fail' | 'would-wait' | 'not-judged';

const OBSERVED: Readonly<Partial<Record<RecordedRule['outcome'], ObservedChange>>> = {
  passed: 'would-pass',
  failed: 'would-fail',
  waiting: 'would-wait',
  undecided: 'not-judged',
};

/** A rule as the table has it. */
export interface StoredRule extends RecordedRule {
  /** Since when it has not held, without having held in between. */
  readonly redSince?: string;
}

/** What of the verdict before counts. */
export interface RulesBefore {
  readonly rules: readonly StoredRule[];
  /** Ids of the rules that were overridden. */
  readonly overridden: readonly string[];
}

const RED: readonly RecordedRule['outcome'][] = ['failed', 'waiting', 'undecided'];

/** Carries over since when each rule in force has not held. */
export function storedRules(rules: readonly RecordedRule[], before: RulesBefore, now: Date): readonly StoredRule[] {
  return rules.map((rule) =>
    RED.includes(rule.outcome) && rule.level !== 'observe'
      ? { ...rule, redSince: redSince(before, rule.id) ?? now.toISOString() }
      : rule,
  );
}

export function ruleChanges(
  { rules, overrides }: Pick<VerdictRecord, 'rules' | 'overrides'>,
  before: RulesBefore,
  now: Date,
): readonly RuleChange[] {
  const knownBefore = new Map(before.rules.map((rule) => [rule.id, rule]));
  return [
    ...(rules ?? []).flatMap(({ id, level, outcome }): readonly RuleChange[] => {
      const known = knownBefore.get(id);
      // Whoever puts a rule in force, or takes it out, begins anew.
      const same = (known?.level === 'observe') === (level === 'observe') ? known : undefined;
      if (level === 'observe') {
        const change = same?.outcome === outcome ? undefined : OBSERVED[outcome];
        return change === undefined ? [] : [{ rule: id, change, seconds: null }];
      }
      const since = same?.redSince;
      if (outcome === 'passed' && since !== undefined) {
        return [{ rule: id, change: 'passed', seconds: Math.round((now.getTime() - Date.parse(since)) / 1_000) }];
      }
      return outcome === 'failed' && same?.outcome !== 'failed' ? [{ rule: id, change: 'failed', seconds: null }] : [];
    }),
    ...overrides
      .filter(({ rule }) => !before.overridden.includes(rule))
      .map(({ rule }): RuleChange => ({ rule, change: 'overridden', seconds: null })),
  ];
}

function redSince({ rules }: RulesBefore, id: string): string | undefined {
  return rules.find((rule) => rule.id === id)?.redSince;
}
