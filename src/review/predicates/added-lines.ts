import { createHash } from 'node:crypto';
import * as z from 'zod';
import { shorten } from '../../common/shorten.ts';
import type { ChangedFile } from '../../forges/port/pull-request.ts';
import { MAX_LINE_SHOWN, MAX_LOCATIONS } from '../limits.ts';
import { compileGlobs } from '../matching/glob.ts';
import { compilePatterns } from '../matching/pattern.ts';
import { patternList, quotedList, say, type Text } from '../text.ts';
import { inFiles } from './glob-words.ts';
import { parseHunks } from './hunks.ts';
import { definePredicate, type Location, type Outcome } from './predicate.ts';
import { binaryFiles, globs, patterns } from './values.ts';

export const addedLines = definePredicate({
  description:
    'At least one added line matches this RE2 regular expression, or one of a list; each such line is reported. Next to it, `in` names the files to look in, and `binary: ignore` leaves binary files out.',
  actor: 'author',
  schema: patterns,
  options: z.object({ in: globs.optional(), binary: binaryFiles.optional() }),
  optionsWhereRequired: { required: true },
  needs: () => ({ changedFiles: ['lines'] }),
  judge(sources, options, facts) {
    const { files, complete } = facts.changedFiles;
    const scope = options.in === undefined ? undefined : compileGlobs(options.in);
    const isFound = compilePatterns(sources, { required: options.required, eachLine: true });
    const locations: Location[] = [];
    const unread: ChangedFile[] = [];
    let matching = 0;
    for (const file of files) {
      const ignored = options.binary === 'ignore' && file.diff.kind === 'binary';
      if (scope?.matches(file.path) === false || ignored || file.status === 'removed') {
        continue;
      }
      const hunks = file.diff.kind === 'text' ? parseHunks(file.diff.patch) : { added: [], complete: false };
      if (!hunks.complete) {
        unread.push(file);
      }
      for (const { line, text } of hunks.added) {
        if (!isFound(text)) {
          continue;
        }
        matching += 1;
        if (locations.length < MAX_LOCATIONS) {
          locations.push({ path: file.path, line, ...shown(text) });
        }
      }
    }
    const partly = unread.length > 0 || !complete;
    let outcome: Outcome = 'matched';
    if (matching === 0) {
      outcome = partly ? 'undecided' : 'unmatched';
    }
    const where = inFiles(options.in);
    return {
      outcome,
      expected: say`added lines${where} that match ${patternList(sources)}`,
      found: say`${foundOf(matching)}${unreadable(unread, complete)}`,
      locations,
      remedy: {
        toMatch: say`Add a line${where} that matches ${patternList(sources)}.`,
        toAvoid: say`Change or remove ${matching === 1 ? ['the line that matches'] : ['the lines that match']} ${patternList(sources)}.`,
      },
    };
  },
});

function foundOf(matching: number): Text {
  if (matching === 0) {
    return say`no added line matches`;
  }
  return matching === 1 ? say`1 added line matches` : say`${matching} added lines match`;
}

function shown(text: string): Pick<Location, 'text' | 'digest'> {
  return { text: shorten(text, MAX_LINE_SHOWN), digest: createHash('sha256').update(text).digest('hex') };
}

function unreadable(files: readonly ChangedFile[], complete: boolean): Text {
  const binary = files.filter(({ diff }) => diff.kind === 'binary').map(({ path }) => path);
  const large = files.filter(({ diff }) => diff.kind !== 'binary').map(({ path }) => path);
  return [
    ...(large.length === 0 ? [] : say`; the changes of ${quotedList(large, 5)} are too large to read`),
    ...(binary.length === 0
      ? []
      : say`; the lines of ${quotedList(binary, 5)} cannot be read, since git treats it as binary`),
    ...(complete ? [] : say`; the list of changed files is not complete`),
  ];
}
