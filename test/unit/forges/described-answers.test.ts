import type { z } from 'zod';
import * as shapes from '../../../src/forges/github/shapes.ts';
import fc from '../../helpers/property.ts';
import { sized } from '../../helpers/size.ts';
import test from '../../helpers/test.ts';
import { makeArbitraries } from '../../simulated-forge/api/arbitrary.ts';
import { readDescription } from '../../simulated-forge/api/description.ts';
import { SEED } from '../../simulated-forge/api/seed.ts';
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
    const arbitraryOf = makeArbitraries(schemas);
    for (const [path, shape] of Object.entries(READ)) {
      const schema = operations[`GET ${path}`]?.answers['200'];
      if (schema === undefined || schema === null) {
        t.fail(`${path} is not described`);
        continue;
      }
      const property = fc.property(arbitraryOf(schema), (drawn) => {
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
