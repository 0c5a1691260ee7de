import type { Given } from '../../../src/review/cases/given.ts';
import { plain } from '../../../src/review/text.ts';
import test from '../../helpers/test.ts';
import { judge, type Row, requiring } from './judge.ts';

const tables: Readonly<Record<string, readonly Row[]>> = {
  title: [
    ["{ title: '^feat: ' }", { title: 'feat: x' }, 'matched', 'the pattern is found'],
    ["{ title: '^feat: ' }", { title: 'a feat: x' }, 'unmatched', 'an anchor holds'],
    ["{ title: 'eat' }", { title: 'feat: x' }, 'matched', 'without anchors it is found anywhere'],
    ["{ title: ['^fix', '^feat'] }", { title: 'feat: x' }, 'matched', 'one of a list is enough'],
    ["{ title: '(?i)^FEAT' }", { title: 'feat: x' }, 'matched', 'case can be ignored'],
    ["{ title: '^\\p{L}+$' }", { title: 'äöü' }, 'matched', 'classes know Unicode'],
    ["{ title: '.' }", { title: '' }, 'unmatched', 'an empty title has nothing to match'],
  ],
  body: [
    ["{ body: '(?m)^Closes #\\d+$' }", { body: 'Text\r\nCloses #12\r\nmore' }, 'matched', 'CRLF ends lines too'],
    ["{ body: '\\S' }", { body: ' \n ' }, 'unmatched', 'blank is blank'],
  ],
  branch: [
    ["{ branch: 'feature/*' }", { branch: 'feature/x' }, 'matched', 'a glob'],
    ["{ branch: 'feature/*' }", { branch: 'feature/x/y' }, 'unmatched', 'a star stays within a segment'],
    ["{ branch: ['**', '!wip/**'] }", { branch: 'wip/x' }, 'unmatched', 'an exclamation mark excludes'],
  ],
  base: [
    ['{ base: main }', { base: 'main' }, 'matched', 'the name itself'],
    ['{ base: main }', { base: 'maintenance' }, 'unmatched', 'not a longer name'],
    ["{ base: [main, 'release/*'] }", { base: 'release/1.2' }, 'matched', 'one of a list'],
  ],
  repository: [
    ['{ repository: example }', {}, 'matched', 'without the owner'],
    ['{ repository: octo/example }', {}, 'unmatched', 'without the owner'],
    ["{ repository: 'web-*' }", { repository: 'octo/Web-Shop' }, 'matched', 'case is ignored'],
    ["{ repository: 'Web-*' }", { repository: 'octo/web-shop' }, 'matched', 'on either side'],
    [
      "{ repository: ['*', '!legacy-*'] }",
      { repository: 'octo/legacy-web' },
      'unmatched',
      'an exclamation mark excludes',
    ],
  ],
  author: [
    ['{ author: alice }', { author: 'Alice' }, 'matched', 'case is ignored'],
    ["{ author: 'renovate[bot]' }", { author: 'renovate[bot]' }, 'matched', 'brackets are brackets'],
    ["{ author: '*[bot]' }", { author: 'dependabot[bot]' }, 'matched', 'a star is any characters'],
    ["{ author: 'alic.' }", { author: 'alice' }, 'unmatched', 'a dot is a dot'],
    ["{ author: ['@octo/docs'] }", { author: 'alice', teams: { 'octo/docs': ['ALICE'] } }, 'matched', 'teams'],
    [
      "{ author: ['@Octo/Docs'] }",
      { author: 'bob', teams: { 'octo/docs': ['alice'] } },
      'unmatched',
      'not in the team',
    ],
    ["{ author: ['@octo/docs'] }", { author: 'bob' }, 'undecided', 'a team that cannot be read'],
    ["{ author: [bob, '@octo/docs'] }", { author: 'bob' }, 'matched', 'the login settles it'],
  ],
  assignee: [
    ["{ assignee: '*' }", { assignees: ['bob'] }, 'matched', 'anybody'],
    ["{ assignee: '*' }", {}, 'unmatched', 'nobody'],
    ['{ assignee: Bob }', { assignees: ['bob'] }, 'matched', 'case is ignored'],
    ['{ assignee: bo }', { assignees: ['bob'] }, 'unmatched', 'a whole name'],
    ["{ assignee: ['@octo/sec'] }", { assignees: ['bob'], teams: { 'octo/sec': ['Bob'] } }, 'matched', 'a team'],
    ["{ assignee: ['@octo/sec'] }", { assignees: ['dan'], teams: { 'octo/sec': ['bob'] } }, 'unmatched', 'another'],
    ["{ assignee: ['@octo/sec'] }", { assignees: ['bob'] }, 'undecided', 'a team that cannot be read'],
    ["{ assignee: ['@octo/sec'] }", {}, 'unmatched', 'nobody, whoever is in the team'],
    ["{ assignee: [bob, '@octo/sec'] }", { assignees: ['bob'] }, 'matched', 'the login settles it'],
    ["{ assignee: '*' }", { triage_unread: true }, 'undecided', 'what could not be read'],
  ],
  milestone: [
    ["{ milestone: '*' }", { milestone: 'v1' }, 'matched', 'any'],
    ["{ milestone: '*' }", {}, 'unmatched', 'none'],
    ["{ milestone: '*' }", { milestone: '' }, 'matched', 'one without a title'],
    ['{ milestone: V1 }', { milestone: 'v1' }, 'matched', 'case is ignored'],
    ['{ milestone: straße }', { milestone: 'STRASSE' }, 'unmatched', 'letters are not folded together'],
    ['{ milestone: [v1, v2] }', { milestone: 'v2' }, 'matched', 'one of a list'],
    ['{ milestone: v1 }', { milestone: 'v1.1' }, 'unmatched', 'a whole title'],
    ["{ milestone: 'v1*.' }", { milestone: `v1${'.*'.repeat(40_000)}x` }, 'unmatched', 'a very long title'],
    ['{ milestone: v1 }', { triage_unread: true }, 'undecided', 'what could not be read'],
  ],
  visibility: [
    ['{ visibility: public }', {}, 'matched', 'public'],
    ['{ visibility: [internal, private] }', { visibility: 'internal' }, 'matched', 'one of a list'],
    ['{ visibility: private }', { visibility: 'internal' }, 'unmatched', 'internal is not private'],
    ['{ visibility: public }', { repository_unread: true }, 'undecided', 'what could not be read'],
  ],
  topic: [
    ['{ topic: Web }', { topics: ['web'] }, 'matched', 'case is ignored'],
    ["{ topic: 'team-*' }", { topics: ['web', 'team-a'] }, 'matched', 'a star'],
    ['{ topic: web }', { topics: ['webs'] }, 'unmatched', 'a whole name'],
    ['{ topic: web }', {}, 'unmatched', 'none'],
    ["{ topic: '*' }", { topics_unread: true }, 'undecided', 'what the forge does not tell'],
    ["{ topic: '*' }", { repository_unread: true }, 'undecided', 'what could not be read'],
  ],
  draft: [
    ['{ draft: true }', { draft: true }, 'matched', 'a draft'],
    ['{ draft: false }', { draft: true }, 'unmatched', 'a draft'],
    ['{ draft: false }', { draft: false }, 'matched', 'ready'],
  ],
  label: [
    ['{ label: ready }', { labels: ['Ready', 'x'] }, 'matched', 'case is ignored'],
    ['{ label: ready }', { labels: ['not ready'] }, 'unmatched', 'the whole name'],
    ["{ label: ['size/*', ready] }", { labels: ['size/XL'] }, 'matched', 'a star is any characters'],
    ['{ label: ready }', {}, 'unmatched', 'no labels'],
  ],
  files: [
    ["{ files: 'src/**' }", { files: [{ path: 'src/a/b.ts' }] }, 'matched', 'beneath a folder'],
    ["{ files: 'src/**' }", { files: [] }, 'unmatched', 'an empty change'],
    [
      "{ files: 'auth/**' }",
      { files: [{ path: 'x.ts', from: 'auth/x.ts' }] },
      'unmatched',
      'where it is required, a file that is gone does not count',
    ],
    ["{ files: 'test/**' }", { files: [{ path: 'test/a.ts', status: 'removed' }] }, 'unmatched', 'a deleted test'],
    [
      "{ files: 'test/**', status: removed }",
      { files: [{ path: 'test/a.ts', status: 'removed' }] },
      'matched',
      'the status that is asked for',
    ],
    [
      "{ files: 'test/**', status: [removed] }",
      { files: [{ path: 'a.ts', from: 'test/a.ts' }] },
      'matched',
      'a renamed file is removed under its old name',
    ],
    ["{ files: 'test/**', status: added }", { files: [{ path: 'test/a.ts' }] }, 'unmatched', 'modified is not added'],
    ["{ files: 'auth/**' }", { files: [{ path: 'auth/x.ts', from: 'x.ts' }] }, 'matched', 'moved into a folder'],
    ["{ files: 'a' }", { files: [{ path: 'b' }], files_complete: false }, 'undecided', 'the rest is not known'],
    ["{ files: 'a' }", { files: [{ path: 'a' }], files_complete: false }, 'matched', 'what was read settles it'],
  ],
  only_files: [
    ["{ only_files: 'docs/**' }", { files: [{ path: 'docs/a.md' }, { path: 'docs/b/c' }] }, 'matched', 'all of them'],
    ["{ only_files: 'docs/**' }", { files: [{ path: 'docs/a.md' }, { path: 'a.md' }] }, 'unmatched', 'one other'],
    ["{ only_files: ['docs/**', '!**/*.js'] }", { files: [{ path: 'docs/a.js' }] }, 'unmatched', 'excluded'],
    ["{ only_files: '!src/**' }", { files: [{ path: 'docs/a.md' }] }, 'matched', 'exclusions alone are all others'],
    [
      "{ only_files: 'docs/**' }",
      { files: [{ path: 'docs/x', from: 'src/x' }] },
      'unmatched',
      'moved in from elsewhere',
    ],
    ["{ only_files: 'docs/**' }", { files: [{ path: 'src/x', from: 'docs/x' }] }, 'unmatched', 'moved out'],
    ["{ only_files: 'docs/**' }", { files: [{ path: 'docs/x', from: 'docs/y' }] }, 'matched', 'moved within'],
    [
      "{ only_files: 'docs/**' }",
      { files: [{ path: 'src/x', status: 'removed' }] },
      'unmatched',
      'another was removed',
    ],
    [
      "{ only_files: 'docs/**' }",
      { files: [{ path: 'docs/x', status: 'removed' }] },
      'matched',
      'one of them was removed',
    ],
    ["{ only_files: 'docs/**' }", { files: [{ path: 'docs/a.png', diff: 'binary' }] }, 'matched', 'binary by its path'],
    [
      "{ only_files: 'docs/**' }",
      { files: [{ path: 'docs' }] },
      'unmatched',
      'the folder became a link or a submodule',
    ],
    ["{ only_files: 'docs/**' }", { files: [{ path: 'Docs/a.md' }] }, 'unmatched', 'case matters'],
    ["{ only_files: '**' }", { files: [] }, 'unmatched', 'an empty change'],
    ["{ only_files: '**' }", { files: [{ path: 'a' }], files_complete: false }, 'undecided', 'the rest is not known'],
    ["{ only_files: '**' }", { files: [], files_complete: false }, 'undecided', 'nothing is known'],
    ["{ only_files: 'a' }", { files: [{ path: 'b' }], files_complete: false }, 'unmatched', 'what was read settles it'],
  ],
  changed_lines: [
    [
      "{ changed_lines: '<= 3' }",
      { files: [{ path: 'a', additions: 2, deletions: 1 }] },
      'matched',
      'the limit itself',
    ],
    ["{ changed_lines: '< 3' }", { files: [{ path: 'a', additions: 2, deletions: 1 }] }, 'unmatched', 'less than'],
    ["{ changed_lines: '> 2' }", { files: [{ path: 'a', additions: 2, deletions: 1 }] }, 'matched', 'more than'],
    ["{ changed_lines: '>= 4' }", { files: [{ path: 'a', additions: 3 }] }, 'unmatched', 'at least'],
    ["{ changed_lines: '<= 3' }", { files: [{ path: 'a', diff: 'binary' }] }, 'undecided', 'nobody counted its lines'],
    [
      "{ changed_lines: '<= 3' }",
      { files: [{ path: 'a', diff: 'too-large', counted: false }] },
      'undecided',
      'nobody counted its lines',
    ],
    [
      "{ changed_lines: '<= 3', binary: ignore }",
      { files: [{ path: 'a', diff: 'binary' }] },
      'matched',
      'the policy leaves binary files out',
    ],
    [
      "{ changed_lines: '<= 3', except: '*.png' }",
      { files: [{ path: 'a.png', diff: 'binary' }] },
      'matched',
      'the policy leaves these files out',
    ],
    [
      "{ changed_lines: '<= 3' }",
      {
        files: [
          { path: 'a', diff: 'binary' },
          { path: 'b', additions: 4 },
        ],
      },
      'unmatched',
      'what was counted settles it',
    ],
    [
      "{ changed_lines: '<= 3', except: ['**/package-lock.json'] }",
      {
        files: [
          { path: 'a', additions: 3 },
          { path: 'x/package-lock.json', additions: 900 },
        ],
      },
      'matched',
      'exempt files are not counted',
    ],
    [
      "{ changed_lines: '<= 3' }",
      { files: [{ path: 'a', additions: 1 }], files_complete: false },
      'undecided',
      'there may be more',
    ],
    [
      "{ changed_lines: '<= 3' }",
      { files: [{ path: 'a', additions: 4 }], files_complete: false },
      'unmatched',
      'already too many',
    ],
    [
      "{ changed_lines: '>= 3' }",
      { files: [{ path: 'a', additions: 4 }], files_complete: false },
      'matched',
      'already enough',
    ],
    [
      "{ changed_lines: '= 3' }",
      { files: [{ path: 'a', additions: 3 }], files_complete: false },
      'undecided',
      'there may be more',
    ],
    [
      "{ changed_lines: '= 3' }",
      { files: [{ path: 'a', additions: 4 }], files_complete: false },
      'unmatched',
      'already too many',
    ],
    [
      "{ changed_lines: '> 3' }",
      { files: [{ path: 'a', additions: 3 }], files_complete: false },
      'undecided',
      'there may be more',
    ],
    [
      "{ changed_lines: '<= 3' }",
      { files: [{ path: 'a', diff: 'too-large', additions: 4 }] },
      'unmatched',
      'counted though unread',
    ],
  ],
  changed_files: [
    ["{ changed_files: '<= 1' }", { files: [{ path: 'a' }, { path: 'b' }] }, 'unmatched', 'two'],
    ["{ changed_files: '<= 1', except: 'b' }", { files: [{ path: 'a' }, { path: 'b' }] }, 'matched', 'one is exempt'],
    ["{ changed_files: '<= 1' }", { files: [{ path: 'a' }], files_complete: false }, 'undecided', 'there may be more'],
  ],
  threads: [
    [
      '{ threads: { resolved_by: others } }',
      { threads: [{ by: 'ci[bot]', bot: true, resolved_by: 'ci[bot]', answered_by: ['bob'] }] },
      'unmatched',
      'a machine over a person',
    ],
    [
      '{ threads: { resolved_by: others } }',
      { threads: [{ by: 'ci[bot]', bot: true, resolved_by: 'ci[bot]', answered_by: ['alice', 'helper[bot]'] }] },
      'matched',
      'a machine that the author has answered',
    ],
    [
      '{ threads: { resolved_by: others } }',
      { threads: [{ by: 'Alice', resolved_by: 'alice', answered_by: ['ALICE'] }] },
      'matched',
      'the author alone, in any case',
    ],
    [
      '{ threads: { resolved_by: others } }',
      { threads: [{ by: 'bob', resolved_by: 'bob', answered_by: ['carol'] }] },
      'matched',
      'who made nothing, over another',
    ],
    [
      '{ threads: { resolved_by: others } }',
      { threads: [{ by: 'bob', resolved_by: 'bob', answered_by: null }] },
      'matched',
      'who made nothing, whoever wrote',
    ],
    [
      '{ threads: { resolved_by: others } }',
      { threads: [{ by: 'alice', resolved_by: 'bob', answered_by: ['carol'] }] },
      'matched',
      'by another',
    ],
    [
      '{ threads: { resolved_by: others } }',
      { threads: [{ by: 'alice', resolved_by: 'alice', answered_by: ['ghost'] }] },
      'unmatched',
      'over an account that is gone',
    ],
    [
      '{ threads: { resolved_by: others } }',
      { threads: [{ by: 'bob', resolved_by: 'bob', answered_by: ['carol'] }], commits_complete: false },
      'undecided',
      'who began it may have made the change',
    ],
    [
      '{ threads: { resolved_by: others } }',
      {
        threads: [{ by: 'bob', resolved_by: 'bob', answered_by: ['carol'] }],
        commits: [{ message: 'a', author: 'bob' }],
      },
      'unmatched',
      'who began it made the change',
    ],
  ],
  added_lines: [
    ["{ added_lines: 'TODO' }", { files: [{ path: 'a', added: ['x', 'a TODO'] }] }, 'matched', 'found'],
    [
      "{ added_lines: 'TODO' }",
      { files: [{ path: 'a', patch: '@@ -1,2 +1,1 @@\n-a TODO\n x\n' }] },
      'unmatched',
      'removed lines do not count',
    ],
    [
      "{ added_lines: 'TODO' }",
      { files: [{ path: 'a', patch: '@@ -1 +1,2 @@\n a TODO\n+x\n' }] },
      'unmatched',
      'context does not count',
    ],
    [
      "{ added_lines: 'x$' }",
      { files: [{ path: 'a', patch: '@@ -0,0 +1 @@\n+x\r\n' }] },
      'matched',
      'CRLF is no part of a line',
    ],
    ["{ added_lines: 'x', in: ['**/*.ts'] }", { files: [{ path: 'a.md', added: ['x'] }] }, 'unmatched', 'out of scope'],
    ["{ added_lines: 'x' }", { files: [{ path: 'a', diff: 'binary' }] }, 'undecided', 'nothing can look into it'],
    [
      "{ added_lines: 'x', binary: ignore }",
      { files: [{ path: 'a', diff: 'binary' }] },
      'unmatched',
      'the policy leaves binary files out',
    ],
    [
      "{ added_lines: 'x', in: ['**', '!*.png'] }",
      { files: [{ path: 'a.png', diff: 'binary' }] },
      'unmatched',
      'not among the files to look in',
    ],
    ["{ added_lines: 'x' }", { files: [{ path: 'a', diff: 'too-large' }] }, 'undecided', 'too large to read'],
    [
      "{ added_lines: 'x' }",
      { files: [{ path: 'a', diff: 'too-large', status: 'removed' }] },
      'unmatched',
      'a removed file adds nothing',
    ],
    [
      "{ added_lines: 'x', in: '*.ts' }",
      { files: [{ path: 'a', diff: 'too-large' }] },
      'unmatched',
      'too large, and out of scope',
    ],
    [
      "{ added_lines: 'x' }",
      {
        files: [
          { path: 'a', diff: 'too-large' },
          { path: 'b', added: ['x'] },
        ],
      },
      'matched',
      'what was read settles it',
    ],
    ["{ added_lines: 'x' }", { files_complete: false }, 'undecided', 'not all files are known'],
    [
      "{ added_lines: 'x' }",
      { files: [{ path: 'a', patch: '@@ -0,0 +1,9 @@\n+y\n' }] },
      'undecided',
      'the patch breaks off',
    ],
    ["{ added_lines: 'x' }", { files: [{ path: 'b', from: 'a' }] }, 'unmatched', 'a rename without a change'],
  ],
  commits: [
    [
      '{ commits: { some: { fixup: true } } }',
      { commits: [{ message: 'a' }, { message: 'fixup! a' }] },
      'matched',
      'one is',
    ],
    ['{ commits: { some: { fixup: true } } }', { commits: [{ message: 'squash! a\n\nb' }] }, 'matched', 'squash!'],
    [
      '{ commits: { some: { fixup: true } } }',
      { commits: [{ message: 'the fixup! a' }] },
      'unmatched',
      'at the start only',
    ],
    ['{ commits: { some: { merge: true } } }', { commits: [{ message: 'a', parents: 2 }] }, 'matched', 'two parents'],
    [
      '{ commits: { some: { merge: true } } }',
      { commits: [{ message: 'Merge', parents: 1 }] },
      'unmatched',
      'one parent',
    ],
    [
      "{ commits: { every: { message: '^feat' } } }",
      { commits: [{ message: 'feat: a' }, { message: 'b' }] },
      'unmatched',
      'one does not',
    ],
    [
      "{ commits: { every: { message: '^feat' } } }",
      { commits: [{ message: 'feat: a' }, { message: 'Merge', parents: 2 }] },
      'matched',
      'merges are passed over',
    ],
    [
      '{ commits: { every: { merge: false } } }',
      { commits: [{ message: 'Merge', parents: 2 }] },
      'unmatched',
      'unless they are meant',
    ],
    [
      '{ commits: { every: { signed_off: true } } }',
      { commits: [{ message: 'a\n\nSigned-off-by: Alice <Alice@Example.test>' }] },
      'matched',
      'signed off',
    ],
    [
      '{ commits: { every: { signed_off: true } } }',
      { commits: [{ message: 'a\n\nSigned-off-by: Bob <bob@example.test>' }] },
      'unmatched',
      "by somebody else than the commit's author",
    ],
    [
      '{ commits: { every: { signed_off: true } } }',
      { commits: [{ message: 'Merge', parents: 2, clean: true }] },
      'matched',
      'a clean merge needs none',
    ],
    [
      '{ commits: { every: { signed_off: true } } }',
      { commits: [{ message: 'Merge', parents: 2 }] },
      'unmatched',
      'a merge that changes something needs one',
    ],
    [
      "{ commits: { every: { message: '^a' }, some: { fixup: true } } }",
      { commits: [{ message: 'ab' }] },
      'unmatched',
      'both are asked for',
    ],
    [
      "{ commits: { oldest: { message: '^a' } } }",
      { commits: [{ message: 'a' }, { message: 'b' }] },
      'matched',
      'the first of the branch',
    ],
    [
      "{ commits: { oldest: { message: '^a' } } }",
      { commits: [{ message: 'b' }, { message: 'a' }] },
      'unmatched',
      'not the newest',
    ],
    [
      '{ commits: { some: { fixup: true } } }',
      { commits: [{ message: 'a' }], commits_complete: false },
      'undecided',
      'there may be more',
    ],
    [
      "{ commits: { every: { message: '^a' } } }",
      { commits: [{ message: 'a' }], commits_complete: false },
      'undecided',
      'there may be more',
    ],
    [
      "{ commits: { every: { message: '^a' } } }",
      { commits: [{ message: 'b' }], commits_complete: false },
      'unmatched',
      'what was read settles it',
    ],
  ],
  'commits, signatures': [
    [
      '{ commits: { every: { verified: true } } }',
      {
        commits: [
          { message: 'a', verified: true },
          { message: 'b', verified: false },
        ],
      },
      'unmatched',
      'one has none',
    ],
    [
      '{ commits: { every: { verified: true } } }',
      {
        commits: [
          { message: 'a', verified: true },
          { message: 'm', parents: 2, clean: true, verified: false },
        ],
      },
      'unmatched',
      'a merge needs one too',
    ],
    [
      '{ commits: { every: { verified: true } } }',
      { commits: [{ message: 'a', verified: true }, { message: 'b' }] },
      'undecided',
      'the forge does not say',
    ],
    [
      '{ commits: { every: { verified: true, message: a } } }',
      { commits: [{ message: 'b' }] },
      'unmatched',
      'another trait settles it',
    ],
    ['{ commits: { some: { verified: false } } }', { commits: [{ message: 'a' }] }, 'undecided', 'it may have one'],
    [
      '{ commits: { some: { verified: false } } }',
      { commits: [{ message: 'a' }, { message: 'b', verified: false }] },
      'matched',
      'one certainly has none',
    ],
    [
      '{ commits: { every: { signed_by: [bob, Alice] } } }',
      {
        commits: [
          { message: 'a', signed_by: 'alice' },
          { message: 'b', signed_by: 'BOB' },
        ],
      },
      'matched',
      'each is of one of them, in whatever case',
    ],
    [
      '{ commits: { every: { signed_by: alice } } }',
      {
        commits: [
          { message: 'a', signed_by: 'alice' },
          { message: 'm', parents: 2, clean: true, signed_by: 'bob' },
        ],
      },
      'unmatched',
      'a merge needs one too',
    ],
    [
      '{ commits: { every: { signed_by: alice } } }',
      { commits: [{ message: 'a', signed_by: null }] },
      'unmatched',
      'the forge itself is nobody',
    ],
    [
      '{ commits: { every: { signed_by: alice } } }',
      { commits: [{ message: 'a', author: 'alice', committer: 'alice', verified: true }] },
      'undecided',
      'the forge does not say whose',
    ],
    [
      '{ commits: { every: { signed_by: alice } } }',
      { commits: [{ message: 'a', signed_by: 'alice', verified: false }] },
      'unmatched',
      'a signature that is not verified is nobody’s',
    ],
    [
      '{ commits: { every: { signed_by: alice } } }',
      { commits: [{ message: 'a', signed_by: 'alice' }], commits_complete: false },
      'undecided',
      'more commits than were read',
    ],
    [
      '{ commits: { every: { signed_by: alice, verified: false } } }',
      { commits: [{ message: 'a', verified: true }] },
      'unmatched',
      'what is known settles it',
    ],
    [
      '{ commits: { some: { signed_by: alice } } }',
      { commits: [{ message: 'a', signed_by: 'bob' }, { message: 'b' }] },
      'undecided',
      'it may be the other one',
    ],
    [
      '{ commits: { newest: { signed_by: bob } } }',
      {
        commits: [
          { message: 'a', verified: false },
          { message: 'b', signed_by: 'bob' },
        ],
      },
      'matched',
      'only the newest is asked for',
    ],
    [
      '{ commits: { some: { verified: true } } }',
      { commits: [{ message: 'a', verified: false }] },
      'unmatched',
      'none',
    ],
  ],
  changes_requested: [
    ['{ changes_requested: true }', { reviews: [{ author: 'bob', state: 'changes-requested' }] }, 'matched', 'one'],
    ['{ changes_requested: true }', { reviews: [{ author: 'bob' }] }, 'unmatched', 'an approval'],
    [
      '{ changes_requested: true }',
      { reviews: [{ author: 'bob', state: 'changes-requested', at: 'old' }] },
      'matched',
      'a push does not end it',
    ],
    [
      '{ changes_requested: true }',
      { reviews: [{ author: 'bob', state: 'changes-requested' }, { author: 'BOB' }] },
      'unmatched',
      'taken back by an approval',
    ],
    [
      '{ changes_requested: true }',
      {
        reviews: [
          { author: 'bob', state: 'changes-requested' },
          { author: 'bob', state: 'commented' },
        ],
      },
      'matched',
      'a comment does not take it back',
    ],
    ['{ changes_requested: true }', { reviews: [{ author: 'bob', state: 'dismissed' }] }, 'unmatched', 'dismissed'],
    [
      '{ changes_requested: true }',
      { reviews: [{ author: 'bob', state: 'changes-requested', official: false }] },
      'unmatched',
      'by somebody who may not write',
    ],
    [
      '{ changes_requested: { from: dan } }',
      { reviews: [{ author: 'bob', state: 'changes-requested' }] },
      'unmatched',
      'by somebody else',
    ],
    [
      "{ changes_requested: { from: ['@octo/sec'] } }",
      { reviews: [{ author: 'Bob', state: 'changes-requested' }], teams: { 'octo/sec': ['bob'] } },
      'matched',
      'by a member of the team',
    ],
    [
      "{ changes_requested: { from: ['@octo/sec'] } }",
      { reviews: [{ author: 'bob', state: 'changes-requested' }] },
      'undecided',
      'the team cannot be read',
    ],
    ["{ changes_requested: { from: ['@octo/sec'] } }", {}, 'unmatched', 'by nobody, whoever is in the team'],
    ['{ changes_requested: true }', { reviews_complete: false }, 'undecided', 'there may be more reviews'],
  ],
  reviews_requested: [
    ['{ reviews_requested: true }', { requested: ['bob'] }, 'matched', 'of a person'],
    ['{ reviews_requested: true }', { requested: ['@octo/sec'] }, 'matched', 'of a team'],
    ['{ reviews_requested: true }', {}, 'unmatched', 'none'],
    ['{ reviews_requested: true }', { requested_unread: true }, 'undecided', 'they could not be read'],
    ['{ reviews_requested: { from: Bob } }', { requested: ['bob'] }, 'matched', 'case is ignored'],
    ['{ reviews_requested: { from: dan } }', { requested: ['bob', '@octo/sec'] }, 'unmatched', 'of others'],
    ["{ reviews_requested: { from: ['@Octo/Sec'] } }", { requested: ['@octo/sec'] }, 'matched', 'of the team itself'],
    [
      "{ reviews_requested: { from: ['@octo/sec'] } }",
      { requested: ['bob'], teams: { 'octo/sec': ['bob'] } },
      'matched',
      'of a member of the team',
    ],
    ["{ reviews_requested: { from: ['@octo/sec'] } }", { requested: ['bob'] }, 'undecided', 'the team cannot be read'],
    [
      "{ reviews_requested: { from: '@octo/*' } }",
      { requested: ['@octo/sec'] },
      'matched',
      'teams are of the organisation',
    ],
    [
      "{ reviews_requested: { from: '@octo/*' } }",
      { requested: ['@other/sec'] },
      'unmatched',
      'those of others are not',
    ],
    [
      "{ reviews_requested: { from: '@octo/*' } }",
      { requested: ['bob'], teams: { 'octo/*': ['bob'] } },
      'matched',
      'of a member of the organisation',
    ],
    [
      "{ reviews_requested: { from: '@octo/*' } }",
      { requested: ['bob'] },
      'undecided',
      'it is not known who is a member',
    ],
  ],
  approvals: [
    [
      "{ approvals: { all_of: [bob, '@octo/sec'] } }",
      { reviews: [{ author: 'Bob' }], teams: { 'octo/sec': ['carol'] } },
      'unmatched',
      'one of two groups',
    ],
    [
      "{ approvals: { all_of: [bob, '@octo/sec'] } }",
      { reviews: [{ author: 'bob' }, { author: 'carol' }], teams: { 'octo/sec': ['carol'] } },
      'matched',
      'both groups',
    ],
    [
      "{ approvals: { all_of: ['@octo/core', '@octo/sec'] } }",
      { reviews: [{ author: 'bob' }], teams: { 'octo/sec': ['bob'], 'octo/core': ['bob'] } },
      'matched',
      'one person may stand for several groups',
    ],
    [
      "{ approvals: { all_of: [bob, '@octo/sec'] } }",
      { reviews: [{ author: 'bob' }, { author: 'carol' }] },
      'undecided',
      'a team that cannot be read',
    ],
    [
      "{ approvals: { all_of: [bob, '@octo/sec'] } }",
      { reviews: [{ author: 'carol' }] },
      'unmatched',
      'whoever is in the team',
    ],
    [
      "{ approvals: { all_of: ['@octo/sec'] } }",
      { reviews: [], teams: { 'octo/sec': [] } },
      'unmatched',
      'a team without members',
    ],
    [
      "{ approvals: { all_of: ['@octo/sec'] } }",
      { reviews: [{ author: 'bob', official: false }], teams: { 'octo/sec': ['bob'] } },
      'matched',
      'the policy names the team, whatever it may write to',
    ],
    [
      '{ approvals: { count: 2, all_of: [bob] } }',
      { reviews: [{ author: 'bob' }] },
      'unmatched',
      'and as many as `count`',
    ],
    [
      '{ approvals: { count: 2, all_of: [bob] } }',
      { reviews: [{ author: 'bob' }, { author: 'carol' }] },
      'matched',
      'who are counted',
    ],
    [
      '{ approvals: { count: 2, all_of: [bob] } }',
      { reviews: [{ author: 'dan' }, { author: 'carol' }] },
      'unmatched',
      'but not without the group',
    ],
    [
      '{ approvals: { count: 1, all_of: [bob] } }',
      { reviews: [{ author: 'bob', official: false }] },
      'unmatched',
      '`count` is of people who may write',
    ],
    [
      "{ approvals: { count: 2, all_of: ['ci[bot]'] } }",
      { reviews: [{ author: 'ci[bot]', bot: true }, { author: 'bob' }] },
      'unmatched',
      'a machine counts only where it is named',
    ],
    [
      "{ approvals: { all_of: ['ci[bot]'] } }",
      { reviews: [{ author: 'ci[bot]', bot: true }] },
      'matched',
      'a machine that is named',
    ],
    [
      '{ approvals: { all_of: [alice] } }',
      { author: 'alice', reviews: [{ author: 'alice' }] },
      'unmatched',
      'never the author',
    ],
    [
      '{ approvals: { all_of: [bob] } }',
      { reviews: [{ author: 'bob' }], commits: [{ message: 'x', author: 'bob' }] },
      'unmatched',
      'who committed',
    ],
    [
      '{ approvals: { all_of: [bob], not_from: [bob] } }',
      { reviews: [{ author: 'bob' }] },
      'unmatched',
      'whom the policy does not count',
    ],
    [
      '{ approvals: { all_of: [bob], fresh: true } }',
      { reviews: [{ author: 'bob', at: 'old' }] },
      'unmatched',
      'an old approval',
    ],
    [
      '{ approvals: { from: [dan], all_of: [bob] } }',
      { reviews: [{ author: 'bob' }] },
      'unmatched',
      '`from` needs its own',
    ],
    [
      '{ approvals: { from: CODEOWNERS, all_of: [bob] } }',
      { codeowners: '* @dan', files: [{ path: 'a' }], reviews: [{ author: 'dan' }] },
      'unmatched',
      'the owner alone',
    ],
    [
      '{ approvals: { from: CODEOWNERS, all_of: [bob] } }',
      { codeowners: '* @dan', files: [{ path: 'a' }], reviews: [{ author: 'dan' }, { author: 'bob' }] },
      'matched',
      'the owner and the group',
    ],
    ['{ approvals: 1 }', { reviews: [{ author: 'bob' }] }, 'matched', 'one'],
    ['{ approvals: 2 }', { reviews: [{ author: 'bob' }, { author: 'BOB' }] }, 'unmatched', 'the same person twice'],
    [
      '{ approvals: 1 }',
      { author: 'alice', reviews: [{ author: 'Alice' }] },
      'unmatched',
      'the own approval never counts',
    ],
    [
      '{ approvals: { from: [alice] } }',
      { author: 'alice', reviews: [{ author: 'alice' }] },
      'unmatched',
      'not even by name',
    ],
    [
      '{ approvals: 1 }',
      { reviews: [{ author: 'bob' }, { author: 'bob', state: 'changes-requested' }] },
      'unmatched',
      'withdrawn by asking for changes',
    ],
    [
      '{ approvals: 1 }',
      { reviews: [{ author: 'bob' }, { author: 'bob', state: 'dismissed' }] },
      'unmatched',
      'withdrawn by dismissal',
    ],
    [
      '{ approvals: 1 }',
      { reviews: [{ author: 'bob' }, { author: 'bob', state: 'commented' }] },
      'matched',
      'a comment withdraws nothing',
    ],
    [
      '{ approvals: 1 }',
      { reviews: [{ author: 'bob', state: 'changes-requested' }, { author: 'Bob' }] },
      'matched',
      'given after all',
    ],
    ['{ approvals: 1 }', { reviews: [{ author: 'bob', official: false }] }, 'unmatched', 'an outsider'],
    [
      '{ approvals: { from: [bob] } }',
      { reviews: [{ author: 'bob', official: false }] },
      'matched',
      'an outsider asked for by name',
    ],
    [
      '{ approvals: { fresh: true } }',
      { reviews: [{ author: 'bob', at: 'old' }] },
      'unmatched',
      'given before the last push',
    ],
    [
      '{ approvals: { fresh: true } }',
      { reviews: [{ author: 'bob', at: 'old' }, { author: 'bob' }] },
      'matched',
      'given again',
    ],
    [
      '{ approvals: { fresh: true } }',
      { reviews: [{ author: 'bob', outdated: true }] },
      'unmatched',
      'given before the last change of base',
    ],
    [
      '{ approvals: { fresh: true } }',
      { reviews: [{ author: 'bob', outdated: true }, { author: 'bob' }] },
      'matched',
      'given again after it',
    ],
    ['{ approvals: 1 }', { reviews: [{ author: 'bob', outdated: true }] }, 'matched', 'where fresh is not asked for'],
    [
      '{ approvals: { fresh: true } }',
      { reviews: [{ author: 'bob' }], last_change_unread: true },
      'undecided',
      'the last change of base may have come later',
    ],
    [
      '{ approvals: { fresh: true } }',
      { reviews: [{ author: 'bob', at: 'old' }], last_change_unread: true },
      'unmatched',
      'of an earlier commit, whatever came later',
    ],
    [
      '{ approvals: 1 }',
      { reviews: [{ author: 'bob', at: 'old' }] },
      'matched',
      'an old one, where fresh is not asked for',
    ],
    [
      '{ approvals: { fresh: except-updates } }',
      { reviews: [{ author: 'bob', at: 'updated' }] },
      'matched',
      'given before updates from base alone',
    ],
    [
      '{ approvals: { fresh: true } }',
      { reviews: [{ author: 'bob', at: 'updated' }] },
      'unmatched',
      'updates from base count as pushes',
    ],
    [
      '{ approvals: { fresh: except-updates } }',
      { reviews: [{ author: 'bob', at: 'old' }] },
      'unmatched',
      'given before a push',
    ],
    [
      '{ approvals: { fresh: except-updates } }',
      { reviews: [{ author: 'bob', at: 'updated', outdated: true }] },
      'unmatched',
      'given before a force-push or a change of base',
    ],
    [
      '{ approvals: { fresh: except-updates } }',
      { reviews: [{ author: 'bob', at: 'updated' }], last_change_unread: true },
      'undecided',
      'the last force-push may have come later',
    ],
    ['{ approvals: { not_from: bob } }', { reviews: [{ author: 'Bob' }] }, 'unmatched', 'does not count'],
    ['{ approvals: { not_from: [bob] } }', { reviews: [{ author: 'bob' }, { author: 'dan' }] }, 'matched', 'another'],
    ['{ approvals: { from: [bob], not_from: [bob] } }', { reviews: [{ author: 'bob' }] }, 'unmatched', 'even if named'],
    [
      "{ approvals: { not_from: ['@octo/new'] } }",
      { reviews: [{ author: 'bob' }], teams: { 'octo/new': ['Bob'] } },
      'unmatched',
      'in the team',
    ],
    [
      "{ approvals: { not_from: ['@octo/new'] } }",
      { reviews: [{ author: 'bob' }] },
      'undecided',
      'the team cannot be read',
    ],
    [
      "{ approvals: { count: 2, not_from: ['@octo/new'] } }",
      { reviews: [{ author: 'bob' }] },
      'unmatched',
      'too few, whoever is in the team',
    ],
    [
      "{ approvals: { from: [bob], not_from: ['@octo/new'] } }",
      { reviews: [{ author: 'dan' }] },
      'unmatched',
      'nobody who is wanted, whoever is in the team',
    ],
    ['{ approvals: { from: [Bob] } }', { reviews: [{ author: 'bob' }] }, 'matched', 'case is ignored'],
    ['{ approvals: { from: [carol] } }', { reviews: [{ author: 'bob' }] }, 'unmatched', 'somebody else'],
    [
      "{ approvals: { from: ['@octo/sec'] } }",
      { reviews: [{ author: 'bob' }], teams: { 'octo/sec': ['Bob'] } },
      'matched',
      'from a team',
    ],
    [
      "{ approvals: { from: ['@octo/sec'] } }",
      { reviews: [{ author: 'bob' }] },
      'undecided',
      'a team that cannot be read',
    ],
    ["{ approvals: { from: ['@octo/sec'] } }", {}, 'unmatched', 'nobody approved, whoever is in the team'],
    [
      "{ approvals: { from: [bob, '@octo/sec'] } }",
      { reviews: [{ author: 'bob' }] },
      'matched',
      'the login settles it',
    ],
    [
      '{ approvals: 1 }',
      { reviews: [{ author: 'bob' }], reviews_complete: false },
      'undecided',
      'a later word may be missing',
    ],
  ],
};

