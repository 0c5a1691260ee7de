import { posix } from 'node:path';
import { blobId, commitsBetween, mergeBase, type Tree, typeOf } from './git.ts';
import { page } from './github-pages.ts';
import * as shapes from './github-shapes.ts';
import { type Answer, type Call, makeFinders, type Routes } from './routes.ts';
import { printDiff } from './tree-diff.ts';
import {
  changesOf,
  commitsOf,
  isAdministrator,
  mayPush,
  newestStatuses,
  type Pull,
  type Repository,
  resolve,
  type World,
} from './world.ts';

const MOST_FILES = 3_000;
const MOST_COMMITS = 250;
const MOST_DIFF_LINES = 20_000;
const MOST_DIFF_FILES = 300;
const LARGEST_CONTENT_BYTES = 1_048_576;

export const NOT_FOUND: Answer = {
  status: 404,
  body: { message: 'Not Found', documentation_url: 'https://docs.github.com/rest', status: '404' },
};

export const { withRepository, withPull } = makeFinders(NOT_FOUND);

export function webOf(call: Call): string {
  return call.apiUrl.replace(/\/api\/v3$/, '');
}

export function githubReadRoutes(world: World): Routes {
  const repos = '/repos/:owner/:repo';
  const shown = (repository: Repository, call: Call) => {
    const [login = ''] = repository.fullName.split('/');
    const owner = { ...shapes.user(login), type: world.organisationHooks.has(login) ? 'Organization' : 'User' };
    const admin = isAdministrator(world, repository.fullName, call.login);
    const permissions = { admin, push: mayPush(world, repository.fullName, call.login), pull: true };
    return { ...shapes.repository(repository, webOf(call)), owner, permissions };
  };
  return {
    'GET /user': (call) => {
      const scopes = world.scopes.get((call.headers['authorization'] ?? '').split(' ')[1] ?? '');
      const headers = scopes && { 'x-oauth-scopes': scopes.join(', ') };
      return { status: 200, body: shapes.user(call.login), ...(headers && { headers }) };
    },

    // With an App's token GitHub refuses it.
    'GET /user/repos': (call) => {
      const found = [...world.repositories.values()].filter(({ deleted }) => !deleted);
      return call.login.endsWith('[bot]')
        ? { status: 403, body: { message: 'Resource not accessible by integration' } }
        : page(
            call,
            found.map((repository) => shown(repository, call)),
          );
    },

    [`GET ${repos}`]: withRepository(world, (repository, call) => ({ status: 200, body: shown(repository, call) })),

    [`GET ${repos}/pulls`]: withRepository(world, (repository, call) => {
      const state = call.query.get('state') ?? 'open';
      const pulls = [...repository.pulls.values()].filter((pull) => state === 'all' || pull.state === state);
      const ascending =
        call.query.get('sort') === 'updated'
          ? pulls.toSorted((one, other) => Date.parse(one.updatedAt) - Date.parse(other.updatedAt))
          : pulls;
      const sorted = call.query.get('direction') === 'asc' ? ascending : ascending.toReversed();
      return page(
        call,
        sorted.map((pull) => shapes.pull(pull, webOf(call))),
      );
    }),

    [`GET ${repos}/pulls/:number`]: withPull(world, (pull, call) =>
      call.headers['accept']?.includes('diff')
        ? diffOf(world, pull)
        : { status: 200, body: shapes.wholePull(world, pull, webOf(call)) },
    ),

    [`GET ${repos}/pulls/:number/files`]: withPull(world, (pull, call) =>
      page(
        call,
        changesOf(world, pull)
          .slice(0, MOST_FILES)
          .map((file) => shapes.file(file, `${call.apiUrl}/repos/${pull.repository.fullName}/contents`, pull.headSha)),
      ),
    ),

    [`GET ${repos}/pulls/:number/commits`]: withPull(world, (pull, call) =>
      page(call, commitsOf(world, pull).slice(0, MOST_COMMITS).map(shapes.commit)),
    ),

    [`GET ${repos}/compare/:basehead`]: withRepository(world, (repository, call) => {
      const [base = '', head = ''] = (call.parameters['basehead'] ?? '').split('...');
      const from = resolve(world, repository, base);
      const to = resolve(world, repository, head);
      if (from === undefined || to === undefined) {
        return NOT_FOUND;
      }
      const commits = commitsBetween(world.objects, from.sha, to.sha).map(shapes.commit);
      const base_commit = mergeBase(world.objects, from.sha, to.sha);
      if (base_commit === undefined) {
        return { ...NOT_FOUND, body: { message: `No common ancestor between ${base} and ${head}.` } };
      }
      const total = { status: 'ahead', total_commits: commits.length, merge_base_commit: { sha: base_commit } };
      return page(call, commits, (onPage) => ({ ...total, commits: onPage }));
    }),

    [`GET ${repos}/commits/:sha/pulls`]: withRepository(world, (repository, call) => {
      const sha = call.parameters['sha'] ?? '';
      const found = [...repository.pulls.values()].filter(({ merged }) => merged?.commits.includes(sha));
      return world.objects.has(sha)
        ? page(
            call,
            found.map((pull) => shapes.pull(pull, webOf(call))),
          )
        : { status: 422, body: { message: `No commit found for SHA: ${sha}` } };
    }),

    [`GET ${repos}/pulls/:number/reviews`]: withPull(world, (pull, call) =>
      page(
        call,
        pull.reviews.filter((review) => review.state !== 'pending' || review.author === call.login).map(shapes.review),
      ),
    ),

    [`GET ${repos}/pulls/:number/requested_reviewers`]: withPull(world, ({ requested }) => ({
      status: 200,
      body: {
        users: requested.filter((asked) => !asked.includes('/')).map(shapes.user),
        teams: requested.filter((asked) => asked.includes('/')).map((team) => ({ slug: team.split('/')[1] })),
      },
    })),

    [`GET ${repos}/pulls/:number/comments`]: withPull(world, (pull, call) =>
      page(
        call,
        pull.inlineComments.map((comment) => shapes.inlineComment(world, pull, comment)),
      ),
    ),

    [`GET ${repos}/issues/:number/comments`]: withPull(world, (pull, call) =>
      page(call, pull.comments.map(shapes.comment)),
    ),

    [`GET ${repos}/issues/:number/timeline`]: withPull(world, (pull, call) => page(call, shapes.timeline(world, pull))),

    [`GET ${repos}/commits/:ref/status`]: withRepository(world, (repository, call) => {
      const sha = resolve(world, repository, call.parameters['ref'] ?? '')?.sha;
      if (sha === undefined) {
        return { status: 422, body: { message: `No commit found for SHA: ${call.parameters['ref']}` } };
      }
      const newest = newestStatuses(repository, sha);
      const total = { state: 'pending', sha, total_count: newest.length };
      return page(call, newest.map(shapes.status), (statuses) => ({ ...total, statuses }));
    }),

    [`GET ${repos}/commits/:ref/statuses`]: withRepository(world, (repository, call) => {
      const sha = resolve(world, repository, call.parameters['ref'] ?? '')?.sha;
      if (sha === undefined) {
        return { status: 422, body: { message: `No commit found for SHA: ${call.parameters['ref']}` } };
      }
      const newestFirst = repository.statuses.filter((status) => status.sha === sha).toReversed();
      return page(
        call,
        newestFirst.map((status) => ({ ...shapes.status(status), creator: shapes.user(status.author) })),
      );
    }),

    [`GET ${repos}/git/ref/heads/*branch`]: withRepository(world, (repository, call) => {
      const sha = repository.branches.get(call.parameters['branch'] ?? '');
      return sha === undefined ? NOT_FOUND : { status: 200, body: { object: { type: 'commit', sha } } };
    }),

    // Tags are annotated: their refs name an object that names the commit.
    [`GET ${repos}/git/ref/tags/*tag`]: withRepository(world, (repository, call) => {
      const tag = call.parameters['tag'] ?? '';
      return repository.tags.has(tag) ? { status: 200, body: { object: { type: 'tag', sha: tagId(tag) } } } : NOT_FOUND;
    }),

    [`GET ${repos}/git/tags/:sha`]: withRepository(world, (repository, call) => {
      const [, sha] = [...repository.tags].find(([tag]) => tagId(tag) === call.parameters['sha']) ?? [];
      return sha === undefined ? NOT_FOUND : { status: 200, body: { object: { type: 'commit', sha } } };
    }),

    [`GET ${repos}/contents/*path`]: withRepository(world, (repository, call) =>
      contents(world, repository, call.parameters['path'] ?? '', call.query.get('ref') ?? repository.defaultBranch),
    ),

    'GET /orgs/:org/teams/:team/members': (call) => {
      const members = world.teams.get(`${call.parameters['org']}/${call.parameters['team']}`);
      return members === undefined ? NOT_FOUND : page(call, members.map(shapes.user));
    },
  };
}

