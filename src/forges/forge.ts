/**
 * The interface to a code forge, the same for GitHub, Gitea and Forgejo.
 * The review reads these types and nothing else of a forge; each forge's module translates its own
 * answers into them. Times are ISO 8601 strings in UTC, object ids are lower-case hexadecimal.
 */

import type { AccessCheck } from './access.ts';
import type { ForgeName } from './forges.ts';

/** Which pull request: `repository` is `owner/name` as the forge spells it, `number` counts from 1. */
export interface PullRequestRef {
  readonly repository: string;
  readonly number: number;
}

/** The largest number a pull request may have here: PostgreSQL's integer, in which it is stored. */
export const MAX_PULL_REQUEST_NUMBER = 2 ** 31 - 1;

/** A pull request's present state. */
export interface PullRequest extends PullRequestRef {
  /** The page a person would open. */
  readonly url: string;
  readonly state: 'open' | 'closed';
  readonly title: string;
  /** The description, `''` when there is none. */
  readonly body: string;
  /** Login of its author. */
  readonly author: string;
  readonly draft: boolean;
  readonly labels: readonly string[];
  /** When anything about it last changed; comments count too. */
  readonly updatedAt: string;
  /**
   * The branch to merge into, and that branch's commit as the forge recorded it with the pull
   * request. On GitHub it can lag behind the branch: what must be today's (the policy) is read at
   * {@link Forge.branchCommit}.
   */
  readonly base: { readonly branch: string; readonly sha: string };
  /** The branch that is proposed. `repository` is null when a fork was deleted. */
  readonly head: { readonly branch: string; readonly sha: string; readonly repository: string | null };
}

/** One file of a pull request's change. */
export interface ChangedFile {
  readonly path: string;
  /** Where it was before a rename. */
  readonly previousPath?: string;
  readonly status: 'added' | 'modified' | 'removed' | 'renamed';
  readonly additions: number;
  readonly deletions: number;
  /** False when the forge did not count the lines, as of a binary file: then the two numbers above say nothing. */
  readonly counted: boolean;
  /** What could be read of its difference. */
  readonly diff:
    | { readonly kind: 'text' /** Unified hunks, without the `---`/`+++` lines. */; readonly patch: string }
    | { readonly kind: 'binary' }
    | { readonly kind: 'too-large' };
}

/** All files of a change. `complete` is false when the forge would not list every one of them. */
export interface ChangedFiles {
  readonly files: readonly ChangedFile[];
  readonly complete: boolean;
}

export interface Commit {
  readonly sha: string;
  /** Subject and body. */
  readonly message: string;
  readonly author: CommitPerson;
  /** Who made the commit object. On GitHub's web pages that is GitHub itself, which is then left out: null. */
  readonly committer: CommitPerson | null;
  /** Ids. Two or more make a merge commit. */
  readonly parents: readonly string[];
}

export interface CommitPerson {
  readonly name: string;
  readonly email: string;
  /** Of the account that the forge knows by the e-mail address; null when it knows none. */
  readonly login: string | null;
}

/** Every file of a commit: its path, and its mode and object id as one text. */
export type Tree = ReadonlyMap<string, string>;

/** A review by a person. */
export interface PersonReview {
  readonly author: string;
  readonly state: 'approved' | 'changes-requested' | 'commented' | 'dismissed';
  /** The head commit it was given for. */
  readonly sha: string;
  readonly submittedAt: string;
  /** Whether its author may write to the repository: anybody may approve a public pull request. */
  readonly official: boolean;
  /** Whether its author is a program. Only GitHub tells; elsewhere it is false. */
  readonly bot: boolean;
}

/** GitHub's limit for a status's description, in characters; longer ones are shortened when posted. */
export const MAX_STATUS_DESCRIPTION_LENGTH = 140;

/** The longest comment that every forge takes, in characters (GitHub's limit; Gitea and Forgejo set none). */
export const MAX_COMMENT_LENGTH = 65_536;

/** The commit status as forges know it. GitHub has no `warning`, so none is used. */
export type StatusState = 'pending' | 'success' | 'failure' | 'error';

