import { type Changes, mergeBase } from '../git.ts';
import { compareTrees } from '../tree-diff.ts';
import { baseSha, changesOf, commitOf, moveHead, type Pull } from '../world.ts';
import type { CommitDetails, Stage } from './stage.ts';

/** Commits, and the branches and tags that name them. Repositories are `owner/name`. */
export interface Commits {
  /** Commits on a branch, which is made from the default one if need be. Returns the commit's id. */
  commit(repository: string, branch: string, files: Changes, details?: CommitDetails): string;
  /** Names a commit; one of the same name moves. */
  tag(repository: string, name: string, sha: string): void;
  /** Commits on the pull request's branch. Returns the new head. */
  push(repository: string, number: number, files: Changes, details?: CommitDetails): string;
  /** Merges the base branch into the pull request's, as the button does, with changes of the merge's own. */
  updateBranch(repository: string, number: number, author: string, own?: Changes): string;
  /**
   * Puts one commit on the base branch in the place of all that the pull request had. Returns the new head. On GitHub
   * the reviews move to it if the patch is the same.
   */
  forcePush(repository: string, number: number, files: Changes, details?: CommitDetails): string;
  /** Pushes a commit that exists already, by force. Reviews stay at the commit they were given for. */
  pushCommit(repository: string, number: number, sha: string): void;
  /** Moves a branch to a commit by force. Pull requests from it stay as they are. */
  reset(repository: string, branch: string, sha: string): void;
  /** Pull requests from it keep what they had; GitHub and Gitea close them. */
  deleteBranch(repository: string, branch: string): void;
  head(repository: string, branch: string): string;
  parents(sha: string): readonly string[];
}

export function makeCommits(stage: Stage): Commits {
  const { world, forge, now, find, pull, commitOn, openFrom, record, change } = stage;

  const patchOf = (of: Pull) => JSON.stringify(changesOf(world, of).map(({ path, patch }) => [path, patch]));

  /** Gitea lists them anew after a push by force. */
  function forgetPushes(on: Pull): void {
    on.events = forge === 'gitea' ? on.events.filter(({ push }) => push === undefined) : on.events;
  }

  return {
    commit: (repository, branch, files, details) => commitOn(find(repository), branch, files, details),
    tag(repository, name, sha) {
      find(repository).tags.set(name, sha);
    },
    push(repository, number, files, details) {
      const { headRepository, headBranch } = pull(repository, number);
      return commitOn(headRepository, headBranch, files, details);
    },
    updateBranch(repository, number, author, own = {}) {
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
    forcePush(repository, number, files, details) {
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
    pushCommit(repository, number, sha) {
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
    reset(repository, branch, sha) {
      const on = find(repository);
      on.branches.set(branch, sha);
      on.pushedAt = now();
    },
    deleteBranch(repository, branch) {
      const from = find(repository);
      for (const open of forge === 'forgejo' ? [] : openFrom(from, branch)) {
        change(open.repository.fullName, open.number, { state: 'closed' });
      }
      from.branches.delete(branch);
    },
    head: (repository, branch) => find(repository).branches.get(branch) ?? '',
    parents: (sha) => commitOf(world, sha).parents,
  };
}
