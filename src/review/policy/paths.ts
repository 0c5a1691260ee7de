import { FORGES } from '../../forges/forges.ts';

/** Where a policy may be in a repository, in the order in which to look; the first that exists counts. */
export const POLICY_PATHS: readonly string[] = [
  '.gatehouse.yml',
  ...Object.values(FORGES).map(({ policyPath }) => policyPath),
];
