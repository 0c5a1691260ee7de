import { isObject } from '../../common/is-object.ts';
import { type Command, commandIn, textDigest } from './command.ts';
import { FORGES } from './forges.ts';
import { MAX_PULL_REQUEST_NUMBER } from './pull-request.ts';

/** What a delivery is about, as far as its payload says so in a valid form. */
export interface Subject {
  readonly repository: string | undefined;
  readonly pullRequest: number | undefined;
  /**
   * Whether a resync is to look at the repository. A push to somebody's fork is no reason: hooks of a whole forge bring
   * those too.
   */
  readonly resynced: boolean;
  /** Whether it can change the review of its pull request. */
  readonly reviewable: boolean;
  /** The branch that a push has moved. The rules of pull requests into it may have changed. */
  readonly pushedBranch: string | undefined;
  /** What a push moved it from and to, and who pushed. */
  readonly push: PushedCommits | undefined;
  /**
   * The commit about which others said something that only some policies ask for: a check, a request for a review, an
   * assignee, a milestone, or a conversation at a line.
   */
  readonly checkedCommit: CheckedCommit | undefined;
  /** The group of a merge queue for which a status is requested. */
  readonly mergeGroup: MergeGroupRef | undefined;
  /** A comment on a pull request that is a command, or was one. */
  readonly command: CommentedCommand | undefined;
}

export interface PushedCommits {
  /** The id of the repository at the forge, in decimal: it stays when the repository is renamed. */
  readonly repositoryId: string;
  /** Undefined: the branch is new. */
  readonly before: string | undefined;
  readonly after: string;
  /** Login. */
  readonly by: string | undefined;
  /** Whether it is the repository's default branch. */
  readonly isDefault: boolean;
}

/** A command in a comment, by what happened to the comment. */
export interface CommentedCommand {
  readonly command: Command['kind'];
  readonly change: 'posted' | 'edited' | 'deleted';
  readonly commentId: string;
  /** Login. */
  readonly author: string;
  /** The digest of the comment's text. */
  readonly digest: string;
}

export interface CheckedCommit {
  readonly headSha: string;
  /** Who set a commit status; absent for anything else. */
  readonly status?: StatusSetBy;
  /**
   * The login of who commented on the change, or resolved a conversation or took that back; empty when the payload has
   * no valid one. Absent for anything else.
   */
  readonly conversationsBy?: string;
}

/** The name of a commit status, and the login of who set it; empty when the payload has no valid one. */
export interface StatusSetBy {
  readonly context: string;
  readonly by: string;
}

/** A group of GitHub's merge queue: pull requests into `branch`, merged together at `headSha` for a trial. */
export interface MergeGroupRef {
  readonly branch: string;
  readonly headSha: string;
  /** Without `refs/heads/`; empty when the payload has no valid one. */
  readonly headRef: string;
  /** It was not merged, and never will be. */
  readonly isGone: boolean;
}

/**
 * The events of all forges together: which forge sent a delivery is not stored with it.
 *
 * A review that only comments is not among them: few policies look at one, and every review that Gatehouse posts
 * comes back as one. By what it says, and not by its author or text, so that an approval cannot be hidden behind it.
 */
const REVIEWABLE = Object.values(FORGES).map(({ reviewableEvents }) => reviewableEvents);

/** Beside those of FORGES: what is said beside a pull request, or moves a branch. */
const OTHER_EVENTS = [
  'push',
  'issue_comment',
  'status',
  'check_run',
  'check_suite',
  'merge_group',
  'pull_request_review_thread',
  'pull_request_comment',
  'pull_request_review_comment',
] as const;

const ACTED_ON: ReadonlySet<string> = new Set([...REVIEWABLE.flatMap(Object.keys), ...OTHER_EVENTS]);

/** The event as a label of a metric: one that nothing is done about is `other`, since a sender can write anything. */
export function eventLabel(event: string): string {
  return ACTED_ON.has(event) ? event : 'other';
}

/** Reads what a payload is about. Never throws: a payload is any JSON object, from anyone who has the secret. */
export function interpretEvent(event: string, payload: Readonly<Record<string, unknown>>): Subject {
  const source = object(payload['repository']);
  const repository = repositoryName(source?.['full_name']);
  const pull = object(payload['pull_request']);
  // A pull request whose own number is unusable is none: another number beside it would be another pull request's.
  const pullRequest =
    pull !== undefined
      ? pullRequestNumber(pull['number'])
      : event === 'issue_comment'
        ? commentedPullRequest(payload)
        : event.startsWith('pull_request')
          ? pullRequestNumber(payload['number'])
          : undefined;
  // Whatever its commits are: forges list a part of them, or none, and none of those that a force-push takes away.
  const pushedBranch = event === 'push' && payload['deleted'] !== true ? branch(payload['ref']) : undefined;
  const push = pushedBranch === undefined ? undefined : pushedCommits(payload, pushedBranch);
  const resynced = repository !== undefined && (source?.['fork'] !== true || pullRequest !== undefined);
  const reviewable = canChangeReview(event, payload);
  return {
    repository,
    pullRequest,
    resynced,
    reviewable,
    pushedBranch,
    push,
    checkedCommit: checkedCommit(event, payload),
    mergeGroup: mergeGroup(event, payload),
    command: event === 'issue_comment' ? commentedCommand(payload) : undefined,
  };
}

