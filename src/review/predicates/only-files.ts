import type { ChangedFile } from '../../forges/port/pull-request.ts';
import { compileGlobs } from '../matching/glob.ts';
import { count, quotedList, say, type Text } from '../text.ts';
import { pathsOf } from './files.ts';
import { aFile, notMatchingGlobs } from './glob-words.ts';
import { definePredicate, type Outcome } from './predicate.ts';
import { globs } from './values.ts';

const OTHERS_SHOWN = 5;

export const onlyFiles = definePredicate({
  description:
    'Every changed file matches one of these globs and none of those that start with !, a renamed file under both names, a removed file too. A pull request that changes no file does not match.',
  actor: 'author',
  schema: globs,
  needs: () => ({ changedFiles: [] }),
  judge(given, _options, facts) {
    const { files, complete } = facts.changedFiles;
    const matcher = compileGlobs(given);
    const others = files.flatMap(pathsOf).filter((path) => !matcher.matches(path));
    return {
      outcome: outcomeOf(files, others, complete),
      expected: say`only changed files that match ${quotedList(given)}`,
      found: found(files, others, complete),
      remedy: {
        toMatch:
          others.length === 0
            ? say`Change ${aFile(given)}, and no others.`
            : say`Take the changes to ${quotedList(others, OTHERS_SHOWN)} out of this pull request.`,
        toAvoid: say`Also change a file ${notMatchingGlobs(given)}.`,
      },
    };
  },
});

/**
 * One other file decides it, whatever could not be read. Nothing changed is not "only these": it would excuse an empty
 * list.
 */
function outcomeOf(files: readonly ChangedFile[], others: readonly string[], complete: boolean): Outcome {
  if (others.length > 0) {
    return 'unmatched';
  }
  if (!complete) {
    return 'undecided';
  }
  return files.length > 0 ? 'matched' : 'unmatched';
}

function found(files: readonly ChangedFile[], others: readonly string[], complete: boolean): Text {
  if (others.length > 0) {
    return say`${count(others.length, 'path that doesn’t match', 'paths that don’t match')}, among ${count(files.length, 'changed file')}: ${quotedList(others, OTHERS_SHOWN)}`;
  }
  if (complete && files.length === 0) {
    return say`no changed file`;
  }
  return complete
    ? say`${count(files.length, 'changed file')}, and no other`
    : say`no other among the ${count(files.length, 'changed file')} that could be read; the list is not complete`;
}
