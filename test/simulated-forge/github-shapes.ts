import { type Commit, idOf } from './git.ts';
import type { FileChange } from './tree-diff.ts';
import {
  baseSha,
  type CheckRun,
  type CheckSuite,
  type Comment,
  changesOf,
  commitsOf,
  type InlineComment,
  lineInDiff,
  type Pull,
  type PullEvent,
  type Repository,
  type Review,
  type Status,
  type World,
} from './world.ts';

// The parts of GitHub's answers that say something of a pull request, as its REST documents have them.

/** A longer patch is left out of a list of files. GitHub does not tell its limits; these are near what was seen. */
const MAX_PATCH_LENGTH = 300_000;
const MOST_PATCH_LINES = 2_000;

const REVIEW_STATES = {
  approved: 'APPROVED',
  'changes-requested': 'CHANGES_REQUESTED',
  commented: 'COMMENTED',
  pending: 'PENDING',
} as const;

/** An App of GitHub's own, whose login ends unlike those of others. */
export const COPILOT = 'Copilot';

export function isApp(login: string): boolean {
  return login === COPILOT || login.endsWith('[bot]');
}

/** `newcomer` has committed nothing yet. */
const ASSOCIATIONS: Readonly<Record<string, string>> = {
  newcomer: 'FIRST_TIME_CONTRIBUTOR',
  regular: 'CONTRIBUTOR',
};

export function associationOf(login: string): string {
  return isApp(login) ? 'NONE' : (ASSOCIATIONS[login] ?? 'MEMBER');
}

export function user(login: string): object {
  return { login, id: idOf(login), type: isApp(login) ? 'Bot' : 'User', site_admin: false };
}

export function repository(of: Repository, web: string): object {
  const [owner = '', name] = of.fullName.split('/');
  return {
    id: of.id,
    name,
    full_name: of.fullName,
    visibility: of.isPrivate ? 'private' : 'public',
    private: of.isPrivate,
    topics: of.topics,
    archived: of.archived,
    owner: user(owner),
    html_url: `${web}/${of.fullName}`,
    default_branch: of.defaultBranch,
  };
}

export function pull(of: Pull, web: string): Record<string, unknown> {
  const [baseOwner] = of.repository.fullName.split('/');
  const [headOwner] = of.headRepository.fullName.split('/');
  return {
    id: of.number * 1_000 + of.repository.id,
    number: of.number,
    html_url: `${web}/${of.repository.fullName}/pull/${of.number}`,
    state: of.state,
    locked: false,
    title: of.title,
    body: of.body === '' ? null : of.body,
    user: user(of.author),
    labels: of.labels.map((name, index) => ({ id: index + 1, name, color: 'ededed', default: false })),
    assignees: of.assignees.map(user),
    milestone: of.milestone === null ? null : { id: 1, number: 1, title: of.milestone, state: 'open' },
    draft: of.draft,
    merged_at: of.merged?.at ?? null,
    merge_commit_sha: of.merged?.as ?? null,
    created_at: of.createdAt,
    updated_at: of.updatedAt,
    author_association: associationOf(of.author),
    base: {
      label: `${baseOwner}:${of.baseBranch}`,
      ref: of.baseBranch,
      sha: baseSha(of),
      user: user(baseOwner ?? ''),
      repo: repository(of.repository, web),
    },
    head: {
      label: `${headOwner}:${of.headBranch}`,
      ref: of.headBranch,
      sha: of.headSha,
      user: user(headOwner ?? ''),
      repo: of.headRepository.deleted ? null : repository(of.headRepository, web),
    },
  };
}

export function wholePull(world: World, of: Pull, web: string): object {
  const changes = changesOf(world, of);
  return {
    ...pull(of, web),
    merged: of.merged !== undefined,
    merged_by: of.merged === undefined ? null : user(of.merged.by),
    comments: of.comments.length,
    review_comments: of.inlineComments.length,
    commits: commitsOf(world, of).length,
    additions: changes.reduce((sum, file) => sum + file.additions, 0),
    deletions: changes.reduce((sum, file) => sum + file.deletions, 0),
    changed_files: changes.length,
  };
}

/** Its address names the commit that it was looked up at. */
export function file(of: FileChange, contents: string, head: string): object {
  const shown =
    of.patch !== '' && of.patch.length <= MAX_PATCH_LENGTH && of.additions + of.deletions <= MOST_PATCH_LINES;
  return {
    sha: of.blob,
    filename: of.path,
    status: of.status,
    additions: of.additions,
    deletions: of.deletions,
    changes: of.additions + of.deletions,
    contents_url: `${contents}/${of.path.split('/').map(encodeURIComponent).join('/')}?ref=${head}`,
    ...(of.previousPath === undefined ? {} : { previous_filename: of.previousPath }),
    ...(shown ? { patch: of.patch } : {}),
  };
}

export function commit(of: Commit): object {
  const [author, committer] = [of.author, of.committer].map((person) => ({ ...person, date: of.date }));
  return {
    sha: of.sha,
    commit: { author, committer, message: of.message, verification: { verified: of.verified } },
    author: accountOf(of.author),
    committer: accountOf(of.committer),
    parents: of.parents.map((sha) => ({ sha })),
  };
}

