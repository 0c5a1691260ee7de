import type { Scene } from '../helpers/story.ts';
import type { Ground } from './ground.ts';
import { FAST_FORWARD } from './scenario.ts';

const METHODS = { merge: 'merge', squash: 'squash', rebase: 'rebase', [FAST_FORWARD]: 'fast-forward' } as const;

/** A repository of a simulated forge. */
export function simulatedGround(site: Scene): Ground {
  const { forge } = site;
  const tip = (branch: string) => forge.head(site.repository, branch);

  function ancestorsOf(sha: string | undefined): ReadonlySet<string> {
    const found = new Set(sha === undefined ? [] : [sha]);
    for (const one of found) {
      for (const parent of forge.parents(one)) {
        found.add(parent);
      }
    }
    return found;
  }

  return {
    site,
    methods: forge.name === 'github' ? ['merge', 'squash', 'rebase'] : Object.keys(METHODS),
    requireStatus: async (branch, context) => forge.protect(site.repository, branch, [context]),
    tip: async (branch) => tip(branch),
    async commits(branch, since) {
      const known = ancestorsOf(since);
      const found: string[] = [];
      for (
        let sha: string | undefined = tip(branch);
        sha !== undefined && !known.has(sha);
        [sha] = forge.parents(sha)
      ) {
        found.push(sha);
      }
      return found;
    },
    makeBranch: async (branch, at) => forge.reset(site.repository, branch, at),
    async mergePull(number, by, method) {
      // A verdict that changes in the second of the merge is `unknown`: see `ledger-outcome.test.ts`.
      await site.settled();
      const { baseBranch, headSha } = forge.pull(site.repository, number);
      const before = tip(baseBranch);
      const wanted = Object.entries(METHODS).find(([name]) => name === method)?.[1] ?? 'merge';
      const how = wanted === 'fast-forward' && !ancestorsOf(headSha).has(before) ? 'merge' : wanted;
      if (!forge.merge(site.repository, number, { how, by, force: by === 'alice' })) {
        throw new Error(`${site.repository}#${number} cannot be merged`);
      }
      const { commits = [] } = forge.pull(site.repository, number).merged ?? {};
      await site.send({ kind: 'push', branch: baseBranch, commits: commits.length, before });
      await site.send({ kind: 'pull-request', number, action: 'closed' });
      return how;
    },
    async forcePush(branch, onto, files) {
      const before = tip(branch);
      forge.reset(site.repository, branch, onto);
      forge.commit(site.repository, branch, files);
      await site.send({ kind: 'push', branch, before });
    },
    mayBeUnknown: (isLost) => isLost && forge.name !== 'github',
  };
}
