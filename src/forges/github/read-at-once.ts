import type { Accounts } from '../port/accounts.ts';
import { ForgeError } from '../port/forge-error.ts';
import type { OwnInlineComments, PostedComment, PostedStatus } from '../port/postings.ts';
import type {
  ChangedFiles,
  Commit,
  CommitPerson,
  PreloadedFacts,
  PullRequestNow,
  PullRequestRead,
  PullRequestRef,
} from '../port/pull-request.ts';
import { yesNo } from '../port/yes-no.ts';
import { accountsIn, hostOf } from './accounts.ts';
import { isFirstTime } from './actor.ts';
import type { AppLoginOf } from './app-logins.ts';
import type { GitHubClient } from './client.ts';
import { committerOf } from './commits.ts';
import { repositoryAddress } from './read.ts';
import { askGraphql } from './request.ts';
import {
  type FactsNode,
  filesAt,
  type Person,
  type PullNode,
  pathVariables,
  pullAnswer,
  reviewAnswer,
  reviewQuery,
} from './review-query.ts';
import { reviewsIn } from './reviews.ts';
import { toPostedStatuses } from './statuses.ts';

const WHAT = 'a pull request';

/** Throws whenever the answer is not whole: then the caller asks REST. */
export async function pullRequestAtOnce(
  client: GitHubClient,
  ref: PullRequestRef,
  loginOf: AppLoginOf,
): Promise<PullRequestNow> {
  const { repository } = await query(client, ref, [], pullAnswer, false);
  const { pullRequest: pull } = repository;
  return toPullRequest(repository, pull, await authorOf(ref, pull, loginOf), undefined);
}

/** The same, with all that a review may need, as far as it is whole. `self` is the login that Gatehouse posts with. */
export async function reviewAtOnce(
  client: GitHubClient,
  ref: PullRequestRef,
  paths: readonly string[],
  self: string,
  loginOf: AppLoginOf,
): Promise<PullRequestRead> {
  const { repository } = await query(client, ref, paths, reviewAnswer, true);
  const { pullRequest: pull } = repository;
  const { comments, reviewThreads } = pull;
  const commentCount = comments && reviewThreads && comments.length + reviewThreads.length;
  return {
    pullRequest: toPullRequest(repository, pull, await authorOf(ref, pull, loginOf), commentCount),
    settled: 'unknown',
    preloaded: preloadedFacts(pull, self),
    files: filesAt(pull.baseRef.target, paths),
  };
}

async function query<T>(
  client: GitHubClient,
  { repository, number }: PullRequestRef,
  paths: readonly string[],
  shape: Parameters<typeof askGraphql<T>>[4],
  facts: boolean,
): Promise<T> {
  const octokit = await client.forRepository(repository);
  if (octokit === undefined) {
    throw unusable(`the App is not installed for ${repository}`);
  }
  const variables = { ...repositoryAddress(repository), number, facts, ...pathVariables(paths) };
  return askGraphql(octokit, WHAT, reviewQuery(paths), variables, shape);
}

function unusable(why: string): ForgeError {
  // A status: the forge has answered.
  return new ForgeError('unavailable', `POST /graphql (${WHAT}): ${why}`, { status: 200 });
}

const STATES = { OPEN: 'open', MERGED: 'merged', CLOSED: 'closed' } as const;

async function authorOf(ref: PullRequestRef, { author }: PullNode, loginOf: AppLoginOf): Promise<string> {
  return author.bot ? loginOf(ref, author.login) : author.login;
}

function toPullRequest(
  repository: { readonly nameWithOwner: string; readonly isArchived: boolean },
  pull: PullNode,
  author: string,
  commentCount: number | undefined,
): PullRequestNow {
  if (pull.labels === undefined || pull.baseRef.name !== pull.baseRefName) {
    throw unusable('more labels than a page, or another base branch than its name says');
  }
  return {
    repository: repository.nameWithOwner,
    number: pull.number,
    url: pull.url,
    state: STATES[pull.state],
    archived: repository.isArchived,
    title: pull.title,
    body: pull.body,
    author,
    firstTime: isFirstTime(pull.authorAssociation),
    draft: yesNo(pull.isDraft),
    labels: pull.labels.map(({ name }) => name).sort(),
    updatedAt: pull.updatedAt,
    base: { branch: pull.baseRefName },
    head: { branch: pull.headRefName, sha: pull.headRefOid, repository: pull.headRepository?.nameWithOwner ?? null },
    baseCommit: pull.baseRef.target.oid,
    commentCount,
    differenceBase: pull.baseRefOid,
    changedFileCount: pull.changedFiles,
  };
}

