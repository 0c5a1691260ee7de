import { accessBy, requireFound } from '../answer.ts';
import type { Forge } from '../port/forge.ts';
import { missingScopes } from './access.ts';
import * as ancestry from './ancestry.ts';
import { makeChangeList } from './change-list.ts';
import { changedFiles } from './changed-files.ts';
import { checks } from './checks.ts';
import type { GiteaClient } from './client.ts';
import { comments } from './comments.ts';
import * as history from './commits.ts';
import { DIFFERENCES, type GiteaName } from './differences.ts';
import * as inline from './inline-comments.ts';
import { makeInspection } from './inspection.ts';
import { mayWrite } from './may-write.ts';
import { makeMergedPullRequests } from './merged.ts';
import * as read from './read.ts';
import { requestedReviews, reviews } from './reviews.ts';
import * as shapes from './shapes.ts';
import { lastForcePushOrRetarget } from './timeline.ts';
import * as post from './write.ts';

/** Gitea (1.22 or later) and Forgejo (7 or later). */
export function makeGitea(name: GiteaName, client: GiteaClient, close: () => Promise<void>): Forge {
  const differences = DIFFERENCES[name];
  let known: string | undefined;

  async function self(): Promise<string> {
    known ??= requireFound(await client.ask('/user', shapes.user), 'GET /user').login;
    return known;
  }

  return {
    name,
    inspection: makeInspection(name, client),
    changeList: makeChangeList(client),
    merged: makeMergedPullRequests(client),
    self,
    checkAccess: () => accessBy(() => missingScopes(client)),
    pullRequest: (ref) => read.pullRequest(client, ref),
    async pullRequestWithFacts(ref) {
      const pullRequest = await read.pullRequest(client, ref);
      return pullRequest && { pullRequest, known: {}, files: new Map() };
    },
    changedFiles: (ref, headSha, count) => changedFiles(client, ref, headSha, count),
    commits: (ref, ask) => history.commits(client, ref, ask),
    tree: (repository, sha) => history.tree(client, repository, sha),
    mergeBase: (repository, one, other) => ancestry.mergeBase(client, repository, one, other),
    isAncestor: (repository, ancestor, descendant) => ancestry.isAncestor(client, repository, ancestor, descendant),
    reviews: (ref) => reviews(client, ref),
    requestedReviews: (ref) => requestedReviews(client, ref),
    comments: (ref) => comments(client, ref),
    mayWrite: (repository, login) => mayWrite(client, repository, login),
    lastForcePushOrRetarget: (ref) => lastForcePushOrRetarget(client, ref),
    checks: (repository, sha) => checks(client, repository, sha),
    teamMembers: (team) => read.teamMembers(client, team),
    repository: (name) => read.repositoryNow(client, name),
    branchCommit: (repository, branch) => read.branchCommit(client, repository, branch),
    tagCommit: (repository, tag) => read.tagCommit(client, repository, tag),
    fileAt: (repository, path, ref) => read.fileAt(client, repository, path, ref),
    openPullRequests: (repository) => read.openPullRequests(client, repository),
    status: async (repository, sha, context) => read.status(client, repository, sha, context, await self()),
    setStatus: (repository, sha, status) => post.setStatus(client, repository, sha, status),
    ownComments: async (ref) => post.ownComments(client, ref, await self()),
    createComment: (ref, body) => post.createComment(client, ref, body),
    updateComment: (ref, id, body) => post.updateComment(client, ref, id, body),
    deleteComment: (ref, id) => post.deleteComment(client, ref, id),
    ownInlineComments: async (ref, headSha) => inline.ownInlineComments(client, ref, await self(), headSha),
    async createInlineComments(ref, headSha, comments, before) {
      if (comments.length > 0) {
        await inline.createInlineComments(client, ref, await self(), headSha, comments, before);
      }
    },
    withdrawInlineComments: (ref, ids, note, reviews) =>
      inline.withdrawInlineComments(client, ref, ids, note, reviews, differences),
    close,
  };
}
