import { type Commit, commitsBetween, mergeBase, type Objects } from './git.ts';
import { compareTrees, type FileChange } from './tree-diff.ts';

/** Everything a simulated forge knows; both dialects tell the same things in different words. */
export interface World {
  readonly objects: Objects;
  readonly repositories: Map<string, Repository>;
  /** Old full names, lower case, to the repository they now mean. */
  readonly renames: Map<string, Repository>;
  readonly tokens: Map<string, string>;
  /** Owners for whom the GitHub App is installed, to the installation's number. */
  readonly installations: Map<string, number>;
  /** Tokens of a GitHub App's installations to the owners they are for. */
  readonly installationTokens: Map<string, string>;
  /** Tokens to their scopes. A token that is not here may do everything. */
  readonly scopes: Map<string, readonly string[]>;
  readonly teams: Map<string, readonly string[]>;
  /** Of organisations, by name. Those in teams count only if they are here. */
  readonly members: Map<string, readonly Member[]>;
  readonly deliveries: Delivery[];
  /** By organisation. Gitea's and Forgejo's alone. */
  readonly organisationHooks: Map<string, Hook[]>;
  /** Logins of people who may change the settings of every repository and organisation. */
  readonly administrators: Set<string>;
  /** Logins of people who belong to no repository, or `login of owner` where they belong to none of that owner. In lower case. */
  readonly outsiders: Set<string>;
  /** How long `refs/pull/N/head` of Gitea and Forgejo stays behind its branch, in milliseconds; infinite: until set anew. */
  differenceDelayMs: number;
  nextId: number;
}

/** `hidden`: from everybody but the other members; `invited`: has not accepted yet, which is GitHub's alone. */
export interface Member {
  readonly login: string;
  readonly as: 'public' | 'hidden' | 'invited';
}

export interface Repository {
  readonly id: number;
  fullName: string;
  readonly defaultBranch: string;
  readonly branches: Map<string, string>;
  readonly tags: Map<string, string>;
  readonly pulls: Map<number, Pull>;
  readonly statuses: Status[];
  /** Those of {@link World.teams} that it gives access to: then its owner is an organisation. Gitea's and Forgejo's alone. */
  readonly teams: Map<string, TeamAccess>;
  readonly checkRuns: CheckRun[];
  readonly checkSuites: CheckSuite[];
  /** Base branches to their entries, first to be merged first. GitHub's alone. */
  readonly mergeQueues: Map<string, QueueEntry[]>;
  /** Where the forge itself sends what is done through its API. */
  readonly hooks: Hook[];
  readonly protections: Map<string, Protection>;
  readonly rulesets: Ruleset[];
  pushedAt: string;
  deleted: boolean;
  isPrivate: boolean;
  topics: readonly string[];
  archived: boolean;
}

/** `triage`: write issues and pull requests, and not even read code. */
export type TeamAccess = 'owner' | 'write' | 'triage' | 'read';

export interface Protection {
  readonly checks: boolean;
  readonly statuses: readonly string[];
  readonly push: boolean;
  /** The App that must have set the statuses. GitHub's alone. */
  readonly appId?: number;
}

/** One that requires statuses of a branch, each of an App or of anybody. */
export interface Ruleset {
  readonly id: number;
  readonly name: string;
  readonly branch: string;
  readonly checks: readonly { readonly context: string; readonly integration_id?: number }[];
}

/** A pull request in a merge queue, and the commit that merges it and all ahead of it into the base. */
export interface QueueEntry {
  readonly number: number;
  readonly headSha: string;
  readonly commits: readonly string[];
}

export interface Hook {
  readonly id: number;
  readonly type: string;
  url: string;
  readonly secret: string;
  contentType: string;
  active: boolean;
  events: readonly string[];
}

