import { z } from 'zod';
import { accessBy, requireFound } from '../answer.ts';
import { bindClient } from '../bind-client.ts';
import type { Log } from '../optional-redis.ts';
import type { Forge } from '../port/forge.ts';
import type { PullRequestNow, PullRequestRead } from '../port/pull-request.ts';
import { missingScopes } from './access.ts';
import { accounts } from './accounts.ts';
import * as ancestry from './ancestry.ts';
import { rememberAppLogins } from './app-logins.ts';
import { changedFiles } from './changed-files.ts';
import { checks } from './checks.ts';
import type { GitHubAccount, GitHubClient } from './client.ts';
import { comments } from './comments.ts';
import { commits, tree } from './commits.ts';
import { conversations } from './conversations.ts';
import { makeDeliveryRecovery } from './deliveries.ts';
import { fileAt } from './files.ts';
import { makeGraphqlFirst } from './graphql-first.ts';
import { makeInspection } from './inspection.ts';
import { mergeQueueEntries } from './merge-queue.ts';
import { makeMergedPullRequests } from './merged.ts';
import { organisationMembers } from './organisation-members.ts';
import { makeOverviews } from './overviews.ts';
import { pullRequest } from './pull-request.ts';
import * as read from './read.ts';
import { pullRequestAtOnce, reviewAtOnce } from './read-at-once.ts';
import * as refs from './refs.ts';
import { ask } from './request.ts';
import { requestedReviews, reviews } from './reviews.ts';
import { lastForcePushOrRetarget } from './timeline.ts';
import { writableRepositories } from './writable-repositories.ts';
import * as posted from './write.ts';
import { writeAccess } from './write-access.ts';

/** GitHub and GitHub Enterprise Server. */
export function makeGitHub(client: GitHubClient, close: () => Promise<void>, log?: Log): Forge {
  const graphqlFirst = makeGraphqlFirst(log);
  const loginOf = rememberAppLogins(client);
  let login: string | undefined;
  const account: GitHubAccount = {
    ...client,
    async self() {
      login ??= client.kind === 'app' ? await loginOfApp(client) : await loginOfToken(client);
      return login;
    },
  };

  return {
    name: 'github',
    machineAccounts: [],
    inspection: makeInspection(client),
    ...(client.kind === 'app' && { deliveries: makeDeliveryRecovery(client) }),
    overviews: makeOverviews(client, account.self),
    merged: makeMergedPullRequests(client),
    mergeQueue: {
      account: 'github-merge-queue[bot]',
      entries: (repository, branch) => mergeQueueEntries(client, repository, branch),
    },
    statusLimit: {
      most: read.MAX_STATUSES,
      count: (repository, sha, context) => read.statusCount(client, repository, sha, context),
    },
    self: account.self,
    writableRepositories: (most) => writableRepositories(client, most),
    checkAccess: () => accessBy(() => missingScopes(client)),
    ask: (ref, { github }) => read.answerTo(client, ref, github),
    pullRequest: (ref) =>
      graphqlFirst<PullRequestNow | undefined>(
        () => pullRequestAtOnce(client, ref, loginOf),
        () => pullRequest(client, ref),
      ),
    pullRequestWithFacts: (ref, paths) =>
      graphqlFirst<PullRequestRead | undefined>(
        async () => reviewAtOnce(client, ref, paths, await account.self(), loginOf),
        async () => {
          const read = await pullRequest(client, ref);
          return read && { pullRequest: read, settled: 'unknown', preloaded: {}, files: new Map() };
        },
      ),
    reviews: (ref) => reviews(client, ref, graphqlFirst),
    // Each export of a module that is spread is a method of a forge.
    ...bindClient(account, { ...read.METHODS, ...refs, ...ancestry, ...posted }),
    ...bindClient(account, { accounts, changedFiles, checks, comments, conversations, commits, fileAt, tree }),
    ...bindClient(account, { lastForcePushOrRetarget, organisationMembers, requestedReviews, writeAccess }),
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
