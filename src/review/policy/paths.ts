import { FORGE_NAMES, FORGES, type ForgeName, isForgeName } from '../../forges/port/forges.ts';
import type { ChangedFile, ChangedFiles } from '../../forges/port/pull-request.ts';
import { MAX_POLICY_FAULTS } from '../limits.ts';
import type { Fault } from './faults.ts';

const AT_ROOT = '.gatehouse.yml';

/** Where a policy may be in a repository, in the order in which to look; the first that exists counts. */
export const POLICY_PATHS: readonly string[] = [AT_ROOT, ...Object.values(FORGES).map(({ policyPath }) => policyPath)];

/** Cases of the policy, at the root of the repository. */
export const CASES_PATH = '.gatehouse.test.yml';

/** The files that a review reads at the base's commit: the policy and CODEOWNERS, wherever they may be. */
export function pathsAtBase(forge: ForgeName): readonly string[] {
  return [...POLICY_PATHS, ...FORGES[forge].codeOwners.paths];
}

/** Whether the change touches a file that may be a policy. */
export function changesPolicy({ files }: ChangedFiles): boolean {
  return files.some((file) => POLICY_PATHS.some((path) => concerns(file, path)));
}

/** A file below such a path makes a directory of it. */
function concerns({ path, previousPath }: ChangedFile, wanted: string): boolean {
  return [path, previousPath].some((name) => name === wanted || name?.startsWith(`${wanted}/`));
}

/** A file that nobody reads under its name, and the name that was meant. */
export interface Misnamed {
  readonly path: string;
  readonly meant: string;
}

/** In another case, with other dots, as `.yaml`, or in another folder of those that are looked into. */
const NEARLY_RIGHT = new RegExp(`^(?:\\.*(${FORGE_NAMES.join('|')})/)?\\.*gatehouse([._-]*tests?)?\\.+ya?ml$`, 'i');

/** The name that a nearly right one was meant to be. Undefined of the right ones, and of all others. */
export function meantBy(path: string): string | undefined {
  const [found, folder = '', cases] = NEARLY_RIGHT.exec(path) ?? [];
  if (found === undefined) {
    return undefined;
  }
  const forge = folder.toLowerCase();
  const policyPath = isForgeName(forge) ? FORGES[forge].policyPath : AT_ROOT;
  const meant = cases === undefined ? policyPath : CASES_PATH;
  return meant === path ? undefined : meant;
}

/** Of the files of a repository, those with nearly the right name where none has the right one. */
export function misnamedAmong(paths: readonly string[]): readonly Misnamed[] {
  return paths.flatMap((path) => {
    const meant = meantBy(path);
    const right = meant === CASES_PATH ? [CASES_PATH] : POLICY_PATHS;
    return meant === undefined || right.some((one) => paths.includes(one)) ? [] : [{ path, meant }];
  });
}

/**
 * What is wrong with the names of files that a change brings in: nobody would notice that they are not read. Beside a
 * policy that stays as it is, such a file is there for another reason.
 */
export function misnamedBy({ files }: ChangedFiles, hasPolicy: boolean): readonly Fault[] {
  return files
    .filter(({ status }) => status === 'added' || status === 'renamed')
    .filter(({ path }) => !hasPolicy || meantBy(path) === CASES_PATH)
    .flatMap(({ path }) => misnamedFault(path))
    .slice(0, MAX_POLICY_FAULTS);
}

/** At most one. */
export function misnamedFault(path: string): readonly Fault[] {
  const meant = meantBy(path);
  return meant === undefined ? [] : [{ file: path, line: 1, column: 1, message: notRead(meant) }];
}

export function notRead(meant: string): string {
  return `no file of this name is read: it must be ${meant}`;
}
