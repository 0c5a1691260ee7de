import type { Given } from '../../../src/review/cases/given.ts';
import type { Construct } from './judge.ts';

const README = 'palantir/policy-bot README.md';

/** A policy of one rule: `two` is skipped, and then the other rule, which needs sally, decides. */
const BY_BOB_TOO = { message: 'x\n\nCo-authored-by: Bob <bob@x.test>' };

function ifOnly(predicate: string): string {
  return `policy:
  approval:
    - or: [two, sally]
approval_rules:
  - name: two
    if:
${indented(predicate, 6)}
  - name: sally
    requires: { count: 1, users: [sally] }
    options: { methods: { comments: [] } }
`;
}

function indented(text: string, spaces: number): string {
  return text
    .split('\n')
    .map((line) => `${' '.repeat(spaces)}${line}`)
    .join('\n');
}

/** A policy with one rule that asks for approvals. Its `options` begin on line 5. */
function approvedBy(requires: string, options = ''): string {
  return `policy: { approval: [r] }
approval_rules:
  - name: r
    options:
      methods: { comments: [], github_review: true }
${indented(options, 6)}
    requires:
${indented(requires, 6)}
`;
}

const bySally: Given = { author: 'alice', reviews: [{ author: 'sally' }] };
const byBob: Given = { author: 'alice', reviews: [{ author: 'bob' }] };
const file = (path: string): Given => ({ files: [{ path }] });