for (const [name, rows] of Object.entries(tables)) {
  for (const [condition, given, outcome, why] of rows) {
    test(`${name}: ${condition} is ${outcome} for ${JSON.stringify(given)}: ${why}`, (t) => {
      t.is(requiring(condition, given).outcome, outcome);
    });
  }
}

test('added_lines names every line found by file and line number, across hunks', (t) => {
  const patch = [
    '@@ -1,3 +1,4 @@ class A {',
    ' one',
    '+debugger',
    '-two',
    '+two again',
    ' three',
    '@@ -10,2 +11,3 @@',
    ' ten',
    '+++ debugger',
    ' eleven',
    '\\ No newline at end of file',
    '',
  ].join('\n');
  const { require } = judge("require: { added_lines: 'debugger' }", { files: [{ path: 'a.ts', patch }] });
  if (require?.kind !== 'predicate') {
    return t.fail();
  }
  t.is(plain(require.found), '2 such lines');
  t.deepEqual(
    require.locations.map(({ path, line, text }) => ({ path, line, text })),
    [
      { path: 'a.ts', line: 2, text: 'debugger' },
      { path: 'a.ts', line: 12, text: '++ debugger' },
    ],
  );
});

test('what was found and expected is said in words', (t) => {
  t.deepEqual(requiring("{ title: '^feat' }", { title: 'nope' }), {
    outcome: 'unmatched',
    expected: 'a title that matches "^feat"',
    found: 'the title "nope"',
  });
  t.deepEqual(
    requiring("{ approvals: { from: ['@octo/sec'], fresh: true } }", { reviews: [{ author: 'bob', at: 'old' }] }),
    {
      outcome: 'unmatched',
      expected: '1 approval from "@octo/sec", given for the newest commit',
      found: 'no approval that counts (not counted: "bob", given for an earlier commit)',
    },
  );
  t.is(
    requiring("{ added_lines: 'x' }", { files: [{ path: 'big.sql', diff: 'too-large' }] }).found,
    'no such line; the changes of "big.sql" are too large to read',
  );
  t.is(
    requiring('{ commits: { some: { fixup: true } } }', { commits: [{ message: 'fixup! a' }] }).found,
    '"0000000000 fixup! a"',
  );
});

