import { ask, type Expression, fromMatchers, matchersOf, oneOrList } from './dialect.ts';
import { type Findings, quoted } from './findings.ts';
import { ALWAYS, ANY_STATUS, any, between, type Formula, NEVER, not, STILL_THERE, UNKNOWN } from './formula.ts';
import { globsOf, namesOf } from './globs.ts';
import { fromJavaScript } from './patterns.ts';
import type { SourceNode } from './source.ts';

/** What a validator looks at: its options, such as `must_include`, ask this. */
export interface Subject {
  /** One of the expressions is found. `flags`: of JavaScript. */
  readonly found?: (expressions: readonly Expression[], flags: string, node: SourceNode, findings: Findings) => Formula;
  /** For a list: each of its entries has the same one of the expressions. */
  readonly each?: Subject['found'];
  readonly notEmpty?: (node: SourceNode, findings: Findings) => Formula;
  /** For a list: how many entries it has. */
  readonly amount?: (operator: '<=' | '>=', count: number, node: SourceNode, findings: Findings) => Formula;
}

/** A text, by patterns. */
export function textSubject(name: 'title' | 'body'): Subject {
  return {
    found: (expressions, flags, node, findings) =>
      foundIn(expressions, flags, findings, (list) => ask(node, findings, name, list)),
    notEmpty: (node, findings) => ask(node, findings, name, '\\S'),
  };
}

/** Expressions as patterns. One that cannot be used may be found or not. */
export function foundIn(
  expressions: readonly Expression[],
  flags: string,
  findings: Findings,
  build: (patterns: string | readonly string[]) => Formula,
): Formula {
  const read = expressions.map((expression) => ({ ...expression, ...fromJavaScript(expression.source, flags) }));
  for (const one of read) {
    if ('fault' in one) {
      findings.lost(
        one.line,
        `The expression ${quoted(one.source)} cannot be used: ${one.fault}`,
        'Write another one.',
      );
    }
  }
  const usable = read.flatMap((one) => ('pattern' in one ? [one.pattern] : []));
  const formula = usable.length === 0 ? NEVER : build(oneOrList(usable));
  return usable.length === read.length ? formula : between(formula, ALWAYS);
}

/** A branch, or the name of the repository, by globs. */
export function globSubject(name: 'base' | 'branch' | 'repository'): Subject {
  return {
    found: (expressions, flags, node, findings) =>
      fromMatchers(matchersOf(expressions, findings, globReader(flags)), (globs) =>
        ask(node, findings, name, oneOrList(globs)),
      ),
  };
}

function globReader(flags: string) {
  return (source: string) =>
    flags === '' || flags === 'i' ? globsOf(source, { ignoreCase: flags === 'i' }) : undefined;
}

/**
 * Names, in which only `*` has a meaning, and case does not matter: labels, topics and assignees, of which there may be
 * several, or the author and the milestone.
 */
export function nameSubject(name: 'label' | 'topic' | 'author' | 'milestone'): Subject {
  return {
    found(expressions, flags, node, findings) {
      if (!flags.includes('i')) {
        findings.kept(node.line, `Case does not matter in \`${name}\`.`);
      }
      const formula = fromMatchers(matchersOf(expressions, findings, namesOf), (names) =>
        ask(node, findings, name, oneOrList(names)),
      );
      // Without a milestone they look into an empty text.
      const findsNothing =
        name === 'milestone' && expressions.some(({ source }) => namesOf(source)?.most.includes('*'));
      if (!findsNothing) {
        return formula;
      }
      findings.lost(
        node.line,
        'It is also found where there is no milestone',
        'Ask for `milestone: "*"`, or for no more.',
      );
      return between(formula, ALWAYS);
    },
    ...(name === 'author' ? {} : { notEmpty: (node, findings) => ask(node, findings, name, '*') }),
    ...(name === 'label' ? { amount: amountOf('label') } : {}),
  };
}

/** How many there are of these: whether there is any. */
export function amountOf(name: 'label' | 'assignee'): NonNullable<Subject['amount']> {
  return (operator, count, node, findings) => {
    if (operator === '>=' && count === 0) {
      return ALWAYS;
    }
    const some = ask(node, findings, name, '*');
    if (count <= 1 && operator === '>=') {
      return some;
    }
    if (count === 0) {
      return not(some);
    }
    findings.lost(node.line, `It counted more than one ${name}`, `Name those that must be there: \`${name}\`.`);
    return UNKNOWN;
  };
}

/**
 * The changed files, by globs of their paths. `statuses`: those that count; undefined is any. A renamed file has only
 * its new name there, and counts under its old one as removed here.
 */
export function changedFilesSubject(statuses: readonly string[] | undefined): Subject {
  const most = statuses ?? ANY_STATUS;
  const least = statuses?.filter((status) => status !== 'removed') ?? STILL_THERE;
  const withStatus = (globs: readonly string[], status: readonly string[], node: SourceNode, findings: Findings) =>
    status.length === 0 ? NEVER : ask(node, findings, 'files', oneOrList(globs), { status });
  const amount: Subject['amount'] = (operator, count, node, findings) => {
    if (statuses === undefined) {
      return ask(node, findings, 'changed_files', `${operator} ${count}`);
    }
    findings.lost(node.line, 'It counted files of some statuses', 'Count all of them: `changed_files`.');
    return UNKNOWN;
  };
  return {
    found: (expressions, flags, node, findings) =>
      fromMatchers(matchersOf(expressions, findings, globReader(flags)), (globs, side) =>
        withStatus(globs, side === 'least' ? least : most, node, findings),
      ),
    each(expressions, flags, node, findings) {
      if (statuses !== undefined) {
        findings.lost(node.line, 'It asked something of each file of some statuses', 'Write the rule by hand.');
        return UNKNOWN;
      }
      return any(
        expressions.map((expression) =>
          fromMatchers(matchersOf([expression], findings, globReader(flags)), (globs, side) =>
            side === 'least'
              ? ask(node, findings, 'only_files', oneOrList(globs))
              : not(
                  withStatus(
                    globs.map((glob) => `!${glob}`),
                    STILL_THERE,
                    node,
                    findings,
                  ),
                ),
          ),
        ),
      );
    },
    notEmpty: (node, findings) => amount('>=', 1, node, findings),
    amount,
  };
}
