import { FORGES, type ForgeName } from '../../forges/port/forges.ts';
import type { ChangedFile, ChangedFiles } from '../../forges/port/pull-request.ts';

/** Where a policy may be in a repository, in the order in which to look; the first that exists counts. */
export const POLICY_PATHS: readonly string[] = [
  '.gatehouse.yml',
  ...Object.values(FORGES).map(({ policyPath }) => policyPath),
];

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
