import type { ChangedFile } from '../../forges/port/pull-request.ts';
import { compileGlobs } from '../matching/glob.ts';
import { quotedList, say } from '../text.ts';
import { type Comparison, compared, opposite } from './comparison.ts';
import type { PredicateResult } from './predicate.ts';

// What changed_files and changed_lines have in common.

export function filesExcept(files: readonly ChangedFile[], except: readonly string[] | undefined) {
  const exempt = except === undefined ? undefined : compileGlobs(except);
  return files.filter((file) => exempt?.matches(file.path) !== true);
}

/** `thing` is what is counted: "changed file". */
export function explainAmount(
  wanted: Comparison,
  thing: string,
  except: readonly string[] | undefined,
): Pick<PredicateResult, 'expected' | 'remedy'> {
  const amountOf = (one: Comparison) => say`${compared(one)} ${[one.limit === 1 ? thing : `${thing}s`]}`;
  const bringTo = (one: Comparison) =>
    one.operator.startsWith('<')
      ? say`Reduce this pull request to ${amountOf(one)}${outside}, for example by splitting it.`
      : say`Bring this pull request to ${amountOf(one)}${outside}.`;
  const outside = except === undefined ? [] : say`, not counting ${quotedList(except)}`;
  const otherwise = opposite(wanted);
  return {
    expected: say`${amountOf(wanted)}${outside}`,
    remedy: {
      toMatch: bringTo(wanted),
      toAvoid: otherwise === undefined ? say`Extend or reduce this pull request.` : bringTo(otherwise),
    },
  };
}
