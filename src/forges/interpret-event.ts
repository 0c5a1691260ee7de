import { isObject } from '../common/is-object.ts';
import { type ToldBy, WEBHOOKS } from '../facts/webhooks.ts';
import { commandIn, textDigest } from './port/command.ts';
import type {
  CommentedCommand,
  MergeGroupRef,
  PayloadInstallation,
  PushedCommits,
  PushedHead,
  Subject,
  ToldCommit,
} from './port/events.ts';
import { MAX_PULL_REQUEST_NUMBER } from './port/pull-request.ts';

/** What webhooks tell of pull requests and their facts. */
const TOLD_BY: ReadonlyMap<string, readonly ToldBy[]> = Map.groupBy(WEBHOOKS, ({ event }) => event);
/** Beside those: what moves a branch, or is said beside a pull request. */
const ACTED_ON: ReadonlySet<string> = new Set([...TOLD_BY.keys(), 'push', 'issue_comment', 'merge_group']);

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
  const appeared = appearedIn(event, payload, repository);
  const isResynced = repository !== undefined && (source?.['fork'] !== true || pullRequest !== undefined);
  const reviewable = webhooksFor(event, payload).some(({ starts }) => starts === 'review');
  return {
    repository,
    pullRequest,
    resynced: appeared ?? (isResynced ? [repository] : []),
    appeared: appeared !== undefined,
    reviewable,
    pushedBranch,
    push,
    pushedHead: pushedHead(event, payload),
    toldCommit: toldCommit(event, payload),
    mergeGroup: mergeGroup(event, payload),
    command: event === 'issue_comment' ? commentedCommand(payload) : undefined,
  };
}

/** What makes a repository one that Gatehouse sees, or sees again. `ping`: its hook is new. */
const APPEARING: ReadonlySet<string> = new Set([
  ...['ping', 'public', 'repository transferred', 'repository publicized', 'repository unarchived'],
  ...['installation created', 'installation unsuspend', 'installation new_permissions_accepted'],
  'installation_repositories added',
]);

/** Undefined: the payload tells of none. Empty: of an installation that does not list them. */
function appearedIn(
  event: string,
  payload: Readonly<Record<string, unknown>>,
  repository: string | undefined,
): readonly string[] | undefined {
  const { action, repositories, repositories_added: added } = payload;
  if (!APPEARING.has(typeof action === 'string' ? `${event} ${action}` : event)) {
    return undefined;
  }
  const listed = [repositories, added].flatMap((list) => (Array.isArray(list) ? list : []));
  const names = listed.flatMap((each) => repositoryName(object(each)?.['full_name']) ?? []);
  const all = [...new Set([...(repository === undefined ? [] : [repository]), ...names])];
  return all.length > 0 || event === 'installation' ? all : undefined;
}

/** The id of no commit: what a new branch was moved from. */
const NO_COMMIT = /^0+$/;

function pushedCommits(payload: Readonly<Record<string, unknown>>, pushed: string): PushedCommits | undefined {
  const { before, after, sender, commits, total_commits: total, forced } = payload;
  const { id, default_branch: defaultBranch, fork } = object(payload['repository']) ?? {};
  if (!isCommit(after) || !isCommit(before) || !Number.isSafeInteger(id)) {
    return undefined;
  }
  return {
    repositoryId: String(id),
    before: NO_COMMIT.test(before) ? undefined : before,
    after,
    by: login(object(sender)?.['login']),
    isDefault: defaultBranch === pushed && fork !== true,
    // Gitea and Forgejo list a part of them, and do not say that it was forced.
    count: typeof total === 'number' ? total : Array.isArray(commits) ? commits.length : 0,
    isForced: typeof forced === 'boolean' ? forced : total === 0,
  };
}

const MOVES_HEAD: readonly unknown[] = ['synchronize', 'synchronized'];
/** Whoever did this may not have pushed, but somebody had. */
const SHOWS_HEAD: readonly unknown[] = ['opened', 'reopened'];

function pushedHead(event: string, payload: Readonly<Record<string, unknown>>): PushedHead | undefined {
  const { action, before, after, sender } = payload;
  const head = valueAt(payload, PULL_REQUEST_HEAD);
  if (!event.startsWith('pull_request') || !isCommit(head)) {
    return undefined;
  }
  if (MOVES_HEAD.includes(action)) {
    // The head is read when the delivery is made: it may be of a later push.
    const sha = isCommit(after) ? after : head;
    const { label, repo } = object(valueAt(payload, ['pull_request', 'head'])) ?? {};
    // AGit, see PullRequest: whoever pushed need not be allowed to write to what is named.
    const repository = label === '' ? undefined : repositoryName(object(repo)?.['full_name']);
    const from = isCommit(before) ? before : undefined;
    return { sha, ...(repository !== undefined && { repository }), from, by: login(object(sender)?.['login']) };
  }
  return SHOWS_HEAD.includes(action) ? { sha: head, from: undefined, by: undefined } : undefined;
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

/** Those of which this delivery is one. */
function webhooksFor(event: string, payload: Readonly<Record<string, unknown>>): readonly ToldBy[] {
  const { action } = payload;
  const isOne = ({ actions, when }: ToldBy) =>
    (actions === 'any action' || (typeof action === 'string' && actions.includes(action))) && when?.(payload) !== false;
  return (TOLD_BY.get(event) ?? []).filter(isOne);
}

const PULL_REQUEST_HEAD = ['pull_request', 'head', 'sha'];

function toldCommit(event: string, payload: Readonly<Record<string, unknown>>): ToldCommit | undefined {
  const told = webhooksFor(event, payload).filter(({ starts }) => starts === 'asking');
  const [first] = told;
  const headSha = first && valueAt(payload, first.commitAt ?? PULL_REQUEST_HEAD);
  if (!isCommit(headSha)) {
    return undefined;
  }
  const sender = login(object(payload['sender'])?.['login']) ?? '';
  const context = event === 'status' ? contextName(payload['context']) : undefined;
  return {
    headSha,
    facts: [...new Set(told.flatMap(({ fact }) => fact ?? []))].sort(),
    ...(told.some(({ alsoByGatehouse }) => alsoByGatehouse) && { by: sender }),
    ...(context !== undefined && { status: { context, by: sender } }),
  };
}

function valueAt(payload: Readonly<Record<string, unknown>>, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, key) => object(value)?.[key], payload);
}

function isCommit(value: unknown): value is string {
  return typeof value === 'string' && COMMIT.test(value);
}

/** Gatehouse sets no longer one. */
const MAX_CONTEXT_LENGTH = 255;

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
