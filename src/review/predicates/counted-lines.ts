import * as z from 'zod';
import type { ChangedFile } from '../../forges/port/pull-request.ts';
import { count, quotedList, say, type Text } from '../text.ts';
import { explainAmount, filesExcept } from './changed-amount.ts';
import { compare, comparison } from './comparison.ts';
import { definePredicate, type Predicate } from './predicate.ts';
import { binaryFiles, globs } from './values.ts';

/** A predicate of lines of the change. `kind` is as in "3 added lines". */
export function countsLines(description: string, kind: string, linesOf: (file: ChangedFile) => number): Predicate {
  return definePredicate({
    description: `${description}, as a comparison: '<= 600'. Next to it, \`except\` leaves files out of the count, and \`binary: ignore\` binary files.`,
    actor: 'author',
    schema: comparison,
    options: z.object({ except: globs.optional(), binary: binaryFiles.optional() }),
    needs: () => ({ changedFiles: ['lines'] }),
    judge(wanted, { except, binary }, facts) {
      const { files, complete } = facts.changedFiles;
      const counted = filesExcept(files, except).filter(
        (file) => !(binary === 'ignore' && file.diff.kind === 'binary'),
      );
      const unknown = counted.filter((file) => !file.counted).map((file) => file.path);
      const lines = counted.reduce((sum, file) => sum + linesOf(file), 0);
      const amount = count(lines, `${kind} line`);
      return {
        outcome: compare(wanted, lines, complete && unknown.length === 0),
        ...explainAmount(wanted, `${kind} line`, except),
        found: say`${amount}${uncounted(unknown, complete)}`,
      };
    },
  });
}

function uncounted(paths: readonly string[], complete: boolean): Text {
  const files = paths.length === 0 ? [] : say`; the lines of ${quotedList(paths, 5)} could not be counted`;
  return complete ? files : say` in the files that could be read${files}; the list of files is not complete`;
}
