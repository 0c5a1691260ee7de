import { blobId, typeOf } from './git.ts';
import * as shapes from './gitea-shapes.ts';
import { type Answer, type Call, makeFinders, type Routes } from './routes.ts';
import { printDiff } from './tree-diff.ts';
import {
  changesOf,
  commitsOf,
  differenceHead,
  isAdministrator,
  mayPush,
  newestStatuses,
  type Pull,
  type Repository,
  resolve,
  type Status,
  type World,
} from './world.ts';

/** DEFAULT_PAGING_NUM and MAX_RESPONSE_ITEMS as installed. */
const PAGE_SIZE = 30;
const LARGEST_PAGE = 50;

export const NOT_FOUND: Answer = { status: 404, body: { errors: null, message: "The target couldn't be found." } };

export const { withRepository, withPull } = makeFinders(NOT_FOUND);

/** Not every list has links: the one of reviews says only how many there are. */
export function page(call: Call, items: readonly unknown[], linked = true): Answer {
  const size = Math.min(Number(call.query.get('limit') ?? PAGE_SIZE), LARGEST_PAGE);
  const number = Number(call.query.get('page') ?? 1);
  const query = new URLSearchParams(call.query);
  query.set('page', String(number + 1));
  const more = linked && number * size < items.length;
  return {
    status: 200,
    body: items.slice((number - 1) * size, number * size),
    headers: {
      'x-total-count': String(items.length),
      ...(more ? { link: `<${call.apiUrl}${call.path}?${query}>; rel="next"` } : {}),
    },
  };
}

/** Newest first. Times are compared in whole seconds. */
function foundPulls(world: World, query: URLSearchParams): readonly Pull[] {
  const seconds = (time: string) => Math.floor(Date.parse(time) / 1_000);
  const since = seconds(query.get('since') ?? '1970-01-01');
  return [...world.repositories.values()]
    .filter(({ deleted }) => !deleted)
    .flatMap(({ pulls }) => [...pulls.values()])
    .filter(({ state, updatedAt }) => (query.get('state') === 'all' || state === 'open') && seconds(updatedAt) >= since)
    .toSorted((one, other) => Date.parse(other.createdAt) - Date.parse(one.createdAt));
}

function foundRepositories(world: World, query: URLSearchParams): readonly Repository[] {
  const found = [...world.repositories.values()]
    .filter(({ archived, deleted }) => !deleted && !(archived && query.get('archived') === 'false'))
    .toSorted((one, other) => Date.parse(one.pushedAt) - Date.parse(other.pushedAt));
  return query.get('order') === 'desc' ? found.toReversed() : found;
}

function inOrder(pulls: readonly Pull[], sort: string): readonly Pull[] {
  const byUpdate = () => pulls.toSorted((one, other) => Date.parse(other.updatedAt) - Date.parse(one.updatedAt));
  return sort === 'recentupdate' ? byUpdate() : sort === 'oldest' ? pulls : pulls.toReversed();
}