/** What is of the head only if the last commit is: it may be another one while a push is taken in. */
function preloadedFacts(pull: PullNode & FactsNode, self: string): PreloadedFacts {
  const isOfHead = pull.tip.nodes.at(-1)?.commit.oid === pull.headRefOid;
  const facts: { [Fact in keyof PreloadedFacts]: PreloadedFacts[Fact] | undefined } = {
    reviews: pull.reviews && reviewsIn(pull.reviews),
    ownComments: ownCommentsOf(pull, self),
    ownInlineComments: ownInlineCommentsOf(pull, self),
    ...(isOfHead
      ? {
          changedFiles: changedFilesOf(pull),
          commits: commitsOf(pull),
          accounts: accountsOf(pull),
          statuses: statusesOf(pull, self),
        }
      : {}),
  };
  return Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined));
}

const FILE_STATUSES = { ADDED: 'added', CHANGED: 'modified', DELETED: 'removed', MODIFIED: 'modified' } as const;

/** The old name of a file is not told, and it may be the one that a rule is about. */
function changedFilesOf({ files, changedFiles }: PullNode & FactsNode): ChangedFiles | undefined {
  if (files === undefined || files.length !== changedFiles) {
    return undefined;
  }
  const listed = files.flatMap(({ path, additions, deletions, changeType }) =>
    changeType === 'RENAMED' || changeType === 'COPIED'
      ? []
      : [
          {
            path,
            previousPath: undefined,
            status: FILE_STATUSES[changeType],
            additions,
            deletions,
            counted: false,
            diff: { kind: 'unread' } as const,
          },
        ],
  );
  return listed.length === files.length ? { files: listed, complete: true } : undefined;
}

/** REST knows more accounts: an App has none here. */
function commitsOf({ commits }: FactsNode): readonly Commit[] | undefined {
  const listed = commits?.flatMap(({ commit }): readonly Commit[] => {
    const { oid, message, author, committer, parents, committedViaWeb } = commit;
    const made = committer === null ? undefined : committerOf(personOf(committer), committedViaWeb);
    if (!author?.user || made === undefined || made?.login === null || parents === undefined) {
      return [];
    }
    return [
      {
        sha: oid,
        message,
        author: personOf(author),
        committer: made,
        parents: parents.map((parent) => parent.oid),
        verified: 'unknown',
        signer: undefined,
      },
    ];
  });
  return listed?.length === commits?.length ? listed : undefined;
}

/** Only people are users here. */
function personOf({ name, email, user }: Person): CommitPerson {
  return { name: name ?? '', email: email ?? '', login: user?.login ?? null, bot: user === null ? 'unknown' : 'no' };
}

/** Also of commits that REST has to be asked for. */
function accountsOf({ url, commits }: PullNode & FactsNode): Accounts | undefined {
  return (
    commits &&
    accountsIn(
      commits.map(({ commit }) => commit.authors),
      hostOf(url),
    )
  );
}

function statusesOf({ tip }: FactsNode, self: string): readonly PostedStatus[] {
  const commit = tip.nodes.at(-1)?.commit;
  return commit === undefined ? [] : toPostedStatuses(commit, self);
}

function ownCommentsOf({ comments }: FactsNode, self: string): readonly PostedComment[] | undefined {
  return comments?.filter((comment) => isOwn(comment, self)).map(({ fullDatabaseId: id, body }) => ({ id, body }));
}

function ownInlineCommentsOf({ reviewThreads }: FactsNode, self: string): OwnInlineComments | undefined {
  const threads = reviewThreads?.flatMap(({ comments }) => (comments === undefined ? [] : [comments]));
  if (threads === undefined || threads.length !== reviewThreads?.length) {
    return undefined;
  }
  const own = threads.flat().filter((comment) => isOwn(comment, self));
  return { comments: own.map(({ fullDatabaseId: id, body, path, line }) => ({ id, body, path, line })), reviews: [] };
}

function isOwn({ viewerDidAuthor, author }: NonNullable<FactsNode['comments']>[number], self: string): boolean {
  return viewerDidAuthor || author.login === self;
}
