import * as z from 'zod';
import { compileGlobs } from '../matching/glob.ts';
import { count, quotedList, say, type Text } from '../text.ts';
import { compare, compared, comparison } from './comparison.ts';
import { definePredicate } from './predicate.ts';
import { binaryFiles, globs } from './values.ts';

export const changedLines = definePredicate({
  description:
    "How many lines are added and removed, taken together, as a comparison: '<= 600'. Beside it, `except` leaves files out of the count, and `binary: ignore` binary files.",
  schema: comparison,
  options: z.object({ except: globs.optional(), binary: binaryFiles.optional() }),
  needs: () => ({ changedFiles: true }),
  judge(wanted, { except, binary }, facts) {
    const { files, complete } = facts.changedFiles;
    const exempt = except === undefined ? undefined : compileGlobs(except);
    const counted = files.filter(
      (file) => exempt?.matches(file.path) !== true && !(binary === 'ignore' && file.diff.kind === 'binary'),
    );
    const unknown = counted.filter((file) => !file.counted).map((file) => file.path);
    const lines = counted.reduce((sum, file) => sum + file.additions + file.deletions, 0);
    const amount = count(lines, 'changed line');
    const outside = except === undefined ? [] : say`, not counting ${quotedList(except)}`;
    return {
      outcome: compare(wanted, lines, complete && unknown.length === 0),
      expected: say`${compared(wanted)} changed lines${outside}`,
      found: say`${amount}${uncounted(unknown, complete)}`,
      remedy: {
        toMatch: wanted.operator.startsWith('<')
          ? say`Split the pull request into smaller ones.`
          : say`Bring the number of changed lines to ${compared(wanted)}.`,
        toAvoid: say`Bring the number of changed lines to other than ${compared(wanted)}.`,
      },
    };
  },
});

function uncounted(paths: readonly string[], complete: boolean): Text {
  const files = paths.length === 0 ? [] : say`; the lines of ${quotedList(paths, 5)} could not be counted`;
  return complete ? files : say` in the files that could be read${files}; the list of files is not complete`;
}