/** Null for somebody without an account, who has an e-mail address for a name here. */
function accountOf({ name }: Commit['author']): object | null {
  return name.includes('@') ? null : user(name);
}

export function review(of: Review): Readonly<Record<string, unknown>> & { readonly state: string } {
  return {
    id: of.id,
    user: user(of.author),
    body: of.body,
    state: of.dismissed ? 'DISMISSED' : REVIEW_STATES[of.state],
    commit_id: of.sha,
    submitted_at: of.at,
    // A member of the organisation may have no more than read access, so this says nothing of write access.
    author_association: 'MEMBER',
  };
}

/** Of what Gatehouse reads. GitHub lists the others as well. */
const EVENTS: Partial<Record<PullEvent['kind'], string>> = {
  retargeted: 'base_ref_changed',
  'force-pushed': 'head_ref_force_pushed',
  'review-requested': 'review_requested',
  'review-request-withdrawn': 'review_request_removed',
};

/** Oldest first. Each kind of entry has fields of its own; a commit has no `created_at`. */
export function timeline(world: World, on: Pull): readonly object[] {
  const said = [
    ...on.comments.map((one) => ({ at: one.at, entry: { event: 'commented', ...comment(one) } })),
    ...on.reviews
      .filter(({ state }) => state !== 'pending')
      .map((one) => ({ at: one.at, entry: { event: 'reviewed', ...review(one) } })),
    ...on.events.flatMap(({ id, kind, at, request }) =>
      EVENTS[kind] === undefined
        ? []
        : [{ at, entry: { event: EVENTS[kind], id, created_at: at, ...(request && requestOf(request)) } }],
    ),
  ];
  const sorted = said.toSorted((one, other) => one.at.localeCompare(other.at)).map(({ entry }) => entry);
  return [...commitsOf(world, on).map(({ sha }) => ({ event: 'committed', sha })), ...sorted];
}

function requestOf({ reviewer, by }: NonNullable<PullEvent['request']>): object {
  const [login = '', team] = reviewer.split('/');
  const whose = team === undefined ? { requested_reviewer: user(login) } : { requested_team: { slug: team } };
  return { actor: user(by), review_requester: user(by), ...whose };
}

export function comment(of: Comment): object {
  return { id: of.id, user: user(of.author), body: of.body, created_at: of.at, updated_at: of.editedAt ?? of.at };
}

/** `line` becomes null once a push took the line out of the change. */
export function inlineComment(world: World, on: Pull, of: InlineComment): object {
  const still = lineInDiff(world, on, of.path, of.line) === of.text;
  return {
    ...comment(of),
    pull_request_review_id: of.review,
    path: of.path,
    line: still ? of.line : null,
    original_line: of.line,
    side: 'RIGHT',
    commit_id: on.headSha,
    original_commit_id: of.sha,
  };
}

export function status(of: Status): object {
  return {
    id: of.id,
    context: of.context,
    state: of.state,
    description: of.description === '' ? null : of.description,
    target_url: of.targetUrl === '' ? null : of.targetUrl,
    created_at: of.at,
    updated_at: of.at,
  };
}

export function checkRun(of: CheckRun, page: string): object {
  return {
    id: of.id,
    html_url: `${page}/runs/${of.id}`,
    name: of.name,
    head_sha: of.sha,
    status: of.status,
    conclusion: of.conclusion,
    app: { id: 1, slug: of.app, name: of.app },
    check_suite: { id: of.suite },
    // Empty for a commit of a fork.
    pull_requests: [],
  };
}

export function latestRuns(runs: readonly CheckRun[], { id }: CheckSuite): readonly CheckRun[] {
  const newest = new Map(runs.filter(({ suite }) => suite === id).map((run) => [run.name, run]));
  return [...newest.values()];
}

export function checkSuite(of: CheckSuite, all: readonly CheckRun[]): object {
  const runs = latestRuns(all, of);
  return {
    id: of.id,
    head_sha: of.sha,
    ...suiteNow(of, all),
    app: { id: 1, slug: of.app, name: of.app },
    latest_check_runs_count: runs.length,
    // Empty for a commit of a fork.
    pull_requests: [],
  };
}

/** Which of several results of runs is that of their suite. */
const WORST_FIRST = ['failure', 'timed_out', 'startup_failure', 'action_required', 'cancelled', 'stale', 'success'];

export function suiteNow(of: CheckSuite, all: readonly CheckRun[]): { status: string; conclusion: string | null } {
  const runs = latestRuns(all, of);
  if (of.set !== undefined) {
    return of.set;
  }
  if (runs.length === 0 || runs.some(({ conclusion }) => conclusion === null)) {
    return { status: runs.length === 0 ? 'queued' : 'in_progress', conclusion: null };
  }
  const results = runs.map(({ conclusion }) => conclusion);
  const worst = WORST_FIRST.find((result) => results.includes(result)) ?? results[0] ?? null;
  return { status: 'completed', conclusion: worst };
}
