import type { RecordedRule, VerdictRecord } from './verdict-record.ts';

/** What became of a rule between two verdicts on a pull request. */
export interface RuleChange {
  readonly rule: string;
  readonly change: 'failed' | 'overridden' | 'passed';
  /** Of `passed`: how long it had not held. */
  readonly seconds: number | null;
}

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

/** Carries over since when each rule has not held. */
export function storedRules(rules: readonly RecordedRule[], before: RulesBefore, now: Date): readonly StoredRule[] {
  return rules.map((rule) =>
    RED.includes(rule.outcome) ? { ...rule, redSince: redSince(before, rule.id) ?? now.toISOString() } : rule,
  );
}

export function ruleChanges(
  { rules, overrides }: Pick<VerdictRecord, 'rules' | 'overrides'>,
  before: RulesBefore,
  now: Date,
): readonly RuleChange[] {
  const failedBefore = new Set(before.rules.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id));
  return [
    ...(rules ?? []).flatMap(({ id, outcome }): readonly RuleChange[] => {
      const since = redSince(before, id);
      if (outcome === 'passed' && since !== undefined) {
        return [{ rule: id, change: 'passed', seconds: Math.round((now.getTime() - Date.parse(since)) / 1_000) }];
      }
      return outcome === 'failed' && !failedBefore.has(id) ? [{ rule: id, change: 'failed', seconds: null }] : [];
    }),
    ...overrides
      .filter(({ rule }) => !before.overridden.includes(rule))
      .map(({ rule }): RuleChange => ({ rule, change: 'overridden', seconds: null })),
  ];
}

function redSince({ rules }: RulesBefore, id: string): string | undefined {
  return rules.find((rule) => rule.id === id)?.redSince;
}
