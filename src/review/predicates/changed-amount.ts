import type { ChangedFile } from '../../forges/port/pull-request.ts';
import { compileGlobs } from '../matching/glob.ts';
import { quotedList, say } from '../text.ts';
import { type Comparison, compared } from './comparison.ts';
import type { PredicateResult } from './predicate.ts';

// What changed_files and changed_lines have in common.

export function filesExcept(files: readonly ChangedFile[], except: readonly string[] | undefined) {
  const exempt = except === undefined ? undefined : compileGlobs(except);
  return files.filter((file) => exempt?.matches(file.path) !== true);
}

/** `things` is what is counted: "changed files". */
export function explainAmount(
  wanted: Comparison,
  things: string,
  except: readonly string[] | undefined,
): Pick<PredicateResult, 'expected' | 'remedy'> {
  const outside = except === undefined ? [] : say`, not counting ${quotedList(except)}`;
  return {
    expected: say`${compared(wanted)} ${[things]}${outside}`,
    remedy: {
      toMatch: wanted.operator.startsWith('<')
        ? say`Split the pull request into smaller ones.`
        : say`Bring the number of ${[things]} to ${compared(wanted)}.`,
      toAvoid: say`Bring the number of ${[things]} to other than ${compared(wanted)}.`,
    },
  };
}