const APPROVALS: readonly Construct[] = [
  {
    name: 'count, users and teams',
    document: `${README}, "Approval Rules": requires`,
    source: approvedBy('count: 2\nusers: [sally]\nteams: [octo/core]'),
    passes: [{ teams: { 'octo/core': ['bob'] }, reviews: [{ author: 'bob' }, { author: 'sally' }] }],
    stops: [
      { teams: { 'octo/core': ['bob'] }, reviews: [{ author: 'bob' }, { author: 'dan' }] },
      { teams: { 'octo/core': ['bob'] }, reviews: [{ author: 'bob' }] },
    ],
  },
  {
    name: 'the permission write is whoever may write',
    document: `${README}, "Approval Rules": permissions`,
    source: approvedBy('count: 1\npermissions: [write]'),
    passes: [bySally],
    stops: [{ reviews: [{ author: 'bob', official: false }] }, { author: 'sally', reviews: [{ author: 'sally' }] }],
  },
  {
    name: 'another permission has no equal, and approves nothing',
    document: `${README}, "Approval Rules": permissions`,
    source: approvedBy('count: 1\npermissions: [admin]'),
    passes: [],
    stops: [bySally],
    lost: [9],
  },
  {
    name: 'the members of an organisation, and the people beside it',
    document: `${README}, "Approval Rules": organizations`,
    source: approvedBy('count: 1\nusers: [sally]\norganizations: [octo]'),
    passes: [
      { ...bySally, teams: { 'octo/*': [] } },
      { ...byBob, teams: { 'octo/*': ['bob'] } },
    ],
    stops: [byBob, { ...byBob, teams: { 'octo/*': ['dan'] } }],
  },
  {
    name: 'a count without anybody who may approve is never met',
    document: `${README}, "Approval Rules": "A user must be in the list of users or belong to at least one"`,
    source: approvedBy('count: 1'),
    passes: [],
    stops: [bySally],
    lost: [7],
  },
  {
    name: 'contributors do not count',
    document: `${README}, "Approval Rules": allow_contributor`,
    source: approvedBy('count: 1\nusers: [sally]'),
    passes: [bySally],
    stops: [{ ...bySally, commits: [{ message: 'x', author: 'sally' }] }],
  },
  {
    name: 'allow_non_author_contributor',
    document: `${README}, "Approval Rules": allow_non_author_contributor`,
    source: approvedBy('count: 1\nusers: [sally]', 'allow_non_author_contributor: true'),
    passes: [{ ...bySally, commits: [{ message: 'x', author: 'sally' }] }],
    stops: [{ author: 'sally', reviews: [{ author: 'sally' }] }],
  },
  {
    name: 'allow_contributor counts contributors, and the author never',
    document: `${README}, "Approval Rules": allow_contributor`,
    source: approvedBy('count: 1\nusers: [sally]', 'allow_contributor: true'),
    passes: [{ ...bySally, commits: [{ message: 'x', author: 'sally' }] }],
    stops: [{ author: 'sally', reviews: [{ author: 'sally' }] }],
    lost: [6],
  },
  {
    name: 'allow_author has no equal',
    document: `${README}, "Approval Rules": allow_author`,
    source: approvedBy('count: 1\nusers: [sally]', 'allow_author: true'),
    passes: [bySally],
    stops: [{ author: 'sally', reviews: [{ author: 'sally' }] }],
    lost: [6],
  },
  {
    name: 'invalidate_on_push',
    document: `${README}, "Invalidating Approval on Push"`,
    source: approvedBy('count: 1\nusers: [sally]', 'invalidate_on_push: true'),
    passes: [bySally],
    stops: [{ reviews: [{ author: 'sally', at: 'old' }] }, { reviews: [{ author: 'sally', at: 'updated' }] }],
  },
  {
    name: 'an approval of before a push counts without invalidate_on_push',
    document: `${README}, "Invalidating Approval on Push"`,
    source: approvedBy('count: 1\nusers: [sally]'),
    passes: [{ reviews: [{ author: 'sally', at: 'old' }] }],
    stops: [byBob],
  },
  {
    name: 'ignore_update_merges',
    document: `${README}, "Update Merges"`,
    source: approvedBy('count: 1\nusers: [sally]', 'invalidate_on_push: yes\nignore_update_merges: true'),
    passes: [{ reviews: [{ author: 'sally', at: 'updated' }] }],
    stops: [{ reviews: [{ author: 'sally', at: 'old' }] }],
  },
  {
    name: 'ignore_commits_by, ignore_edited_comments and request_review',
    document: `${README}, "Approval Rules": options`,
    source: approvedBy(
      'count: 1\nusers: [sally]',
      'ignore_commits_by: { users: [bot] }\nignore_edited_comments: true\nrequest_review: { enabled: true }',
    ),
    passes: [bySally],
    stops: [{ ...bySally, commits: [{ message: 'x', author: 'sally' }] }],
    lost: [6, 7, 8],
  },
  {
    name: 'comments and descriptions that approve have no equal',
    document: `${README}, "Approval Rules": methods`,
    source: `policy: { approval: [r] }
approval_rules:
  - name: r
    options:
      methods:
        comments: [lgtm]
        comment_patterns: ['^ok$']
        body_patterns: [no-platform]
    requires: { count: 1, users: [sally] }
`,
    passes: [bySally],
    stops: [{ author: 'sally', body: 'no-platform' }],
    lost: [6, 7, 8],
  },
  {
    name: 'reviews with certain words have no equal, and approve nothing',
    document: `${README}, "Approval Rules": github_review_comment_patterns`,
    source: approvedBy('count: 1\nusers: [sally]').replace(
      'github_review: true',
      "github_review_comment_patterns: ['lgtm']",
    ),
    passes: [],
    stops: [bySally],
    lost: [5],
  },
  {
    name: 'conditions beside a count',
    document: `${README}, "Approval Rules": conditions`,
    source: approvedBy('count: 1\nusers: [sally]\nconditions: { has_status: { statuses: [build] } }'),
    passes: [{ ...bySally, checks: [{ name: 'build' }] }],
    stops: [bySally, { checks: [{ name: 'build' }] }],
  },
  {
    name: 'an unknown key of a rule may ask for more, so that nothing approves',
    document: `${README}, "Approval Rules"`,
    source: approvedBy('count: 1\nusers: [sally]').replace('    requires:', '    unless: {}\n    requires:'),
    passes: [],
    stops: [bySally],
    lost: [7],
  },
  {
    name: 'an unknown option may ask for more, so that nothing approves',
    document: `${README}, "Approval Rules": options`,
    source: approvedBy('count: 1\nusers: [sally]', 'only_seniors: true'),
    passes: [],
    stops: [bySally],
    lost: [6],
  },
];

