import type { Commit } from '../../forges/port/pull-request.ts';

/** What a webhook told of a push: somebody made a commit the tip of a branch. */
export interface Push {
  readonly sha: string;
  /** What the branch was before. Null: not known. '': nothing that counts. */
  readonly from: string | null;
  /** Login in lower case. '': not known. */
  readonly by: string;
}

type Listed = readonly Pick<Commit, 'sha' | 'parents'>[];

/**
 * The commits that each push of one of them brought: those that it reaches, without those that the branch had before,
 * whoever else pushed any of them. Where it is not known what the branch had, those that another push had brought are
 * left out. Only what follows from the commits themselves counts, since webhooks come in any order. That a branch was
 * moved from a commit proves that somebody had pushed it.
 */
export function broughtBy<P extends Push>(commits: Listed, pushes: readonly P[]): ReadonlyMap<P, ReadonlySet<string>> {
  const parentsOf = new Map(commits.map(({ sha, parents }) => [sha, parents]));
  const tips = new Set(pushes.flatMap(({ sha, from }) => [sha, from ?? '']));

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

  function brought({ sha: tip, from }: Push): ReadonlySet<string> {
    const isEnd = (sha: string) => (from === null ? sha !== tip && tips.has(sha) : sha === from);
    const reached = [...reach([tip], isEnd)];
    const ends = from === null ? reached.filter(isEnd) : [from];
    // Only a merge leads to a commit both through an end and past it.
    const isRow = reached.includes(ends[0] ?? tip) && reached.every((sha) => parentsOf.get(sha)?.length === 1);
    const before = isRow ? new Set(ends) : reach(ends, () => false);
    return new Set(reached.filter((sha) => !before.has(sha)));
  }

  return new Map(pushes.flatMap((push) => (parentsOf.has(push.sha) ? [[push, brought(push)]] : [])));
}

/** Logins of those who pushed each commit, as far as they were seen. A commit of nobody whose push was seen is not here. */
export function pushersOf(
  broughtByPush: ReadonlyMap<Push, ReadonlySet<string>>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const pushers = new Map<string, Set<string>>();
  for (const [{ by }, brought] of broughtByPush) {
    for (const sha of by === '' ? [] : brought) {
      pushers.set(sha, (pushers.get(sha) ?? new Set()).add(by));
    }
  }
  return pushers;
}
