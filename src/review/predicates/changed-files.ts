import * as z from 'zod';
import { count, say } from '../text.ts';
import { explainAmount, filesExcept } from './changed-amount.ts';
import { compare, comparison } from './comparison.ts';
import { definePredicate } from './predicate.ts';
import { globs } from './values.ts';

export const changedFiles = definePredicate({
  description:
    "How many files are changed, as a comparison: '<= 30'. Next to it, `except` leaves files out of the count.",
  actor: 'author',
  schema: comparison,
  options: z.object({ except: globs.optional() }),
  needs: () => ({ changedFiles: [] }),
  judge(wanted, { except }, facts) {
    const { files, complete } = facts.changedFiles;
    const counted = filesExcept(files, except);
    const amount = count(counted.length, 'changed file');
    return {
      outcome: compare(wanted, counted.length, complete),
      ...explainAmount(wanted, 'changed file', except),
      found: complete ? amount : say`${amount} that could be read; the list of files is not complete`,
    };
  },
});