for (const [rule, path, outcome, why] of [
  ["forbid: { files: 'auth/**' }", { path: 'x.ts', from: 'auth/x.ts' }, 'failed', 'forbid sees the old name'],
  ["forbid: { files: 'auth/**' }", { path: 'auth/x.ts', status: 'removed' }, 'failed', 'forbid sees a removed file'],
  ["when: { files: 'auth/**' }, require: { label: x }", { path: 'auth/x.ts', status: 'removed' }, 'failed', 'when too'],
  ["require: { not: { files: 'auth/**' } }", { path: 'auth/x.ts', status: 'removed' }, 'failed', 'not turns it round'],
  ["forbid: { not: { files: 'test/**' } }", { path: 'test/x.ts', status: 'removed' }, 'failed', 'twice is a require'],
  ["require: { any: [{ files: 'test/**' }] }", { path: 'test/x.ts', status: 'removed' }, 'failed', 'any is a require'],
] as const) {
  test(`files, which statuses count: ${rule}: ${why}`, (t) => {
    t.is(judge(rule, { files: [path] }).outcome, outcome);
  });
}

for (const [withdrawn, outcome, why] of [
  [{ of: 'bob', requested_by: 'carol' }, 'waiting', 'the author, of another'],
  [{ of: 'bob', requested_by: 'carol', by: 'ALICE' }, 'waiting', 'the author in another case'],
  [{ of: '@octo/sec', requested_by: 'carol' }, 'waiting', 'of a team'],
  [{ of: 'bob' }, 'passed', 'the author, their own'],
  [{ of: 'bob', by: 'bob' }, 'passed', 'whose review it was'],
  [{ of: 'bob', by: 'carol' }, 'passed', 'somebody who did not make the change'],
  [{ of: 'bob', by: 'dan' }, 'waiting', 'who made a commit'],
  [{ of: 'bob', by: 'dan', requested_by: 'dan' }, 'passed', 'who made a commit, their own'],
  [{ of: 'bob', by: 'ci[bot]' }, 'waiting', 'a machine'],
  [{ of: 'bob', by: 'ci[bot]', requested_by: 'ci[bot]' }, 'passed', 'a machine, its own'],
] as const) {
  const commits = [{ message: 'a', author: 'dan', committer: 'dan' }];
  const given = { commits, requests_withdrawn: [withdrawn] };

  test(`reviews_requested: withdrawn by ${why}`, (t) => {
    t.is(judge('forbid: { reviews_requested: true }', given).outcome, outcome);
    t.is(judge('require: { reviews_requested: true }', given).outcome, 'waiting', 'none is there');
    t.is(judge('forbid: { reviews_requested: { from: [eve] } }', given).outcome, 'passed', 'of somebody else');
  });
}