/** The id of no commit: what a new branch was moved from. */
const NO_COMMIT = /^0+$/;

function pushedCommits(payload: Readonly<Record<string, unknown>>, pushed: string): PushedCommits | undefined {
  const { before, after, sender } = payload;
  const { id, default_branch: defaultBranch } = object(payload['repository']) ?? {};
  if (!isCommit(after) || !isCommit(before) || !Number.isSafeInteger(id)) {
    return undefined;
  }
  return {
    repositoryId: String(id),
    before: NO_COMMIT.test(before) ? undefined : before,
    after,
    by: login(object(sender)?.['login']),
    isDefault: defaultBranch === pushed,
  };
}

/** Which installation of a GitHub App sent a delivery. */
export interface PayloadInstallation {
  /** The account that has it. */
  readonly owner: string;
  readonly id: number;
}

/**
 * Undefined where the hook is not that of an App. Only the events of installations themselves name the account beside
 * it.
 */
export function installationIn(payload: Readonly<Record<string, unknown>>): PayloadInstallation | undefined {
  const installation = object(payload['installation']);
  const id = installation?.['id'];
  const login = object(installation?.['account'])?.['login'];
  const owner = repositoryName(object(payload['repository'])?.['full_name'])?.split('/')[0] ?? accountName(login);
  const isNew = !(payload['action'] === 'deleted' && login !== undefined);
  return owner !== undefined && isNew && Number.isSafeInteger(id) && Number(id) > 0
    ? { owner, id: Number(id) }
    : undefined;
}

function accountName(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= MAX_REPOSITORY_CHARACTERS && /^[\w.-]+$/.test(value)
    ? value
    : undefined;
}

/** Undefined where it is an issue that was commented on. */
function commentedPullRequest(payload: Readonly<Record<string, unknown>>): number | undefined {
  const issue = object(payload['issue']);
  return object(issue?.['pull_request']) === undefined ? undefined : pullRequestNumber(issue?.['number']);
}

const COMMENT_CHANGES: Readonly<Record<string, CommentedCommand['change']>> = {
  created: 'posted',
  edited: 'edited',
  deleted: 'deleted',
};
const MAX_LOGIN_CHARACTERS = 100;
const LOGIN = /^[\w.[\]-]+$/;

function login(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= MAX_LOGIN_CHARACTERS && LOGIN.test(value) ? value : undefined;
}

/**
 * When a comment is edited or deleted, only a command to override matters: it no longer counts. Gatehouse's own
 * comments begin with another text than a command.
 */
function commentedCommand(payload: Readonly<Record<string, unknown>>): CommentedCommand | undefined {
  const { id, body, user } = object(payload['comment']) ?? {};
  const author = login(object(user)?.['login']);
  const action = payload['action'];
  const change =
    typeof action === 'string' && Object.hasOwn(COMMENT_CHANGES, action) ? COMMENT_CHANGES[action] : undefined;
  if (change === undefined || typeof body !== 'string' || !Number.isSafeInteger(id) || Number(id) < 1) {
    return undefined;
  }
  if (author === undefined) {
    return undefined;
  }
  const before = object(object(payload['changes'])?.['body'])?.['from'];
  const now = commandIn(body)?.kind;
  const then = typeof before === 'string' ? commandIn(before)?.kind : undefined;
  const command = then === 'override' ? then : now;
  const matters = command === 'override' || (change === 'posted' && command !== undefined);
  return matters ? { command, change, commentId: String(id), author, digest: textDigest(body) } : undefined;
}

/** SHA-1, or SHA-256. */
const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/** What only some policies ask for. The same on all forges. */
const ACTIONS_OF_OTHERS: readonly unknown[] = [
  'review_requested',
  'review_request_removed',
  'assigned',
  'unassigned',
  'milestoned',
  'demilestoned',
];

/**
 * The other actions of a run, which people cause, report nothing yet. A suite has ended, or begins once more.
 */
const CHECK_EVENTS: readonly { readonly name: string; readonly actions: readonly unknown[] }[] = [
  { name: 'check_run', actions: ['created', 'completed'] },
  { name: 'check_suite', actions: ['completed', 'requested', 'rerequested'] },
];

