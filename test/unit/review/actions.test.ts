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
  ["forbid: { only_files: 'docs/**' }", files('docs/a'), 'Also change a file that doesn’t match `docs/**`.'],
  ['require: { label: [a, b, c] }', {}, 'Add the label `a`, `b` or `c`.'],
  ['forbid: { label: [wip, hold] }', { labels: ['hold', 'z'] }, 'Remove the label `hold`.'],
  ["require: { title: ['^a', '^b'] }", { title: 'x' }, 'Change the title to match `^a` or `^b`.'],
  ["require: { body: '[A-Z]+-1' }", { body: '' }, 'Add text that matches `[A-Z]+-1` to the description.'],
  ['forbid: { title: wip }', { title: 'wip' }, 'Change the title so that it doesn’t match `wip`.'],
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
  ["require: { changed_files: '>= 2' }", files('a'), 'Bring this pull request to at least 2 changed files.'],
  ['forbid: { assignee: bob }', { assignees: ['bob', 'eve'] }, 'Unassign `bob`.'],
  ["require: { milestone: '*' }", {}, 'Set a milestone that matches `*`.'],
  ['require: { assignee: [bob, eve] }', { assignees: [] }, 'Assign `bob` or `eve`.'],
  [
    "require: { base: 'release/*' }",
    {},
    'Change the base branch of this pull request to one that matches `release/*`.',
  ],
  [
    'require: { approvals: { count: 2, fresh: true } }',
    approved('bob'),
    'After the last push or change of base branch, ask for 1 more approval.',
  ],
  ['require: { approvals: { from: [bob, eve] } }', {}, 'Ask for 1 approval from `bob` or `eve`.'],
  [
    'require: { checks: { name: [ci, e2e] } }',
    { checks: [{ name: 'ci', state: 'failure' }] },
    'Fix what fails in `ci`, or run it again. The check `e2e` must report `success`. If it doesn’t start, ask the people who run your CI.',
  ],
  [
    "require: { approvals: { count: 2, from: ['@octo/core', Bob] } }",
    { ...approved('bob'), teams: { 'octo/core': ['eve'] } },
    'Ask for 1 more approval from `@octo/core`.',
  ],
  [
    'require: { checks: { name: [ci, lint] } }',
    {
      checks: [
        { name: 'ci', state: 'failure' },
        { name: 'lint', state: 'skipped' },
      ],
    },
    'Fix what fails in `ci`, or run it again. The check `lint` must report `success` (`lint` was skipped: run it again, or allow it with `is: [success, skipped]`).',
  ],
  [
    'when: { checks: { name: lint, is: [failure] } }, require: { label: x }',
    {},
    'Whether this rule applies isn’t known yet. It depends on this: the check `lint` with the result `failure`.',
  ],
  [
    "when: { author: '@octo/core' }, require: { label: x }",
    {},
    'Gatehouse couldn’t check whether this rule applies: an author among `@octo/core`.<br>If it does: Add the label `x`.',
  ],
  [
    'require: { any: [{ all: [{ any: [{ label: a }, { label: b }] }, { label: c }] }, { label: d }] }',
    {},
    '(Add the label `a`. *or:* Add the label `b`.) Add the label `c`.<br>*or:* Add the label `d`.',
  ],
  [
    'require: { any: [{ label: a }, { label: b }], label: c }',
    {},
    '(Add the label `a`. *or:* Add the label `b`.)<br>Add the label `c`.',
  ],
  ["require: { title: '^feat', label: x }, example: 'feat: a door'", { title: 'feat: y' }, 'Add the label `x`.'],
  ["require: { added_lines: z, in: ['!gen/**'] }", files('a'), 'Add a line outside `gen/**` that matches `z`.'],
  [
    'require: { checks: { name: ci, is: [skipped] } }',
    { checks: [{ name: 'ci' }] },
    'The check `ci` must report `skipped`.',
  ],
  [
    'when: { draft: false }, require: { label: x }',
    { draft: true },
    'Once this draft is ready for review:<br>Add the label `x`.',
  ],
  ["require: { changed_files: '= 1' }", files('a', 'b'), 'Bring this pull request to exactly 1 changed file.'],
  [
    "require: { branch: ['feat/*', '!feat/x'] }",
    {},
    'Push your commits to a branch with a name that matches `feat/*`, but not `feat/x`, and open a pull request from there.',
  ],
  [
    'require: { commits: { every: { signed_off: true } } }',
    { commits: [{ message: 'a' }, { message: 'b' }] },
    'Sign the commits off (`git rebase --signoff 0000000000`), then push them again (`git push --force-with-lease`).',
  ],
  [
    'require: { commits: { every: { signed_off: true } } }, message: With a merge.',
    { commits: [{ message: 'a' }, { message: 'b', parents: 2 }] },
    'Sign the commits off (`git rebase --signoff origin/main`), then push them again (`git push --force-with-lease`).',
  ],
  ["require: { label: 'size/*' }", {}, 'Add a label that matches `size/*`.'],
  [
    "require: { approvals: { count: 1, all_of: ['@octo/a'] } }",
    { reviews: [{ author: 'bob', official: null }], teams: { 'octo/a': ['eve'] } },
    'Ask for 1 approval from `@octo/a`.',
  ],
  [
    "require: { commits: { every: { verified: true }, count: '<= 1' } }",
    {
      commits: [
        { message: 'a', verified: true },
        { message: 'b', verified: true },
      ],
    },
    'Rewrite the commits (`git rebase --interactive`) so that there is at most 1 commit, then push them again.',
  ],
  [
    'require: { checks: { name: ci } }',
    {},
    'The check `ci` must report `success`. If it doesn’t start, ask the people who run your CI.',
  ],
  [
    'require: { approvals: 1 }',
    { reviews: [{ author: 'bob', official: null }] },
    'Ask the people who run Gatehouse to let it see who can write to the repository.',
  ],
] as const satisfies readonly (readonly [string, Given, string])[]) {
  test(`the comment tells its reader what to do about ${rule}`, (t) => {
    t.is(actionFor(rule, given), action);
  });
}

test('an action with more ways than fit says how many are left out', (t) => {
  const ways = Array.from({ length: 40 }, (_, index) => `{ label: '${index}${'x'.repeat(150)}' }`);
  const action = actionFor(`require: { any: [${ways}] }`, {}) ?? '';
  t.regex(action, /^Add the label `0x+`\.<br>.*<br>\*or:\* \d+ other ways$/);
  t.true(action.length < 4_000);
});
