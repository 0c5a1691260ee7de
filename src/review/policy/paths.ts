/** Where a policy may live in a repository, in the order in which to look; the first that exists counts. */
export const POLICY_PATHS: readonly string[] = [
  '.gatehouse.yml',
  '.github/gatehouse.yml',
  '.gitea/gatehouse.yml',
  '.forgejo/gatehouse.yml',
];
