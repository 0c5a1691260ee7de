import { type Changes, mergeBase } from '../git.ts';
import { compareTrees } from '../tree-diff.ts';
import { baseSha, changesOf, commitOf, moveHead, type Pull } from '../world.ts';
import type { CommitDetails, Stage } from './stage.ts';

export function makeCommits(stage: Stage) {
  const { world, forge, now, find, pull, commitOn, openFrom, record, change } = stage;

  const patchOf = (of: Pull) => JSON.stringify(changesOf(world, of).map(({ path, patch }) => [path, patch]));

  /** Gitea lists them anew after a push by force. */
  function forgetPushes(on: Pull): void {
    on.events = forge === 'gitea' ? on.events.filter(({ push }) => push === undefined) : on.events;
  }

  return {
    /** Commits on a branch, which is made from the default one if need be. Returns the commit's id. */
    commit: (repository: string, branch: string, files: Changes, details?: CommitDetails): string =>
      commitOn(find(repository), branch, files, details),
    /** Names a commit; one of the same name moves. */
    tag(repository: string, name: string, sha: string) {
      find(repository).tags.set(name, sha);
    },
    push(repository: string, number: number, files: Changes, details?: CommitDetails): string {
      const { headRepository, headBranch } = pull(repository, number);
      return commitOn(headRepository, headBranch, files, details);
    },
    /** Merges the base branch into the pull request's, as the button does, with changes of the merge's own. */
    updateBranch(repository: string, number: number, author: string, own: Changes = {}): string {
      const on = pull(repository, number);
      const message = `Merge branch '${on.baseBranch}' into ${on.headBranch}${forge === 'github' ? '' : '\n'}`;
      const tip = baseSha(on);
      const before = commitOf(world, mergeBase(world.objects, tip, on.headSha) ?? tip).tree;
      const brought = compareTrees(before, commitOf(world, tip).tree).map(
        ({ path }) => [path, commitOf(world, tip).tree.get(path) ?? null] as const,
      );
      const files = { ...Object.fromEntries(brought), ...own };
      return commitOn(on.headRepository, on.headBranch, files, { message, author, merging: [tip] });
    },
    /**
     * Puts one commit on the base branch in the place of all that the pull request had. Returns the new head. On GitHub
     * the reviews move to it if the patch is the same.
     */
    forcePush(repository: string, number: number, files: Changes, details?: CommitDetails): string {
      const { headRepository, headBranch, baseBranch, repository: target } = pull(repository, number);
      const pulls = openFrom(headRepository, headBranch).map((on) => ({ on, sha: on.headSha, patch: patchOf(on) }));
      headRepository.branches.set(headBranch, target.branches.get(baseBranch) ?? '');
      for (const { on } of pulls) {
        forgetPushes(on);
      }
      const head = commitOn(headRepository, headBranch, files, details);
      for (const { on, sha, patch } of pulls) {
        record(on, 'force-pushed', { push: { from: sha, to: head, base: baseSha(on) } });
        const moving = forge === 'github' && patchOf(on) === patch ? on.reviews : [];
        for (const review of moving.filter((one) => one.sha === sha)) {
          review.sha = head;
        }
      }
      return head;
    },
    /** Pushes a commit that exists already, by force. Reviews stay at the commit they were given for. */
    pushCommit(repository: string, number: number, sha: string) {
      const { headRepository, headBranch } = pull(repository, number);
      headRepository.branches.set(headBranch, sha);
      headRepository.pushedAt = now();
      for (const on of openFrom(headRepository, headBranch)) {
        const push = { from: on.headSha, to: sha, base: baseSha(on) };
        moveHead(world, on, sha);
        forgetPushes(on);
        record(on, 'pushed', { push });
        record(on, 'force-pushed', { push });
      }
    },
    /** Moves a branch to a commit by force. Pull requests from it stay as they are. */
    reset(repository: string, branch: string, sha: string) {
      const on = find(repository);
      on.branches.set(branch, sha);
      on.pushedAt = now();
    },
    /** Pull requests from it keep what they had; GitHub and Gitea close them. */
    deleteBranch(repository: string, branch: string) {
      const from = find(repository);
      for (const open of forge === 'forgejo' ? [] : openFrom(from, branch)) {
        change(open.repository.fullName, open.number, { state: 'closed' });
      }
      from.branches.delete(branch);
    },
    head: (repository: string, branch: string): string => find(repository).branches.get(branch) ?? '',
    /** A file of a branch; undefined: it has none. */
    textOf: (repository: string, branch: string, path: string): string | undefined =>
      commitOf(world, find(repository).branches.get(branch) ?? '')
        .tree.get(path)
        ?.toString(),
  };
}
