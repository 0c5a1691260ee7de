import { blobId, commitsBetween, MODES, mergeBase, typeOf } from './git.ts';
import { withRepository as onGitea } from './gitea-read-routes.ts';
import * as gitea from './gitea-shapes.ts';
import { NOT_FOUND, withRepository as onGitHub } from './github-read-routes.ts';
import type { Answer, Routes } from './routes.ts';
import { resolve, type World } from './world.ts';

/** As both dialects list a tree with `recursive`: with its directories, in the order of git. */
function entriesOf(world: World, sha: string): readonly object[] | undefined {
  const tree = world.objects.get(sha)?.tree;
  if (tree === undefined) {
    return undefined;
  }
  const entries = new Map<string, object>();
  for (const [path, blob] of tree) {
    const type = typeOf(blob);
    entries.set(path, { path, mode: MODES[type], type: type === 'submodule' ? 'commit' : 'blob', sha: blobId(blob) });
    for (const directory of directoriesOf(path)) {
      const shown = { path: directory, mode: '040000', type: 'tree', sha: blobId(Buffer.from(`${sha} ${directory}`)) };
      entries.set(`${directory}/`, shown);
    }
  }
  // A directory is compared as if its name ended in a slash.
  return [...entries]
    .toSorted(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
    .map(([, entry]) => entry);
}

function directoriesOf(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** GitHub ends a tree after 100,000. Fewer here, so that stories have one that is cut off. */
const MOST_TREE_ENTRIES = 1_000;

/** Who may write: everybody but outsiders, and no bot has a permission of its own. */
export function githubHistoryRoutes(world: World): Routes {
  const repos = '/repos/:owner/:repo';
  return {
    [`GET ${repos}/git/trees/:sha`]: onGitHub(world, (_, call): Answer => {
      const sha = call.parameters['sha'] ?? '';
      const tree = entriesOf(world, sha);
      const truncated = tree !== undefined && tree.length > MOST_TREE_ENTRIES;
      return tree === undefined
        ? NOT_FOUND
        : { status: 200, body: { sha, tree: tree.slice(0, MOST_TREE_ENTRIES), truncated } };
    }),

    [`GET ${repos}/collaborators/:login/permission`]: onGitHub(world, (_, call): Answer => {
      const login = call.parameters['login'] ?? '';
      const writes = !world.outsiders.has(login) && !login.endsWith('[bot]');
      return { status: 200, body: { permission: writes ? 'write' : 'read', role_name: writes ? 'write' : 'read' } };
    }),
  };
}

/** Files on a page of a tree: far fewer than 1,000, so that stories have pages. */
const TREE_PAGE = 20;

export function giteaHistoryRoutes(world: World, notFound: Answer): Routes {
  const repos = '/repos/:owner/:repo';
  return {
    [`GET ${repos}/git/trees/:sha`]: onGitea(world, (_, call): Answer => {
      const sha = call.parameters['sha'] ?? '';
      const entries = entriesOf(world, sha);
      if (entries === undefined) {
        return notFound;
      }
      const page = Number(call.query.get('page') ?? 1);
      const tree = entries.slice((page - 1) * TREE_PAGE, page * TREE_PAGE);
      const truncated = page * TREE_PAGE < entries.length;
      return { status: 200, body: { sha, tree, truncated, page, total_count: entries.length } };
    }),

    [`GET ${repos}/compare/:basehead`]: onGitea(world, (repository, call): Answer => {
      const [base = '', head = ''] = (call.parameters['basehead'] ?? '').split('...');
      const [from, to] = [resolve(world, repository, base), resolve(world, repository, head)];
      if (from === undefined || to === undefined) {
        return notFound;
      }
      // Since one of the merge bases, and not since the base itself: it matters where there are several.
      const since = mergeBase(world.objects, from.sha, to.sha);
      if (since === undefined) {
        return notFound;
      }
      const commits = commitsBetween(world.objects, since, to.sha)
        .toReversed()
        .map((commit) => gitea.commit(commit, false));
      return { status: 200, body: { total_commits: commits.length, commits } };
    }),
  };
}
