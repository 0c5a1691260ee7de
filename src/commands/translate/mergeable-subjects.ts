import { ask, type Expression, fromMatchers, matchersOf, oneOrList } from './dialect.ts';
import { type Findings, quoted } from './findings.ts';
import { ALWAYS, ANY_STATUS, any, between, type Formula, NEVER, not, STILL_THERE, UNKNOWN } from './formula.ts';
import { globsOf, namesOf } from './globs.ts';
import { fromJavaScript } from './patterns.ts';
import type { SourceNode } from './source.ts';

/** What a validator looks at: its options, such as `must_include`, ask this. */
export interface Subject {
  /** One of the expressions is found. `flags`: of JavaScript. */
  readonly found: (expressions: readonly Expression[], flags: string, node: SourceNode, findings: Findings) => Formula;
  /** Of a list: each of its entries has the same one of the expressions. */
  readonly each?: Subject['found'];
  readonly notEmpty?: (node: SourceNode, findings: Findings) => Formula;
  /** Of a list: how many entries it has. */
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

/** Labels, or the login of the author, by names. Case does not matter, as the forge has no two that differ by it. */
export function nameSubject(name: 'label' | 'author'): Subject {
  const own: Subject = {
    found: (expressions, _flags, node, findings) =>
      fromMatchers(matchersOf(expressions, findings, namesOf), (names) => ask(node, findings, name, oneOrList(names))),
  };
  if (name === 'author') {
    return own;
  }
  const notEmpty = (node: SourceNode, findings: Findings): Formula => ask(node, findings, 'label', '*');
  return {
    ...own,
    notEmpty,
    amount(operator, count, node, findings) {
      if (operator === '>=' && count <= 1) {
        return count === 0 ? ALWAYS : notEmpty(node, findings);
      }
      if (operator === '<=' && count === 0) {
        return not(notEmpty(node, findings));
      }
      findings.lost(node.line, 'It counted the labels', 'Name the labels that must be there, or must not.');
      return UNKNOWN;
    },
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
