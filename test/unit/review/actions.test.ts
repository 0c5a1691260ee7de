import { pullRequestOf } from '../../../src/facts/pull-request.ts';
import type { Given } from '../../../src/review/cases/given.ts';
import { renderReview } from '../../../src/review/rendering/comment.ts';
import { linksOf } from '../../../src/review/rendering/links.ts';
import test from '../../helpers/test.ts';
import { verdict } from './judge.ts';

const links = linksOf('gitea', pullRequestOf(), { baseSha: 'a'.repeat(40), policyDigest: 'd' });

/** What the first row of the comment tells its reader to do. */
function actionFor(rule: string, given: Given): string | undefined {
  const comment = renderReview(verdict(`version: 1\nrules: [{ id: it, ${rule} }]`, given), { links, enforce: true });
  return /^\| (?:❌|⏳|🚫) \| (.*?) \| /m.exec(comment)?.[1];
}

const files = (...paths: readonly string[]): Given => ({ files: paths.map((path) => ({ path, added: ['x', 'y'] })) });
const approved = (...authors: readonly string[]): Given => ({ reviews: authors.map((author) => ({ author })) });

for (const [rule, given, action] of [
  ["require: { files: 'test/**' }", files('src/a'), 'Add or change a file in `test/**`.'],
  ['require: { files: CHANGELOG.md }', files('src/a'), 'Add or change `CHANGELOG.md`.'],
  [
    "require: { files: ['**/*.test.ts', '!gen/**'] }",
    files('src/a'),
    'Add or change a file that matches `**/*.test.ts`, but not `gen/**`.',
  ],
  ["require: { files: ['!gen/**'] }", files('gen/a'), 'Add or change a file, but not `gen/**`.'],
  ["require: { files: 'db/**', status: added }", files('src/a'), 'Add a file in `db/**`.'],
  ["forbid: { files: 'gen/**' }", files('gen/a', 'b'), 'Take the changes to `gen/a` out of this pull request.'],
  ["require: { only_files: 'docs/**' }", files('docs/a', 'b'), 'Take the changes to `b` out of this pull request.'],
  ["forbid: { only_files: 'docs/**' }", files('docs/a'), 'Also change a file other than a file in `docs/**`.'],
  ['require: { label: [a, b, c] }', {}, 'Add the label `a`, `b` or `c`.'],
  ['forbid: { label: [wip, hold] }', { labels: ['hold', 'z'] }, 'Remove the label `hold`.'],
  ["require: { title: ['^a', '^b'] }", { title: 'x' }, 'Change the title to match `^a` or `^b`.'],
  ['forbid: { title: wip }', { title: 'wip' }, "Change the title so that it doesn't match `wip`."],
  [
    "require: { changed_lines: '< 2' }",
    files('a'),
    'Reduce this pull request to fewer than 2 changed lines, for example by splitting it.',
  ],
  [
    "forbid: { changed_files: '> 1' }",
    files('a', 'b'),
    'Reduce this pull request to at most 1 changed file, for example by splitting it.',
  ],
  ["require: { changed_files: '>= 2' }", files('a'), 'Extend this pull request to at least 2 changed files.'],
  ["require: { milestone: '*' }", {}, 'Set a milestone.'],
  ['require: { assignee: [bob, eve] }', { assignees: [] }, 'Assign `bob` or `eve`.'],
  [
    "require: { base: 'release/*' }",
    {},
    'Change the base branch of this pull request to one that matches `release/*`.',
  ],
  [
    'require: { approvals: { count: 2, fresh: true } }',
    approved('bob'),
    'Ask for 1 more approval, after the last push or change of base.',
  ],
  ['require: { approvals: { from: [bob, eve] } }', {}, 'Ask for 1 approval from `bob`, `eve`.'],
  [
    'require: { checks: { name: [ci, e2e] } }',
    { checks: [{ name: 'ci', state: 'failure' }] },
    'The checks `ci`, `e2e` must report `success`. Fix what failed, or run it again.',
  ],
  ['require: { checks: { name: ci } }', {}, 'The check `ci` must report `success`.'],
  [
    'require: { approvals: 1 }',
    { reviews: [{ author: 'bob', official: null }] },
    'Ask whoever operates Gatehouse to let it see who can write to the repository.',
  ],
] as const satisfies readonly (readonly [string, Given, string])[]) {
  test(`the comment tells its reader what to do about ${rule}`, (t) => {
    t.is(actionFor(rule, given), action);
  });
}
