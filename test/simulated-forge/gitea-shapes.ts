import { type Commit, commitsBetween, emailOf, idOf } from './git.ts';
import type { FileChange } from './tree-diff.ts';
import {
  baseSha,
  type Comment,
  type InlineComment,
  mergeBaseOf,
  type Pull,
  type PullEvent,
  type Repository,
  type Review,
  type Status,
  type World,
} from './world.ts';

// The parts of Gitea's and Forgejo's answers that say something of a pull request, as modules/structs has them.

const REVIEW_STATES = {
  approved: 'APPROVED',
  'changes-requested': 'REQUEST_CHANGES',
  commented: 'COMMENT',
  pending: 'PENDING',
} as const;

const FILE_STATUSES = { added: 'added', modified: 'changed', removed: 'deleted', renamed: 'renamed' } as const;

/** Times are in the server's own zone: here an hour east. */
function time(at: string): string {
  const local = new Date(Date.parse(at) + 3_600_000);
  return local.toISOString().replace(/\.\d+Z$/, '+01:00');
}

/** Below zero are the forge's own: deleted accounts, and that of its workflows. */
const SYSTEM_IDS: Readonly<Record<string, number>> = { Ghost: -1, 'gitea-actions': -2 };

export function user(login: string): object {
  return {
    id: SYSTEM_IDS[login] ?? idOf(login),
    login,
    login_name: '',
    full_name: '',
    email: emailOf(login),
    username: login,
  };
}

export function repository(of: Repository, web: string): object {
  const [owner = '', name] = of.fullName.split('/');
  return {
    id: of.id,
    owner: user(owner),
    name,
    full_name: of.fullName,
    private: of.isPrivate,
    topics: of.topics,
    archived: of.archived,
    html_url: `${web}/${of.fullName}`,
    default_branch: of.defaultBranch,
    internal: false,
    updated_at: time(of.pushedAt),
  };
}

/** What a search for issues shows of a pull request: neither head nor base. */
export function foundPull(of: Pull): object {
  const [owner = '', name] = of.repository.fullName.split('/');
  return {
    id: of.number + of.repository.id,
    number: of.number,
    title: of.title,
    state: of.state,
    updated_at: time(of.updatedAt),
    repository: { id: of.repository.id, name, owner, full_name: of.repository.fullName },
    pull_request: {
      merged: of.merged !== undefined,
      merged_at: of.merged ? time(of.merged.at) : null,
      draft: of.draft,
    },
  };
}

/** A draft is one by its title; newer versions say so as well. */
function title(of: Pull): string {
  return of.draft && !/^wip:/i.test(of.title) ? `WIP: ${of.title}` : of.title;
}

/** Forgejo 7 does not say whether it is a draft: there the title alone does. */
export function pull(world: World, of: Pull, web: string, forge: 'gitea' | 'forgejo'): Record<string, unknown> {
  const { headRepository } = of;
  const submitted = of.reviews.filter(({ state }) => state !== 'pending').length;
  const branchStays = !of.agit && !headRepository.deleted && headRepository.branches.has(of.headBranch);
  return {
    id: of.number + of.repository.id,
    url: `${web}/${of.repository.fullName}/pulls/${of.number}`,
    html_url: `${web}/${of.repository.fullName}/pulls/${of.number}`,
    number: of.number,
    user: user(of.author),
    title: title(of),
    body: of.body,
    labels: of.labels.map((name, index) => ({ id: index + 1, name, color: 'ededed' })),
    assignees: of.assignees.length === 0 ? null : of.assignees.map(user),
    milestone: of.milestone === null ? null : { id: 1, title: of.milestone },
    state: of.state,
    ...(forge === 'gitea' ? { draft: /^(?:wip:|\[wip\])/i.test(title(of)) } : {}),
    is_locked: false,
    comments: of.countedComments,
    ...(forge === 'gitea' && submitted > 0 ? { review_comments: submitted } : {}),
    merged: of.merged !== undefined,
    merged_at: of.merged ? time(of.merged.at) : null,
    closed_at: of.state === 'closed' ? time(of.merged?.closedAt ?? of.updatedAt) : null,
    merge_commit_sha: of.merged?.as ?? null,
    merged_by: of.merged === undefined ? null : user(of.merged.by),
    merge_base: mergeBaseOf(world, of) ?? '',
    base: {
      label: of.baseBranch,
      ref: of.baseBranch,
      sha: baseSha(of),
      repo_id: of.repository.id,
      repo: repository(of.repository, web),
    },
    head: {
      label: of.agit ? '' : of.headBranch,
      ref: branchStays ? of.headBranch : `refs/pull/${of.number}/head`,
      sha: of.headSha,
      repo_id: headRepository.deleted ? -1 : headRepository.id,
      repo: headRepository.deleted ? null : repository(headRepository, web),
    },
    created_at: time(of.createdAt),
    updated_at: time(of.updatedAt),
  };
}

/** Unlike a list of them it shows the branch as it is now, also where it went on after the merge. */
export function wholePull(world: World, of: Pull, web: string, forge: 'gitea' | 'forgejo'): object {
  const { head, ...others } = pull(world, of, web, forge);
  const sha = of.agit || of.headRepository.deleted ? undefined : of.headRepository.branches.get(of.headBranch);
  return { ...others, head: { ...(head as object), ...(sha === undefined ? {} : { sha }) } };
}

