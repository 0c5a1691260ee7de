import fc from '../../helpers/property.ts';
import { makeArbitraries } from '../api/arbitrary.ts';
import { type Checks, makeChecks } from '../api/checks.ts';
import { readDescription } from '../api/description.ts';
import type { Oddity } from '../graphql-oddities.ts';
import { RULES } from './checks.ts';
import { fileOf, type Version } from './versions.ts';

/** What the simulator leaves out on purpose: that it is not there says something. */
const MEANT: readonly string[] = ['patch', 'previous_filename', 'visibility', 'secret', 'submitted_at'];
/** So that optional fields are there in some answers and in others not. */
const ONE_IN = 2;
/** Lists whose order GitHub does not promise, by operation; '' is the answer itself. */
const UNORDERED: Readonly<Record<string, readonly string[]>> = {
  'GET /repos/{owner}/{repo}/pulls/{pull_number}': ['labels', 'assignees'],
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/files': [''],
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers': ['users', 'teams'],
  'GET /orgs/{org}/teams/{team_slug}/members': [''],
};

/** Whatever GitHub may send where the simulator says nothing. The same for the same seed. */
export interface Hostility {
  readonly checks: Checks;
  /** Of the next answer to a GraphQL query. */
  drawOddity(): Oddity;
}

export function hostileGithub(version: Version, seed: number): Hostility {
  const description = readDescription(fileOf(version));
  const arbitraryOf = makeArbitraries(description.schemas);
  let drawn = 0;
  function draw<T>(arbitrary: fc.Arbitrary<T>): T {
    drawn += 1;
    const [value] = fc.sample(arbitrary, { seed: seed + drawn, numRuns: 1 });
    return value as T;
  }
  const checks = makeChecks(description, RULES, (name, schema) => {
    const value = draw(arbitraryOf(schema));
    return MEANT.includes(name) || (seed + drawn) % ONE_IN === 0 ? undefined : value;
  });

  return {
    checks: {
      ...checks,
      complete(call, answer) {
        const { whole, faults } = checks.complete(call, answer);
        const unordered = UNORDERED[checks.operationOf(call.method, call.path) ?? ''] ?? [];
        const shuffle = (list: readonly unknown[]) =>
          draw(fc.shuffledSubarray([...list], { minLength: list.length, maxLength: list.length }));
        const body = withOthers(whole.body, unordered, shuffle);
        return { whole: whole.body === undefined ? whole : { ...whole, body }, faults };
      },
    },
    drawOddity: () => draw(oddity),
  };
}

/** With a field that no description has, and with its unordered lists in another order. */
function withOthers(
  body: unknown,
  unordered: readonly string[],
  shuffle: (list: readonly unknown[]) => readonly unknown[],
): unknown {
  if (Array.isArray(body)) {
    const items = body.map((item) => withOthers(item, [], shuffle));
    return unordered.includes('') ? shuffle(items) : items;
  }
  if (typeof body !== 'object' || body === null) {
    return body;
  }
  const fields = Object.entries(body).map(([name, value]) => [
    name,
    withOthers(value, unordered.includes(name) ? [''] : [], shuffle),
  ]);
  return { new_in_github: { since: null }, ...Object.fromEntries(fields) };
}

/** Errors of a query that ran. Those of limits are left out: they make every client wait. */
const ERRORS: readonly Oddity['error'][] = [
  { type: 'NOT_FOUND', message: 'Could not resolve to a node with the global id.' },
  { type: 'FORBIDDEN', message: 'Resource not accessible by integration' },
  { type: 'SERVICE_UNAVAILABLE', message: 'Timeout on validation of query' },
  { type: 'NEW_IN_GITHUB', message: 'Something new' },
  { message: 'Something went wrong while executing your query.' },
];

const MAX_EVERY = 60;

const oddity: fc.Arbitrary<Oddity> = fc.record({
  kind: fc.constantFrom('null', 'null element', 'error', 'unknown value', 'short page'),
  every: fc.integer({ min: 1, max: MAX_EVERY }),
  first: fc.nat(MAX_EVERY),
  page: fc.integer({ min: 1, max: 3 }),
  error: fc.constantFrom(...ERRORS),
});
