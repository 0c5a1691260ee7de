import type { ChangedFile } from '../../forges/forge.ts';
import { MAX_LOCATIONS } from '../limits.ts';
import { compileGlobs } from '../matching/glob.ts';
import { count, quotedList, say, type Text } from '../text.ts';
import { definePredicate, type Outcome } from './predicate.ts';
import { globs } from './values.ts';

/** A rename touches two places: a file cannot leave a guarded folder unnoticed. */
export function pathsOf(file: ChangedFile): readonly string[] {
  return file.previousPath === undefined ? [file.path] : [file.path, file.previousPath];
}

export const files = definePredicate({
  description:
    'At least one changed file matches one of these globs and none of those that start with !. A renamed file counts under both names.',
  schema: globs,
  needs: () => ({ changedFiles: true }),
  judge(given, _options, facts, budget) {
    const { files: changed, complete } = facts.changedFiles;
    const matcher = compileGlobs(given, budget);
    const matching = changed.filter((file) => pathsOf(file).some((path) => matcher.matches(path)));
    let outcome: Outcome = 'matched';
    let found: Text = say`${count(matching.length, 'changed file')}: ${quotedList(matching.map((file) => file.path))}`;
    if (matching.length === 0) {
      outcome = complete ? 'unmatched' : 'undecided';
      found = complete
        ? say`none among ${count(changed.length, 'changed file')}`
        : say`none among the ${count(changed.length, 'changed file')} that could be read; the list is not complete`;
    }
    return {
      outcome,
      expected: say`a changed file that matches ${quotedList(given)}`,
      found,
      locations: matching.slice(0, MAX_LOCATIONS).map((file) => ({ path: file.path })),
      remedy: {
        toMatch: say`Change, as part of this pull request, a file that matches ${quotedList(given)}.`,
        toAvoid: say`Take the changes to ${quotedList(matching.map((file) => file.path))} out of this pull request.`,
      },
    };
  },
});