export interface Pull {
  readonly number: number;
  readonly repository: Repository;
  readonly headRepository: Repository;
  readonly headBranch: string;
  /** Pushed to `refs/for/<base>`, which needs no permission to write: Gitea's and Forgejo's alone. No branch has it. */
  readonly agit: boolean;
  baseBranch: string;
  readonly author: string;
  readonly createdAt: string;
  /** Follows the branch, and stays when the branch or its repository goes. */
  headSha: string;
  /** What `refs/pull/N/head` was before the last push, and when that push was (`performance.now()`). */
  behind: { readonly sha: string; readonly since: number } | undefined;
  updatedAt: string;
  title: string;
  body: string;
  state: 'open' | 'closed';
  merged: Merged | undefined;
  draft: boolean;
  labels: string[];
  assignees: readonly string[];
  milestone: string | null;
  readonly reviews: Review[];
  /** Whose review is requested and has not been given: logins, and teams as `organisation/team`. */
  requested: string[];
  readonly comments: Comment[];
  readonly inlineComments: InlineComment[];
  /** What Gitea and Forgejo call the number of comments, see {@link countComments}. */
  countedComments: number;
  events: PullEvent[];
}

/** That a pull request was merged: when, into which commit of the base branch, and as which one. */
export interface Merged {
  readonly at: string;
  /** When the forge saw it: later than `at`, which Gitea and Forgejo take from a commit that was made by hand. */
  readonly closedAt: string;
  readonly into: string;
  readonly as: string;
  /** Its commits on the base branch: one, but for a rebase. */
  readonly commits: readonly string[];
  readonly by: string;
}

/** What the timeline of a pull request tells, beside what people say. */
export interface PullEvent {
  readonly id: number;
  readonly kind:
    | 'pushed'
    | 'force-pushed'
    | 'retargeted'
    | 'labeled'
    | 'unlabeled'
    | 'review-requested'
    | 'review-request-withdrawn'
    | 'dismissed'
    | 'retitled'
    | 'closed'
    | 'reopened'
    | 'merged';
  readonly at: string;
  readonly message?: string;
  /** Of a request of a review: whose, and who requested or withdrew it. */
  readonly request?: { readonly reviewer: string; readonly by: string };
  /** Of a push: commits. `base` is what the base branch was then. */
  readonly push?: { readonly from: string; readonly to: string; readonly base: string };
}

export interface Review {
  readonly id: number;
  readonly author: string;
  state: 'approved' | 'changes-requested' | 'commented' | 'pending';
  dismissed: boolean;
  /** On GitHub it moves with a force-push that keeps the patch. */
  sha: string;
  readonly body: string;
  readonly at: string;
  /** Whether Gitea and Forgejo count it, see {@link countReview}. */
  official: boolean;
}

export interface Comment {
  readonly id: number;
  /** `ghost`: its account is gone. */
  author: string;
  body: string;
  readonly at: string;
  editedAt?: string;
  /** It was sent as an answer to an e-mail. GitHub's alone. */
  readonly byEmail?: boolean;
  /** Who wrote it at another forge, from where it was imported. Gitea's and Forgejo's alone. */
  readonly importedFrom?: string;
}

export interface InlineComment extends Comment {
  readonly review: number;
  readonly path: string;
  readonly line: number;
  readonly text: string;
  readonly sha: string;
  /** The first comment of the conversation that it belongs to, unless it is that itself. */
  readonly replyTo?: number;
  resolvedBy?: string | undefined;
}

export interface Status {
  readonly id: number;
  readonly sha: string;
  readonly context: string;
  readonly state: string;
  readonly description: string;
  readonly targetUrl: string;
  readonly author: string;
  readonly at: string;
}

