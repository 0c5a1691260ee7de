import type { Given } from '../../../src/review/cases/given.ts';
import type { Construct } from './judge.ts';

/** Pages of mergeability/mergeable. */
const VALIDATORS = 'mergeability/mergeable docs/validators';
const OPTIONS = 'mergeability/mergeable docs/options';

/** A recipe with one validator, which begins on line 5. */
function validated(validator: string): string {
  return `version: 2
mergeable:
  - when: pull_request.*
    validate:
      - ${validator.split('\n').join('\n        ')}
`;
}

const files = (...paths: readonly string[]): Given => ({ files: paths.map((path) => ({ path })) });

export const MERGEABLE: readonly Construct[] = [
  {
    name: 'title must_include, in any case',
    document: `${VALIDATORS}/title.rst`,
    source: validated("do: title\nmust_include: { regex: '^(doc|feat)' }"),
    passes: [{ title: 'FEAT: x' }],
    stops: [{ title: 'x feat' }],
  },
  {
    name: 'regex_flag none',
    document: `${VALIDATORS}/title.rst`,
    source: validated("do: title\nmust_include: { regex: '^feat', regex_flag: none }"),
    passes: [{ title: 'feat: x' }],
    stops: [{ title: 'FEAT: x' }],
  },
  {
    name: 'must_exclude of a list',
    document: `${OPTIONS}/must_exclude.rst`,
    source: validated("do: title\nmust_exclude: { regex: ['^wip', 'do not merge'] }"),
    passes: [{ title: 'x' }],
    stops: [{ title: 'WIP: x' }, { title: 'x (do not merge)' }],
  },
  {
    name: 'begins_with and ends_with, in their own case',
    document: `${OPTIONS}/begins_with.rst`,
    source: validated("do: title\nbegins_with: { match: [doc, '[fix]'] }\nends_with: { match: '.' }"),
    passes: [{ title: 'doc x.' }, { title: '[fix] x.' }],
    stops: [{ title: 'Doc x.' }, { title: 'doc x' }, { title: 'f.' }],
  },
  {
    name: 'and and or, nested',
    document: `${VALIDATORS}/title.rst`,
    source: validated(
      `do: title
and:
  - or:
      - must_include: { regex: '^feat' }
      - must_include: { regex: '^fix' }
  - must_include: { regex: 'ISSUE-\\d+' }`,
    ),
    passes: [{ title: 'fix: ISSUE-1' }],
    stops: [{ title: 'fix: x' }, { title: 'ISSUE-1' }],
  },
  {
    name: 'description no_empty',
    document: `${OPTIONS}/no_empty.rst`,
    source: validated('do: description\nno_empty: { enabled: true }'),
    passes: [{ body: 'x' }],
    stops: [{ body: ' \n' }],
  },
  {
    name: 'no_empty that is not enabled asks nothing',
    document: `${OPTIONS}/no_empty.rst`,
    source: validated('do: milestone\nno_empty: { enabled: false }'),
    passes: [{}],
    stops: [],
  },
  {
    name: 'label must_include and must_exclude',
    document: `${VALIDATORS}/label.rst`,
    source: validated("do: label\nmust_include: { regex: 'type|chore' }\nmust_exclude: { regex: '^do not merge$' }"),
    passes: [{ labels: ['my type'] }],
    stops: [{ labels: [] }, { labels: ['type', 'DO NOT MERGE'] }],
  },
  {
    name: 'a label that cannot be written is asked for more strictly',
    document: `${VALIDATORS}/label.rst`,
    source: validated("do: label\nmust_exclude: { regex: '^v\\d+$' }"),
    passes: [{ labels: ['x'] }],
    stops: [{ labels: ['v12'] }],
    lost: [6],
  },
  {
    name: 'milestone',
    document: `${VALIDATORS}/milestone.rst`,
    source: validated('do: milestone\nno_empty: { enabled: true }\nbegins_with: { match: v2 }'),
    passes: [{ milestone: 'v2.1' }],
    stops: [{}, { milestone: 'v3' }],
  },
  {
    name: 'assignee min and max',
    document: `${VALIDATORS}/assignee.rst`,
    source: `version: 2
mergeable:
  - { when: pull_request.*, validate: [{ do: assignee, min: { count: 1 } }] }
  - when: pull_request.*
    filter: [{ do: baseRef, must_include: { regex: '^unassigned$' } }]
    validate: [{ do: assignee, max: 0 }]
`,
    passes: [{ assignees: ['ann'] }],
    stops: [{}, { assignees: ['ann'], base: 'unassigned' }],
  },
  {
    name: 'headRef',
    document: `${VALIDATORS}/headRef.rst`,
    source: validated("do: headRef\nmust_include: { regex: '^(feature|hotfix)\\/.+$' }"),
    passes: [{ branch: 'feature/x' }, { branch: 'Hotfix/x' }],
    stops: [{ branch: 'x/feature/y' }],
  },
  {
    name: 'baseRef',
    document: `${VALIDATORS}/baseRef.rst`,
    source: validated("do: baseRef\nmust_exclude: { regex: 'master' }\nmediaType: { previews: [groot] }"),
    passes: [{ base: 'main' }],
    stops: [{ base: 'webmaster-x' }],
  },
  {
    name: 'changeset, of all statuses',
    document: `${VALIDATORS}/changeset.rst`,
    source: validated("do: changeset\nmust_exclude: { regex: 'secret' }\nmust_include: { regex: 'yarn\\.lock' }"),
    passes: [files('a/yarn.lock')],
    stops: [files('x'), { files: [{ path: 'yarn.lock' }, { path: 'a/SECRET', status: 'removed' }] }],
  },
  {
    name: 'changeset of some statuses',
    document: `${VALIDATORS}/changeset.rst`,
    source: validated(
      "do: changeset\nmust_include: { regex: '^migrations/' }\nfiles: { added: true, modified: false }",
    ),
    passes: [{ files: [{ path: 'migrations/a', status: 'added' }] }],
    stops: [files('migrations/a')],
  },
  {
    name: 'changeset min, max and no_empty',
    document: `${VALIDATORS}/changeset.rst`,
    source: validated('do: changeset\nmin: { count: 1 }\nmax: { count: 2 }\nno_empty: { enabled: true }'),
    passes: [files('a', 'b')],
    stops: [files(), files('a', 'b', 'c')],
  },
  {
    name: 'approvals min, of anybody who did not open it',
    document: `${VALIDATORS}/approval.rst`,
    source: validated('do: approvals\nmin: { count: 1 }'),
    passes: [{ reviews: [{ author: 'bob' }], commits: [{ message: 'x', author: 'bob' }] }],
    stops: [{}, { author: 'bob', reviews: [{ author: 'bob' }] }],
  },
  {
    name: 'approvals limit and exclude',
    document: `${VALIDATORS}/approval.rst`,
    source: validated(
      'do: approvals\nmin: { count: 1 }\nlimit: { users: [ann], teams: [octo/core] }\nexclude: { users: [bot1] }',
    ),
    passes: [{ teams: { 'octo/core': ['bob'] }, reviews: [{ author: 'bob' }] }],
    stops: [
      { teams: { 'octo/core': ['bot1'] }, reviews: [{ author: 'bot1' }] },
      { teams: { 'octo/core': [] }, reviews: [{ author: 'dan' }] },
    ],
  },
  {
    name: 'approvals required of all who are named, but the author',
    document: `${VALIDATORS}/approval.rst`,
    source: validated('do: approvals\nrequired: { reviewers: [ann, ben] }'),
    passes: [{ reviews: [{ author: 'ann' }, { author: 'ben' }] }, { author: 'ann', reviews: [{ author: 'ben' }] }],
    stops: [{ reviews: [{ author: 'ann' }] }],
  },
  {
    name: 'approvals required of those whose review is requested',
    document: `${VALIDATORS}/approval.rst`,
    source: validated('do: approvals\nrequired: { requested_reviewers: true }'),
    passes: [{ reviews: [{ author: 'ann' }] }],
    stops: [{ requested: ['ann'] }, { reviews: [{ author: 'ann', state: 'changes-requested' }] }],
    // A comment ends the request here, and is no approval there.
    lost: [6],
  },
  {
    name: 'approvals under not: those that count here alone are not all there are',
    document: `${VALIDATORS}/approval.rst`,
    source: validated('do: not\nvalidate: [{ do: approvals, min: { count: 1 } }]'),
    passes: [],
    stops: [{ reviews: [{ author: 'bob', official: false }] }, { reviews: [{ author: 'bob' }] }],
  },
  {
    name: 'approvals block',
    document: `${VALIDATORS}/approval.rst`,
    source: validated('do: approvals\nblock: { changes_requested: true }'),
    passes: [{ reviews: [{ author: 'ann' }] }],
    stops: [{ reviews: [{ author: 'ann', state: 'changes-requested' }] }],
  },
  {
    name: 'author by name, team and list',
    document: 'mergeability/mergeable docs/filters/author.rst',
    source: validated("do: author\nmust_exclude: { regex: 'bot' }\none_of: [ann, '@octo/core']\nnone_of: [ben]"),
    passes: [
      { author: 'ann', teams: { 'octo/core': [] } },
      { author: 'bob', teams: { 'octo/core': ['bob'] } },
    ],
    stops: [
      { author: 'ben', teams: { 'octo/core': ['ben'] } },
      { author: 'dan', teams: { 'octo/core': [] } },
      { author: 'xBOT', teams: { 'octo/core': ['xBOT'] } },
    ],
  },
  {
    name: 'commit message of every commit but merges',
    document: `${VALIDATORS}/commit.rst`,
    source: validated("do: commit\nmessage: { regex: '^(feat|fix): ' }"),
    passes: [{ commits: [{ message: 'Fix: x' }, { message: 'Merge branch a', parents: 2 }] }],
    stops: [{ commits: [{ message: 'fix: x' }, { message: 'x' }] }],
  },
  {
    name: 'commit message of the oldest, the newest and the only commit',
    document: `${VALIDATORS}/commit.rst`,
    source: `version: 2
mergeable:
  - when: pull_request.*
    validate:
      - { do: commit, message: { regex: '^old', oldest_only: true } }
      - { do: commit, message: { regex: 'new$', newest_only: true } }
      - { do: commit, message: { regex: '^one', single_commit_only: true } }
`,
    passes: [{ commits: [{ message: 'old' }, { message: 'new' }] }],
    stops: [{ commits: [{ message: 'new' }, { message: 'old' }] }, { commits: [{ message: 'old new' }] }],
  },
  {
    name: 'contents must_exclude looks at added lines',
    document: `${VALIDATORS}/contents.rst`,
    source: validated("do: contents\nfiles: { pr_diff: true }\nmust_exclude: { regex: 'DO NOT' }"),
    passes: [{ files: [{ path: 'a', added: ['x'] }] }],
    stops: [{ files: [{ path: 'a', added: ['do not'] }] }],
    lost: [7],
  },
  {
    name: 'dependent files',
    document: `${VALIDATORS}/dependent.rst`,
    source: validated("do: dependent\nfiles: ['package.json', 'yarn.lock']"),
    passes: [files('x'), files('package.json', 'yarn.lock')],
    stops: [files('package.json')],
  },
  {
    name: 'dependent files of one that is changed',
    document: `${VALIDATORS}/dependent.rst`,
    source: validated("do: dependent\nchanged: { file: '**/package.json', files: [package-lock.json, yarn.lock] }"),
    passes: [files('x'), files('yarn.lock'), files('a/package.json', 'package-lock.json', 'yarn.lock')],
    stops: [files('package.json', 'yarn.lock')],
  },
  {
    name: 'size, without files that are ignored',
    document: `${VALIDATORS}/size.rst`,
    source: validated("do: size\nignore: ['docs/*.md']\nlines: { total: { count: 5 }, additions: { count: 3 } }"),
    passes: [
      {
        files: [
          { path: 'a', additions: 3, deletions: 2 },
          { path: 'docs/a.md', additions: 9 },
        ],
      },
      { files: [{ path: 'a.png', diff: 'binary' }] },
    ],
    stops: [{ files: [{ path: 'a', additions: 4 }] }, { files: [{ path: 'a', deletions: 6 }] }],
  },
  {
    name: 'size under not: a change that is small there is never large here',
    document: `${VALIDATORS}/size.rst`,
    source: validated('do: not\nvalidate: [{ do: size, lines: { max: { count: 5 } } }]'),
    passes: [],
    stops: [{ files: [{ path: 'a', status: 'removed', deletions: 9 }] }, { files: [{ path: 'a', additions: 5 }] }],
  },
  {
    name: 'size of some files',
    document: `${VALIDATORS}/size.rst`,
    source: validated("do: size\nmatch: ['src/**']\nlines: { max: { count: 5 } }"),
    passes: [
      {
        files: [
          { path: 'a', additions: 9 },
          { path: 'src/a', additions: 5 },
        ],
      },
    ],
    stops: [{ files: [{ path: 'src/a', additions: 6 }] }],
  },
  {
    name: 'or, and and not of validators',
    document: 'mergeability/mergeable docs/operators/not.rst',
    source: validated(
      `do: or
validate:
  - { do: label, must_include: { regex: '^ready$' } }
  - do: and
    validate:
      - { do: not, validate: [{ do: title, begins_with: { match: '[WIP]' } }] }
      - { do: label, no_empty: { enabled: true } }`,
    ),
    passes: [
      { labels: ['ready'], title: '[WIP]' },
      { labels: ['x'], title: 'x' },
    ],
    stops: [{ labels: ['x'], title: '[WIP] x' }, { title: 'x' }],
  },
  {
    name: 'a filter by visibility and topics',
    document: 'mergeability/mergeable docs/filters/repository.rst',
    source: `version: 2
mergeable:
  - when: pull_request.*
    filter:
      - { do: repository, visibility: private, topics: { must_include: { regex: '^team-' } } }
    validate: [{ do: title, begins_with: { match: a } }]
`,
    passes: [{ title: 'b' }, { title: 'b', visibility: 'private' }, { title: 'b', topics: ['team-a'] }],
    stops: [{ title: 'b', visibility: 'internal', topics: ['Team-a'] }],
  },
  {
    name: 'a filter makes the recipe one for some pull requests',
    document: 'mergeability/mergeable docs/recipes.rst: "Only run rules if PR is not a draft"',
    source: `version: 2
mergeable:
  - when: pull_request.*, pull_request_review.*
    name: 'A check'
    filter:
      - { do: repository, name: { must_include: { regex: '^example$' } } }
      - do: payload
        pull_request: { labels: { must_include: { regex: 'foo', key: name } } }
    validate:
      - { do: description, no_empty: { enabled: true } }
`,
    passes: [{}, { labels: ['foo'], repository: 'octo/other' }, { labels: ['foo'], body: 'x' }],
    stops: [{ labels: ['foo'] }],
  },
  {
    name: 'an expression that cannot be used may match, and stops everything',
    document: 'https://github.com/google/re2/wiki/Syntax',
    source: validated("do: title\nmust_exclude: { regex: ['^wip', '(?=x)'] }"),
    passes: [],
    stops: [{ title: 'wip' }, { title: 'x' }],
    lost: [6],
  },
  {
    name: 'merge keys of YAML are followed',
    document: 'mergeability/mergeable docs/configuration.rst: "Reusable Configuration"',
    source: `anchors: &wip { do: title, must_exclude: { regex: '^wip' } }
version: 2
mergeable:
  - when: pull_request.*
    validate:
      - { <<: *wip, must_exclude: { regex: '^draft' } }
      - <<: [*wip]
`,
    passes: [{ title: 'x' }],
    stops: [{ title: 'wip' }, { title: 'draft' }],
  },
  {
    name: 'a filter without an equal stops nothing, so that the rule is for all',
    document: 'mergeability/mergeable docs/filters/payload.rst',
    source: `version: 2
mergeable:
  - when: pull_request.*
    filter: [{ do: payload, sender: { login: { none_of: ['@bot'] } } }]
    validate: [{ do: title, begins_with: { match: 'a' } }]
`,
    passes: [{ title: 'a' }],
    stops: [{ title: 'b' }],
    lost: [4],
  },
  {
    name: 'a recipe without a check warns',
    document: 'mergeability/mergeable docs/actions/checks.rst: "If only actions other than `checks` is provided"',
    source: `version: 2
mergeable:
  - when: pull_request.opened
    validate: [{ do: title, begins_with: { match: 'a' } }]
    fail: [{ do: comment, payload: { body: Begin with an a. } }]
`,
    passes: [{ title: 'b' }],
    stops: [],
  },
  {
    name: 'actions that write are reported',
    document: 'mergeability/mergeable docs/actions',
    source: `version: 2
mergeable:
  - when: pull_request.*
    validate: []
    pass:
      - { do: merge, merge_method: squash }
      - { do: labels, add: ok }
      - { do: checks, status: success }
    fail:
      - { do: close }
`,
    passes: [{}],
    stops: [],
    lost: [6, 7, 10],
  },
  {
    name: 'recipes of issues and schedules are reported',
    document: 'mergeability/mergeable docs/configuration.rst',
    source: `version: 2
mergeable:
  - { when: issues.opened, validate: [{ do: title, begins_with: { match: a } }] }
  - when: schedule.repository
    validate: [{ do: stale, days: 20, type: pull_request }]
    pass: [{ do: comment, payload: { body: Old } }]
`,
    passes: [{ title: 'b' }],
    stops: [],
    lost: [3, 4],
  },
  {
    name: 'without a version: short forms',
    document: 'mergeability/mergeable lib/configuration/transformers/v1Config.js',
    source: `mergeable:
  pull_requests:
    approvals: 1
    title: 'wip'
    label: { must_exclude: { regex: '^blocked$' } }
    description: { no-empty: true }
`,
    passes: [{ title: 'x', body: 'x', reviews: [{ author: 'bob' }] }],
    stops: [
      { title: 'WIP', body: 'x', reviews: [{ author: 'bob' }] },
      { title: 'x', body: 'x' },
      { title: 'x', reviews: [{ author: 'bob' }] },
      { title: 'x', body: 'x', labels: ['blocked'], reviews: [{ author: 'bob' }] },
    ],
  },
  ...[
    'do: age\ncreated_at: { days: 1 }',
    'do: project\nmust_include: { regex: a }',
    "do: lastComment\nmust_include: { regex: 'merge' }",
    'do: hasNew',
  ].map(
    (validator): Construct => ({
      name: `${validator.split('\n').join(' ')} is never met`,
      document: VALIDATORS,
      source: validated(validator),
      passes: [],
      stops: [{}],
      lost: [5],
    }),
  ),
  ...[
    "do: title\njira: { regex: 'A' }",
    "do: title\nmust_contain: { regex: 'A' }",
    "do: title\nmust_include: { regexp: '.' }",
    "do: title\nmust_include: { regex: '(?=x)' }",
    "do: commit\nmessage: { regex: '.', message_type: author_email }",
    "do: contents\nmust_include: { regex: '.' }",
    'do: approvals\nmax: { count: 1 }',
    'do: approvals\nrequired: { assignees: true }',
    'do: approvals\nrequired: { owners: true }',
    'do: approvals\nminimum: { count: 1 }',
    'do: label\nmax: { count: 3 }',
    'do: assignee\nmin: { count: 2 }',
    "do: milestone\nmust_exclude: { regex: '.*' }",
    'do: size\nfiles: 3',
    "do: author\nteam: 'octo/*'",
    "do: author\none_of: ['@octo/*']",
  ].map(
    (validator): Construct => ({
      name: `${validator.split('\n').join(' ')} is never met`,
      document: VALIDATORS,
      source: validated(validator),
      passes: [],
      stops: [{ reviews: [{ author: 'bob' }], commits: [{ message: 'x' }], labels: ['a'], title: 'A' }],
      lost: [6],
    }),
  ),
];
