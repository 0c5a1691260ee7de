import type { Forge } from './port/forge.ts';
import type { Commit } from './port/pull-request.ts';

/**
 * Leaves out the committer of what people commit in the forge's web pages, where the forge commits with this address and
 * has no account for it. Anybody can write it into a commit of their own, and hides no more than the committer by it.
 */
export function withOwnCommits(forge: Forge, address: string | undefined): Forge {
  if (address === undefined) {
    return forge;
  }
  const own = address.toLowerCase();
  const known = (commits: readonly Commit[]): readonly Commit[] =>
    commits.map((commit) => {
      const { committer } = commit;
      const isForge = committer?.login === null && committer.email.toLowerCase() === own;
      return isForge ? { ...commit, committer: null } : commit;
    });
  return {
    ...forge,
    commits: async (ref, asked) => known(await forge.commits(ref, asked)),
    async pullRequestWithFacts(ref, paths) {
      const read = await forge.pullRequestWithFacts(ref, paths);
      const commits = read?.preloaded.commits;
      return commits === undefined
        ? read
        : read && { ...read, preloaded: { ...read.preloaded, commits: known(commits) } };
    },
  };
}
