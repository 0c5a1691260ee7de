import { makeCommit } from '../git.ts';
import { compareTrees } from '../tree-diff.ts';
import { baseSha, changesOf, commitOf, commitsOf, newestStatuses, type Pull } from '../world.ts';
import { MAIN, type Stage } from './stage.ts';

interface OpenDetails {
  readonly head: string;
  readonly from?: string;
  /** Whether it was pushed to `refs/for/<base>`. The branch is not there afterwards. */
  readonly agit?: boolean;
  readonly base?: string;
  readonly title?: string;
  readonly body?: string;
  readonly author?: string;
  readonly draft?: boolean;
  readonly labels?: readonly string[];
}

interface MergeDetails {
  readonly how?: 'merge' | 'squash' | 'rebase' | 'fast-forward';
  readonly by?: string;
  /** Whether an administrator merges, whatever the base branch requires. */
  readonly force?: boolean;
}

const QUEUE = 'github-merge-queue[bot]';

export function makePullRequests(stage: Stage) {
  const { world, forge, now, find, pull, commitOn, record, change } = stage;

  /** As Gitea: of the statuses that a pattern names there is one at least, and all are a success. */
  function meetsProtection({ repository, baseBranch, headSha }: Pull): boolean {
    const present = newestStatuses(repository, headSha);
    const protection = repository.protections.get(baseBranch);
    const required = protection?.checks === true ? protection.statuses : [];
    return required.every((pattern) => {
      const named = present.filter(({ context }) =>
        pattern.endsWith('*') ? context.startsWith(pattern.slice(0, -1)) : context === pattern,
      );
      return named.length > 0 && named.every(({ state }) => state === 'success');
    });
  }

  function recordAll(on: Pull): void {
    const base = baseSha(on);
    record(on, 'pushed', { push: { from: base, to: on.headSha, base } });
  }

  /** Brings a pull request to its base branch. Returns the commits that it is there, oldest first. */
  function bring(of: Pull, how: MergeDetails['how']): readonly string[] {
    const { repository, baseBranch, headSha, number, author } = of;
    if (how === 'fast-forward') {
      const commits = commitsOf(world, of).map(({ sha }) => sha);
      repository.branches.set(baseBranch, headSha);
      repository.pushedAt = now();
      return commits;
    }
    if (how === 'rebase') {
      return commitsOf(world, of).map(({ sha, message, author: { name } }) => {
        const [parent = ''] = commitOf(world, sha).parents;
        const [before, after] = [world.objects.get(parent)?.tree ?? new Map(), commitOf(world, sha).tree];
        const files = compareTrees(before, after).map(({ path }) => [path, after.get(path) ?? null] as const);
        return commitOn(repository, baseBranch, Object.fromEntries(files), { message, author: name });
      });
    }
    const tree = commitOf(world, headSha).tree;
    const files: Record<string, Buffer | null> = {};
    for (const { path, previousPath } of changesOf(world, of)) {
      files[previousPath ?? path] = null;
      files[path] = tree.get(path) ?? null;
    }
    const merging = how === 'merge' ? [headSha] : [];
    return [commitOn(repository, baseBranch, files, { message: `Merge #${number}`, merging, author })];
  }

  return {
    openPullRequest(repository: string, details: OpenDetails): number {
      const target = find(repository);
      const source = details.from === undefined ? target : find(details.from);
      const { agit = false } = details;
      const headSha = source.branches.get(details.head) ?? '';
      if (agit) {
        source.branches.delete(details.head);
      }
      const number = target.pulls.size + 1;
      target.pulls.set(number, {
        number,
        repository: target,
        headRepository: source,
        headBranch: details.head,
        agit,
        baseBranch: details.base ?? MAIN,
        headSha,
        author: details.author ?? 'alice',
        createdAt: now(),
        updatedAt: now(),
        behind: undefined,
        title: details.title ?? 'feat: change something',
        body: details.body ?? '',
        draft: details.draft ?? false,
        labels: [...(details.labels ?? [])],
        assignees: [],
        milestone: null,
        state: 'open',
        merged: undefined,
        reviews: [],
        requested: [],
        comments: [],
        inlineComments: [],
        countedComments: 0,
        events: [],
      });
      recordAll(pull(repository, number));
      return number;
    },
    edit: change as (
      repository: string,
      number: number,
      change: Partial<Pick<Pull, 'title' | 'body' | 'draft'>>,
    ) => void,
    label(repository: string, number: number, ...names: string[]) {
      change(repository, number, { labels: [...pull(repository, number).labels, ...names] });
    },
    unlabel(repository: string, number: number, name: string) {
      change(repository, number, { labels: pull(repository, number).labels.filter((label) => label !== name) });
    },
    clearLabels: (repository: string, number: number): void => change(repository, number, { labels: [] }),
    /** In the place of those who were assigned before. */
    assign: (repository: string, number: number, ...assignees: string[]): void =>
      change(repository, number, { assignees }),
    setMilestone: (repository: string, number: number, milestone: string | null): void =>
      change(repository, number, { milestone }),
    /** The pull request does not count as changed, and there is no event. */
    renameMilestone(repository: string, number: number, milestone: string | null) {
      pull(repository, number).milestone = milestone;
    },
    retarget(repository: string, number: number, baseBranch: string) {
      change(repository, number, { baseBranch });
      const on = pull(repository, number);
      record(on, 'retargeted');
      if (forge !== 'github') {
        on.events = on.events.filter(({ push }) => push === undefined);
        recordAll(on);
      }
    },
    close: (repository: string, number: number): void => change(repository, number, { state: 'closed' }),
    reopen: (repository: string, number: number): void => change(repository, number, { state: 'open' }),
    /** False when the base branch requires a status that the head does not have as a success. */
    merge(
      repository: string,
      number: number,
      { how = 'merge', by = 'bob', force = false }: MergeDetails = {},
    ): boolean {
      const found = pull(repository, number);
      if (!force && !meetsProtection(found)) {
        return false;
      }
      const into = baseSha(found);
      const commits = bring(found, how);
      const as = commits.at(-1) ?? into;
      change(repository, number, { state: 'closed', merged: { at: now(), closedAt: now(), into, as, commits, by } });
      return true;
    },
    /**
     * Somebody pushes a commit that has the head, and the forge finds the pull request merged. Gitea and Forgejo take the
     * time that the commit's author has written into it: `at`.
     */
    mergeByHand(repository: string, number: number, sha: string, by: string, at: string = now()) {
      const { baseBranch, repository: target } = pull(repository, number);
      const into = target.branches.get(baseBranch) ?? '';
      const commits = [sha];
      for (let [parent] = commitOf(world, sha).parents; parent !== undefined && parent !== into; ) {
        commits.unshift(parent);
        [parent] = commitOf(world, parent).parents;
      }
      target.branches.set(baseBranch, sha);
      target.pushedAt = now();
      const claimed = forge === 'github' ? now() : at;
      change(repository, number, {
        state: 'closed',
        merged: { at: claimed, closedAt: now(), into, as: sha, commits, by },
      });
    },
    /** Puts it last in the merge queue of its base. Returns the commit of its group. */
    enqueue(repository: string, number: number, how: 'merge' | 'squash' | 'rebase' = 'merge'): string {
      const on = pull(repository, number);
      const { headSha, baseBranch, repository: target } = on;
      const entries = target.mergeQueues.get(baseBranch) ?? [];
      const onto = entries.at(-1)?.headSha ?? target.branches.get(baseBranch) ?? '';
      const details = { message: `Merge #${number}`, author: QUEUE, date: now() };
      const brought = how === 'rebase' ? commitsOf(world, on).map(({ sha }) => sha) : [headSha];
      const commits: string[] = [];
      for (const sha of brought) {
        const parents = [commits.at(-1) ?? onto, ...(how === 'merge' ? [sha] : [])];
        const files = Object.fromEntries(commitOf(world, sha).tree);
        commits.push(makeCommit(world.objects, parents, files, details).sha);
      }
      const group = commits.at(-1) ?? onto;
      target.mergeQueues.set(baseBranch, [...entries, { number, headSha: group, commits }]);
      return group;
    },
    /** Merges all that are in a queue, as one group: the base moves to the commit of the last one. */
    mergeQueue(repository: string, branch: string) {
      const target = find(repository);
      const into = target.branches.get(branch) ?? '';
      const entries = target.mergeQueues.get(branch) ?? [];
      target.branches.set(branch, entries.at(-1)?.headSha ?? into);
      target.pushedAt = now();
      target.mergeQueues.set(branch, []);
      for (const { number, headSha, commits } of entries) {
        const merged = { at: now(), closedAt: now(), into, as: headSha, commits, by: QUEUE };
        change(repository, number, { state: 'closed', merged });
      }
    },
    /** Takes it out of its queue. The groups of those behind it stay as they are. */
    dequeue(repository: string, number: number) {
      const { mergeQueues } = pull(repository, number).repository;
      for (const [branch, entries] of mergeQueues) {
        mergeQueues.set(
          branch,
          entries.filter((entry) => entry.number !== number),
        );
      }
    },
    pull,
  };
}
