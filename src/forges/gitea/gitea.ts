import { accessBy, requireFound } from '../answer.ts';
import { bindClient } from '../bind-client.ts';
import type { Forge } from '../port/forge.ts';
import { missingScopes } from './access.ts';
import { accounts } from './accounts.ts';
import * as ancestry from './ancestry.ts';
import { makeChangeList, writableRepositories } from './change-list.ts';
import { changedFiles } from './changed-files.ts';
import { checks } from './checks.ts';
import type { GiteaAccount, GiteaClient } from './client.ts';
import { comments } from './comments.ts';
import * as history from './commits.ts';
import { conversations } from './conversations.ts';
import { DIFFERENCES, type GiteaName } from './differences.ts';
import * as inline from './inline-comments.ts';
import { makeInspection } from './inspection.ts';
import { makeMergedPullRequests } from './merged.ts';
import { fileAt } from './objects.ts';
import { organisationMembers } from './organisation-members.ts';
import * as read from './read.ts';
import * as reviews from './reviews.ts';
import * as shapes from './shapes.ts';
import { lastForcePushOrRetarget } from './timeline.ts';
import * as posted from './write.ts';
import { writeAccess } from './write-access.ts';

/** Gitea (1.22 or later) and Forgejo (7 or later). */
export function makeGitea(name: GiteaName, client: GiteaClient, close: () => Promise<void>): Forge {
  let login: string | undefined;
  const account: GiteaAccount = {
    ...client,
    differences: DIFFERENCES[name],
    async self() {
      login ??= requireFound(await client.ask('/user', shapes.user), 'GET /user').login;
      return login;
    },
  };

  return {
    name,
    machineAccounts: [],
    inspection: makeInspection(name, client),
    changeList: makeChangeList(client),
    merged: makeMergedPullRequests(client),
    self: account.self,
    writableRepositories: (most) => writableRepositories(client, most),
    checkAccess: () => accessBy(() => missingScopes(client)),
    ask: (ref, questions) => read.answerTo(client, ref, questions[name]),
    async pullRequestWithFacts(ref) {
      const pullRequest = await read.pullRequest(client, ref);
      return pullRequest && { pullRequest, settled: 'unknown', preloaded: {}, files: new Map() };
    },
    // Each export of a module that is spread is a method of a forge.
    ...bindClient(account, { ...read.METHODS, ...ancestry, ...history, ...reviews.METHODS, ...posted, ...inline }),
    ...bindClient(account, { accounts, changedFiles, checks, comments, conversations, fileAt }),
    ...bindClient(account, { lastForcePushOrRetarget, organisationMembers, writeAccess }),
    close,
  };
}
