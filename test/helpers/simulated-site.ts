import { randomUUID } from 'node:crypto';
import type { Changes } from '../simulated-forge/git.ts';
import type { SimulatedForge } from '../simulated-forge/simulated-forge.ts';
import type { WebhookEvent } from '../simulated-forge/webhooks.ts';
import type { Comment } from '../simulated-forge/world.ts';
import {
  DISMISSAL,
  expectStatus,
  messageOf,
  type PullState,
  type ShownInline,
  type ShownStatus,
  type Site,
} from './site.ts';

type Details = Partial<Parameters<SimulatedForge['openPullRequest']>[1]>;

/** A {@link Site} of a simulated forge: what is read comes at once, and anybody may act in any way. */
export interface SimulatedSite extends Site {
  open(from: Changes | string, details?: Details): Promise<number>;
  openSilently(from: Changes | string, details?: Details): number;
  edit(number: number, change: Parameters<SimulatedForge['edit']>[2]): Promise<void>;
  review(
    number: number,
    author: string,
    state: Parameters<SimulatedForge['review']>[3],
    body?: string,
  ): Promise<number>;
  comment(
    number: number,
    author: string,
    body: string,
    details?: Parameters<SimulatedForge['comment']>[4],
  ): Promise<number>;
  commentInline(number: number, author: string, at: Parameters<SimulatedForge['commentInline']>[3]): Promise<number>;
  resolve(number: number, person: string, comment: number, resolved?: boolean): Promise<void>;
  /** Sends the forge's webhook to the hook of the site, if there is one, and expects it to be acknowledged. */
  tell(event: WebhookEvent, deliveryId?: string): Promise<void>;
  /** The same, unless webhooks are lost. */
  send(event: WebhookEvent): Promise<void>;
  /** From now on the webhooks of this repository are sent there. */
  sendTo(url: string, secret: string): void;
  head(number: number): string;
  state(number: number): PullState;
  status(of: number | string, context?: string): ShownStatus | undefined;
  states(of: number | string): readonly string[];
  comments(number: number): readonly string[];
  inlines(number: number): readonly ShownInline[];
}