function checkedCommit(event: string, payload: Readonly<Record<string, unknown>>): CheckedCommit | undefined {
  if (event === 'status') {
    const { sha } = payload;
    const context = contextName(payload['context']);
    const by = login(object(payload['sender'])?.['login']) ?? '';
    return isCommit(sha) ? { headSha: sha, ...(context !== undefined && { status: { context, by } }) } : undefined;
  }
  const pullHead = object(object(payload['pull_request'])?.['head'])?.['sha'];
  if (event === 'pull_request' && ACTIONS_OF_OTHERS.includes(payload['action'])) {
    return isCommit(pullHead) ? { headSha: pullHead } : undefined;
  }
  if (changesConversations(event, payload)) {
    const conversationsBy = login(object(payload['sender'])?.['login']) ?? '';
    return isCommit(pullHead) ? { headSha: pullHead, conversationsBy } : undefined;
  }
  const ofCheck = CHECK_EVENTS.find(({ name, actions }) => name === event && actions.includes(payload['action']));
  const sha = ofCheck && object(payload[ofCheck.name])?.['head_sha'];
  return isCommit(sha) ? { headSha: sha } : undefined;
}

/** Comments at lines, as the forges name them, and conversations that are resolved on GitHub. With their actions. */
const THREAD_EVENTS: Readonly<Record<string, readonly unknown[]>> = {
  pull_request_review_thread: ['resolved', 'unresolved'],
  pull_request_comment: ['reviewed'],
  pull_request_review_comment: ['reviewed', 'created', 'deleted'],
};
const COMMENTED_ACTIONS: readonly unknown[] = ['submitted', 'edited'];

/** A review that approves or rejects starts a review by itself. */
function changesConversations(event: string, payload: Readonly<Record<string, unknown>>): boolean {
  const { action, review } = payload;
  if (event === 'pull_request_review') {
    return object(review)?.['state'] === 'commented' && COMMENTED_ACTIONS.includes(action);
  }
  return (Object.hasOwn(THREAD_EVENTS, event) && THREAD_EVENTS[event]?.includes(action)) ?? false;
}

function isCommit(value: unknown): value is string {
  return typeof value === 'string' && COMMIT.test(value);
}

/** 255 characters in UTF-16: Gatehouse sets no longer one. */
const MAX_CONTEXT_LENGTH = 2 * 255;

/** It becomes part of the job's key: what PostgreSQL cannot store there would keep the delivery from being stored. */
function contextName(value: unknown): string | undefined {
  const isName = typeof value === 'string' && value.length <= MAX_CONTEXT_LENGTH;
  return isName && value.isWellFormed() && !/\p{Cc}/u.test(value) ? value : undefined;
}

const MAX_BRANCH_CHARACTERS = 255;

/** In any script, without what git-check-ref-format forbids. */
const BRANCH = /^[^\p{Cc} ~^:?*[\\]+$/u;

function branch(ref: unknown, maxCharacters = MAX_BRANCH_CHARACTERS): string | undefined {
  const name = typeof ref === 'string' && ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : '';
  const usable = name.length <= maxCharacters && name.isWellFormed() && BRANCH.test(name);
  return usable ? name : undefined;
}

/** The name of a group's branch has that of the base in it, a number and a commit. */
const MAX_GROUP_BRANCH_CHARACTERS = 2 * MAX_BRANCH_CHARACTERS;

/** One that was merged is in its base branch, and keeps its status. */
function mergeGroup(event: string, payload: Readonly<Record<string, unknown>>): MergeGroupRef | undefined {
  const { action, reason } = payload;
  const isGone = action === 'destroyed' && reason !== 'merged';
  const group =
    event === 'merge_group' && (isGone || action === 'checks_requested') ? payload['merge_group'] : undefined;
  const { base_ref, head_ref, head_sha: headSha } = object(group) ?? {};
  const base = branch(base_ref);
  if (base === undefined || typeof headSha !== 'string' || !/^[0-9a-f]{40}$/.test(headSha)) {
    return undefined;
  }
  return { branch: base, headSha, headRef: branch(head_ref, MAX_GROUP_BRANCH_CHARACTERS) ?? '', isGone };
}

function canChangeReview(event: string, payload: Readonly<Record<string, unknown>>): boolean {
  const { action } = payload;
  if (event === 'pull_request_review' && object(payload['review'])?.['state'] === 'commented') {
    return false;
  }
  return REVIEWABLE.some((events) => {
    const actions = Object.hasOwn(events, event) ? events[event] : undefined;
    return actions === 'any action' || (typeof action === 'string' && (actions?.includes(action) ?? false));
  });
}

/** Not a copy: a repository has a hundred keys, and every delivery is read. */
function object(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isObject(value) ? value : undefined;
}

const MAX_REPOSITORY_CHARACTERS = 256;

/** `owner/name` in the characters that the forges allow in either. */
function repositoryName(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > MAX_REPOSITORY_CHARACTERS) {
    return undefined;
  }
  return /^[\w.-]+\/[\w.-]+$/.test(value) ? value : undefined;
}

function pullRequestNumber(value: unknown): number | undefined {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MAX_PULL_REQUEST_NUMBER
    ? Number(value)
    : undefined;
}