export interface CommitStatus {
  /** The name shown beside the status: `gatehouse`. */
  readonly context: string;
  readonly state: StatusState;
  /** At most {@link MAX_STATUS_DESCRIPTION_LENGTH} characters. */
  readonly description: string;
  readonly targetUrl?: string;
  /** When the forge recorded it; absent on one yet to be posted. */
  readonly updatedAt?: string;
}

/** A status that a commit has. */
export interface PostedStatus extends CommitStatus {
  /** Whether {@link Forge.self} set it: whoever may push can set one of any name and words. */
  readonly own: boolean;
}

/** A comment at a line of the new side of the change. */
export interface InlineComment {
  readonly path: string;
  /** Line number in the file as the head has it, from 1. */
  readonly line: number;
  readonly body: string;
}

/** A comment that Gatehouse itself has posted. `id` is the forge's, kept as text. */
export interface PostedComment {
  readonly id: string;
  readonly body: string;
}

export interface PostedInlineComment extends PostedComment {
  readonly path: string;
  /**
   * Null when the comment is no longer shown at a line: GitHub says so; on Gitea and Forgejo it is so when the commit it was
   * posted at was replaced by a force-push. Otherwise, there, it is the line it was posted at.
   */
  readonly line: number | null;
}

/** A review that Gatehouse itself has begun or posted. */
export interface OwnReview {
  readonly id: string;
  /** Never submitted: left behind by a request that broke off, and seen by nobody else. */
  readonly pending: boolean;
}

export interface OwnInlineComments {
  readonly comments: readonly PostedInlineComment[];
  /** Empty on GitHub, where comments at lines are listed without their reviews. */
  readonly reviews: readonly OwnReview[];
}

/** A webhook of one repository, as the forge named it in a delivery's headers (`X-GitHub-Hook-ID`). */
export interface RepositoryHook {
  readonly repository: string;
  readonly hookId: string;
}

/** A webhook that the forge sent and that was not accepted. */
export interface FailedDelivery {
  /** The forge's number for the newest attempt; {@link DeliveryRecovery.redeliver} redelivers this one. */
  readonly id: string;
  /** The delivery id as its header carried it; the same for every attempt. */
  readonly guid: string;
  readonly event: string;
  /** The HTTP status that the newest attempt was answered with; 0 when there was no answer. */
  readonly status: number;
  readonly deliveredAt: string;
  /** Absent for an App's own webhook. */
  readonly hook?: RepositoryHook;
}

/** What GitHub remembers of the webhooks it sent (three days). Gitea and Forgejo offer nothing comparable. */
export interface DeliveryRecovery {
  /** `app`: one list for all repositories. `repository`: one list for each hook, which must then be named. */
  readonly scope: 'app' | 'repository';
  /** Deliveries since then of which no attempt was accepted, oldest first. */
  failedDeliveries(since: Date, hook?: RepositoryHook): Promise<readonly FailedDelivery[]>;
  /** Asks the forge to send it once more, under the same delivery id. */
  redeliver(delivery: FailedDelivery): Promise<void>;
}

/** A pull request in a merge queue, with the group commit made for it; null where the forge names none. */
export interface MergeQueueEntry {
  /** Lower ones are merged earlier. */
  readonly position: number;
  readonly headSha: string | null;
  readonly number: number | null;
}

/** A forge that could not answer, with what its caller needs to decide what to do next. */
export class ForgeError extends Error {
  override readonly name = 'ForgeError';
  /**
   * - `unavailable`: no usable answer (network, time-out, 5xx, invalid content); trying again may help.
   * - `rate-limited`: a rate limit; `retryAt` says until when.
   * - `refused`: our credentials may not do this; trying again will not help.
   * - `invalid`: the forge rejected the request (422 and the like).
   * - `too-large`: a file that is larger than Gatehouse reads.
   * - `not-a-file`: a directory, a symbolic link or a submodule where a file was asked for; the message says which.
   */
  readonly kind: 'unavailable' | 'rate-limited' | 'refused' | 'invalid' | 'too-large' | 'not-a-file';
  /** HTTP status, when there was an answer. */
  readonly status: number | undefined;
  /** Milliseconds since the epoch. */
  readonly retryAt: number | undefined;

  constructor(
    kind: ForgeError['kind'],
    message: string,
    options: { cause?: unknown; status?: number; retryAt?: number } = {},
  ) {
    super(message, { cause: options.cause });
    this.kind = kind;
    this.status = options.status;
    this.retryAt = options.retryAt;
  }
}

