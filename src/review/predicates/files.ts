import * as z from 'zod';
import type { ChangedFile } from '../../forges/port/pull-request.ts';
import { MAX_LOCATIONS } from '../limits.ts';
import { compileGlobs } from '../matching/glob.ts';
import { count, pathList, quotedList, say, type Text } from '../text.ts';
import { definePredicate } from './predicate.ts';
import { globs } from './values.ts';

/** A rename counts under both paths, so a file cannot leave a protected folder unnoticed. */
export function pathsOf(file: ChangedFile): readonly string[] {
  return file.previousPath === undefined ? [file.path] : [file.path, file.previousPath];
}

const STATUSES = ['added', 'modified', 'removed', 'renamed'] as const;
type Status = (typeof STATUSES)[number];

/** A file that is gone does not give what a rule asks for: deleting a test is no test. */
const STATUSES_WHERE_REQUIRED: readonly Status[] = ['added', 'modified', 'renamed'];

const status = z.enum(STATUSES, { error: 'added, modified, removed or renamed' });
const statuses = z
  .union([status, z.array(status).min(1, { error: 'at least one status' })], {
    error: 'added, modified, removed or renamed, or a list of them',
  })
  .transform((value): readonly Status[] => (typeof value === 'string' ? [value] : value));

export const files = definePredicate({
  description:
    'At least one changed file matches one of these globs and none of those that start with !. Beside it, `status` says how it changed. A renamed file is removed under its old name.',
  actor: 'author',
  schema: globs,
  options: z.object({ status: statuses.optional() }),
  optionsWhereRequired: { status: [...STATUSES_WHERE_REQUIRED] },
  needs: () => ({ changedFiles: [] }),
  judge(given, { status: wanted = STATUSES }, facts) {
    const { files: changed, complete } = facts.changedFiles;
    const matcher = compileGlobs(given);
    const touching = changed.filter((file) => pathsOf(file).some((path) => matcher.matches(path)));
    const matching = touching.filter((file) => pathsWith(file, wanted).some((path) => matcher.matches(path)));
    return {
      outcome: matching.length > 0 ? 'matched' : complete ? 'unmatched' : 'undecided',
      expected: say`${[described(wanted)]} file that matches ${quotedList(given)}`,
      found: matching.length > 0 ? listed(matching) : say`${noneAmong(changed, complete)}${notCounted(touching)}`,
      locations: matching.slice(0, MAX_LOCATIONS).map((file) => ({ path: file.path })),
      remedy: {
        toMatch: say`Add or change such a file.`,
        toAvoid: say`Take these changes out of the pull request.`,
      },
    };
  },
});

/** Under its old name a renamed file is removed. */
function pathsWith({ path, previousPath, status }: ChangedFile, wanted: readonly Status[]): readonly string[] {
  return [
    ...(wanted.includes(status) ? [path] : []),
    ...(previousPath !== undefined && wanted.includes('removed') ? [previousPath] : []),
  ];
}

function described(wanted: readonly Status[]): string {
  const ordinary = wanted === STATUSES || wanted.join() === STATUSES_WHERE_REQUIRED.join();
  return ordinary ? 'a changed' : `a changed (${wanted.join(' or ')})`;
}

function listed(matching: readonly ChangedFile[]): Text {
  const paths = matching.map((file) => file.path);
  const gone = matching.some(({ status }) => status === 'removed');
  return say`${count(matching.length, 'changed file')}: ${gone ? quotedList(paths) : pathList(paths)}`;
}

function noneAmong(changed: readonly ChangedFile[], complete: boolean): Text {
  return complete
    ? say`none among ${count(changed.length, 'changed file')}`
    : say`none among the ${count(changed.length, 'changed file')} that could be read; the list is not complete`;
}

function notCounted(touching: readonly ChangedFile[]): Text {
  if (touching.length === 0) {
    return [];
  }
  const seen = touching.map((file) => `${file.previousPath ?? file.path} (${file.status})`);
  return say`; not counted: ${quotedList(seen, 3)}`;
}
