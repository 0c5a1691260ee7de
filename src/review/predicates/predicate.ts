import * as z from 'zod';
import type { Facts, Needs } from '../../facts/table.ts';
import type { Text } from '../text.ts';

/**
 * - `undecided`: what it needs could not be read in full, and what was read does not decide it.
 * - `awaited`: others have not reported it yet. Neither is a match, nor the absence of one.
 */
export type Outcome = 'matched' | 'unmatched' | 'undecided' | 'awaited';

/** The worst first. */
const WORST_FIRST: readonly Outcome[] = ['unmatched', 'undecided', 'awaited', 'matched'];

/** What comes of several that are all needed. Undecided, or awaited, only where a decision would change it. */
export function worstOf(outcomes: readonly Outcome[]): Outcome {
  return WORST_FIRST.find((outcome) => outcomes.includes(outcome)) ?? 'matched';
}

/** For sorting, the worst first. */
export function compareOutcomes(one: Outcome, other: Outcome): number {
  return WORST_FIRST.indexOf(one) - WORST_FIRST.indexOf(other);
}

/**
 * Who can change what a predicate looks at: the pull request's author, or other people, such as those who approve. A
 * rule that only others can fulfil is waited for; it is nothing that the author has to fix.
 */
export type Actor = 'author' | 'others';

/** Where something was found. Without a line it is the whole file. */
export interface Location {
  readonly path: string;
  readonly line?: number;
  /** The line's text, at most MAX_LINE_SHOWN characters of it. */
  readonly text?: string;
  /** SHA-256 of the whole line, in hexadecimal: tells two long lines apart that begin alike. */
  readonly digest?: string;
}

/** Changed files that have the same owners. Of each list at most as many as are shown. */
export interface OwnedFiles {
  /** The patterns in CODEOWNERS that give them their owners. */
  readonly patterns: readonly string[];
  /** The first of them. */
  readonly path: string;
  /** How many they are. */
  readonly files: number;
  readonly owners: readonly string[];
  readonly moreOwners: number;
  readonly approvedBy: readonly string[];
  /** How many approvals they still need. */
  readonly missing: number;
  /** Logins, and teams with an `@`, of which any may give them; empty where nobody is left. */
  readonly missingFrom: readonly string[];
  /** Teams that decide it, and could not be read. */
  readonly unreadable: readonly string[];
}

/** Who has to approve which of the changed files. */
export interface OwnersTable {
  /** The path of CODEOWNERS. */
  readonly path: string;
  /** Those that miss approvals first. */
  readonly rows: readonly OwnedFiles[];
  readonly leftOut: number;
  readonly faults: readonly { readonly line: number; readonly what: Text }[];
  readonly moreFaults: number;
}

/** The result of a predicate for one pull request, with its explanation. */
export interface PredicateResult {
  readonly outcome: Outcome;
  /** What would match, as a noun: "a title that matches …". */
  readonly expected: Text;
  /** What there was instead, or as well. */
  readonly found: Text;
  readonly locations?: readonly Location[];
  readonly owners?: OwnersTable;
  /** Where it depends on the value who can change it. Absent: {@link Predicate.actor}. */
  readonly actor?: Actor;
  /** What is still to come from others, where they can act, as a noun: "1 approval from …". Absent: `expected`. */
  readonly awaited?: Text;
  /** What a person can do so that it matches, and so that it does not. */
  readonly remedy: { readonly toMatch: Text; readonly toAvoid: Text };
}

/** One predicate of the policy language. */
export interface Predicate {
  /** For the JSON Schema: what an editor shows. */
  readonly description: string;
  readonly actor: Actor;
  readonly schema: z.ZodType;
  /** Keys that may stand beside it and refine it: `except`, `in`. */
  readonly options: z.ZodObject;
  /**
   * Options that it has where they are left out and a match is what a rule asks for, as in `require`. `required` says so
   * to a predicate that wants to know.
   */
  readonly optionsWhereRequired: Readonly<Record<string, unknown>>;
  /** `value` and `options` are what the schemas made of what the policy says; see parsePolicy. */
  needs(value: unknown): Needs;
  judge(value: unknown, options: Readonly<Record<string, unknown>>, facts: Facts): PredicateResult;
}

const noOptions = z.object({});

type OptionsOf<Options extends z.ZodObject> = {
  readonly [Name in keyof Options['shape']]?: z.output<Options['shape'][Name]>;
} & { readonly required?: true };

/**
 * Ties a predicate's schema to the types its functions see. What the schema makes of a value must be plain data: a
 * policy is read once, in a worker, and then goes from worker to worker.
 */
export function definePredicate<Value extends z.ZodType, Options extends z.ZodObject = typeof noOptions>(definition: {
  readonly description: string;
  readonly actor: Actor;
  readonly schema: Value;
  readonly options?: Options;
  readonly optionsWhereRequired?: OptionsOf<Options>;
  readonly needs: (value: z.output<Value>) => Needs;
  readonly judge: (value: z.output<Value>, options: OptionsOf<Options>, facts: Facts) => PredicateResult;
}): Predicate {
  return {
    description: definition.description,
    actor: definition.actor,
    schema: definition.schema,
    options: definition.options ?? noOptions,
    optionsWhereRequired: definition.optionsWhereRequired ?? {},
    needs: (value) => definition.needs(value as z.output<Value>),
    judge: (value, options, facts) => definition.judge(value as z.output<Value>, options as OptionsOf<Options>, facts),
  };
}