/**
 * A code forge, seen with Gatehouse's credentials. Every method is bounded in time, follows
 * pagination to its end, validates what it reads, and throws {@link ForgeError} when it cannot answer.
 * What does not exist is `undefined`, not an error.
 */
export interface Forge extends AccessCheck {
  readonly name: ForgeName;
  /** Only where the forge offers it. */
  readonly deliveries?: DeliveryRecovery;
  readonly mergeQueue?: { entries(repository: string, branch: string): Promise<readonly MergeQueueEntry[]> };

  /** The login that Gatehouse posts with. */
  self(): Promise<string>;

  // What a review reads
  pullRequest(ref: PullRequestRef): Promise<PullRequest | undefined>;
  /**
   * What the commit `headSha` changes. Gitea and Forgejo show the difference of the head before for a while after a push:
   * it is looked at again shortly, and `unavailable` when it does not become that of `headSha`.
   */
  changedFiles(ref: PullRequestRef, headSha: string): Promise<ChangedFiles>;
  commits(ref: PullRequestRef): Promise<readonly Commit[]>;
  /** Oldest first. */
  reviews(ref: PullRequestRef): Promise<readonly PersonReview[]>;
  /** When the base branch was last changed or the head force-pushed, whichever came later; undefined if neither was. */
  lastForcePushOrRetarget(ref: PullRequestRef): Promise<string | undefined>;
  /** Logins. `team` is `organisation/team`; undefined when there is no such team or it may not be seen. */
  teamMembers(team: string): Promise<readonly string[] | undefined>;
  /** The commit at the tip of a branch. Read by the branch's full name, so that a tag of that name cannot replace it. */
  branchCommit(repository: string, branch: string): Promise<string | undefined>;
  /** The commit that a tag names. */
  tagCommit(repository: string, tag: string): Promise<string | undefined>;
  /** Undefined when the forge does not list all of it, or there is no such commit. */
  tree(repository: string, sha: string): Promise<Tree | undefined>;
  /** The best common ancestor of two commits; undefined when there is none, or more than one may be it. */
  mergeBase(repository: string, one: string, other: string): Promise<string | undefined>;
  /** A file's text at a commit; undefined when it is not there. A branch or tag may be given, but not in a review. */
  fileAt(repository: string, path: string, ref: string): Promise<string | undefined>;
  /** Undefined when there is no such repository, or Gatehouse may not see it. */
  openPullRequests(repository: string): Promise<readonly PullRequest[] | undefined>;

  // What a review writes
  status(repository: string, sha: string, context: string): Promise<PostedStatus | undefined>;
  setStatus(repository: string, sha: string, status: CommitStatus): Promise<void>;
  /** The conversation comments posted by {@link Forge.self}, oldest first. */
  ownComments(ref: PullRequestRef): Promise<readonly PostedComment[]>;
  createComment(ref: PullRequestRef, body: string): Promise<PostedComment>;
  updateComment(ref: PullRequestRef, id: string, body: string): Promise<void>;
  deleteComment(ref: PullRequestRef, id: string): Promise<void>;
  /** The comments at lines posted by {@link Forge.self}, as they stand for the head `headSha`. */
  ownInlineComments(ref: PullRequestRef, headSha: string): Promise<OwnInlineComments>;
  /**
   * Posts all of them as one review of `headSha`, so that the author gets one notification. `before` are the reviews that
   * {@link Forge.ownInlineComments} has found.
   */
  createInlineComments(
    ref: PullRequestRef,
    headSha: string,
    comments: readonly InlineComment[],
    before: readonly OwnReview[],
  ): Promise<void>;
  /**
   * Withdraws comments at lines. They are deleted, but for Gitea before 1.24.6, which can only delete a whole
   * review: there one is deleted when all its comments go, and until then a comment's text becomes `note`.
   * What others wrote in answer stays.
   * Either way {@link Forge.ownInlineComments} no longer returns it; ids unknown are ignored.
   */
  withdrawInlineComments(ref: PullRequestRef, ids: readonly string[], note: string): Promise<void>;

  /** Closes idle connections. No method may be called afterwards. */
  close(): Promise<void>;
}
