/** What a review reads of a pull request, in the words that all forges share. */

import type { Accounts } from './accounts.ts';
import type { OwnInlineComments, PostedComment, PostedStatus } from './postings.ts';
import type { YesNo } from './yes-no.ts';

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
  readonly state: 'open' | 'merged' | /** Without a merge. */ 'closed';
  /** Whether its repository is archived: nobody can merge it, and no comment can be posted. */
  readonly archived: boolean;
  readonly title: string;
  /** The description, `''` when there is none. */
  readonly body: string;
  /** Login of its author. */
  readonly author: string;
  /** Whether its author has committed nothing to the repository before. */
  readonly firstTime: YesNo;
  readonly draft: YesNo;
  readonly labels: readonly string[];
  /** When anything about it last changed; comments count too. */
  readonly updatedAt: string;
  /** The branch to merge into. */
  readonly base: { readonly branch: string };
  /**
   * The branch that is proposed. `repository` is null when a fork was deleted, and when the commits were pushed without
   * a branch, for which nobody has to be allowed to write.
   */
  readonly head: { readonly branch: string; readonly sha: string; readonly repository: string | null };
}

/** Ids that the forge gives once: a name can be given to another repository, or to another account. */
export interface RepositoryIds {
  readonly id: string;
  readonly ownerId: string;
}

/**
 * Who can read a repository. `public`: everybody who reaches the forge; `internal`: the whole enterprise on GitHub, or
 * the whole organisation that is itself private on Gitea and Forgejo; `private`: those who were given access.
 */
export type Visibility = 'public' | 'internal' | 'private';

/** A repository as it is now. */
export interface RepositoryNow extends RepositoryIds {
  /** `owner/name`: another one than was asked for when it was renamed or transferred. */
  readonly name: string;
  readonly defaultBranch: string;
  /** Undefined where the forge does not tell, or calls it by a word that is not known. */
  readonly visibility: Visibility | undefined;
  /** Undefined where the forge does not tell. */
  readonly topics: readonly string[] | undefined;
}

/** Its description is read with a single one only. */
export type OpenPullRequest = Omit<PullRequest, 'body'>;

/** All open pull requests of a repository, but those that are too large to be read. */
export interface OpenPullRequests {
  /** Its present name: another one than was asked for when it was renamed. */
  readonly repository: string;
  readonly pullRequests: readonly OpenPullRequest[];
}

/** A pull request, and what belongs to the same moment. */
export interface PullRequestNow extends PullRequest {
  /**
   * The commit at the tip of the base branch, read by the branch's full name, so that a tag of that name cannot replace
   * it. Undefined when there is no such branch.
   */
  readonly baseCommit: string | undefined;
  /** How many comments it has, of anybody and of any kind; undefined where the forge does not say. */
  readonly commentCount: number | undefined;
  /**
   * What its difference with the head is computed from: the merge base, or on GitHub the base branch's commit as the
   * pull request has it, which can lag behind the branch. Undefined where the forge does not say.
   */
  readonly differenceBase: string | undefined;
  /** How many files it changes; undefined where the forge does not say. */
  readonly changedFileCount: number | undefined;
}

/**
 * What a forge gave together with a pull request, of the same moment. What is absent was not given, or not whole: it is
 * to be read by the method of its own.
 */
export interface PreloadedFacts {
  /** Without differences and line counts. Absent when a file has an old name. */
  readonly changedFiles?: ChangedFiles;
  /** Their signatures are not read. */
  readonly commits?: readonly Commit[];
  /** The accounts of authors and co-authors of commits, as far as the forge gave them. */
  readonly accounts?: Accounts;
  readonly reviews?: readonly PersonReview[];
  /** The newest of each name on the head. */
  readonly statuses?: readonly PostedStatus[];
  readonly ownComments?: readonly PostedComment[];
  readonly ownInlineComments?: OwnInlineComments;
}

export interface PullRequestRead {
  readonly pullRequest: PullRequestNow;
  /** Whether any change after the reading has a later `updatedAt`. */
  readonly settled: YesNo;
  readonly preloaded: PreloadedFacts;
  /** Files at {@link PullRequestNow.baseCommit}; null: there is no such file. */
  readonly files: ReadonlyMap<string, string | null>;
}