const PREDICATES: readonly Construct[] = [
  {
    name: 'changed_files, with ignore',
    document: `${README}, "Approval Rules": changed_files`,
    source: ifOnly("changed_files:\n  paths: ['^config/.*$']\n  ignore: ['^config/special\\.file$']"),
    passes: [file('config/a'), { ...file('src/a'), ...bySally }],
    stops: [file('config/special.file'), file('src/a')],
  },
  {
    name: 'no_changed_files',
    document: `${README}, "Approval Rules": no_changed_files`,
    source: ifOnly("no_changed_files:\n  paths: ['^secret/']"),
    passes: [file('src/a'), { ...file('secret/a'), ...bySally }],
    stops: [file('secret/a'), { files: [{ path: 'src/a', from: 'secret/a' }] }],
  },
  {
    name: 'only_changed_files',
    document: `${README}, "Approval Rules": only_changed_files`,
    source: ifOnly("only_changed_files:\n  paths: ['^docs/', '\\.md$']"),
    passes: [{ files: [{ path: 'docs/a' }, { path: 'a/b.md' }] }],
    stops: [{ files: [{ path: 'docs/a' }, { path: 'src/a' }] }, { files: [] }],
  },
  {
    name: 'has_author_in',
    document: `${README}, "Approval Rules": has_author_in`,
    source: ifOnly("has_author_in: { users: ['fun-app[bot]'], teams: [octo/core] }"),
    passes: [
      { author: 'fun-app[bot]', teams: { 'octo/core': [] } },
      { author: 'bob', teams: { 'octo/core': ['bob'] } },
    ],
    stops: [{ author: 'dan', teams: { 'octo/core': ['bob'] } }],
  },
  {
    name: 'has_contributor_in names the author and those of commits',
    document: `${README}, "Approval Rules": has_contributor_in`,
    source: ifOnly('has_contributor_in: { users: [bob] }'),
    passes: [{ author: 'bob' }, { commits: [{ message: 'x', author: 'bob' }] }],
    stops: [
      { author: 'dan', commits: [{ message: 'x', author: 'dan' }] },
      { author: 'dan', commits: [{ ...BY_BOB_TOO, author: 'dan' }], accounts: { 'bob@x.test': 'bob' } },
    ],
  },
  {
    name: 'only_has_contributors_in names the author and those of commits',
    document: `${README}, "Approval Rules": only_has_contributors_in`,
    source: ifOnly('only_has_contributors_in: { users: [bob] }'),
    passes: [{ author: 'bob', commits: [{ message: 'x', author: 'bob' }] }],
    stops: [
      { author: 'dan', commits: [{ message: 'x', author: 'bob' }] },
      { author: 'bob', commits: [{ message: 'x', author: 'dan' }] },
    ],
  },
  {
    name: 'a co-author whom the author names skips no rule',
    document: 'palantir/policy-bot policy/predicate/author.go: OnlyHasContributorsIn',
    source: `policy:
  approval: [juniors, other]
approval_rules:
  - name: juniors
    if: { only_has_contributors_in: { users: [dan] } }
    requires: { count: 1, users: [sally] }
    options: { methods: { comments: [] } }
  - name: other
`,
    passes: [
      { author: 'dan', commits: [{ message: 'x', author: 'dan' }], ...bySally },
      { author: 'bob', commits: [{ message: 'x', author: 'bob' }] },
    ],
    stops: [
      { author: 'dan', commits: [{ message: 'x', author: 'dan' }] },
      { author: 'dan', commits: [{ ...BY_BOB_TOO, author: 'dan' }], accounts: { 'bob@x.test': 'bob' } },
    ],
  },
  {
    name: 'author_is_only_contributor',
    document: `${README}, "Approval Rules": author_is_only_contributor`,
    source: ifOnly('author_is_only_contributor: true'),
    passes: [
      { author: 'dan', commits: [{ message: 'x', author: 'Dan' }] },
      { author: 'dan', commits: [{ ...BY_BOB_TOO, author: 'dan' }], accounts: { 'bob@x.test': 'bob' } },
    ],
    stops: [
      { author: 'dan', commits: [{ message: 'x', author: 'dan', committer: 'bob' }] },
      { author: 'dan', commits: [{ message: 'x', author: null }] },
    ],
  },
  {
    name: 'author_is_only_contributor: false',
    document: `${README}, "Approval Rules": author_is_only_contributor`,
    source: ifOnly('author_is_only_contributor: false'),
    passes: [{ author: 'dan', commits: [{ message: 'x', author: 'dan', committer: 'bob' }] }],
    stops: [{ author: 'dan', commits: [{ ...BY_BOB_TOO, author: 'dan' }], accounts: { 'bob@x.test': 'bob' } }],
  },
  {
    name: 'targets_branch',
    document: `${README}, "Approval Rules": targets_branch`,
    source: ifOnly("targets_branch: { pattern: '^(main|develop)$' }"),
    passes: [{ base: 'main' }, { base: 'develop' }],
    stops: [{ base: 'maintenance' }],
  },
  {
    name: 'from_branch, which is "owner:branch" of a fork',
    document: `${README}, "Approval Rules": from_branch`,
    source: ifOnly("from_branch: { pattern: '^feature/.*$' }"),
    passes: [{ branch: 'feature/x' }],
    stops: [{ branch: 'feature/x', fork: true }, { branch: 'x/feature/y' }],
  },
  {
    name: 'from_branch that may match the branch of a fork',
    document: `${README}, "Approval Rules": from_branch`,
    source: ifOnly("from_branch: { pattern: 'feature' }"),
    passes: [{ branch: 'my-feature' }],
    stops: [{ branch: 'my-feature', fork: true }, { branch: 'x' }],
    lost: [7],
  },
  {
    name: 'modified_lines, of which one comparison is enough',
    document: `${README}, "Approval Rules": modified_lines`,
    source: ifOnly("modified_lines: { additions: '> 100', deletions: '>5', total: '= 3' }"),
    passes: [
      { files: [{ path: 'a', additions: 101 }] },
      { files: [{ path: 'a', deletions: 6 }] },
      {
        files: [
          { path: 'a', additions: 2, deletions: 1 },
          { path: 'a.png', diff: 'binary' },
        ],
      },
    ],
    stops: [{ files: [{ path: 'a', additions: 100, deletions: 5 }] }],
  },
  {
    name: 'has_successful_status',
    document: `${README}, "Approval Rules": has_successful_status`,
    source: ifOnly('has_successful_status: [build, scan]'),
    passes: [{ checks: [{ name: 'build' }, { name: 'scan' }] }],
    stops: [{ checks: [{ name: 'build' }] }, { checks: [{ name: 'build' }, { name: 'scan', state: 'failure' }] }],
  },
  {
    name: 'has_status with conclusions',
    document: `${README}, "Approval Rules": has_status`,
    source: ifOnly('has_status: { conclusions: [success, skipped], statuses: [build] }'),
    passes: [{ checks: [{ name: 'build', state: 'skipped' }] }],
    stops: [{ checks: [{ name: 'build', state: 'neutral' }] }, {}],
  },
  {
    name: 'has_labels, of which all are needed',
    document: `${README}, "Approval Rules": has_labels`,
    source: ifOnly('has_labels: [one, Two]'),
    passes: [{ labels: ['one', 'two'] }],
    stops: [{ labels: ['one'] }],
  },
  {
    name: 'repository, without its owner',
    document: `${README}, "Approval Rules": repository`,
    source: ifOnly("repository: { matches: ['^octo/policy.*$'] }"),
    passes: [{ repository: 'octo/policy-x' }],
    stops: [{ repository: 'octo/x' }],
  },
  {
    name: 'title, by matches or not_matches',
    document: `${README}, "Approval Rules": title`,
    source: ifOnly("title:\n  matches: ['^BREAKING CHANGE: (\\w| )+$']\n  not_matches: ['^(docs|style): ']"),
    passes: [{ title: 'BREAKING CHANGE: x' }, { title: 'feat: x' }],
    stops: [{ title: 'docs: x' }],
  },
  {
    name: 'has_valid_signatures',
    document: `${README}, "Approval Rules": has_valid_signatures`,
    source: ifOnly('has_valid_signatures: true'),
    passes: [{ commits: [{ message: 'x', verified: true }] }],
    stops: [
      {
        commits: [
          { message: 'x', verified: true },
          { message: 'y', verified: false },
        ],
      },
    ],
  },
  {
    name: 'has_valid_signatures_by, of users',
    document: `${README}, "Approval Rules": has_valid_signatures_by`,
    source: ifOnly('has_valid_signatures_by: { users: [bob, carol] }'),
    passes: [
      {
        commits: [
          { message: 'x', signed_by: 'bob' },
          { message: 'y', signed_by: 'carol' },
        ],
      },
    ],
    stops: [
      {
        commits: [
          { message: 'x', signed_by: 'bob' },
          { message: 'y', signed_by: 'alice' },
        ],
      },
      { commits: [{ message: 'x', signed_by: null }] },
      { commits: [{ message: 'x', verified: false }] },
    ],
  },
  {
    name: 'has_valid_signatures_by, of teams and organisations',
    document: `${README}, "Approval Rules": has_valid_signatures_by`,
    source: ifOnly('has_valid_signatures_by: { users: [bob], teams: [octo/devs], organizations: [octo] }'),
    passes: [
      { teams: { 'octo/devs': ['dan'], 'octo/*': [] }, commits: [{ message: 'x', signed_by: 'dan' }] },
      { teams: { 'octo/devs': [], 'octo/*': ['eve'] }, commits: [{ message: 'x', signed_by: 'eve' }] },
    ],
    stops: [
      { teams: { 'octo/devs': ['dan'], 'octo/*': [] }, commits: [{ message: 'x', signed_by: 'eve' }] },
      { teams: { 'octo/devs': ['dan'] }, commits: [{ message: 'x', signed_by: 'eve' }] },
    ],
  },
  {
    name: 'predicates of one rule must all be met',
    document: `${README}, "Rules": "A rule is only active when all of its predicates are true"`,
    source: ifOnly("has_labels: [one]\ntargets_branch: { pattern: '^main$' }"),
    passes: [{ labels: ['one'] }],
    stops: [{ labels: ['one'], base: 'x' }, {}],
  },
  ...[
    'has_workflow_result: { workflows: [.github/workflows/a.yml] }',
    'has_valid_signatures_by: { permissions: [write] }',
    'has_valid_signatures_by: { users: [web-flow] }',
    'has_valid_signatures_by_keys: { key_ids: ["3AA5C34371567BD2"] }',
    'has_new_predicate: true',
    "targets_branch: { pattern: '^(?!main)' }",
    "changed_files: { paths: ['^a$'], globs: ['b'] }",
    'has_labels: [a*]',
    "has_status: { statuses: ['ci/*'] }",
    'has_author_in: { permissions: [admin] }',
  ].map(
    (predicate): Construct => ({
      name: `${predicate} lets nothing pass by itself`,
      document: `${README}, "Approval Rules"`,
      source: ifOnly(predicate),
      passes: [bySally],
      stops: [{ commits: [{ message: 'x', verified: true }], files: [{ path: 'a' }, { path: 'b' }], labels: ['a*'] }],
      lost: [7],
    }),
  ),
];