test('reviews_requested: what decides whether a withdrawn request counts may be unknown', (t) => {
  const by = { of: 'bob', by: 'carol' };
  const forbid = 'forbid: { reviews_requested: true }';
  t.is(judge(forbid, { requests_withdrawn: [by], commits_complete: false }).outcome, 'undecided');
  for (const reviewer of ['bob', 'ghost']) {
    const byNobodyKnown = { of: reviewer, requested_by: 'ghost', by: 'Ghost' };
    t.is(judge(forbid, { requests_withdrawn: [byNobodyKnown] }).outcome, 'undecided', 'a deleted account');
  }
  const team = "forbid: { reviews_requested: { from: ['@octo/sec'] } }";
  t.is(judge(team, { requests_withdrawn: [{ of: 'bob', requested_by: 'carol' }] }).outcome, 'undecided');
});

for (const [codeowners, outcome] of [
  ['docs/ @bob\nsrc/ @dan', 'passed'],
  ['docs/ @dan\nsrc/ @Bob', 'waiting'],
  ['old/ @bob', 'waiting'],
  ['src/ @octo/sec', 'waiting'],
  ['src/ bob@x.test', 'waiting'],
  ['src/ bob', 'waiting'],
  ['src/\0 @dan', 'waiting'],
] as const) {
  test(`reviews_requested: what the author withdrew, with CODEOWNERS ${JSON.stringify(codeowners)}`, (t) => {
    const given = { files: [{ path: 'src/a', from: 'old/a' }], requests_withdrawn: [{ of: 'bob' }], codeowners };
    const forbid = 'forbid: { reviews_requested: true }';
    t.is(judge(forbid, given).outcome, outcome);
    t.is(judge(forbid, { ...given, files_complete: false }).outcome, 'waiting', 'it may have other files');
    t.is(judge(forbid, { ...given, codeowners_unread: true }).outcome, 'waiting');
    const ofTeam = { ...given, requests_withdrawn: [{ of: '@octo/sec' }] };
    t.is(judge(forbid, ofTeam).outcome, /sec|\0/.test(codeowners) ? 'waiting' : 'passed');
  });
}

