import { readdirSync, readFileSync } from 'node:fs';
import { validate } from '@octokit/graphql-schema';
import {
  type FieldNode,
  type FragmentDefinitionNode,
  type IntValueNode,
  Kind,
  parse,
  type SelectionSetNode,
} from 'graphql';
import { authorsQuery } from '../../../src/forges/github/accounts.ts';
import { CHECKS_QUERY, MORE_RUNS_QUERY } from '../../../src/forges/github/checks.ts';
import { COMMENTS_QUERY } from '../../../src/forges/github/comments.ts';
import { THREADS_QUERY } from '../../../src/forges/github/conversations.ts';
import { QUEUE_QUERY } from '../../../src/forges/github/merge-queue.ts';
import { MORE_QUERY, overviewQuery } from '../../../src/forges/github/overviews.ts';
import { reviewQuery } from '../../../src/forges/github/review-query.ts';
import { REVIEWS_QUERY } from '../../../src/forges/github/reviews.ts';
import { SIGNERS_QUERY } from '../../../src/forges/github/signers.ts';
import { pathsAtBase } from '../../../src/review/policy/paths.ts';
import test from '../../helpers/test.ts';

const QUERIES = {
  review: reviewQuery(pathsAtBase('github')),
  look: reviewQuery([]),
  queue: QUEUE_QUERY,
  authors: authorsQuery(20),
  checks: CHECKS_QUERY,
  'more check runs': MORE_RUNS_QUERY,
  comments: COMMENTS_QUERY,
  conversations: THREADS_QUERY,
  reviews: REVIEWS_QUERY,
  signers: SIGNERS_QUERY,
  overview: overviewQuery(100),
  'more pull requests': MORE_QUERY,
};
/** From 51 on it would be rounded up to a point of its own, and to two points from 150 on. */
const MAX_REQUESTS_OF_ONE_POINT = 149;

for (const [name, query] of Object.entries(QUERIES)) {
  test(`the query ${name} is valid in GitHub’s schema, and costs one point at most`, (t) => {
    t.deepEqual(
      validate(query).map(({ message }) => message),
      [],
    );
    const { definitions } = parse(query);
    const operation = definitions.find((part) => part.kind === Kind.OPERATION_DEFINITION);
    const fragments = new Map(
      definitions.flatMap((part) => (part.kind === Kind.FRAGMENT_DEFINITION ? [[part.name.value, part] as const] : [])),
    );
    const requests = requestsFor(operation?.selectionSet, 1, fragments);
    t.true(requests > 0 && requests <= MAX_REQUESTS_OF_ONE_POINT);
  });
}

test('the queries for many pull requests read no text that makes a list too large', (t) => {
  for (const query of [QUERIES.overview, MORE_QUERY]) {
    t.notRegex(query, /\b(?:title|body|labels|comments|message)\b/);
  }
});

test('no other file of src has a GraphQL query', (t) => {
  const src = new URL('../../../src/', import.meta.url);
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  t.deepEqual(files.filter((file) => /`query[ ({]/.test(readFileSync(new URL(file, src), 'utf8'))).sort(), [
    'forges/github/accounts.ts',
    'forges/github/checks.ts',
    'forges/github/comments.ts',
    'forges/github/conversations.ts',
    'forges/github/merge-queue.ts',
    'forges/github/overviews.ts',
    'forges/github/review-query.ts',
    'forges/github/reviews.ts',
    'forges/github/signers.ts',
  ]);
});

/**
 * As GitHub counts: a request for each connection, as often as what is around it can occur. A hundred are a point
 * (https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api).
 */
function requestsFor(selected: SelectionSetNode | undefined, times: number, fragments: Fragments): number {
  const nodes = selected?.selections ?? [];
  return nodes.reduce((sum, node) => {
    if (node.kind === Kind.FRAGMENT_SPREAD) {
      return sum + requestsFor(fragments.get(node.name.value)?.selectionSet, times, fragments);
    }
    const size = node.kind === Kind.FIELD ? sizeOf(node) : undefined;
    return sum + (size === undefined ? 0 : times) + requestsFor(node.selectionSet, times * (size ?? 1), fragments);
  }, 0);
}

type Fragments = ReadonlyMap<string, FragmentDefinitionNode>;

function sizeOf({ arguments: given }: FieldNode): number | undefined {
  const value = given?.find(({ name }) => name.value === 'first' || name.value === 'last')?.value;
  return value?.kind === Kind.INT ? Number((value satisfies IntValueNode).value) : undefined;
}