const WHOLE: readonly Construct[] = [
  {
    name: 'the policy of its README',
    document: `${README}, "policy.yml Specification"`,
    source: `policy:
  approval:
    - or:
      - the devtools team has approved
      - only staging files have changed
approval_rules:
  - name: the devtools team has approved
    requires: { count: 1, teams: [octo/devtools] }
  - name: only staging files have changed
    if:
      only_changed_files: { paths: ["^staging/.*$"] }
    requires: { count: 0 }
`,
    passes: [
      { ...file('staging/a'), teams: { 'octo/devtools': ['bob'] } },
      { ...file('src/a'), ...byBob, teams: { 'octo/devtools': ['bob'] } },
    ],
    stops: [{ files: [{ path: 'staging/a' }, { path: 'src/a' }], teams: { 'octo/devtools': ['bob'] } }],
  },
  {
    name: 'a policy of which all rules are skipped is an error',
    document: 'palantir/policy-bot server/handler/eval_context.go: "At least one rule must match"',
    source: `policy: { approval: [a, b] }
approval_rules:
  - { name: a, if: { has_labels: [a] } }
  - { name: b, if: { has_labels: [b] }, requires: { count: 1, users: [bob] } }
`,
    passes: [{ labels: ['a'] }, { labels: ['b'], ...byBob }],
    stops: [{}, { labels: ['b'] }, { labels: ['a', 'b'] }],
  },
  {
    name: 'disapproval by those who are named, until they approve',
    document: `${README}, "Disapproval Policy"`,
    source: `policy:
  approval: [a]
  disapproval:
    requires: { teams: [octo/core] }
    options: { methods: { disapprove: { comments: [], github_review: true } } }
approval_rules: [{ name: a }]
`,
    passes: [
      { teams: { 'octo/core': ['bob'] } },
      { teams: { 'octo/core': ['bob'] }, reviews: [{ author: 'dan', state: 'changes-requested' }] },
      { teams: { 'octo/core': ['bob'] }, reviews: [{ author: 'bob', state: 'changes-requested' }, { author: 'bob' }] },
    ],
    stops: [{ teams: { 'octo/core': ['bob'] }, reviews: [{ author: 'bob', state: 'changes-requested' }] }],
  },
  {
    name: 'disapproval by a comment is reported, and by an organisation it is kept',
    document: `${README}, "Disapproval Policy"`,
    source: `policy:
  approval: [a]
  disapproval:
    requires:
      organizations: [octo]
approval_rules: [{ name: a }]
`,
    passes: [{}, { teams: { 'octo/*': ['dan'] }, reviews: [{ author: 'bob', state: 'changes-requested' }] }],
    stops: [
      { reviews: [{ author: 'bob', state: 'changes-requested' }] },
      { teams: { 'octo/*': ['bob'] }, reviews: [{ author: 'bob', state: 'changes-requested' }] },
    ],
    lost: [4],
  },
  {
    name: 'disapproval by any of its predicates',
    document: `${README}, "Disapproval Policy": if`,
    source: `policy:
  approval: [a]
  disapproval: { if: { title: { matches: ['^BLOCKED'] }, has_labels: [blocked] } }
approval_rules: [{ name: a }]
`,
    passes: [{}],
    stops: [{ title: 'BLOCKED' }, { labels: ['blocked'] }],
  },
  {
    name: 'no approval at all lets everything pass',
    document: 'palantir/policy-bot policy/approval/evaluate.go: "No approval policy defined"',
    source: 'policy: {}\n',
    passes: [{}],
    stops: [],
  },
  {
    name: 'a rule that is always skipped',
    document: `${README}, "Rules": "If any predicate is false, the rule is skipped"`,
    source: `policy: { approval: [a, b] }
approval_rules:
  - { name: a, if: { has_author_in: { users: [] } }, requires: { count: 1, users: [bob] } }
  - { name: b, requires: { conditions: { has_labels: [b] } } }
`,
    passes: [{ labels: ['b'] }],
    stops: [byBob],
  },
  {
    name: 'a rule that does not exist, and one that has another form',
    document: 'palantir/policy-bot policy/approval/parse.go',
    source: 'policy:\n  approval:\n    - nobody\n    - { or: [a], and: [a] }\napproval_rules: [{ name: a }]\n',
    passes: [],
    stops: [{}],
    lost: [3, 4],
  },
  {
    name: 'a key of the file that is not known stops everything',
    document: `${README}, "policy.yml Specification"`,
    source: 'policy: { approval: [a] }\napproval_defaults: {}\napproval_rules: [{ name: a }]\n',
    passes: [],
    stops: [{}],
    lost: [2],
  },
  {
    name: 'remote without a ref is not guessed',
    document: `${README}, "Remote Policy Configuration"`,
    source: 'remote: octo/policies\n',
    passes: [],
    stops: [{}],
    lost: [1],
  },
];

export const POLICY_BOT: readonly Construct[] = [...APPROVALS, ...PREDICATES, ...WHOLE];