test('reviews_requested: an update from the base branch makes nobody an author', (t) => {
  const withdrawnAfter = (merge: object) => ({
    commits: [{ message: 'a' }, { message: 'merge', author: 'dan', committer: 'dan', parents: 2, ...merge }],
    requests_withdrawn: [{ of: 'bob', requested_by: 'carol', by: 'dan' }],
  });
  t.is(judge('forbid: { reviews_requested: true }', withdrawnAfter({ clean: true })).outcome, 'passed');
  t.is(judge('forbid: { reviews_requested: true }', withdrawnAfter({})).outcome, 'waiting');
});

/** What a text says where a pattern looks for it. */
const SAYING: Readonly<Record<string, (text: string) => Given>> = {
  title: (title) => ({ title }),
  body: (body) => ({ body }),
  added_lines: (line) => ({ files: [{ path: 'a', added: [line] }] }),
  commits: (message) => ({ commits: [{ message }] }),
};

function predicateOf(name: string, pattern: string): string {
  return name === 'commits' ? `{ commits: { every: { message: '${pattern}' } } }` : `{ ${name}: '${pattern}' }`;
}

const LINE_ENDS = ['\r', '\v', '\f', '\u0085', '\u2028', '\u2029'];
const UNSEEN = ['\ufeff', '\u200b', '\u2060', '\u00ad', '\u202e', '\0', '\b'];