function tagId(tag: string): string {
  return blobId(Buffer.from(`tag ${tag}`));
}

function diffOf(world: World, pull: Pull): Answer {
  const changes = changesOf(world, pull);
  const diff = printDiff(changes);
  if (changes.length > MOST_DIFF_FILES || diff.split('\n').length > MOST_DIFF_LINES) {
    return {
      status: 406,
      body: {
        message: `Sorry, the diff exceeded the maximum number of lines (${MOST_DIFF_LINES})`,
        errors: [{ resource: 'PullRequest', field: 'diff', code: 'too_large' }],
      },
    };
  }
  return { status: 200, text: diff, headers: { 'content-type': 'application/vnd.github.diff; charset=utf-8' } };
}

/** Of a link to a file of the repository GitHub answers the file; of any other link the link. */
function followed(tree: Tree, path: string): Buffer | undefined {
  const content = tree.get(path);
  const target = content && typeOf(content) === 'symlink' ? posix.join(posix.dirname(path), content.toString()) : path;
  const found = tree.get(target);
  return found && typeOf(found) === 'file' ? found : content;
}

function contents(world: World, repository: Repository, path: string, ref: string): Answer {
  const tree = resolve(world, repository, ref)?.tree;
  const content = tree && followed(tree, path);
  if (content === undefined) {
    const inside = [...(tree?.keys() ?? [])].filter((name) => name.startsWith(`${path}/`));
    return inside.length > 0
      ? { status: 200, body: inside.map((name) => ({ type: 'file', name, path: name })) }
      : NOT_FOUND;
  }
  if (typeOf(content) !== 'file') {
    return { status: 200, body: { type: typeOf(content), name: path.split('/').at(-1), path, sha: blobId(content) } };
  }
  const large = content.byteLength > LARGEST_CONTENT_BYTES;
  return {
    status: 200,
    body: {
      type: 'file',
      encoding: large ? 'none' : 'base64',
      size: content.byteLength,
      name: path.split('/').at(-1),
      path,
      content: large ? '' : inLines(content),
      sha: blobId(content),
    },
  };
}

/** GitHub breaks the text into lines. */
export function inLines(content: Buffer): string {
  return content.toString('base64').replaceAll(/.{60}/g, '$&\n');
}
