import { blobId, commitsBetween, MODES, typeOf } from './git.ts';
import { withRepository as onGitea, page } from './gitea-read-routes.ts';
import * as gitea from './gitea-shapes.ts';
import { inLines, NOT_FOUND, withRepository as onGitHub } from './github-read-routes.ts';
import { COPILOT, isApp } from './github-shapes.ts';
import type { Answer, Routes } from './routes.ts';
import { isOutsider, type World } from './world.ts';

interface Entry {
  readonly path: string;
  readonly mode: string;
  readonly type: string;
  readonly sha: string;
}

/** As both dialects list a tree with `recursive`: with its directories, in the order of git. */
function entriesOf(world: World, sha: string): readonly Entry[] | undefined {
  const tree = world.objects.get(sha)?.tree;
  if (tree === undefined) {
    return undefined;
  }
  const entries = new Map<string, Entry>();
  for (const [path, blob] of tree) {
    const type = typeOf(blob);
    entries.set(path, { path, mode: MODES[type], type: type === 'submodule' ? 'commit' : 'blob', sha: blobId(blob) });
    for (const directory of directoriesOf(path)) {
      const shown = { path: directory, mode: '040000', type: 'tree', sha: directoryId(sha, directory) };
      entries.set(`${directory}/`, shown);
    }
  }
  // A directory is compared as if its name ended in a slash.
  return [...entries]
    .toSorted(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
    .map(([, entry]) => entry);
}

function directoryId(sha: string, directory: string): string {
  return blobId(Buffer.from(`${sha} ${directory}`));
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
  const listed: Listed = { directories: new Map(), blobs: new Map() };
  return {
    [`GET ${repos}/git/trees/:sha`]: onGitHub(world, (_, call): Answer => {
      const sha = call.parameters['sha'] ?? '';
      const isWhole = call.query.has('recursive');
      const tree = isWhole ? entriesOf(world, sha) : childrenOf(world, sha, listed);
      const truncated = isWhole && tree !== undefined && tree.length > MOST_TREE_ENTRIES;
      return tree === undefined
        ? NOT_FOUND
        : { status: 200, body: { sha, tree: truncated ? tree.slice(0, MOST_TREE_ENTRIES) : tree, truncated } };
    }),

    [`GET ${repos}/git/blobs/:sha`]: onGitHub(world, (_, call): Answer => {
      const sha = call.parameters['sha'] ?? '';
      const blobs = [...world.objects.values()].flatMap(({ tree }) => [...tree.values()]);
      const blob = blobs.find((content) => blobId(content) === sha);
      return blob === undefined
        ? NOT_FOUND
        : { status: 200, body: { sha, size: blob.byteLength, encoding: 'base64', content: inLines(blob) } };
    }),

    [`GET ${repos}/collaborators/:login/permission`]: onGitHub(world, (_, call): Answer => {
      const login = call.parameters['login'] ?? '';
      if (login === COPILOT) {
        return { status: 404, body: { message: `${login} is not a user` } };
      }
      const isNobody = login === 'ghost' || isApp(login);
      const permission = isNobody ? 'none' : isOutsider(world, login) ? 'read' : 'write';
      return { status: 200, body: { permission, role_name: permission } };
    }),
  };
}

/** Files on a page of a tree: far fewer than 1,000, so that stories have pages. */
const TREE_PAGE = 20;

/** What is in the directories and files that were listed, by id. */
interface Listed {
  readonly directories: Map<string, { readonly sha: string; readonly path: string }>;
  readonly blobs: Map<string, Buffer>;
}

export function giteaHistoryRoutes(world: World, notFound: Answer): Routes {
  const repos = '/repos/:owner/:repo';
  const listed: Listed = { directories: new Map(), blobs: new Map() };
  return {
    [`GET ${repos}/git/trees/:sha`]: onGitea(world, (_, call): Answer => {
      const sha = call.parameters['sha'] ?? '';
      const isWhole = call.query.get('recursive') === 'true';
      const entries = isWhole ? entriesOf(world, sha) : childrenOf(world, sha, listed);
      if (entries === undefined) {
        return { status: 400, body: { message: `sha not found [${sha}]` } };
      }
      const page = Number(call.query.get('page') ?? 1);
      const tree = entries.slice((page - 1) * TREE_PAGE, page * TREE_PAGE);
      const truncated = page * TREE_PAGE < entries.length;
      return { status: 200, body: { sha, tree, truncated, page, total_count: entries.length } };
    }),

    [`GET ${repos}/git/blobs/:sha`]: onGitea(world, (_, call): Answer => {
      const sha = call.parameters['sha'] ?? '';
      const blob = listed.blobs.get(sha);
      return blob === undefined
        ? notFound
        : { status: 200, body: { sha, size: blob.byteLength, encoding: 'base64', content: blob.toString('base64') } };
    }),

    // Ids are ids here, whatever branches and tags are named.
    [`GET ${repos}/commits`]: onGitea(world, (_, call): Answer => {
      const [head, base] = ['sha', 'not'].map((name) => world.objects.get(call.query.get(name) ?? ''));
      if (head === undefined) {
        return notFound;
      }
      if (base === undefined) {
        return { status: 500, body: { message: 'exit status 128 - fatal: bad object' } };
      }
      const commits = commitsBetween(world.objects, base.sha, head.sha).toReversed();
      return page(
        call,
        commits.map((commit) => gitea.commit(commit, false)),
      );
    }),
  };
}

/** Of a directory, or of the uppermost one of a commit. */
function childrenOf(world: World, id: string, { directories, blobs }: Listed): readonly object[] | undefined {
  const { sha, path } = directories.get(id) ?? { sha: id, path: '' };
  const prefix = path === '' ? '' : `${path}/`;
  for (const [name, blob] of world.objects.get(sha)?.tree ?? []) {
    blobs.set(blobId(blob), blob);
    for (const directory of directoriesOf(name)) {
      directories.set(directoryId(sha, directory), { sha, path: directory });
    }
  }
  return entriesOf(world, sha)
    ?.filter((entry) => entry.path.startsWith(prefix) && !entry.path.slice(prefix.length).includes('/'))
    .map((entry) => ({ ...entry, path: entry.path.slice(prefix.length) }));
}