/** One file of a pull request's change. */
export interface ChangedFile {
  readonly path: string;
  /** Where it was before it was renamed, or copied; undefined otherwise. */
  readonly previousPath: string | undefined;
  readonly status: 'added' | 'modified' | 'removed' | 'renamed';
  readonly additions: number;
  readonly deletions: number;
  /** False when the forge did not count the lines, as of a binary file: then the two numbers above say nothing. */
  readonly counted: boolean;
  /** What could be read of its difference. */
  readonly diff:
    | { readonly kind: 'text' /** Unified hunks, without the `---`/`+++` lines. */; readonly patch: string }
    | { readonly kind: 'binary' }
    | { readonly kind: 'too-large' }
    /** Nothing needed it. A rule that looks at it all the same cannot be judged. */
    | { readonly kind: 'unread' };
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
  /** Whether the forge has verified its signature; unknown also where it was not asked. */
  readonly verified: YesNo;
  /**
   * Login of the account whose key made the verified signature; null where no account's did, as on GitHub where it
   * signs itself. Undefined when the forge does not tell, or was not asked.
   */
  readonly signer: string | null | undefined;
}

export interface CommitPerson {
  readonly name: string;
  readonly email: string;
  /** The login of the account with this e-mail address; null when the forge has none. */
  readonly login: string | null;
  /** Whether the account is a program. */
  readonly bot: YesNo;
}

/** Every file of a commit: its path, and its mode and object id as one text. */
export type Tree = ReadonlyMap<string, string>;

/** Reviews that were requested and have not been given. */
export interface RequestedReviews {
  /** Logins. */
  readonly people: readonly string[];
  /** `organisation/team`, in lower case. */
  readonly teams: readonly string[];
  /** Oldest first. Without the requests of teams that GitHub itself withdrew. */
  readonly history: readonly ReviewerEvent[];
}

export interface ReviewerEvent {
  readonly kind: 'requested' | 'withdrawn' | 'reviewed';
  /** As in `people` and `teams`. */
  readonly reviewer: string;
  /** Login of who requested or withdrew it. What CODEOWNERS requests is in the name of the pull request's author. */
  readonly by: string;
}

/** What an organisation's forge says of some people. */
export interface OrganisationMembers {
  /** Logins of those who are members, as they were asked for. */
  readonly members: readonly string[];
  /**
   * Whether the others are certainly none. Most forges show hidden members to other members alone: that somebody is not
   * shown proves nothing then.
   */
  readonly complete: boolean;
}

/** A comment in the conversation, by anybody. */
export interface PersonComment {
  readonly id: string;
  /** Login; null when the account is gone, or the comment was imported from elsewhere. */
  readonly author: string | null;
  /** Whether its author is a program, or an account of the forge itself. */
  readonly bot: boolean;
  /**
   * Whether it came by e-mail: whoever has the address to reply to can then write in its author's name. Only GitHub
   * reports it.
   */
  readonly byEmail: boolean;
  readonly body: string;
  readonly createdAt: string;
  /** `no-by-seconds`: not after the second in which it was posted. These forges report no more. */
  readonly edited: 'yes' | 'no' | 'no-by-seconds';
}

/** A review by a person. */
export interface PersonReview {
  readonly author: string;
  readonly state: 'approved' | 'changes-requested' | 'commented' | 'dismissed';
  /** The head commit it was given for. */
  readonly sha: string;
  readonly submittedAt: string;
  /** Whether its author may write to the repository now, where the forge tells it with the review. */
  readonly mayWrite: YesNo;
  /**
   * Whether the forge itself counts it. Gitea and Forgejo decide that when it is given, by what its author may do then,
   * and take it back when another review is requested. GitHub keeps no such answer.
   */
  readonly counted: YesNo;
  /** Whether its author is a program. Only GitHub reports it; elsewhere it is false. */
  readonly bot: boolean;
}

/**
 * Whether somebody may write to a repository now: anybody may approve a public pull request. It asks the forge about
 * each person once, and keeps the answers: it is made for one review, or for one resync.
 */
export type WriteAccess = (login: string) => Promise<YesNo>;
