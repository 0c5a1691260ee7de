import { randomBytes } from 'node:crypto';
import { startSimulatedForge } from '../simulated-forge/simulated-forge.ts';
import type { WebhookEvent } from '../simulated-forge/webhooks.ts';
import type { Site, TestForge } from './site.ts';

const OWNER = 'alice';
/** Not held back. */
const AT_ONCE = 0;

const isGatehouse = (headers: Readonly<Record<string, string | undefined>>) => headers['user-agent'] === 'gatehouse';

export async function simulatedForge(): Promise<TestForge> {
  const forge = await startSimulatedForge({ forge: 'gitea', keepsInlineComments: false });
  forge.addOutsider('mallory');
  forge.addOutsider('reader');
  const readingToken = 'token-of-reader';
  forge.addToken(readingToken, 'reader', ['read:repository', 'read:user']);
  const ownerToken = 'token-of-the-owner';
  forge.addToken(ownerToken, OWNER);
  return {
    kind: 'simulated',
    url: forge.url,
    token: forge.token,
    readingToken,
    ownerToken,
    hostName: '127.0.0.1',
    listenOn: '127.0.0.1',
    async site(files = {}) {
      const name = `${OWNER}/site-${randomBytes(6).toString('hex')}`;
      forge.createRepository(name, { 'README.md': 'Hello\n', ...files });
      return makeSite(forge, name);
    },
    requests: async (site) =>
      forge.seen
        .filter(({ path, headers }) => isGatehouse(headers) && path.startsWith(`/repos/${site.repository()}/`))
        .map(({ method, path }) => `${method} /api/v1${path}`),
    close: () => forge.stop(),
  };
}

function makeSite(forge: Awaited<ReturnType<typeof startSimulatedForge>>, firstName: string): Site {
  let name = firstName;
  let fork = '';
  let hook: { readonly url: string; readonly secret: string } | undefined;
  let lost = false;
  const numbers = new Map<string, number>();

  /** The simulation sends what its API was used for; what people do is sent from here. */
  async function send(event: WebhookEvent): Promise<void> {
    if (hook !== undefined && !lost) {
      await forge.deliver(hook.url, name, event, { secret: hook.secret });
    }
  }
  const tell = (number: number, action: (WebhookEvent & { kind: 'pull-request' })['action']) =>
    send({ kind: 'pull-request', number, action });

  function commentOf(number: number, id: number) {
    const found = forge.pull(name, number).comments.find((comment) => comment.id === id);
    if (found === undefined) {
      throw new Error(`there is no comment ${id}`);
    }
    return found;
  }

  async function pushed(branch: string, commits: number): Promise<string> {
    await send({ kind: 'push', branch, commits });
    const number = numbers.get(branch);
    if (number !== undefined) {
      await tell(number, 'synchronize');
    }
    return forge.head(name, branch);
  }

  return {
    repository: () => name,
    async push(branch, ...changes) {
      for (const files of changes) {
        forge.commit(name, branch, files);
      }
      return pushed(branch, changes.length);
    },
    async forcePush(branch, changes) {
      forge.forcePush(name, numbers.get(branch) ?? 0, changes);
      return pushed(branch, 1);
    },
    async merge(branch, commit, changes) {
      forge.commit(name, branch, changes, { merging: [commit] });
      return pushed(branch, 1);
    },
    async updateBranch(number) {
      forge.updateBranch(name, number, 'bob');
      return pushed(forge.pull(name, number).headBranch, 1);
    },
    async deleteBranch(branch) {
      forge.deleteBranch(name, branch);
    },
    async open(branch, details = {}) {
      const number = forge.openPullRequest(name, { head: branch, ...details });
      numbers.set(branch, number);
      await tell(number, 'opened');
      return number;
    },
    async openFromFork(changes) {
      fork = forge.fork(name, 'mallory');
      forge.commit(fork, 'topic', changes, { author: 'mallory' });
      const number = forge.openPullRequest(name, { head: 'topic', from: fork, author: 'mallory' });
      await tell(number, 'opened');
      return number;
    },
    async deleteFork() {
      forge.deleteRepository(fork);
    },
    async edit(number, change) {
      forge.edit(name, number, change);
      await tell(number, 'edited');
    },
    async retarget(number, base) {
      forge.retarget(name, number, base);
      await tell(number, 'edited');
    },
    async close(number) {
      forge.close(name, number);
      await tell(number, 'closed');
    },
    async reopen(number) {
      forge.reopen(name, number);
      await tell(number, 'reopened');
    },
    async label(number, ...names) {
      forge.label(name, number, ...names);
      await tell(number, 'labeled');
    },
    async unlabel(number, label) {
      forge.unlabel(name, number, label);
      await tell(number, 'unlabeled');
    },
    async clearLabels(number) {
      forge.clearLabels(name, number);
      await tell(number, 'label_cleared');
    },
    async review(number, person, state) {
      const review = forge.review(name, number, person, state, state);
      await send({ kind: 'review', number, review });
      return review.id;
    },
    async requestReview(number, person) {
      forge.requestReview(name, number, person);
      await tell(number, 'review_requested');
    },
    async comment(number, person, body) {
      const comment = forge.comment(name, number, person, body);
      await send({ kind: 'comment', number, comment, action: 'created' });
      return comment.id;
    },
    async editComment(number, _person, id, body) {
      const before = commentOf(number, id).body;
      forge.editComment(name, number, id, body);
      await send({ kind: 'comment', number, comment: commentOf(number, id), action: 'edited', before });
    },
    async deleteComment(number, _person, id) {
      const comment = commentOf(number, id);
      forge.deleteComment(name, number, id);
      await send({ kind: 'comment', number, comment, action: 'deleted' });
    },
    async dismiss(number, review) {
      forge.dismiss(name, number, review);
    },
    async setStatus(person, sha, status) {
      const set = forge.setStatus(name, sha, { description: '', author: person, ...status });
      await send({ kind: 'status', status: set });
    },
    async protect(branch, status) {
      forge.protect(name, branch, [status]);
    },
    async stopRequiring(branch) {
      forge.protect(name, branch, []);
    },
    mergeByButton: async (number) => forge.merge(name, number),
    async rename(newName) {
      forge.rename(name, `${OWNER}/${newName}`);
      name = `${OWNER}/${newName}`;
    },
    async setPrivate(isPrivate) {
      forge.setPrivate(name, isPrivate);
    },
    async remove() {
      forge.deleteRepository(name);
    },
    async hook(port, secret) {
      hook = { url: `http://127.0.0.1:${port}/webhook`, secret };
      forge.addHook(name, hook);
    },
    async loseWebhooks(on) {
      lost = on;
    },
    async pushHeld(branch, changes) {
      forge.delayDifferences(Number.POSITIVE_INFINITY);
      const sha = forge.commit(name, branch, changes);
      return {
        sha,
        async release() {
          forge.delayDifferences(AT_ONCE);
          await pushed(branch, 1);
        },
      };
    },
  };
}
