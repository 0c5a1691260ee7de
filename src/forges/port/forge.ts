/**
 * The interface to a code forge, the same for GitHub, Gitea and Forgejo.
 * The review reads these types and nothing else of a forge; each forge's module translates its own
 * answers into them. Times are ISO 8601 strings in UTC, object ids are lower-case hexadecimal.
 */

import type { AccessCheck } from './access.ts';
import type { Accounts, NamedAddress } from './accounts.ts';
import type { Checks } from './checks.ts';
import type { Conversations } from './conversations.ts';
import type { DeliveryRecovery } from './delivery-recovery.ts';
import type { ForgeName } from './forges.ts';
import type { Inspection } from './inspection.ts';
import type { ChangeList, Overviews, WritableRepositories } from './many-repositories.ts';
import type { MergeQueueEntry } from './merge-queue.ts';
import type { MergedPullRequests } from './merged.ts';
import type {
  CommitStatus,
  InlineComment,
  OwnInlineComments,
  OwnReview,
  PostedComment,
  PostedStatus,
  StatusLimit,
} from './postings.ts';
import type {
  ChangedFiles,
  Commit,
  OpenPullRequests,
  OrganisationMembers,
  PersonComment,
  PersonReview,
  PullRequestNow,
  PullRequestRead,
  PullRequestRef,
  RepositoryNow,
  RequestedReviews,
  Tree,
  WriteAccess,
} from './pull-request.ts';
import type { Questions } from './question.ts';

/**
 * A code forge, seen with Gatehouse's credentials. Every method is bounded in time, follows
 * pagination to its end, validates what it reads, and throws {@link ForgeError} when it cannot answer.
 * What does not exist is `undefined`, not an error.
 */
export interface Forge extends AccessCheck {
  readonly name: ForgeName;
  /** Logins of programs as the operator has named them, with `*` for any characters: no forge knows all of them. */
  readonly machineAccounts: readonly string[];
  /**
   * How many requests an hour the forge takes from one of these credentials, as it last said. Undefined where it has no
   * limit, or has not said.
   */
  readonly requestLimit?: () => number | undefined;
  readonly inspection: Inspection;
  readonly merged: MergedPullRequests;
  /** Only where the forge offers it; on GitHub to an App, with a token each webhook has a list of its own. */
  readonly deliveries?: DeliveryRecovery;
  readonly overviews?: Overviews;
  readonly changeList?: ChangeList;
  readonly statusLimit?: StatusLimit;
  /** Entries are undefined where the repository does not exist or cannot be seen. */
  readonly mergeQueue?: {
    /** The login under which it merges and pushes. */
    readonly account: string;
    entries(repository: string, branch: string): Promise<readonly MergeQueueEntry[] | undefined>;
  };

  /** At most so many of them. */
  writableRepositories(most: number): Promise<WritableRepositories>;
  /** The login that Gatehouse posts with. */
  self(): Promise<string>;

