import type { Commit } from '../../forges/port/pull-request.ts';

/** What a webhook told of a push: somebody made a commit the tip of a branch. */
export interface Push {
  readonly sha: string;
  /** What the branch was before. Null: not known. */
  readonly from: string | null;
  /** Login in lower case. '': not known. */
  readonly by: string;
}

type Listed = readonly Pick<Commit, 'sha' | 'parents'>[];

/**
 * The commits that each push brought, by its own commit: those that it reaches, without those that another push had
 * brought before. Only what follows from the commits themselves counts, since webhooks come in any order. That a branch
 * was moved from a commit proves that somebody had pushed it.
 */
export function broughtBy(commits: Listed, pushes: readonly Push[]): ReadonlyMap<string, ReadonlySet<string>> {
  const parentsOf = new Map(commits.map(({ sha, parents }) => [sha, parents]));
  const tips = new Set(pushes.flatMap(({ sha, from }) => [sha, from ?? '']).filter((sha) => parentsOf.has(sha)));

  /** Those that these commits reach, themselves among them; of what is below an end, nothing. */
  function reach(from: readonly string[], isEnd: (sha: string) => boolean): ReadonlySet<string> {
    const reached = new Set<string>();
    const next = [...from];
    for (let sha = next.pop(); sha !== undefined; sha = next.pop()) {
      const parents = parentsOf.get(sha);
      if (parents !== undefined && !reached.has(sha)) {
        reached.add(sha);
        next.push(...(isEnd(sha) ? [] : parents));
      }
    }
    return reached;
  }

  function brought(tip: string): ReadonlySet<string> {
    const isOther = (sha: string) => sha !== tip && tips.has(sha);
    const reached = [...reach([tip], isOther)];
    const others = reached.filter(isOther);
    // Only a merge leads to a commit both through another push and past it.
    const hasMerge = reached.some((sha) => (parentsOf.get(sha)?.length ?? 0) > 1);
    const before = hasMerge ? reach(others, () => false) : new Set(others);
    return new Set(reached.filter((sha) => !before.has(sha)));
  }

  return new Map([...tips].map((tip) => [tip, brought(tip)]));
}

/** Logins of those who pushed each commit, as far as they were seen. A commit of nobody whose push was seen is not here. */
export function pushersOf(commits: Listed, pushes: readonly Push[]): ReadonlyMap<string, ReadonlySet<string>> {
  const brought = broughtBy(commits, pushes);
  const pushers = new Map<string, Set<string>>();
  for (const { sha: tip, by } of pushes) {
    for (const sha of by === '' ? [] : (brought.get(tip) ?? [])) {
      pushers.set(sha, (pushers.get(sha) ?? new Set()).add(by));
    }
  }
  return pushers;
}