export interface CheckRun {
  readonly id: number;
  readonly sha: string;
  readonly name: string;
  readonly app: string;
  readonly status: 'queued' | 'in_progress' | 'completed';
  readonly conclusion: string | null;
  readonly suite: number;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

export interface WorkflowRun {
  readonly file: string;
  readonly event: string;
  readonly branch: string | null;
}

/** What groups the check runs of one App: of GitHub Actions, of one run of a workflow. */
export interface CheckSuite {
  readonly id: number;
  readonly sha: string;
  readonly app: string;
  /** Of GitHub Actions: what it is one run of. */
  readonly workflow?: WorkflowRun;
  /** As `suiteNow` says it, unless it is set: between two jobs a workflow is in progress, and none of its runs is. */
  set?: { readonly status: string; readonly conclusion: string | null };
}

/** A webhook that the forge sent, as GitHub remembers it. */
export interface Delivery {
  readonly id: number;
  readonly guid: string;
  readonly event: string;
  readonly statusCode: number;
  readonly deliveredAt: string;
}

export function makeWorld(): World {
  return {
    objects: new Map(),
    repositories: new Map(),
    renames: new Map(),
    tokens: new Map(),
    installations: new Map(),
    installationTokens: new Map(),
    scopes: new Map(),
    teams: new Map(),
    members: new Map(),
    deliveries: [],
    organisationHooks: new Map(),
    administrators: new Set(),
    outsiders: new Set(),
    differenceDelayMs: 0,
    nextId: 1000,
  };
}

export function newId(world: World): number {
  world.nextId += 1;
  return world.nextId;
}

export function findRepository(world: World, fullName: string): Repository | undefined {
  return world.repositories.get(fullName.toLowerCase());
}

/** The newest of each context. */
export function newestStatuses({ statuses }: Repository, sha: string): readonly Status[] {
  return [...new Map(statuses.filter((one) => one.sha === sha).map((one) => [one.context, one])).values()];
}

/** One of this moment, which does not count yet. */
export function makeReview(world: World, of: Pick<Review, 'author' | 'state' | 'sha' | 'body'>): Review {
  return { id: newId(world), dismissed: false, at: new Date().toISOString(), official: false, ...of };
}

/** Whether somebody may change the settings of a repository, or of an organisation. */
export function isAdministrator(world: World, name: string, login: string): boolean {
  return world.administrators.has(login) || name.split('/')[0] === login;
}

/**
 * Gitea and Forgejo count a review that decides, by what its author may do then, in the place of those before, which
 * they dismiss. Nothing but a withdrawn request ever counts an earlier one again.
 */
export function countReview(world: World, pull: Pull, review: Review): void {
  if (DECIDING.includes(review.state)) {
    for (const earlier of pull.reviews.filter((one) => one !== review && isSameLogin(one.author, review.author))) {
      earlier.official = false;
      earlier.dismissed ||= DECIDING.includes(earlier.state);
    }
    review.official = mayPush(world, pull.repository.fullName, review.author);
  }
}

export const DECIDING: readonly Review['state'][] = ['approved', 'changes-requested'];

/** Forges compare logins without regard to case. */
export function isOutsider(world: World, login: string): boolean {
  return world.outsiders.has(login.toLowerCase());
}

export function isSameLogin(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** A collaborator, as everybody is but outsiders, or in a team that may. */
export function mayPush(world: World, name: string, login: string): boolean {
  const teams = findRepository(world, name)?.teams ?? [];
  return (
    isCollaborator(world, name, login) ||
    [...teams].some(([team, access]) => PUSHING.includes(access) && world.teams.get(team)?.includes(login))
  );
}

const PUSHING: readonly TeamAccess[] = ['owner', 'write'];

export function isCollaborator(world: World, name: string, login: string): boolean {
  return !isOutsider(world, login) && !isOutsider(world, `${login} of ${name.split('/')[0]}`);
}

/** Whether the path, and so what is written there, belongs to an archived repository. */
export function isArchived(world: World, path: string): boolean {
  const [, fullName = ''] = /^\/repos\/([^/]+\/[^/]+)/.exec(path) ?? [];
  return findRepository(world, fullName)?.archived === true;
}

export function commitOf(world: World, sha: string): Commit {
  const commit = world.objects.get(sha);
  if (commit === undefined) {
    throw new Error(`no commit ${sha} in the simulated forge`);
  }
  return commit;
}

/** A ref by its full name; a tag, a branch or a commit by a bare one. A tag comes first, as in git itself. */
export function resolve(world: World, repository: Repository, ref: string): Commit | undefined {
  const [, kind, name = ''] = /^refs\/(heads|tags)\/(.+)$/.exec(ref) ?? [];
  if (kind !== undefined) {
    return world.objects.get((kind === 'heads' ? repository.branches : repository.tags).get(name) ?? '');
  }
  return world.objects.get(repository.tags.get(ref) ?? repository.branches.get(ref) ?? ref);
}

export function baseSha(pull: Pull): string {
  return pull.repository.branches.get(pull.baseBranch) ?? '';
}

/** What a pull request is compared with: once it is merged, what the base branch was then. */
function comparedWith(pull: Pull): string {
  return pull.merged?.into ?? baseSha(pull);
}

/** Moves the pull request's head. What its difference is of follows, on Gitea and Forgejo, after a delay. */
export function moveHead(world: World, pull: Pull, sha: string): void {
  pull.behind = { sha: differenceHead(world, pull), since: performance.now() };
  pull.headSha = sha;
  touch(pull);
}

/** What `refs/pull/N/head` is on Gitea and Forgejo: there, files, difference and commits are of this commit. */
export function differenceHead(world: World, { behind, headSha }: Pull): string {
  const isBehind = behind !== undefined && performance.now() < behind.since + world.differenceDelayMs;
  return isBehind ? behind.sha : headSha;
}

/** Gitea counts submitted reviews too, and only when a comment comes or goes. */
export function countComments(pull: Pull): void {
  pull.countedComments = pull.comments.length + pull.reviews.filter(({ state }) => state !== 'pending').length;
}

/** Most of what happens to a pull request moves its `updated_at`. A status does not, nor does an edited comment. */
export function touch(pull: Pull): void {
  pull.updatedAt = new Date().toISOString();
}

/** As Gitea and Forgejo store it: like the difference, it follows a push later. */
export function mergeBaseOf(world: World, pull: Pull): string | undefined {
  const [base, head] = [comparedWith(pull), commitOf(world, differenceHead(world, pull))];
  const known = mergeBases.get(head) ?? new Map<string, string | undefined>();
  mergeBases.set(head, known);
  if (!known.has(base)) {
    known.set(base, mergeBase(world.objects, base, head.sha));
  }
  return known.get(base);
}

const mergeBases = new WeakMap<Commit, Map<string, string | undefined>>();

/** Against the merge base, as all forges show a pull request. */
export function changesOf(world: World, pull: Pull, headSha = pull.headSha): readonly FileChange[] {
  const head = commitOf(world, headSha);
  const base = world.objects.get(mergeBase(world.objects, comparedWith(pull), headSha) ?? '');
  const cached = computed.get(head)?.get(base);
  if (cached !== undefined) {
    return cached;
  }
  const changes = compareTrees(base?.tree ?? new Map(), head.tree);
  computed.set(head, (computed.get(head) ?? new Map()).set(base, changes));
  return changes;
}

/** A commit never changes, so neither does the difference of two. */
const computed = new WeakMap<Commit, Map<Commit | undefined, readonly FileChange[]>>();

export function commitsOf(world: World, pull: Pull, headSha = pull.headSha): readonly Commit[] {
  return commitsBetween(world.objects, comparedWith(pull), headSha);
}

/** The text of a line that the new side of the change shows, or undefined when it shows no such line. */
export function lineInDiff(world: World, pull: Pull, path: string, line: number): string | undefined {
  const patch = changesOf(world, pull).find((file) => file.path === path)?.patch ?? '';
  let at = 0;
  for (const row of patch.split('\n')) {
    const start = /^@@ -\S+ \+(\d+)/.exec(row)?.[1];
    if (start !== undefined) {
      at = Number(start);
    } else if (row.startsWith('+') || row.startsWith(' ')) {
      if (at === line) {
        return row.slice(1);
      }
      at += 1;
    }
  }
  return undefined;
}
