import type { z } from 'zod';
import { requireFound } from '../answer.ts';
import type { Commit, PullRequestRef, Tree } from '../port/pull-request.ts';
import { yesNo } from '../port/yes-no.ts';
import { type GiteaClient, path } from './client.ts';
import { askTree } from './objects.ts';
import { pullPath, repositoryPath } from './read.ts';
import * as shapes from './shapes.ts';

/** Pages of a tree, of 1,000 files each as installed (DEFAULT_GIT_TREES_PER_PAGE). A larger one is not read. */
const MAX_TREE_PAGES = 50;

export async function commits(
  client: GiteaClient,
  ref: PullRequestRef,
  { signatures }: { readonly signatures: boolean } = { signatures: false },
): Promise<readonly Commit[]> {
  const route = `${pullPath(ref)}/commits`;
  // Both are costly for the forge.
  const query = { verification: String(signatures), files: 'false' };
  const answer = requireFound(await client.askAll(route, shapes.commits, { query }), route);
  // Newest first here, oldest first on GitHub.
  return answer.toReversed().map(toCommit);
}

/**
 * The signer of a verified signature has the login of the key's owner. For the forge's own key it is a name of its
 * settings, and old versions leave it empty.
 */
function toCommit({ sha, commit, author, committer, parents }: z.output<typeof shapes.commits>[number]): Commit {
  const verified = yesNo(commit.verification?.verified);
  const signer = verified === 'yes' ? commit.verification?.signer?.username : undefined;
  return {
    sha,
    message: commit.message,
    author: { ...commit.author, login: author, bot: 'unknown' },
    committer: { ...commit.committer, login: committer, bot: 'unknown' },
    parents,
    verified,
    signer: signer || undefined,
  };
}

export async function tree(client: GiteaClient, repository: string, sha: string): Promise<Tree | undefined> {
  const route = `${repositoryPath(repository)}${path('git', 'trees', sha)}`;
  const files = new Map<string, string>();
  for (let page = 1; page <= MAX_TREE_PAGES; page += 1) {
    const answer = await askTree(client, route, { recursive: 'true', page });
    if (answer === undefined) {
      return undefined;
    }
    for (const entry of answer.tree ?? []) {
      if (entry.type !== 'tree') {
        files.set(entry.path, `${entry.mode} ${entry.sha}`);
      }
    }
    if (!answer.truncated) {
      return files;
    }
  }
  return undefined;
}
