import * as z from 'zod';
import { compileGlobs } from '../matching/glob.ts';
import { count, quotedList, say } from '../text.ts';
import { compare, compared, comparison } from './comparison.ts';
import { definePredicate } from './predicate.ts';
import { globs } from './values.ts';

export const changedFiles = definePredicate({
  description:
    "How many files are changed, as a comparison: '<= 30'. Beside it, `except` leaves files out of the count.",
  schema: comparison,
  options: z.object({ except: globs.optional() }),
  needs: () => ({ changedFiles: true }),
  judge(wanted, { except }, facts) {
    const { files, complete } = facts.changedFiles;
    const exempt = except === undefined ? undefined : compileGlobs(except);
    const counted = files.filter((file) => exempt?.matches(file.path) !== true);
    const amount = count(counted.length, 'changed file');
    const outside = except === undefined ? [] : say`, not counting ${quotedList(except)}`;
    return {
      outcome: compare(wanted, counted.length, complete),
      expected: say`${compared(wanted)} changed files${outside}`,
      found: complete ? amount : say`${amount} that could be read; the list of files is not complete`,
      remedy: {
        toMatch: wanted.operator.startsWith('<')
          ? say`Split the pull request into smaller ones.`
          : say`Bring the number of changed files to ${compared(wanted)}.`,
        toAvoid: say`Bring the number of changed files to other than ${compared(wanted)}.`,
      },
    };
  },
});
