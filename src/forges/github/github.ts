import { z } from 'zod';
import { accessBy, requireFound } from '../answer.ts';
import type { Forge } from '../port/forge.ts';
import type { PullRequestNow, PullRequestRead } from '../port/pull-request.ts';
import type { Log } from '../transport/optional-redis.ts';
import { missingScopes } from './access.ts';
import * as ancestry from './ancestry.ts';
import { rememberAppLogins } from './app-logins.ts';
import { changedFiles } from './changed-files.ts';
import { checks } from './checks.ts';
import type { GitHubClient } from './client.ts';
import { comments } from './comments.ts';
import * as history from './commits.ts';
import { makeDeliveryRecovery } from './deliveries.ts';
import { makeGraphqlFirst } from './graphql-first.ts';
import { makeInspection } from './inspection.ts';
import { mergeQueueEntries } from './merge-queue.ts';
import { makeMergedPullRequests } from './merged.ts';
import { makeOverviews } from './overviews.ts';
import { pullRequest } from './pull-request.ts';
import * as read from './read.ts';
import { pullRequestAtOnce, reviewAtOnce } from './read-at-once.ts';
import * as refs from './refs.ts';
import { ask } from './request.ts';
import { mayWrite, requestedReviews, reviews } from './reviews.ts';
import { lastForcePushOrRetarget } from './timeline.ts';
import * as post from './write.ts';

/** GitHub and GitHub Enterprise Server. */
export function makeGitHub(client: GitHubClient, close: () => Promise<void>, log?: Log): Forge {
  const graphqlFirst = makeGraphqlFirst(log);
  const loginOf = rememberAppLogins(client);
  let known: string | undefined;

  async function self(): Promise<string> {
    known ??= client.kind === 'app' ? await loginOfApp(client) : await loginOfToken(client);
    return known;
  }

  return {
    name: 'github',
    inspection: makeInspection(client),
    deliveries: makeDeliveryRecovery(client),
    overviews: makeOverviews(client, self),
    merged: makeMergedPullRequests(client),
    mergeQueue: { entries: (repository, branch) => mergeQueueEntries(client, repository, branch) },
    self,
    checkAccess: () => accessBy(() => missingScopes(client)),
    pullRequest: (ref) =>
      graphqlFirst<PullRequestNow | undefined>(
        () => pullRequestAtOnce(client, ref, loginOf),
        () => pullRequest(client, ref),
      ),
    pullRequestWithFacts: (ref, paths) =>
      graphqlFirst<PullRequestRead | undefined>(
        async () => reviewAtOnce(client, ref, paths, await self(), loginOf),
        async () => {
          const read = await pullRequest(client, ref);
          return read && { pullRequest: read, known: {}, files: new Map() };
        },
      ),
    changedFiles: (ref, headSha, count) => changedFiles(client, ref, headSha, count),
    commits: (ref) => history.commits(client, ref),
    tree: (repository, sha) => history.tree(client, repository, sha),
    mergeBase: (repository, one, other) => ancestry.mergeBase(client, repository, one, other),
    isAncestor: (repository, ancestor, descendant) => ancestry.isAncestor(client, repository, ancestor, descendant),
    reviews: (ref, wanted) => reviews(client, ref, wanted),
    requestedReviews: (ref) => requestedReviews(client, ref),
    comments: (ref) => comments(client, ref),
    mayWrite: async (repository, login) => mayWrite(await client.forRepository(repository), repository, login),
    lastForcePushOrRetarget: (ref) => lastForcePushOrRetarget(client, ref),
    checks: (repository, sha) => checks(client, repository, sha),
    teamMembers: (team) => read.teamMembers(client, team),
    repository: (name) => read.repositoryNow(client, name),
    branchCommit: (repository, branch) => refs.branchCommit(client, repository, branch),
    tagCommit: (repository, tag) => refs.tagCommit(client, repository, tag),
    fileAt: (repository, path, ref) => read.fileAt(client, repository, path, ref),
    openPullRequests: (repository) => read.openPullRequests(client, repository),
    status: async (repository, sha, context) => read.status(client, repository, sha, context, await self()),
    setStatus: (repository, sha, status) => post.setStatus(client, repository, sha, status),
    ownComments: async (ref) => post.ownComments(client, ref, await self()),
    createComment: (ref, body) => post.createComment(client, ref, body),
    updateComment: (ref, id, body) => post.updateComment(client, ref, id, body),
    deleteComment: (ref, id) => post.deleteComment(client, ref, id),
    ownInlineComments: async (ref) => ({
      comments: await post.ownInlineComments(client, ref, await self()),
      reviews: [],
    }),
    async createInlineComments(ref, sha, comments) {
      if (comments.length > 0) {
        await post.createInlineComments(client, ref, sha, comments);
      }
    },
    withdrawInlineComments: (ref, ids) => post.withdrawInlineComments(client, ref, ids),
    close,
  };
}

async function loginOfToken(client: GitHubClient): Promise<string> {
  const user = await ask(client.own, 'GET /user', {}, z.object({ login: z.string() }));
  return requireFound(user, 'GET /user').login;
}

/** An App posts under its slug with `[bot]` behind it. */
async function loginOfApp(client: GitHubClient): Promise<string> {
  const app = await ask(client.own, 'GET /app', {}, z.object({ slug: z.string() }));
  return `${requireFound(app, 'GET /app').slug}[bot]`;
}
