import { hash } from 'node:crypto';
import { shorten } from '../common/shorten.ts';
import type { YesNo } from '../forges/port/yes-no.ts';
import type { EvaluatedRule, Evaluation } from '../review/evaluation/evaluation.ts';
import { locationsOf, type Reason, reasonsOf } from '../review/evaluation/reasons.ts';
import type { Level, Rule } from '../review/policy/policy.ts';
import type { CurrentApproval } from '../review/predicates/current-approvals.ts';
import type { RuleSources } from '../review/rules-of.ts';
import { type Text, visible } from '../review/text.ts';
import type { Verdict } from '../review/verdict.ts';

/** A verdict as it is recorded. Nothing in it is content of the change: a line that was found may be a secret. */
export interface VerdictRecord {
  readonly repository: string;
  readonly pullRequest: number;
  /** The commit of the merge group that it was judged for; null: for its own head. */
  readonly mergeGroupSha: string | null;
  readonly author: string;
  readonly headSha: string;
  readonly baseBranch: string;
  readonly state: Verdict['state'] | 'none';
  readonly description: string;
  /** False: the status is success whatever the verdict. */
  readonly enforced: boolean;
  /**
   * By what it was judged; undefined: it was given up, and nothing was read. What others reported is not recorded itself,
   * only what the rules said of it.
   */
  readonly sources: RuleSources | undefined;
  /** Null: nothing was evaluated. */
  readonly rules: readonly RecordedRule[] | null;
  /** What is wrong with a policy: where, since the message may quote it. */
  readonly faults: readonly Place[];
  /** Null: no rule asks for reviews. */
  readonly approvals: readonly RecordedApproval[] | null;
  readonly overrides: readonly RecordedOverride[];
}

export interface RecordedRule {
  readonly id: string;
  readonly level: Level;
  readonly outcome: EvaluatedRule['outcome'];
  readonly source: Rule['source'];
  readonly reasons?: readonly RecordedReason[];
  readonly places?: readonly Place[];
  /** Reasons and places that are not recorded, because there were too many. */
  readonly leftOut?: number;
}

/** Why a rule does not hold. Each way of `oneOf` would be enough. */
export type RecordedReason =
  | { readonly predicate: string; readonly wanted: boolean; readonly expected: string; readonly found: string }
  | { readonly oneOf: readonly (readonly RecordedReason[])[] };

export interface Place {
  readonly path: string;
  readonly line?: number;
}

export interface RecordedApproval {
  readonly login: string;
  /** The commit that was approved. */
  readonly sha: string;
  readonly at: string;
  /** Whether the person may write to the repository. */
  readonly mayWrite: YesNo;
  readonly bot: boolean;
}

export interface RecordedOverride {
  readonly rule: string;
  readonly login: string;
  readonly reason: string;
  /** The comment with the command, by the forge's id. */
  readonly comment: string;
  readonly at: string;
}

/**
 * Characters of all reasons and places of one verdict. What the rules' ids and outcomes take is bounded by MAX_RULES.
 */
export const MAX_RECORDED_CHARACTERS = 32 * 1024;
const MAX_TEXT_CHARACTERS = 500;
const MAX_PATH_CHARACTERS = 300;
const MAX_APPROVALS = 200;

/**
 * What each rule said and why: reasons and places as far as the verdict's row has room, in the order of the policy.
 * Rules in force take their room before those that are only observed.
 */
export function recordedRules({ rules }: Evaluation): readonly RecordedRule[] {
  let room = MAX_RECORDED_CHARACTERS;
  const fitting = <T>(items: readonly T[]): readonly T[] => {
    const fit = items.findIndex((item) => {
      room -= JSON.stringify(item).length;
      return room < 0;
    });
    return fit === -1 ? items : items.slice(0, fit);
  };
  const isObserved = ({ rule }: EvaluatedRule) => rule.level === 'observe';
  const inForceFirst = rules.toSorted((a, b) => Number(isObserved(a)) - Number(isObserved(b)));
  const recorded = new Map(inForceFirst.map((rule) => [rule.rule.id, recordedRule(rule, fitting)]));
  return rules.flatMap(({ rule }) => recorded.get(rule.id) ?? []);
}

function recordedRule(evaluated: EvaluatedRule, fitting: <T>(items: readonly T[]) => readonly T[]): RecordedRule {
  const { id, level, source } = evaluated.rule;
  const said = reasonsOf(evaluated);
  const found = locationsOf(said).map(({ path, line }) => place(path, line));
  const reasons = fitting(said.map(recordedReason));
  const places = fitting(found);
  const leftOut = said.length - reasons.length + found.length - places.length;
  return {
    id,
    level,
    outcome: evaluated.outcome,
    source,
    ...(reasons.length > 0 ? { reasons } : {}),
    ...(places.length > 0 ? { places } : {}),
    ...(leftOut > 0 ? { leftOut } : {}),
  };
}

function recordedReason(reason: Reason): RecordedReason {
  if (reason.kind === 'one-of') {
    return { oneOf: reason.ways.map((way) => way.map(recordedReason)) };
  }
  const { predicate, wanted, expected, found } = reason;
  return { predicate, wanted, expected: withoutQuotes(expected), found: withoutQuotes(found) };
}

/**
 * Our own words, and paths of the head. All else is quoted from the policy, which is recorded as a whole, or from the
 * pull request: a title or a commit's message may hold a secret as well, and who approved has a column of its own.
 */
function withoutQuotes(text: Text): string {
  const words = text.map((piece) => {
    if (typeof piece === 'string') {
      return piece;
    }
    return 'quoted' in piece && piece.path === true ? piece.quoted : '…';
  });
  return kept(words.join(''), MAX_TEXT_CHARACTERS);
}

function place(path: string, line: number | undefined): Place {
  const shown = kept(path, MAX_PATH_CHARACTERS);
  return line === undefined ? { path: shown } : { path: shown, line };
}

export function recordedFaults({ policyFaults }: Verdict): readonly Place[] {
  return policyFaults.map(({ file, line }) => place(file, line));
}

export function recordedApprovals(approvals: readonly CurrentApproval[]): readonly RecordedApproval[] {
  return approvals
    .slice(-MAX_APPROVALS)
    .map(({ author, sha, submittedAt, mayWrite, bot }) => ({ login: author, sha, at: submittedAt, mayWrite, bot }));
}

export function recordedOverrides({ overrides }: Verdict): readonly RecordedOverride[] {
  return (overrides?.inForce ?? []).map(({ ruleId, by, reason, commentId, at }) => ({
    rule: ruleId,
    login: by,
    reason: kept(reason, MAX_TEXT_CHARACTERS),
    comment: commentId,
    at,
  }));
}

/** Without NUL and halves of surrogate pairs, which PostgreSQL refuses in text and jsonb. */
export function kept(text: string, limit: number): string {
  return shorten(visible(text), limit);
}

/** SHA-256 of all that is recorded but the times of the review. */
export function digestOfRecord(record: VerdictRecord): Buffer {
  return hash('sha256', JSON.stringify(record), 'buffer');
}
