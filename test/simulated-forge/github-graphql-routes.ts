import type { Answer, Call, Routes } from './routes.ts';
import { textIn } from './routes.ts';
import { findRepository, type QueueEntry, type World } from './world.ts';

/** The most nodes that GitHub gives at once. */
const PAGE_SIZE = 100;

/** One query only: the entries of a merge queue. */
export function githubGraphqlRoutes(world: World): Routes {
  return {
    'POST /graphql': (call) =>
      textIn(call.body, 'query').includes('mergeQueue(branch: $branch)')
        ? mergeQueue(world, call)
        : failure('UNKNOWN_QUERY', 'The simulated forge knows no such query'),
  };
}

function failure(type: string, message: string): Answer {
  return { status: 200, body: { data: null, errors: [{ type, message }] } };
}

function mergeQueue(world: World, call: Call): Answer {
  const variables = Object.fromEntries(Object.entries(Object(call.body['variables'])));
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