export function makeSimulatedSite(forge: SimulatedForge, firstName: string): SimulatedSite {
  let name = firstName;
  let fork = '';
  let hook: { readonly url: string; readonly secret: string } | undefined;
  let lost = false;
  const opened: number[] = [];
  const pull = (number: number) => forge.pull(name, number);
  const shaOf = (of: number | string) => (typeof of === 'number' ? pull(of).headSha : of);

  /** The simulation sends what its API was used for; what people do is sent from here. */
  async function send(event: WebhookEvent): Promise<void> {
    if (!lost) {
      await site.tell(event);
    }
  }
  const sendPull = (number: number, action: (WebhookEvent & { kind: 'pull-request' })['action']) =>
    send({ kind: 'pull-request', number, action });

  type Act = 'edit' | 'retarget' | 'close' | 'reopen' | 'label' | 'unlabel' | 'requestReview' | 'withdrawReviewRequest';
  type Rest<T> = T extends (repository: string, number: number, ...rest: infer R) => void ? R : never;

  /** What the forge lets people do to a pull request, with its webhook. */
  const toldAs =
    <T extends Act>(act: T, action: Parameters<typeof sendPull>[1]) =>
    async (number: number, ...rest: Rest<SimulatedForge[T]>): Promise<void> => {
      (forge[act] as (repository: string, number: number, ...rest: unknown[]) => void)(name, number, ...rest);
      await sendPull(number, action);
    };

  function commentOf(number: number, id: number): Comment {
    const found = pull(number).comments.find((comment) => comment.id === id);
    if (found === undefined) {
      throw new Error(`there is no comment ${id}`);
    }
    return found;
  }

  async function pushed(to: number | string, commits: number, before?: string): Promise<string> {
    if (typeof to === 'number') {
      await sendPull(to, 'synchronize');
      return pull(to).headSha;
    }
    await send({ kind: 'push', branch: to, commits, ...(before !== undefined && { before }) });
    for (const number of opened) {
      const { state, headBranch, headRepository } = pull(number);
      if (state === 'open' && headBranch === to && headRepository.fullName === name) {
        await sendPull(number, 'synchronize');
      }
    }
    return forge.head(name, to);
  }

  const acts = {
    async open(from, details) {
      const number = site.openSilently(from, details);
      await sendPull(number, 'opened');
      return number;
    },
    async openFromFork(files, { labels, assignees } = { labels: [], assignees: [] }) {
      fork = forge.fork(name, 'mallory');
      forge.commit(fork, 'topic', files, { author: 'mallory' });
      const number = site.openSilently('topic', { from: fork, author: 'mallory', labels });
      if (assignees.length > 0) {
        forge.assign(name, number, ...assignees);
      }
      await sendPull(number, 'opened');
      return number;
    },
    async deleteFork() {
      forge.deleteRepository(fork);
    },
    async pushForReview(files) {
      const head = `mallory/${randomUUID()}`;
      forge.commit(name, head, files, { author: 'mallory' });
      const number = site.openSilently(head, { agit: true, author: 'mallory' });
      await sendPull(number, 'opened');
      return number;
    },
    async push(to, ...changes) {
      const before = typeof to === 'string' ? forge.head(name, to) : undefined;
      for (const [index, files] of changes.entries()) {
        const details = { message: messageOf(files), samePush: index > 0 };
        if (typeof to === 'number') {
          forge.push(name, to, files, details);
        } else {
          forge.commit(name, to, files, details);
        }
      }
      return pushed(to, changes.length, before);
    },
    async forcePush(to, changes) {
      const number = typeof to === 'number' ? to : opened.find((one) => pull(one).headBranch === to);
      forge.forcePush(name, number ?? 0, changes, { message: messageOf(changes) });
      return pushed(to, 1);
    },
    async merge(branch, commit, changes) {
      forge.commit(name, branch, changes, { merging: [commit] });
      return pushed(branch, 1);
    },
    async updateBranch(number) {
      forge.updateBranch(name, number, 'bob');
      return pushed(pull(number).headBranch, 1);
    },
    async deleteBranch(branch) {
      forge.deleteBranch(name, branch);
    },
    edit: toldAs('edit', 'edited'),
    retarget: toldAs('retarget', 'edited'),
    close: toldAs('close', 'closed'),
    reopen: toldAs('reopen', 'reopened'),
    label: toldAs('label', 'labeled'),
    unlabel: toldAs('unlabel', 'unlabeled'),
    async clearLabels(number) {
      forge.clearLabels(name, number);
      await sendPull(number, forge.name === 'github' ? 'unlabeled' : 'label_cleared');
    },
    async review(number, author, state, body = state) {
      const review = forge.review(name, number, author, state, body);
      await send({ kind: 'review', number, review });
      return review.id;
    },
    async dismiss(number, review) {
      forge.dismiss(name, number, review, DISMISSAL);
    },
    requestReview: toldAs('requestReview', 'review_requested'),
    withdrawReviewRequest: toldAs('withdrawReviewRequest', 'review_request_removed'),
    async assign(number, ...people) {
      forge.assign(name, number, ...people);
      await sendPull(number, people.length > 0 ? 'assigned' : 'unassigned');
    },
    async setMilestone(number, title) {
      forge.setMilestone(name, number, title);
      await sendPull(number, title === null ? 'demilestoned' : 'milestoned');
    },
    async comment(number, author, body, details) {
      const comment = forge.comment(name, number, author, body, details);
      await send({ kind: 'comment', number, comment, action: 'created' });
      return comment.id;
    },
    async editComment(number, _person, id, body) {
      const { body: before } = commentOf(number, id);
      forge.editComment(name, number, id, body);
      await send({ kind: 'comment', number, comment: commentOf(number, id), action: 'edited', before });
    },
    async deleteComment(number, _person, id) {
      const comment = commentOf(number, id);
      forge.deleteComment(name, number, id);
      await send({ kind: 'comment', number, comment, action: 'deleted' });
    },
    async commentInline(number, author, at) {
      const comment = forge.commentInline(name, number, author, at);
      const review = pull(number).reviews.find(({ id }) => id === comment.review);
      // Elsewhere than on GitHub, an answer is no review.
      if (review !== undefined && (forge.name === 'github' || at.replyTo === undefined)) {
        await send({ kind: 'review', number, review });
      }
      return comment.id;
    },
    async resolve(number, by, id, resolved = true) {
      const comment = forge.resolve(name, number, id, resolved ? by : undefined);
      if (forge.name === 'github') {
        await send({ kind: 'thread', number, comment, action: resolved ? 'resolved' : 'unresolved', by });
      }
    },
    async setStatus(author, sha, status) {
      await send({ kind: 'status', status: forge.setStatus(name, sha, { description: '', author, ...status }) });
    },
    async protect(branch, status) {
      forge.protect(name, branch, [status]);
    },
    async stopRequiring(branch) {
      forge.protect(name, branch, []);
    },
    mergeByButton: async (number) => forge.merge(name, number),
    async rename(newName) {
      const [owner] = name.split('/');
      forge.rename(name, `${owner}/${newName}`);
      name = `${owner}/${newName}`;
    },
    async setTopics(...topics) {
      forge.setTopics(name, ...topics);
    },
    async setPrivate(isPrivate) {
      forge.setPrivate(name, isPrivate);
    },
    async remove() {
      forge.deleteRepository(name);
    },
    async loseWebhooks(on) {
      lost = on;
    },
  } satisfies Partial<SimulatedSite>;

  const site: SimulatedSite = {
    get repository() {
      return name;
    },
    ...acts,
    send,
    openSilently(from, details = {}) {
      const head = typeof from === 'string' ? from : (details.head ?? `topic-${randomUUID()}`);
      if (typeof from !== 'string') {
        forge.commit(details.from ?? name, head, from);
      }
      const number = forge.openPullRequest(name, { ...details, head });
      opened.push(number);
      return number;
    },
    sendTo(url, secret) {
      hook = { url, secret };
      forge.addHook(name, hook);
    },
    async tell(event, deliveryId = randomUUID()) {
      if (hook === undefined) {
        return;
      }
      const { url, secret } = hook;
      await forge.deliver(url, name, event, { secret, deliveryId });
    },
    head: (number) => pull(number).headSha,
    state: (number) => (pull(number).merged === undefined ? pull(number).state : 'merged'),
    status(of, context) {
      const latest = forge
        .statuses(name, shaOf(of))
        .findLast((status) => context === undefined || status.context === context);
      return latest && { state: latest.state, description: latest.description };
    },
    states: (of) => forge.statuses(name, shaOf(of)).map(({ state }) => state),
    comments: (number) =>
      pull(number)
        .comments.filter(({ author }) => author === 'gatehouse')
        .map(({ body }) => body),
    inlines: (number) =>
      pull(number)
        .inlineComments.filter(({ author }) => author === 'gatehouse')
        .map(({ path, line, body }) => ({ path, line, body })),
    expect: (t, of, state, base) => expectStatus(t, site, of, state, base),
  };
  return site;
}
