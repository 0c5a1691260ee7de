import type { z } from 'zod';
import { requireFound } from '../answer.ts';
import type { Commit, CommitPerson, PullRequestRef, Tree } from '../port/pull-request.ts';
import { yesNo } from '../port/yes-no.ts';
import { hostOf } from './accounts.ts';
import type { GitHubClient } from './client.ts';
import { address, repositoryAddress } from './read.ts';
import { ask, askAll } from './request.ts';
import * as shapes from './shapes.ts';
import { readSigners } from './signers.ts';

/** `GET …/pulls/{n}/commits` ends here, without notice. */
const MAX_LISTED_COMMITS = 250;

/** The account that github.com commits with where somebody edits or merges on its pages. */
const WEB_COMMITTER = 'web-flow';

/**
 * Null where it is GitHub itself. An Enterprise Server commits without an account. Anybody can write its address into a
 * commit of their own, and hides no more than the committer by it.
 */
export function committerOf(person: CommitPerson, isServer: boolean): CommitPerson | null {
  return person.login === WEB_COMMITTER || (person.login === null && isServer) ? null : person;
}

export async function commits(
  client: GitHubClient,
  ref: PullRequestRef,
  { signers }: { readonly signers: boolean } = { signers: false },
): Promise<readonly Commit[]> {
  const listed = await listCommits(client, ref);
  if (!signers || !listed.some(({ verified }) => verified === 'yes')) {
    return listed;
  }
  const signerOf = await readSigners(client, ref);
  return listed.map((commit) => (commit.verified === 'yes' ? { ...commit, signer: signerOf.get(commit.sha) } : commit));
}

async function listCommits(client: GitHubClient, ref: PullRequestRef): Promise<readonly Commit[]> {
  const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/commits';
  const octokit = requireFound(await client.forRepository(ref.repository), route);
  let answer = requireFound(await askAll(octokit, route, address(ref), shapes.commits), route);
  if (answer.length >= MAX_LISTED_COMMITS) {
    const size = requireFound(
      await ask(octokit, 'GET /repos/{owner}/{repo}/pulls/{pull_number}', address(ref), shapes.pullSize),
      route,
    );
    if (size.commits > answer.length) {
      const compare = 'GET /repos/{owner}/{repo}/compare/{basehead}';
      const parameters = { ...address(ref), pull_number: undefined, basehead: `${size.base.sha}...${size.head.sha}` };
      // Without a page it would be the old kind of answer, which ends at 250 as well.
      answer = requireFound(await askAll(octokit, compare, { ...parameters, page: 1 }, shapes.comparison), compare);
    }
  }
  const host = hostOf(octokit.request.endpoint.DEFAULTS.baseUrl);
  return answer.map((commit) => toCommit(commit, host));
}

function toCommit(
  { sha, commit, author, committer, parents }: z.output<typeof shapes.commits>[number],
  host: string,
): Commit {
  const made = { name: '', email: '', ...commit.committer, ...committer };
  return {
    sha,
    message: commit.message,
    author: { name: '', email: '', ...commit.author, ...author },
    // REST does not tell what was made on the server's pages, but its address does, unless an administrator has set another.
    committer: committerOf(made, made.email.toLowerCase() === `noreply@${host}`),
    parents: parents.map((parent) => parent.sha),
    verified: yesNo(commit.verification?.verified),
    signer: undefined,
  };
}

/** https://docs.github.com/en/rest/git/trees#get-a-tree */
export async function tree(client: GitHubClient, repository: string, sha: string): Promise<Tree | undefined> {
  const octokit = await client.forRepository(repository);
  const route = 'GET /repos/{owner}/{repo}/git/trees/{tree_sha}';
  const parameters = { ...repositoryAddress(repository), tree_sha: sha, recursive: '1' };
  const answer = await ask(octokit, route, parameters, shapes.tree);
  if (answer === undefined || answer.truncated) {
    return undefined;
  }
  const files = answer.tree.filter(({ type }) => type !== 'tree');
  return new Map(files.map((entry) => [entry.path, `${entry.mode} ${entry.sha}`]));
}
