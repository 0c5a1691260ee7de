import { randomUUID } from 'node:crypto';
import type { ForgeName } from '../../src/forges/port/forges.ts';
import { signatureOf } from '../helpers/signature.ts';
import type { Commit } from './git.ts';
import * as gitea from './gitea-shapes.ts';
import type { CompletePayload } from './github-api/payloads.ts';
import * as github from './github-shapes.ts';
import { compareTrees } from './tree-diff.ts';
import {
  type CheckRun,
  type CheckSuite,
  type Comment,
  commitOf,
  type InlineComment,
  type Pull,
  type Repository,
  type Review,
  type Status,
  type World,
} from './world.ts';

export interface Webhook {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type WebhookEvent =
  /** `by`: who did it, unless the author of the pull request, or of the commit that was pushed. */
  | { readonly kind: 'pull-request'; readonly number: number; readonly action: PullAction; readonly by?: string }
  | { readonly kind: 'review'; readonly number: number; readonly review: Review }
  /** A comment in the conversation. `before`: its text before the edit. */
  | {
      readonly kind: 'comment';
      readonly number: number;
      readonly comment: Comment;
      readonly action: 'created' | 'edited' | 'deleted';
      readonly before?: string;
    }
  /** What happened to the conversation that a comment at a line begins. GitHub's alone. */
  | {
      readonly kind: 'thread';
      readonly number: number;
      readonly comment: InlineComment;
      readonly action: 'resolved' | 'unresolved';
      readonly by: string;
    }
  /** The newest commits of a branch: one unless told. `before`: what it was, where that is not the parent of them; '' for a new branch. */
  | {
      readonly kind: 'push';
      readonly branch: string;
      readonly commits?: number;
      readonly before?: string;
      readonly by?: string;
    }
  /**
   * GitHub's alone. `base`: the queue's branch, where the pull request has another one by now. `headRef` where it does
   * not have the usual form.
   */
  | {
      readonly kind: 'merge-group';
      readonly number: number;
      readonly headSha: string;
      readonly action: 'checks_requested' | 'destroyed';
      readonly reason?: 'merged' | 'invalidated' | 'dequeued';
      readonly base?: string;
      readonly headRef?: string;
    }
  /** Somebody has set a commit status. Forgejo has no such webhook. */
  | { readonly kind: 'status'; readonly status: Status }
  /** GitHub's alone. */
  | { readonly kind: 'check-run'; readonly run: CheckRun }
  /** GitHub's alone. */
  | { readonly kind: 'check-suite'; readonly suite: CheckSuite }
  /** What GitHub sends when a hook is made. Gitea and Forgejo have none: their test is a push. */
  | { readonly kind: 'ping' };

/** As GitHub names them; Gitea says the same of most, and its own of some. */
type PullAction =
  | 'opened'
  | 'reopened'
  | 'closed'
  | 'edited'
  | 'synchronize'
  | 'labeled'
  | 'unlabeled'
  /** All of them at once: Gitea's and Forgejo's alone. */
  | 'label_cleared'
  | 'ready_for_review'
  | 'converted_to_draft'
  | 'review_requested'
  | 'review_request_removed'
  | 'assigned'
  | 'unassigned'
  | 'milestoned'
  | 'demilestoned';

export interface WebhookParts {
  readonly forge: ForgeName;
  readonly web: string;
  readonly secret: string;
  readonly hookId?: string;
  /** Makes a payload of GitHub whole, and checks it. Absent: it is sent as it is. */
  readonly complete?: CompletePayload | undefined;
  /** A redelivery of GitHub's keeps its id. */
  readonly deliveryId?: string;
}

interface Message {
  readonly name: string;
  /** The event's own kind, which Gitea and Forgejo tell beside its general name. */
  readonly type: string;
  readonly payload: object;
}

export function makeWebhook(world: World, repository: Repository, event: WebhookEvent, parts: WebhookParts): Webhook {
  const id = parts.deliveryId ?? randomUUID();
  const { forge } = parts;
  const { name, type, payload } =
    forge === 'github'
      ? ofGitHub(world, repository, event, parts.web)
      : ofGitea(world, repository, event, parts.web, forge);
  const body = JSON.stringify(parts.complete?.(name, Object(payload)) ?? payload);
  const signature = signatureOf(body, parts.secret);
  const digest = signature.slice('sha256='.length);
  const common = { 'content-type': 'application/json', 'x-hub-signature-256': signature };
  const named = (forge: string) => ({
    [`x-${forge}-event`]: name,
    [`x-${forge}-delivery`]: id,
    [`x-${forge}-event-type`]: type,
  });
  if (parts.forge === 'github') {
    const hook = {
      'x-github-event': name,
      'x-github-delivery': id,
      'x-github-hook-id': parts.hookId ?? '1',
      'x-github-hook-installation-target-id': String(repository.id),
      'x-github-hook-installation-target-type': 'repository',
    };
    return { headers: { ...common, ...hook, 'user-agent': 'GitHub-Hookshot/0000000' }, body };
  }
  const signed = { 'x-gitea-signature': digest, 'x-gogs-signature': digest };
  const shared = { ...common, ...signed, ...named('gitea'), ...named('gogs'), ...named('github') };
  const forgejo = { ...named('forgejo'), 'x-forgejo-signature': digest };
  const target = {
    'x-gitea-hook-installation-target-type': 'repository',
    'x-github-hook-installation-target-type': 'repository',
  };
  return { headers: { ...shared, ...(parts.forge === 'forgejo' ? forgejo : target) }, body };
}

function pullOf(repository: Repository, number: number): Pull {
  const pull = repository.pulls.get(number);
  if (pull === undefined) {
    throw new Error(`no pull request ${repository.fullName}#${number} in the simulated forge`);
  }
  return pull;
}

function ofGitHub(world: World, repository: Repository, event: WebhookEvent, web: string): Message {
  const installation = world.installations.get(repository.fullName.split('/')[0] ?? '');
  const about = {
    repository: github.repository(repository, web),
    ...(installation === undefined ? {} : { installation: { id: installation } }),
  };
  const said = (name: string, payload: object, sender?: string): Message => ({
    name,
    type: name,
    payload: { ...about, ...payload, ...(sender !== undefined && { sender: github.user(sender) }) },
  });
  switch (event.kind) {
    case 'ping':
      return {
        name: 'ping',
        type: 'ping',
        payload: { zen: 'Keep it logically awesome.', hook_id: 1, repository: about.repository },
      };
    case 'merge-group':
      return said('merge_group', mergeGroup(repository, event), 'github-merge-queue');
    case 'push':
      // The simulation takes commits away only where none come.
      return said('push', { ...push(world, repository, event).payload, forced: event.commits === 0 });
    case 'status':
      return said('status', status(event.status));
    case 'check-run': {
      const check_run = github.checkRun(event.run, `${web}/${repository.fullName}`);
      const action = event.run.status === 'completed' ? 'completed' : 'created';
      return said('check_run', { action, check_run }, `${event.run.app}[bot]`);
    }
    case 'check-suite': {
      const check_suite = github.checkSuite(event.suite, repository.checkRuns);
      // The only action that is not sent to this App alone.
      return said('check_suite', { action: 'completed', check_suite }, `${event.suite.app}[bot]`);
    }
    default:
      return ofGitHubPull(world, pullOf(repository, event.number), event, { web, said });
  }
}

function ofGitHubPull(
  world: World,
  pull: Pull,
  event: WebhookEvent & { readonly number: number; readonly kind: 'pull-request' | 'review' | 'comment' | 'thread' },
  { web, said }: { web: string; said: (name: string, payload: object, sender: string) => Message },
): Message {
  switch (event.kind) {
    case 'review': {
      const action = event.review.dismissed ? 'dismissed' : 'submitted';
      const review = github.review(event.review);
      // In lower case, unlike in the API.
      const told = { ...review, state: review.state.toLowerCase() };
      const payload = { action, review: told, pull_request: github.pull(pull, web) };
      return said('pull_request_review', payload, event.review.author);
    }
    case 'thread': {
      const { action, comment, by } = event;
      const comments = pull.inlineComments
        .filter(({ id, replyTo }) => (replyTo ?? id) === comment.id)
        .map((one) => github.inlineComment(world, pull, one));
      const thread = { node_id: `PRRT_${comment.id}`, comments };
      return said('pull_request_review_thread', { action, thread, pull_request: github.pull(pull, web) }, by);
    }
    case 'comment': {
      const { number, action, comment } = event;
      const { title, body, state } = pull;
      const issue = { number, title, body, user: github.user(pull.author), state, pull_request: { url: web } };
      const payload = { action, issue, comment: github.comment(comment), ...changesOf(event) };
      return said('issue_comment', payload, comment.author);
    }
    case 'pull-request': {
      const { number, action } = event;
      if (action === 'label_cleared') {
        throw new Error('GitHub sends one webhook for each label that goes');
      }
      const { from: before, to: after } = pull.events.findLast(({ push }) => push !== undefined)?.push ?? {};
      const moved = action === 'synchronize' ? { before, after } : {};
      const payload = { action, number, ...moved, pull_request: github.wholePull(world, pull, web) };
      return said('pull_request', payload, senderOf(world, pull, event));
    }
  }
}

function senderOf(world: World, pull: Pull, { action, by }: WebhookEvent & { kind: 'pull-request' }): string {
  const { name } = commitOf(world, pull.headSha).author;
  return by ?? (action === 'synchronize' && !name.includes('@') ? name : pull.author);
}

function changesOf({ before }: WebhookEvent & { kind: 'comment' }): object {
  return before === undefined ? {} : { changes: { body: { from: before } } };
}

const GITEA_REVIEWS = {
  approved: 'pull_request_review_approved',
  'changes-requested': 'pull_request_review_rejected',
  commented: 'pull_request_review_comment',
  pending: 'pull_request_review_comment',
} as const;

/** A push payload of Gitea and Forgejo has this many commits at most ([ui] FEED_MAX_COMMIT_NUM as installed). */
const MOST_COMMITS = 5;

function ofGitea(
  world: World,
  repository: Repository,
  event: WebhookEvent,
  web: string,
  forge: 'gitea' | 'forgejo',
): Message {
  const about = { repository: gitea.repository(repository, web) };
  const pullShown = (number: number) => gitea.pull(world, pullOf(repository, number), web, forge);
  switch (event.kind) {
    case 'ping':
    case 'merge-group':
    case 'check-run':
    case 'check-suite':
    case 'thread':
      throw new Error(`Gitea and Forgejo have no webhook of this kind: ${event.kind}`);
    case 'status':
      if (forge === 'forgejo') {
        throw new Error('Forgejo sends nothing when a commit status is set');
      }
      return { name: 'status', type: 'status', payload: { ...status(event.status), ...about } };
    case 'push':
      return { name: 'push', type: 'push', payload: { ...newestFirst(push(world, repository, event)), ...about } };
    case 'review': {
      const { number, review } = event;
      if (review.dismissed) {
        throw new Error('Gitea and Forgejo send nothing when a review is dismissed');
      }
      const type = GITEA_REVIEWS[review.state];
      const told = {
        action: 'reviewed',
        number,
        pull_request: pullShown(number),
        review: { type, content: review.body },
      };
      return {
        name: type.replace('_review', ''),
        type,
        payload: { ...told, ...about, sender: gitea.user(review.author) },
      };
    }
    case 'comment': {
      const { number, action, comment } = event;
      const issue = { number, pull_request: { merged: false, merged_at: null } };
      const told = { action, issue, pull_request: pullShown(number), comment: gitea.comment(comment), is_pull: true };
      const payload = { ...told, ...changesOf(event), ...about, sender: gitea.user(comment.author) };
      return { name: 'issue_comment', type: 'pull_request_comment', payload };
    }
    case 'pull-request': {
      const { number } = event;
      const { action, type } = giteaAction(event.action);
      const sender = gitea.user(senderOf(world, pullOf(repository, number), event));
      return {
        name: 'pull_request',
        type,
        payload: { action, number, pull_request: pullShown(number), ...about, sender },
      };
    }
  }
}

/** A draft is one by its title here, so that becoming one is an edit. */
function giteaAction(action: PullAction): { action: string; type: string } {
  const [said, type] = GITEA_ACTIONS[action] ?? [action, ''];
  return { action: said, type: `pull_request${type}` };
}

const GITEA_ACTIONS: Partial<Record<PullAction, readonly [action: string, type: string]>> = {
  synchronize: ['synchronized', '_sync'],
  labeled: ['label_updated', '_label'],
  unlabeled: ['label_updated', '_label'],
  label_cleared: ['label_cleared', '_label'],
  ready_for_review: ['edited', ''],
  converted_to_draft: ['edited', ''],
  review_requested: ['review_requested', '_review_request'],
  review_request_removed: ['review_request_removed', '_review_request'],
  assigned: ['assigned', '_assign'],
  unassigned: ['unassigned', '_assign'],
  milestoned: ['milestoned', '_milestone'],
  demilestoned: ['demilestoned', '_milestone'],
};

function mergeGroup(repository: Repository, event: WebhookEvent & { kind: 'merge-group' }): object {
  const { base: baseBranch = pullOf(repository, event.number).baseBranch } = event;
  const baseSha = repository.branches.get(baseBranch) ?? '';
  const group = {
    head_sha: event.headSha,
    head_ref: event.headRef ?? `refs/heads/gh-readonly-queue/${baseBranch}/pr-${event.number}-${baseSha}`,
    base_sha: baseSha,
    base_ref: `refs/heads/${baseBranch}`,
  };
  const why = event.action === 'destroyed' ? { reason: event.reason ?? 'dequeued' } : {};
  return { action: event.action, ...why, merge_group: group };
}

/** It names a commit, and no pull request. */
function status({ id, sha, context, state, description, targetUrl, author }: Status): object {
  return { id, sha, context, state, description, target_url: targetUrl, sender: { login: author } };
}

interface Push {
  readonly commits: readonly object[];
  readonly payload: object;
}

/** Alike on all forges, as far as it says which files changed. */
function push(world: World, repository: Repository, event: WebhookEvent & { kind: 'push' }): Push {
  const after = commitOf(world, repository.branches.get(event.branch) ?? '');
  const pushed = event.commits === 0 ? [] : [after];
  while (pushed.length < (event.commits ?? 1)) {
    pushed.unshift(commitOf(world, pushed[0]?.parents[0] ?? ''));
  }
  const commits = pushed.map((commit) => pushedCommit(world, commit));
  const payload = {
    ref: `refs/heads/${event.branch}`,
    before: (event.before ?? pushed[0]?.parents[0]) || '0'.repeat(40),
    after: after.sha,
    commits,
    head_commit: commits.at(-1) ?? null,
    pusher: after.author,
    sender: { login: event.by ?? after.author.name },
  };
  return { commits, payload };
}

function newestFirst({ commits, payload }: Push): object {
  return { ...payload, commits: commits.toReversed().slice(0, MOST_COMMITS), total_commits: commits.length };
}

function pushedCommit(world: World, of: Commit): object {
  const before = world.objects.get(of.parents[0] ?? '');
  const changes = compareTrees(before?.tree ?? new Map(), of.tree);
  const paths = (...statuses: readonly string[]) =>
    changes.filter((file) => statuses.includes(file.status)).map((file) => file.path);
  return {
    id: of.sha,
    message: of.message,
    timestamp: of.date,
    author: of.author,
    added: paths('added', 'renamed'),
    removed: [...paths('removed'), ...changes.flatMap((file) => file.previousPath ?? [])],
    modified: paths('modified'),
  };
}
