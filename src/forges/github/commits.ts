import type { z } from 'zod';
import { requireFound } from '../answer.ts';
import type { Commit, PullRequestRef, Tree } from '../port/pull-request.ts';
import type { GitHubClient } from './client.ts';
import { address, repositoryAddress } from './read.ts';
import { ask, askAll } from './request.ts';
import * as shapes from './shapes.ts';
import { readSigners } from './signers.ts';

/** `GET …/pulls/{n}/commits` ends here, without notice. */
const MAX_LISTED_COMMITS = 250;

/** The account that GitHub commits with where somebody edits or merges on its pages. */
export const WEB_COMMITTER = 'web-flow';

export async function commits(
  client: GitHubClient,
  ref: PullRequestRef,
  { signers }: { readonly signers: boolean } = { signers: false },
): Promise<readonly Commit[]> {
  const listed = await listCommits(client, ref);
  if (!signers || !listed.some(({ verified }) => verified === true)) {
    return listed;
  }
  const signerOf = await readSigners(client, ref);
  return listed.map((commit) => {
    const signer = commit.verified === true ? signerOf.get(commit.sha) : undefined;
    return signer === undefined ? commit : { ...commit, signer };
  });
}

async function listCommits(client: GitHubClient, ref: PullRequestRef): Promise<readonly Commit[]> {
  const octokit = await client.forRepository(ref.repository);
  const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/commits';
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
  return answer.map(toCommit);
}

function toCommit({ sha, commit, author, committer, parents }: z.output<typeof shapes.commits>[number]): Commit {
  return {
    sha,
    message: commit.message,
    author: { name: '', email: '', ...commit.author, ...author },
    committer: committer.login === WEB_COMMITTER ? null : { name: '', email: '', ...commit.committer, ...committer },
    parents: parents.map((parent) => parent.sha),
    verified: commit.verification?.verified ?? null,
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
