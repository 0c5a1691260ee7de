import { type Finding, type Findings, quoted } from './findings.ts';
import { ALWAYS, between, type Formula, NEVER, predicate, UNKNOWN } from './formula.ts';
import type { Matchers } from './globs.ts';
import { type SourceNode, textsOf } from './source.ts';

/** A rule of the policy that is printed. */
export interface TranslatedRule {
  /** What its id is made of: any text. */
  readonly name: string;
  readonly when?: Formula;
  readonly require: Formula;
  readonly message?: string;
  readonly level?: 'warn';
  /** What has to be known of the lines that it was made of. */
  readonly findings: readonly Finding[];
}

export interface Translation {
  readonly rules: readonly TranslatedRule[];
  /** `owner/repo@ref`. */
  readonly extends?: string;
}

/** Translates a file. Whatever it does not understand is lost, and makes nothing weaker. */
export type Dialect = (root: SourceNode, findings: Findings) => Translation;

/** Why a line is lost that no document of theirs describes. */
export function unknownKey(key: string, node: SourceNode, findings: Findings): void {
  findings.lost(
    node.line,
    `The key ${quoted(key)} is not known here`,
    'Look up what it did, and write the rule by hand.',
  );
}

/** The other program does not accept it either: then nothing is translated. */
export function malformed(node: SourceNode, expected: string): Formula {
  node.wrong(expected);
  return UNKNOWN;
}

/** A predicate; where Gatehouse does not accept its value, the line is lost. */
export function ask(
  node: SourceNode,
  findings: Findings,
  name: string,
  value: unknown,
  options: Readonly<Record<string, unknown>> = {},
): Formula {
  const made = predicate(name, value, options);
  if ('formula' in made) {
    return made.formula;
  }
  findings.lost(node.line, `As \`${name}\` it is not accepted: ${made.fault}`, 'Write the rule by hand.');
  return UNKNOWN;
}

/** The same of one value or a list. */
export function oneOrList<Value>(values: readonly Value[]): Value | readonly Value[] {
  const [only] = values;
  return values.length === 1 && only !== undefined ? only : values;
}

/** Several expressions as globs or names. */
export interface AllMatchers {
  readonly least: readonly string[];
  /** Undefined: anything may match. */
  readonly most: readonly string[] | undefined;
}

/** A regular expression, and its line. */
export interface Expression {
  readonly source: string;
  readonly line: number;
}

/** One expression, or a list of them. */
export function expressionsOf(node: SourceNode): readonly Expression[] {
  const lines = Array.isArray(node.value) ? node.items().map(({ line }) => line) : [node.line];
  return textsOf(node).map((source, index) => ({ source, line: lines[index] ?? node.line }));
}

/** What cannot be written exactly is lost. */
export function matchersOf(
  expressions: readonly Expression[],
  findings: Findings,
  read: (source: string) => Matchers | undefined,
): AllMatchers {
  const found = expressions.map(({ source, line }) => {
    const matchers = read(source);
    if (matchers === undefined) {
      findings.lost(
        line,
        `The expression ${quoted(source)} cannot be written as a glob or a name`,
        'Write one by hand.',
      );
    } else if (!matchers.exact) {
      const least = matchers.least.map(quoted).join(', ') || 'nothing';
      const most = matchers.most.map(quoted).join(', ');
      const became = `it became ${least}, or ${most} where matching more is stricter`;
      findings.lost(
        line,
        `The expression ${quoted(source)} cannot be written exactly: ${became}`,
        'Write one by hand.',
      );
    }
    return matchers;
  });
  const unique = (side: 'least' | 'most') => [...new Set(found.flatMap((matchers) => matchers?.[side] ?? []))];
  return { least: unique('least'), most: found.includes(undefined) ? undefined : unique('most') };
}

/** Whether one of some expressions is found, as a predicate with globs or names, which `build` makes for each side. */
export function matching(
  node: SourceNode,
  findings: Findings,
  read: (source: string) => Matchers | undefined,
  build: (matchers: readonly string[], side: 'least' | 'most') => Formula,
): Formula {
  return fromMatchers(matchersOf(expressionsOf(node), findings, read), build);
}

export function fromMatchers(
  { least, most }: AllMatchers,
  build: (matchers: readonly string[], side: 'least' | 'most') => Formula,
): Formula {
  const lower = least.length === 0 ? NEVER : build(least, 'least');
  const upper = most === undefined ? ALWAYS : most.length === 0 ? NEVER : build(most, 'most');
  return JSON.stringify(lower) === JSON.stringify(upper) ? lower : between(lower, upper);
}
