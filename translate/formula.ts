import { predicates } from '../src/review/predicates/index.ts';

/**
 * What a file asks for, in the predicates of Gatehouse.
 *
 * `between` is a condition that Gatehouse cannot ask for exactly. `least` holds only if theirs does, and `most` holds
 * whenever theirs does. A place where holding lets a pull request pass takes `least`, and one where holding stops it
 * takes `most`. So a translation may be stricter than the file, and never weaker.
 */
export type Formula = Simple | Group<Formula> | Negation<Formula> | Between;

/** A formula without `between`. */
export type Settled = Simple | Group<Settled> | Negation<Settled>;

type Simple =
  | { readonly kind: 'constant'; readonly holds: boolean }
  | {
      readonly kind: 'predicate';
      readonly name: string;
      readonly value: unknown;
      readonly options: Readonly<Record<string, unknown>>;
    };

interface Between {
  readonly kind: 'between';
  readonly least: Formula;
  readonly most: Formula;
}

interface Group<Part> {
  readonly kind: 'all' | 'any';
  readonly parts: readonly Part[];
}

interface Negation<Part> {
  readonly kind: 'not';
  readonly part: Part;
}

export const ALWAYS: Settled = { kind: 'constant', holds: true };
export const NEVER: Settled = { kind: 'constant', holds: false };
/** Something that Gatehouse cannot ask for at all. */
export const UNKNOWN: Formula = { kind: 'between', least: NEVER, most: ALWAYS };

export function between(least: Formula, most: Formula): Formula {
  return { kind: 'between', least, most };
}

export function not(part: Formula): Formula {
  return part.kind === 'not' ? part.part : { kind: 'not', part };
}

export function all(parts: readonly Formula[]): Formula {
  return { kind: 'all', parts };
}

export function any(parts: readonly Formula[]): Formula {
  return { kind: 'any', parts };
}

/** A predicate, or why Gatehouse does not accept this value. */
export function predicate(
  name: string,
  value: unknown,
  options: Readonly<Record<string, unknown>> = {},
): { readonly formula: Settled } | { readonly fault: string } {
  const read = predicates.get(name)?.schema.safeParse(value);
  if (read?.success === true) {
    return { formula: { kind: 'predicate', name, value, options } };
  }
  return { fault: read?.error.issues.at(0)?.message ?? `no predicate ${name}` };
}

/** Takes the side of each `between` that makes the whole no weaker. `required`: whether holding lets something pass. */
export function settle(formula: Formula, required: boolean): Settled {
  switch (formula.kind) {
    case 'constant':
    case 'predicate':
      return formula;
    case 'between':
      return settle(required ? formula.least : formula.most, required);
    case 'not': {
      const part = settle(formula.part, !required);
      if (part.kind === 'constant') {
        return part.holds ? NEVER : ALWAYS;
      }
      return part.kind === 'not' ? part.part : { kind: 'not', part };
    }
    case 'all':
    case 'any':
      return joined(
        formula.kind,
        formula.parts.map((part) => settle(part, required)),
      );
  }
}

/** Without constants, groups in groups of the same kind, and anything twice. */
function joined(kind: 'all' | 'any', given: readonly Settled[]): Settled {
  const neutral = kind === 'all';
  if (given.some((part) => part.kind === 'constant' && part.holds !== neutral)) {
    return neutral ? NEVER : ALWAYS;
  }
  const flat = given.flatMap((part) => (part.kind === kind ? part.parts : part.kind === 'constant' ? [] : [part]));
  const parts = [...new Map(flat.map((part) => [JSON.stringify(part), part])).values()];
  const [only] = parts;
  if (only === undefined) {
    return neutral ? ALWAYS : NEVER;
  }
  return parts.length === 1 ? only : { kind, parts };
}

/** The statuses of `files` that are meant where none are written: see the predicate. */
export const ANY_STATUS: readonly string[] = ['added', 'modified', 'removed', 'renamed'];
export const STILL_THERE: readonly string[] = ['added', 'modified', 'renamed'];

/**
 * The condition as a policy has it. `required` as in {@link settle}, which is what the default of `status` depends on;
 * constants are left to the caller.
 */
export function conditionOf(formula: Settled, required: boolean): Readonly<Record<string, unknown>> {
  switch (formula.kind) {
    case 'constant':
      throw new Error('a constant is no condition');
    case 'predicate': {
      const { name, value, options } = formula;
      return { [name]: value, ...withoutDefaults(options, required) };
    }
    case 'not':
      return { not: conditionOf(formula.part, !required) };
    case 'any':
      return { any: formula.parts.map((part) => conditionOf(part, required)) };
    case 'all':
      return merged(formula.parts.map((part) => conditionOf(part, required)));
  }
}

function withoutDefaults(options: Readonly<Record<string, unknown>>, required: boolean): typeof options {
  const usual = required ? STILL_THERE : ANY_STATUS;
  return Object.fromEntries(
    Object.entries(options).filter(
      ([key, value]) => key !== 'status' || JSON.stringify(value) !== JSON.stringify(usual),
    ),
  );
}

/** All in one mapping where that means the same: no key twice, and no option beside another predicate that takes it. */
function merged(conditions: readonly Readonly<Record<string, unknown>>[]): Readonly<Record<string, unknown>> {
  const keys = conditions.flatMap((condition) => Object.keys(condition));
  const takingOptions = keys.filter((key) => Object.keys(predicates.get(key)?.options.shape ?? {}).length > 0);
  const together = new Set(keys).size === keys.length && takingOptions.length <= 1;
  return together ? Object.assign({}, ...conditions) : { all: conditions };
}
