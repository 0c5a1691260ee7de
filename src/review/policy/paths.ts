import { FORGES, type ForgeName, isForgeName } from '../../forges/port/forges.ts';
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
const NEARLY_RIGHT = /^(?:\.*([a-z]+)\/)?\.*gatehouse([._-]*tests?)?\.+ya?ml$/i;

/** The name that a nearly right one was meant to be. Undefined of the right ones, and of all others. */
export function meantBy(path: string): string | undefined {
  const [found, folder = '', cases] = NEARLY_RIGHT.exec(path) ?? [];
  if (found === undefined) {
    return undefined;
  }
  const forge = folder.toLowerCase();
  if (folder !== '' && !isForgeName(forge)) {
    return undefined;
  }
  const policyPath = isForgeName(forge) ? FORGES[forge].policyPath : AT_ROOT;
  const meant = cases === undefined ? policyPath : CASES_PATH;
  return meant === path ? undefined : meant;
}

/** Of the files of a repository, those with nearly the right name where none has the right one. */
export function misnamedAmong(paths: readonly string[]): readonly Misnamed[] {
  return paths.flatMap((path) => {
    const meant = meantBy(path);
    return meant === undefined || rightFor(meant).some((one) => paths.includes(one)) ? [] : [{ path, meant }];
  });
}

function rightFor(meant: string): readonly string[] {
  return meant === CASES_PATH ? [CASES_PATH] : POLICY_PATHS;
}

/**
 * What is wrong with the names of files that a change brings in: nobody would notice that they are not read. Beside one
 * with the right name, such a file is there for another reason. `wasThere`: whether the base has one.
 */
export async function misnamedBy(
  { files }: ChangedFiles,
  wasThere: (meant: string) => Promise<boolean>,
): Promise<readonly Fault[]> {
  const faults: Fault[] = [];
  for (const { path } of files.filter(({ status }) => status === 'added' || status === 'renamed')) {
    const meant = meantBy(path);
    if (meant !== undefined && !(isThereAfter(files, rightFor(meant)) ?? (await wasThere(meant)))) {
      faults.push(...misnamedFault(path));
    }
  }
  return faults.slice(0, MAX_POLICY_FAULTS);
}

/** Whether one of the paths is there after a change. Undefined: as before. */
function isThereAfter(files: readonly ChangedFile[], paths: readonly string[]): boolean | undefined {
  if (files.some(({ path, status }) => status !== 'removed' && paths.includes(path))) {
    return true;
  }
  const isGone = ({ path, previousPath = path }: ChangedFile) => paths.includes(previousPath);
  return files.some(isGone) ? false : undefined;
}

/** At most one. */
export function misnamedFault(path: string): readonly Fault[] {
  const meant = meantBy(path);
  return meant === undefined ? [] : [{ file: path, line: 1, column: 1, message: notRead(meant) }];
}

export function notRead(meant: string): string {
  return `Gatehouse doesn’t read a file with this name: rename it to ${meant}`;
}
