import { FORGES } from '../../forges/forges.ts';
import type { ChangedFiles } from '../../forges/pull-request.ts';

/** Where a policy may be in a repository, in the order in which to look; the first that exists counts. */
export const POLICY_PATHS: readonly string[] = [
  '.gatehouse.yml',
  ...Object.values(FORGES).map(({ policyPath }) => policyPath),
];

/** Whether the change touches a file that may be a policy. */
export function changesPolicy({ files }: ChangedFiles): boolean {
  // A file below such a path makes a directory of it, which is a broken policy.
  const isPolicy = (path: string) => POLICY_PATHS.some((policy) => path === policy || path.startsWith(`${policy}/`));
  return files.some((file) => isPolicy(file.path) || (file.previousPath !== undefined && isPolicy(file.previousPath)));
}
