import type { PeopleSettings } from '../../facts/authors/people-settings.ts';
import type { Needs } from '../../facts/table.ts';
import type { Comments } from './comments.ts';

/**
 * How much a rule that does not hold matters: only `error` makes the verdict a failure. `observe`: the pull request
 * shows nothing of it, it is only recorded.
 */
export const LEVELS = ['error', 'warn', 'info', 'observe'] as const;
export type Level = (typeof LEVELS)[number];
/** The level of a rule that is in force. */
export type LevelInForce = Exclude<Level, 'observe'>;

/** Which file a rule was read from. */
export interface PolicyOrigin {
  /** Path in its repository, or on disk. */
  readonly path: string;
  /** `owner/repo@ref`, when it is not the repository under review. */
  readonly repository?: string;
}

/** A condition in its normal form, with the line of the policy file that it stands on. */
export type Condition =
  | { readonly kind: 'all' | 'any'; readonly line: number; readonly parts: readonly Condition[] }
  | { readonly kind: 'not'; readonly line: number; readonly part: Condition }
  | {
      readonly kind: 'predicate';
      readonly line: number;
      readonly name: string;
      /** Both as the predicate's schemas have read them: plain data. */
      readonly value: unknown;
      readonly options: Readonly<Record<string, unknown>>;
    };

export interface Rule {
  readonly id: string;
  readonly level: Level;
  readonly message?: string;
  /** What would be right, as people write it: a regular expression does not show it. */
  readonly example?: string;
  readonly when?: Condition;
  readonly require?: Condition;
  readonly forbid?: Condition;
  /** Only in the organisation's baseline: no other policy replaces it. */
  readonly locked?: true;
  /** It is the baseline's: see mergeBaseline. */
  readonly fromBaseline?: true;
  /** Its conditions must not be shown: it is private, and the pull request is public. */
  readonly hidden?: true;
  /** What it looks at in a pull request. */
  readonly needs: Needs;
  readonly source: PolicyOrigin & { readonly line: number };
}

/** Those who may override a rule. `names` are as written; teams are in lower case, without `@`. */
export interface Overriders {
  readonly names: readonly string[];
  readonly people: readonly string[];
  readonly teams: readonly string[];
}

export interface Policy extends PeopleSettings {
  readonly origin: PolicyOrigin;
  /** Another policy that is read too, and merged: see mergePolicies. */
  readonly extends?: { readonly repository: string; readonly ref: string };
  readonly comments?: Comments;
  /** Who may override its rules; absent: nobody. */
  readonly override?: Overriders;
  /** Whom the baseline names: see overridersOf. */
  readonly baselineOverride?: Overriders;
  readonly rules: readonly Rule[];
}