  // What a review reads
  pullRequest(ref: PullRequestRef): Promise<PullRequestNow | undefined>;
  /**
   * The same, and whatever else of a review comes with it for the same cost. `paths` are files to read at the base's
   * commit.
   */
  pullRequestWithFacts(ref: PullRequestRef, paths: readonly string[]): Promise<PullRequestRead | undefined>;
  /**
   * What the commit `headSha` changes. Gitea and Forgejo show the difference of the head before for a while after a
   * push: it is looked at again shortly, and `unavailable` when it does not become that of `headSha`. `count` is how
   * many files the pull request says it changes: a shorter list is `unavailable`, and a forge that cannot be sure of
   * them otherwise needs no list to compare with.
   */
  changedFiles(ref: PullRequestRef, headSha: string, count?: number): Promise<ChangedFiles>;
  /**
   * `signatures`: whether to ask for what costs the forge time, which verifies each of them; `signers`: also whose they
   * are, where that is another request.
   */
  commits(
    ref: PullRequestRef,
    ask?: { readonly signatures: boolean; readonly signers: boolean },
  ): Promise<readonly Commit[]>;
  /** The accounts of people whom the messages of commits name. */
  accounts(repository: string, asked: readonly NamedAddress[]): Promise<Accounts>;
  /** Oldest first. */
  reviews(ref: PullRequestRef): Promise<readonly PersonReview[]>;
  requestedReviews(ref: PullRequestRef): Promise<RequestedReviews>;
  /** Throws where the forge does not find it. */
  ask<Answer>(ref: PullRequestRef, questions: Questions<Answer>): Promise<Answer>;
  /**
   * When the base branch was last changed or the head force-pushed, whichever came later. If neither was: on GitHub
   * undefined, on Gitea and Forgejo just before the pull request was opened.
   */
  lastForcePushOrRetarget(ref: PullRequestRef): Promise<string | undefined>;
  /** All comments in the conversation, oldest first. */
  comments(ref: PullRequestRef): Promise<readonly PersonComment[]>;
  /**
   * The conversations at lines and files, as they stand for the head `headSha`. Gatehouse's own may be among them.
   */
  conversations(ref: PullRequestRef, headSha: string): Promise<Conversations>;
  writeAccess(repository: string): WriteAccess;
  /**
   * What was reported about a commit, by Gatehouse itself too. Throws as `refused` without the permission to read it.
   */
  checks(repository: string, sha: string): Promise<Checks>;
  /** Logins. `team` is `organisation/team`; undefined when there is no such team or it may not be seen. */
  teamMembers(team: string): Promise<readonly string[] | undefined>;
  /** Who of `logins` is a member of an organisation. */
  organisationMembers(organisation: string, logins: readonly string[]): Promise<OrganisationMembers>;
  /** Undefined when there is no such repository, or Gatehouse may not see it. */
  repository(name: string): Promise<RepositoryNow | undefined>;
  /**
   * The commit at the tip of a branch. Read by the branch's full name, so that a tag of that name cannot replace it.
   */
  branchCommit(repository: string, branch: string): Promise<string | undefined>;
  /** The commit that a tag names. */
  tagCommit(repository: string, tag: string): Promise<string | undefined>;
  /** Undefined when the forge does not list all of it, or there is no such commit. */
  tree(repository: string, sha: string): Promise<Tree | undefined>;
  /** The best common ancestor of two commits; undefined when there is none, or more than one may be it. */
  mergeBase(repository: string, one: string, other: string): Promise<string | undefined>;
  /** Whether `descendant` has everything that `ancestor` has. False when the forge does not show that it has. */
  isAncestor(repository: string, ancestor: string, descendant: string): Promise<boolean>;
  /**
   * A file's text at a commit; undefined only when the commit is there and the file is not. Throws
   * {@link UnknownCommitError} when the forge does not find the commit. A branch or tag may be given, but not in a
   * review: then undefined also means that there is none.
   */
  fileAt(repository: string, path: string, ref: string): Promise<string | undefined>;
  /** Undefined when there is no such repository, or Gatehouse may not see it. */
  openPullRequests(repository: string): Promise<OpenPullRequests | undefined>;

  // What a review writes
  status(repository: string, sha: string, context: string): Promise<PostedStatus | undefined>;
  /** All of one name that a commit ever had, by anybody, the newest first. Undefined when there is no such commit. */
  statuses(repository: string, sha: string, context: string): Promise<readonly PostedStatus[] | undefined>;
  setStatus(repository: string, sha: string, status: CommitStatus): Promise<void>;
  /** The conversation comments posted by {@link Forge.self}, oldest first. */
  ownComments(ref: PullRequestRef): Promise<readonly PostedComment[]>;
  /** One of them. Only where they are not listed page by page. Undefined: it is gone, or not ours. */
  ownComment?(ref: PullRequestRef, id: string): Promise<PostedComment | undefined>;
  createComment(ref: PullRequestRef, body: string): Promise<PostedComment>;
  updateComment(ref: PullRequestRef, id: string, body: string): Promise<void>;
  deleteComment(ref: PullRequestRef, id: string): Promise<void>;
  /** The comments at lines posted by {@link Forge.self}, as they stand for the head `headSha`. */
  ownInlineComments(ref: PullRequestRef, headSha: string): Promise<OwnInlineComments>;
  /**
   * Posts all of them as one review of `headSha`, so that the author gets one notification. `before` are the reviews
   * that {@link Forge.ownInlineComments} has found.
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
   * Either way {@link Forge.ownInlineComments} no longer returns it; ids unknown are ignored. `reviews` are those that
   * it has found.
   */
  withdrawInlineComments(
    ref: PullRequestRef,
    ids: readonly string[],
    note: string,
    reviews: readonly OwnReview[],
  ): Promise<void>;

  /** Closes idle connections. No method may be called afterwards. */
  close(): Promise<void>;
}
