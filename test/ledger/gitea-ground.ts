import { makeClone } from '../forge/git-push.ts';
import type { HookedSite } from '../forge/test-forge.ts';
import { type Gitea, inContainer, type Person, REPOSITORIES } from '../helpers/gitea-container.ts';
import { eventually } from '../helpers/until.ts';
import type { Ground } from './ground.ts';
import { FAST_FORWARD } from './scenario.ts';

/** A repository of a real Gitea. */
export function giteaGround(gitea: Gitea, site: HookedSite): Ground {
  async function request(person: Person, method: string, path: string, body: object): Promise<void> {
    const response = await fetch(`${gitea.url}/api/v1/repos/${site.repository}${path}`, {
      method,
      headers: { authorization: `token ${gitea.tokens[person]}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) {
      throw new Error(`${method} ${path}: ${response.status} ${text}`);
    }
  }

  async function git(...args: readonly string[]): Promise<string> {
    const folder = `${REPOSITORIES}/${site.repository}.git`;
    return (await inContainer(gitea.container, ['git', '-C', folder, ...args])).trim();
  }

  const ground: Ground = {
    site,
    methods: ['merge', 'squash', 'rebase', 'rebase-merge', FAST_FORWARD],
    requireStatus: (branch, context) =>
      request('alice', 'POST', '/branch_protections', {
        rule_name: branch,
        enable_push: true,
        enable_force_push: true,
        enable_status_check: true,
        status_check_contexts: [context],
      }),
    tip: (branch) => git('rev-parse', `refs/heads/${branch}`),
    async commits(branch, since) {
      const range = `${since === undefined ? '' : `${since}..`}refs/heads/${branch}`;
      const text = await git('log', '--first-parent', '--format=%H', range);
      return text === '' ? [] : text.split('\n');
    },
    makeBranch: (branch, at) => request('alice', 'POST', '/branches', { new_branch_name: branch, old_ref_name: at }),
    async mergePull(number, by, method) {
      let how = method;
      await eventually(`${site.repository}#${number} is merged`, async () => {
        try {
          await request(by, 'POST', `/pulls/${number}/merge`, { Do: how, force_merge: by === 'alice' });
          return true;
        } catch (error) {
          const { message } = error as Error;
          if (message.includes('Please try again later')) {
            return false;
          }
          if (how === FAST_FORWARD) {
            how = 'merge';
            return false;
          }
          throw error;
        }
      });
      return how;
    },
    async forcePush(branch, onto, files) {
      const old = `back-${onto}`;
      await ground.makeBranch(old, onto);
      const url = new URL(`${gitea.url}/${site.repository}.git`);
      url.username = 'alice';
      url.password = gitea.tokens.alice;
      const clone = await makeClone(url.href, 'alice');
      await clone.push(branch, [files], { onto: old });
      await clone.remove();
    },
    // The comparison allows it only where no webhook came: Gitea sends none either if it is still queued when the
    // webhooks end.
    mayBeUnknown: () => true,
  };
  return ground;
}
