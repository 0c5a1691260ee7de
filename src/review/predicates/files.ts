import * as z from 'zod';
import type { ChangedFile } from '../../forges/port/pull-request.ts';
import { MAX_LOCATIONS } from '../limits.ts';
import { compileGlobs } from '../matching/glob.ts';
import { capitalised, count, pathList, quotedList, say, type Text } from '../text.ts';
import { aFile } from './glob-words.ts';
import { definePredicate } from './predicate.ts';
import { globs } from './values.ts';

const TAKEN_OUT_SHOWN = 5;

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
    'At least one changed file matches one of these globs and none of those that start with !. Next to it, `status` says how it changed. A renamed file is removed under its old name.',
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
        toMatch: say`${capitalised([verbOf(wanted)])} ${aFile(given)}.`,
        toAvoid: say`Take the changes to ${quotedList(matching.flatMap(pathsOf), TAKEN_OUT_SHOWN)} out of this pull request.`,
      },
    };
  },
});

const VERBS: Readonly<Record<Status, string>> = {
  added: 'add',
  modified: 'change',
  removed: 'remove',
  renamed: 'rename',
};

/** Whether the policy leaves it to the predicate how a file has changed. */
function isOrdinary(wanted: readonly Status[]): boolean {
  return wanted === STATUSES || wanted.join() === STATUSES_WHERE_REQUIRED.join();
}

/** Under its old name a renamed file is removed. */
function pathsWith({ path, previousPath, status }: ChangedFile, wanted: readonly Status[]): readonly string[] {
  return [
    ...(wanted.includes(status) ? [path] : []),
    ...(previousPath !== undefined && wanted.includes('removed') ? [previousPath] : []),
  ];
}

function described(wanted: readonly Status[]): string {
  return isOrdinary(wanted) ? 'a changed' : `a changed (${wanted.join(' or ')})`;
}

/** "add or change". */
function verbOf(wanted: readonly Status[]): string {
  const verbs = isOrdinary(wanted) ? ['add', 'change'] : wanted.map((one) => VERBS[one]);
  const [last = '', ...others] = verbs.toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(', ')} or ${last}`;
}

function listed(matching: readonly ChangedFile[]): Text {
  const paths = matching.map((file) => file.path);
  const gone = matching.some(({ status }) => status === 'removed');
  return say`${count(matching.length, 'changed file')}: ${gone ? quotedList(paths) : pathList(paths)}`;
}

function noneAmong(changed: readonly ChangedFile[], complete: boolean): Text {
  if (!complete) {
    return say`no match among the ${count(changed.length, 'changed file')} that could be read; the list is not complete`;
  }
  if (changed.length < 2) {
    return changed.length === 0 ? say`no changed file` : say`the only changed file doesn’t match`;
  }
  return say`none of the ${count(changed.length, 'changed file')} match`;
}

function notCounted(touching: readonly ChangedFile[]): Text {
  if (touching.length === 0) {
    return [];
  }
  const seen = touching.map((file) => `${file.previousPath ?? file.path} (${file.status})`);
  return say`; not counted: ${quotedList(seen, 3)}`;
}
