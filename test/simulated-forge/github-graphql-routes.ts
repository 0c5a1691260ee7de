import type { Answer, Call, Routes } from './routes.ts';
import { textIn } from './routes.ts';
import {
  baseSha,
  type Comment,
  findRepository,
  type Pull,
  type QueueEntry,
  type Repository,
  type World,
} from './world.ts';

/** The most nodes that GitHub gives at once. */
const PAGE_SIZE = 100;

/** Three queries only: the entries of a merge queue, the overview of many repositories, and the comments of a pull request. */
export function githubGraphqlRoutes(world: World): Routes {
  return {
    'POST /graphql': (call) => {
      const query = textIn(call.body, 'query');
      if (query.includes('mergeQueue(branch: $branch)')) {
        return mergeQueue(world, call);
      }
      if (query.includes('fragment overview on Repository')) {
        return overviews(world, call, query);
      }
      return query.includes('comments(first: 100, after: $cursor)')
        ? comments(world, call)
        : failure('UNKNOWN_QUERY', 'The simulated forge knows no such query');
    },
  };
}

function comments(world: World, call: Call): Answer {
  const variables = Object.fromEntries(Object.entries(Object(call.body['variables'])));
  const repository = findRepository(world, `${textIn(variables, 'owner')}/${textIn(variables, 'repo')}`);
  const all = repository?.pulls.get(Number(variables['number']))?.comments;
  if (all === undefined) {
    return failure('NOT_FOUND', 'Could not resolve to a PullRequest.');
  }
  const start = Number(textIn(variables, 'cursor'));
  const end = start + PAGE_SIZE;
  const connection = {
    nodes: all.slice(start, end).map(commentNode),
    pageInfo: { hasNextPage: end < all.length, endCursor: String(end) },
  };
  return { status: 200, body: { data: { repository: { pullRequest: { comments: connection } } } } };
}

/** A bot has no "[bot]" in its login here. */
function commentNode({ id, author, body, at, editedAt, byEmail }: Comment): object {
  const login = author.replace(/\[bot\]$/, '');
  return {
    url: `https://github.test/comments#issuecomment-${id}`,
    author: author === 'ghost' ? null : { __typename: login === author ? 'User' : 'Bot', login },
    body,
    createdAt: at,
    lastEditedAt: editedAt ?? null,
    createdViaEmail: byEmail ?? false,
  };
}

/** What is not there is null, and an error beside the rest. */
function overviews(world: World, call: Call, query: string): Answer {
  const variables = variablesOf(call);
  const size = Number(/pullRequests\(states: OPEN, first: (\d+)\)/.exec(query)?.[1]);
  const data: Record<string, object | null> = {};
  const errors: object[] = [];
  for (const [, alias = '', owner = '', name = ''] of query.matchAll(
    /(\w+): repository\(owner: \$(\w+), name: \$(\w+)\) \{ \.\.\.overview \}/g,
  )) {
    const fullName = `${textIn(variables, owner)}/${textIn(variables, name)}`;
    const repository = visibleRepository(world, call, fullName);
    data[alias] = repository === undefined ? null : overview(repository, size);
    if (repository === undefined) {
      const message = `Could not resolve to a Repository with the name '${fullName}'.`;
      errors.push({ type: 'NOT_FOUND', path: [alias], message });
    }
  }
  return { status: 200, body: { data, ...(errors.length > 0 ? { errors } : {}) } };
}

/** By its old name, too. An installation sees the repositories of its own owner: all here count as private. */
function visibleRepository(world: World, call: Call, fullName: string): Repository | undefined {
  const repository = findRepository(world, fullName) ?? world.renames.get(fullName.toLowerCase());
  const owner = world.installationTokens.get(call.headers['authorization']?.split(' ')[1] ?? '');
  const hidden = owner !== undefined && repository?.fullName.split('/')[0] !== owner;
  return hidden || repository?.deleted === true ? undefined : repository;
}

function overview(repository: Repository, size: number): object {
  const open = [...repository.pulls.values()].filter(({ state }) => state === 'open');
  return {
    nameWithOwner: repository.fullName,
    isArchived: repository.archived,
    pullRequests: {
      nodes: open.slice(0, size).map(openPull),
      pageInfo: { hasNextPage: open.length > size },
    },
  };
}

function openPull(pull: Pull): object {
  const oid = baseSha(pull);
  return {
    number: pull.number,
    updatedAt: pull.updatedAt,
    headRefOid: pull.headSha,
    baseRefName: pull.baseBranch,
    baseRef: oid === '' ? null : { target: { oid } },
  };
}

function variablesOf(call: Call): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(Object(call.body['variables'])));
}

function failure(type: string, message: string): Answer {
  return { status: 200, body: { data: null, errors: [{ type, message }] } };
}

function mergeQueue(world: World, call: Call): Answer {
  const variables = variablesOf(call);
  const fullName = `${textIn(variables, 'owner')}/${textIn(variables, 'repo')}`;
  const repository = findRepository(world, fullName);
  if (repository === undefined || repository.deleted) {
    return failure('NOT_FOUND', `Could not resolve to a Repository with the name '${fullName}'.`);
  }
  const all = repository.mergeQueues.get(textIn(variables, 'branch'));
  const start = Number(textIn(variables, 'cursor'));
  const end = start + PAGE_SIZE;
  const entries = all && {
    nodes: all.slice(start, end).map((entry, index) => node(entry, start + index + 1)),
    pageInfo: { hasNextPage: end < all.length, endCursor: String(end) },
  };
  return { status: 200, body: { data: { repository: { mergeQueue: entries ? { entries } : null } } } };
}

function node({ number, headSha }: QueueEntry, position: number): object {
  return { position, headCommit: { oid: headSha }, pullRequest: { number } };
}