for (const [name, saying] of Object.entries(SAYING)) {
  const outcomeOf = (key: string, pattern: string, text: string) =>
    judge(`${key}: ${predicateOf(name, pattern)}`, saying(text)).outcome;

  test(`${name}: no line end of editors hides what a pattern forbids`, (t) => {
    for (const end of LINE_ENDS) {
      const shown = JSON.stringify(end);
      t.is(outcomeOf('forbid', '(?m)^bad', `x${end}bad`), 'failed', shown);
      t.is(outcomeOf('forbid', '(?m)bad$', `bad${end}x`), 'failed', shown);
      t.is(outcomeOf('forbid', '(?m)bad$', `bad${end}`), 'failed', shown);
      t.is(outcomeOf('forbid', 'bad.x', `bad${end}x`), 'failed', shown);
      t.is(outcomeOf('require: { label: x }, when', '(?m)^bad', `x${end}bad`), 'failed', shown);
    }
  });

  test(`${name}: no line end of editors makes up what a pattern requires`, (t) => {
    for (const end of LINE_ENDS) {
      const shown = JSON.stringify(end);
      t.is(outcomeOf('require', '(?m)^good$', `x${end}good`), 'failed', shown);
      t.is(outcomeOf('require', '^good.x$', `good${end}x`), 'failed', shown);
      t.is(outcomeOf('require', 'good', `x${end}good`), 'passed', shown);
      t.is(judge(`forbid: { not: ${predicateOf(name, '^good.x$')} }`, saying(`good${end}x`)).outcome, 'failed', shown);
    }
  });

  test(`${name}: what takes no space hides nothing that a pattern forbids`, (t) => {
    for (const unseen of UNSEEN) {
      t.is(outcomeOf('forbid', '(?m)^bad$', `${unseen}b${unseen}ad${unseen}`), 'failed', JSON.stringify(unseen));
      t.is(outcomeOf('forbid', unseen < ' ' ? '[[:cntrl:]]' : unseen, `x${unseen}`), 'failed', JSON.stringify(unseen));
      t.is(outcomeOf('require', '^good$', `${unseen}good`), 'failed', JSON.stringify(unseen));
      for (const end of LINE_ENDS) {
        const shown = JSON.stringify([unseen, end]);
        t.is(outcomeOf('forbid', 'bad\\(.*x', `ba${unseen}d(${end}x)`), 'failed', shown);
        t.is(outcomeOf('forbid', '(?m)^bad', `x${end}ba${unseen}d`), 'failed', shown);
      }
    }
    t.is(outcomeOf('require', '^✏\ufe0f good', '✏\ufe0f good'), 'passed');
  });

  test(`${name}: lines that end with CRLF match to their end`, (t) => {
    // A patch ends the line itself.
    const end = name === 'added_lines' ? '\r' : '\r\n';
    t.is(outcomeOf('require', '(?m)^good$', `good${end}`), 'passed');
    t.is(outcomeOf('forbid', '(?m)^bad$', `bad${end}`), 'failed');
    t.is(outcomeOf('forbid', '(?m)^bad$', `bad\r${end}`), 'failed');
  });
}

test('a commit without a sign-off is answered with the command that adds it', (t) => {
  const { require } = judge('require: { commits: { every: { signed_off: true } } }', {
    base: 'main',
    commits: [{ message: 'a' }],
  });
  const fix = require?.kind === 'predicate' ? plain(require.remedy.toMatch) : '';
  t.regex(fix, /git rebase --signoff "main"/);
});

test('changes_requested waits for what is not known of who requests them, and does not match', (t) => {
  const given: Given = { reviews: [{ author: 'bob', state: 'changes-requested', official: null }] };
  t.is(requiring('{ changes_requested: true }', given).outcome, 'awaited');
});
