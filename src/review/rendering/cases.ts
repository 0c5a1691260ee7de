import type { Uncovered } from '../cases/coverage.ts';
import type { CaseResult } from '../cases/run.ts';
import { wordsFor } from '../cases/schema.ts';
import { visible } from '../text.ts';
import { AS_IF_READY } from './levels.ts';
import { explainRule, type Paint } from './terminal.ts';

const MAX_UNCOVERED_SHOWN = 20;

/**
 * What `gatehouse test` prints for people: the failed cases with the reason, how many passed, and what no case covers.
 */
export function describeCases(results: readonly CaseResult[], open: readonly Uncovered[], paint: Paint): string {
  const failed = results.filter(({ passed }) => !passed);
  const count = `${results.length - failed.length} passed, ${failed.length} failed`;
  return [
    ...failed.map((result) => `${describeFailure(result, paint)}\n`),
    `${paint(failed.length === 0 ? 'green' : 'red', count)}\n`,
    ...(open.length === 0 ? [] : [describeUncovered(open)]),
  ].join('\n');
}

/** Where a case is, and what it is called. */
export function titleOf({ file, line, name }: CaseResult['case']): string {
  return visible(`${file}:${line}${name === undefined ? '' : `: ${name}`}`);
}

/** Why a case failed, without the evaluation. */
export function failureLines({ case: { file }, rules }: CaseResult): readonly string[] {
  if (rules.length === 0) {
    return ['not run: cases before it took more time or memory than an evaluation may take'];
  }
  return rules
    .filter(({ passed }) => !passed)
    .map(({ expected, found }) =>
      visible(
        `${file}:${expected.line}: ${expected.rule}${found.rule.level === 'observe' ? ' (observed)' : ''}: expected "${expected.outcome}", found "${wordsFor(found.outcome)}"${found.asIfReady ? ` ${AS_IF_READY}` : ''}`,
      ),
    );
}

function describeFailure(result: CaseResult, paint: Paint): string {
  const trees = result.rules.filter(({ passed }) => !passed).map(({ found }) => explainRule(found, paint));
  return [
    paint('red', `✘ ${titleOf(result.case)}`),
    ...failureLines(result).map((line) => `  ${line}`),
    ...trees.flatMap((tree) => tree.split('\n').map((line) => `    ${line}`)),
  ].join('\n');
}

function describeUncovered(open: readonly Uncovered[]): string {
  const lines = open.slice(0, MAX_UNCOVERED_SHOWN).map((one) => `  ${placeOf(one)}: ${lackOf(one)}`);
  if (open.length > lines.length) {
    lines.push(`  and ${open.length - lines.length} more`);
  }
  return ['Not covered:', ...lines, ''].join('\n');
}

function placeOf({ repository, path, line }: Uncovered): string {
  return visible([repository, path, line].filter((part) => part !== undefined).join(':'));
}

/** `small: require: files: no case where it matches` */
function lackOf({ rule, part, missing }: Uncovered): string {
  const what = [rule, part].filter((one) => one !== undefined).join(': ');
  return visible(`${what}: no ${missing.replace(/^an? |^any /, '')}`);
}