/** Its addresses name the commit that it was looked up at. */
export function file(of: FileChange, contents: string, head: string): object {
  return {
    filename: of.path,
    ...(of.previousPath === undefined ? {} : { previous_filename: of.previousPath }),
    status: FILE_STATUSES[of.status],
    additions: of.additions,
    deletions: of.deletions,
    changes: of.additions + of.deletions,
    contents_url: `${contents}/${of.path.split('/').map(encodeURIComponent).join('/')}?ref=${head}`,
  };
}

export function commit(of: Commit, verification: boolean): object {
  const [author, committer] = [of.author, of.committer].map((person) => ({ ...person, date: time(of.date) }));
  // The forge's own key has a name of its settings, and no account.
  const username = of.signer ?? 'The forge';
  const signer = of.verified || of.signer !== null ? { name: 'Mallory', email: 'm@example.test', username } : null;
  const verified = verification ? { verified: of.verified, signer } : null;
  return {
    sha: of.sha,
    created: time(of.date),
    commit: { message: of.message, author, committer, verification: verified },
    author: accountOf(of.author),
    committer: accountOf(of.committer),
    parents: of.parents.map((sha) => ({ sha })),
  };
}

function accountOf({ name }: Commit['author']): object | null {
  return name.includes('@') ? null : user(name);
}

export function review(of: Review, on: Pull): object {
  return {
    id: of.id,
    user: user(of.author),
    team: null,
    state: REVIEW_STATES[of.state],
    body: of.body,
    commit_id: of.sha,
    stale: of.sha !== on.headSha,
    official: of.official,
    dismissed: of.dismissed,
    comments_count: on.inlineComments.filter((comment) => comment.review === of.id).length,
    submitted_at: time(of.at),
    updated_at: time(of.at),
  };
}

export function requestedReview(asked: string, writes: boolean, index: number): object {
  const team = asked.split('/')[1];
  return {
    id: index + 1,
    user: team === undefined ? user(asked) : null,
    team: team === undefined ? null : { id: 1, name: team, organization: null },
    state: 'REQUEST_REVIEW',
    body: '',
    commit_id: '',
    stale: false,
    official: writes,
    dismissed: false,
    comments_count: 0,
    submitted_at: time(new Date().toISOString()),
  };
}

export function comment(of: Comment): object {
  return { ...said(of), original_author: of.importedFrom ?? '' };
}

function said(of: Comment): object {
  return {
    id: of.id,
    user: user(of.author === 'ghost' ? 'Ghost' : of.author),
    body: of.body,
    created_at: time(of.at),
    updated_at: time(of.editedAt ?? of.at),
  };
}

/** Oldest first. Beside the conversation it tells what happened, in the same shape. Comments at lines are null. */
export function timeline(world: World, on: Pull): readonly (object | null)[] {
  const entries = [
    ...on.comments.map((one) => ({ id: one.id, entry: { ...said(one), type: 'comment' } })),
    ...on.inlineComments.map(({ id }) => ({ id, entry: null })),
    ...on.reviews
      .filter(({ state }) => state !== 'pending')
      .map((one) => ({
        // After its comments at lines.
        id: Math.max(one.id, ...on.inlineComments.filter(({ review }) => review === one.id).map(({ id }) => id)),
        entry: { ...said(one), type: 'review', ...requestOf({}), review_id: one.id },
      })),
    ...on.events.map((one) => ({
      id: one.id,
      entry: {
        ...said({ ...one, author: one.request?.by ?? on.author, body: bodyOf(world, one) }),
        type: EVENT_TYPES[one.kind],
        ...requestOf(one),
      },
    })),
  ];
  return entries.toSorted((one, other) => one.id - other.id).map(({ entry }) => entry);
}

function requestOf({ kind, request }: Partial<PullEvent>): object {
  const [reviewer = '', team] = request?.reviewer.split('/') ?? [];
  return {
    assignee: request === undefined || team !== undefined ? null : user(reviewer),
    assignee_team: team === undefined ? null : { id: 1, name: team, organization: null },
    removed_assignee: kind === 'review-request-withdrawn',
  };
}

const EVENT_TYPES: Readonly<Record<PullEvent['kind'], string>> = {
  pushed: 'pull_push',
  'force-pushed': 'pull_push',
  retargeted: 'change_target_branch',
  labeled: 'label',
  unlabeled: 'label',
  'review-requested': 'review_request',
  'review-request-withdrawn': 'review_request',
  dismissed: 'dismiss_review',
  retitled: 'change_title',
  closed: 'close',
  reopened: 'reopen',
  merged: 'merge_pull',
};

function bodyOf(world: World, { kind, message = '', push }: PullEvent): string {
  if (push === undefined) {
    return kind === 'labeled' ? '1' : message;
  }
  const { from, to, base } = push;
  const isForce = kind === 'force-pushed';
  const ofBase = new Set(isForce ? [] : commitsBetween(world.objects, from, base));
  const pushed = commitsBetween(world.objects, from, to).filter((commit) => !ofBase.has(commit));
  return JSON.stringify({
    is_force_push: isForce,
    commit_ids: isForce ? [from, to] : pushed.map(({ sha }) => sha),
  });
}

/** Nothing says whether the line is still part of the change. */
export function inlineComment(of: InlineComment): object {
  return {
    ...said(of),
    resolver: of.resolvedBy === undefined ? null : user(of.resolvedBy),
    pull_request_review_id: of.review,
    path: of.path,
    commit_id: of.sha,
    original_commit_id: '',
    diff_hunk: '',
    position: of.line,
    original_position: 0,
  };
}

export function status(of: Status): object {
  return {
    id: of.id,
    status: of.state,
    target_url: of.targetUrl,
    description: of.description,
    url: '',
    context: of.context,
    creator: user(of.author),
    created_at: time(of.at),
    updated_at: time(of.at),
  };
}
