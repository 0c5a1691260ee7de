import type { z } from 'zod';
import * as shapes from '../../../src/forges/github/shapes.ts';
import { installationIn, interpretEvent } from '../../../src/forges/interpret-event.ts';
import { requestedReview } from '../../../src/forges/port/review-requests.ts';
import fc from '../../helpers/property.ts';
import { sized } from '../../helpers/size.ts';
import test from '../../helpers/test.ts';
import { makeArbitraries } from '../../simulated-forge/api/arbitrary.ts';
import { readDescription } from '../../simulated-forge/api/description.ts';
import { SEED } from '../../simulated-forge/api/seed.ts';
import { readPayloads } from '../../simulated-forge/github-api/payloads.ts';
import { fileOf, VERSIONS } from '../../simulated-forge/github-api/versions.ts';

const RUNS = sized(5, 20);

/** What is read of an answer, by GitHub's name of the operation. */
const READ: Readonly<Record<string, z.ZodType>> = {
  '/repos/{owner}/{repo}': shapes.repositoryNow,
  '/repos/{owner}/{repo}/pulls': shapes.pulls,
  '/repos/{owner}/{repo}/pulls/{pull_number}': shapes.pull,
  '/repos/{owner}/{repo}/pulls/{pull_number}/files': shapes.files,
  '/repos/{owner}/{repo}/pulls/{pull_number}/commits': shapes.commits,
  '/repos/{owner}/{repo}/pulls/{pull_number}/reviews': shapes.reviews,
  '/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers': shapes.requestedReviewers,
  '/repos/{owner}/{repo}/pulls/{pull_number}/comments': shapes.inlineComments,
  '/repos/{owner}/{repo}/issues/{issue_number}/comments': shapes.comments,
  '/repos/{owner}/{repo}/issues/{issue_number}/timeline': shapes.timeline,
  '/repos/{owner}/{repo}/compare/{basehead}': shapes.ancestry,
  '/repos/{owner}/{repo}/commits/{ref}/statuses': shapes.statuses,
  '/repos/{owner}/{repo}/git/ref/{ref}': shapes.ref,
  '/repos/{owner}/{repo}/git/tags/{tag_sha}': shapes.ref,
  '/repos/{owner}/{repo}/git/trees/{tree_sha}': shapes.tree,
  '/repos/{owner}/{repo}/contents/{path}': shapes.contents,
  '/repos/{owner}/{repo}/collaborators/{username}/permission': shapes.permission,
  '/orgs/{org}/teams/{team_slug}/members': shapes.members,
  '/app/hook/deliveries': shapes.deliveries,
};

/** What is refused on purpose: it ends as an error, and never as a success. */
const REFUSED: readonly RegExp[] = [
  // JSON.parse has lost digits of such a number.
  /Too big: expected int to be <=9007199254740991$/,
  // Of a state that is not known nobody can say whether it allows a merge.
  /^\/repos\/\{owner\}\/\{repo\}\/pulls state: Invalid option/,
  /\/reviews state: Invalid option/,
];

for (const version of VERSIONS) {
  test(`${version}: what GitHub's description allows can be read`, (t) => {
    t.log(`TEST_SEED=${SEED} draws the same again`);
    const { operations, schemas } = readDescription(fileOf(version));
    const answers = makeArbitraries(schemas);
    for (const [path, shape] of Object.entries(READ)) {
      const schema = operations[`GET ${path}`]?.answers['200'];
      if (schema === undefined || schema === null) {
        t.fail(`${path} is not described`);
        continue;
      }
      const property = fc.property(answers(schema), (drawn) => {
        const { error } = shape.safeParse(JSON.parse(JSON.stringify(drawn)));
        const refused = (error?.issues ?? []).map(
          (issue) => `${path} ${issue.path.at(-1)?.toString()}: ${issue.message}`,
        );
        t.deepEqual(
          refused.filter((fault) => !REFUSED.some((known) => known.test(fault))),
          [],
        );
      });
      fc.assert(property, { numRuns: RUNS });
    }
  });
}

/** Those of events that can start something are drawn more often. */
const RUNS_EACH = sized(1, 3);
const RUNS_THAT_COUNT = sized(25, 100);
const COUNTS =
  /^(?:pull-request-(?:opened|review-submitted)|push|issue-comment-created|merge-group-checks|check-run-created|check-suite-completed)/;

type Json = Readonly<Record<string, unknown>>;

const { payloads, schemas } = readPayloads();
const arbitraryOf = makeArbitraries(schemas);
// A payload that several versions of GitHub describe alike is one.
const described = new Map(
  Object.values(payloads).flatMap((ofVersion) =>
    Object.entries(ofVersion).map(([name, $ref]) => [$ref, { name, $ref }]),
  ),
);

/** `pull-request-opened` is the action `opened` of the event `pull_request`. */
function eventOf(name: string, { action }: Json): string {
  const suffix = typeof action === 'string' ? `-${action.replaceAll('_', '-')}` : '';
  return (name.endsWith(suffix) ? name.slice(0, name.length - suffix.length) : name).replaceAll('-', '_');
}

function targetOf(event: string, payload: Json) {
  return requestedReview(interpretEvent(event, payload), (context) => context === 'gatehouse/main');
}

test('no payload that GitHub describes starts a review of another pull request', (t) => {
  t.log(`TEST_SEED=${SEED} draws the same again`);
  const started = new Set<string>();
  for (const { name, $ref } of described.values()) {
    const property = fc.property(arbitraryOf({ $ref }), (drawn) => {
      const payload: Json = JSON.parse(JSON.stringify(drawn));
      const event = eventOf(name, payload);
      installationIn(payload);
      const target = targetOf(event, payload);
      if (target === undefined) {
        return;
      }
      started.add(target.kind);
      t.is(target.repository, Object(payload['repository']).full_name, `${name}: the repository`);
      if ('number' in target) {
        const { number } = Object(payload['pull_request'] ?? payload['issue'] ?? payload);
        t.is(target.number, number, `${name}: the pull request`);
      }
    });
    fc.assert(property, { numRuns: COUNTS.test(name) ? RUNS_THAT_COUNT : RUNS_EACH });
  }
  t.true(described.size > 261);
  t.deepEqual([...started].toSorted(), [
    'command',
    'review',
    'review-commit',
    'review-merge-group',
    'review-repository',
  ]);
});

test('an event or an action that GitHub adds is ignored', (t) => {
  for (const { name, $ref } of described.values()) {
    const property = fc.property(arbitraryOf({ $ref }), (drawn) => {
      const payload: Json = JSON.parse(JSON.stringify(drawn));
      t.is(targetOf(`${eventOf(name, payload)}_new`, payload), undefined, name);
      if (typeof payload['action'] === 'string') {
        t.is(targetOf(eventOf(name, payload), { ...payload, action: 'something_new' }), undefined, name);
      }
    });
    fc.assert(property, { numRuns: 1 });
  }
});