export function giteaReadRoutes(world: World, name: 'gitea' | 'forgejo'): Routes {
  const repos = '/repos/:owner/:repo';
  const webOf = (call: Call) => call.apiUrl.replace(/\/api\/v1$/, '');
  const shown = (repository: Repository, call: Call) => ({
    ...shapes.repository(repository, webOf(call)),
    permissions: {
      admin: isAdministrator(world, repository.fullName, call.login),
      push: mayPush(world, repository.fullName, call.login),
      pull: true,
    },
  });
  return {
    'GET /user': (call) => ({ status: 200, body: shapes.user(call.login) }),

    // Before the routes of a repository, which has no such name.
    'GET /repos/issues/search': (call) => page(call, foundPulls(world, call.query).map(shapes.foundPull)),
    'GET /repos/search': (call) => {
      const { body, ...answer } = page(call, foundRepositories(world, call.query));
      const data = (body as readonly Repository[]).map((repository) => shown(repository, call));
      return { ...answer, body: { ok: true, data } };
    },

    [`GET ${repos}`]: withRepository(world, (repository, call) => ({
      status: 200,
      body: shown(repository, call),
    })),

    [`GET ${repos}/pulls`]: withRepository(world, (repository, call) => {
      const state = call.query.get('state') ?? 'open';
      const pulls = [...repository.pulls.values()].filter((pull) => state === 'all' || pull.state === state);
      const sorted = inOrder(pulls, call.query.get('sort') ?? '');
      return page(
        call,
        sorted.map((pull) => shapes.pull(world, pull, webOf(call), name)),
      );
    }),

    [`GET ${repos}/pulls/:number.diff`]: withPull(world, (pull) => ({
      status: 200,
      text: printDiff(changesOf(world, pull, differenceHead(world, pull))),
    })),

    [`GET ${repos}/pulls/:number`]: withPull(world, (pull, call) => ({
      status: 200,
      body: {
        ...shapes.wholePull(world, pull, webOf(call), name),
        ...(name === 'gitea' && !pull.agit ? { changed_files: changesOf(world, pull).length } : {}),
      },
    })),

    [`GET ${repos}/pulls/:number/files`]: withPull(world, (pull, call) => {
      const head = differenceHead(world, pull);
      const contents = `${call.apiUrl}/repos/${pull.headRepository.fullName}/contents`;
      return page(
        call,
        changesOf(world, pull, head).map((file) => shapes.file(file, contents, head)),
      );
    }),

    [`GET ${repos}/git/refs/pull/:number/head`]: withPull(world, (pull) => ({
      status: 200,
      body: [{ ref: `refs/pull/${pull.number}/head`, object: { type: 'commit', sha: differenceHead(world, pull) } }],
    })),

    [`GET ${repos}/pulls/:number/commits`]: withPull(world, (pull, call) =>
      page(
        call,
        commitsOf(world, pull, differenceHead(world, pull))
          .toReversed()
          .map((commit) => shapes.commit(commit, call.query.get('verification') !== 'false')),
      ),
    ),

    [`GET ${repos}/pulls/:number/reviews`]: withPull(world, (pull, call) => {
      const answer = page(call, pull.reviews, false);
      // Others' pending reviews are counted and then left out.
      const visible = pull.reviews.filter((review) => review.state !== 'pending' || review.author === call.login);
      const onPage = visible.filter((review) => Array.isArray(answer.body) && answer.body.includes(review));
      const requested =
        Number(call.query.get('page') ?? 1) > 1
          ? []
          : pull.requested.map((asked, index) =>
              shapes.requestedReview(asked, mayPush(world, pull.repository.fullName, asked), index),
            );
      return {
        ...answer,
        body: [...onPage.map((review) => shapes.review(review, pull)), ...requested],
        headers: { ...answer.headers, 'x-total-count': String(pull.reviews.length + pull.requested.length) },
      };
    }),

    // In no order that could be relied on; here the newest is first.
    [`GET ${repos}/pulls/:number/reviews/:review/comments`]: withPull(world, (pull, call) => {
      const review = Number(call.parameters['review']);
      const comments = pull.inlineComments.filter((comment) => comment.review === review).toReversed();
      return pull.reviews.some(({ id }) => id === review)
        ? { status: 200, body: comments.map(shapes.inlineComment) }
        : NOT_FOUND;
    }),

    [`GET ${repos}/issues/:number/comments`]: withPull(world, (pull) => ({
      status: 200,
      body: pull.comments.map(shapes.comment),
      headers: { 'x-total-count': String(pull.comments.length) },
    })),

    // Comments at lines have a place and are not shown. The total is only that of the page, and an empty one is null.
    [`GET ${repos}/issues/:number/timeline`]: withPull(world, (pull, call) => {
      const { body } = page(call, shapes.timeline(world, pull));
      const shown = Array.isArray(body) ? body.filter((entry) => entry !== null) : [];
      const headers = { 'x-total-count': String(shown.length) };
      return { status: 200, body: shown.length === 0 ? null : shown, headers };
    }),

    [`GET ${repos}/statuses/:sha`]: withRepository(world, statusesOf),
    [`GET ${repos}/commits/:sha/statuses`]: withRepository(world, statusesOf),

    // Only of the commit that a pull request became, and of no other that it brought.
    [`GET ${repos}/commits/:sha/pull`]: withRepository(world, (repository, call) => {
      const found = [...repository.pulls.values()].find(({ merged }) => merged?.as === call.parameters['sha']);
      return found === undefined ? NOT_FOUND : { status: 200, body: shapes.wholePull(world, found, webOf(call), name) };
    }),

    [`GET ${repos}/commits/:sha/status`]: withRepository(world, (repository, call) => {
      const sha = resolve(world, repository, call.parameters['sha'] ?? '')?.sha;
      if (sha === undefined) {
        return NOT_FOUND;
      }
      const newest = newestStatuses(repository, sha);
      const answer = page(call, newest.map(shapes.status));
      const state = WORST_FIRST.find((worst) => newest.some((status) => status.state === worst)) ?? '';
      return { ...answer, body: { state, sha, total_count: newest.length, statuses: answer.body } };
    }),

    [`GET ${repos}/tags/*tag`]: withRepository(world, (repository, call) => {
      const name = call.parameters['tag'] ?? '';
      const sha = repository.tags.get(name);
      return sha === undefined ? NOT_FOUND : { status: 200, body: { name, id: sha, commit: { sha } } };
    }),

    [`GET ${repos}/contents/*path`]: withRepository(world, (repository, call) =>
      contents(world, repository, call.parameters['path'] ?? '', call.query.get('ref') ?? repository.defaultBranch),
    ),
  };
}

const WORST_FIRST = ['error', 'failure', 'warning', 'pending', 'success'];

/** `highestindex` is the oldest first, whatever it says. The default knows seconds: within one, order is by chance. */
function statusesOf(repository: Repository, call: Call): Answer {
  const ofCommit = repository.statuses.filter((status) => status.sha === call.parameters['sha']);
  const second = (status: Status) => Math.floor(Date.parse(status.at) / 1_000);
  const sorted: Readonly<Record<string, readonly Status[]>> = {
    highestindex: ofCommit,
    leastindex: ofCommit.toReversed(),
  };
  const byTime = ofCommit.toSorted((one, other) => second(other) - second(one));
  return page(call, (sorted[call.query.get('sort') ?? ''] ?? byTime).map(shapes.status));
}

function contents(world: World, repository: Repository, path: string, ref: string): Answer {
  const tree = resolve(world, repository, ref)?.tree;
  const content = tree?.get(path);
  if (content === undefined) {
    const inside = [...(tree?.keys() ?? [])].filter((name) => name.startsWith(`${path}/`));
    return inside.length > 0 ? { status: 200, body: inside.map((name) => ({ type: 'file', path: name })) } : NOT_FOUND;
  }
  const type = typeOf(content);
  return {
    status: 200,
    body: {
      name: path.split('/').at(-1),
      path,
      sha: blobId(content),
      type,
      size: content.byteLength,
      encoding: type === 'file' ? 'base64' : null,
      content: type === 'file' ? content.toString('base64') : null,
    },
  };
}
