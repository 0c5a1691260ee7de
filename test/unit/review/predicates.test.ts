import type { Given } from '../../../src/review/cases/given.ts';
import { plain } from '../../../src/review/text.ts';
import test from '../../helpers/test.ts';
import { judge, requiring } from './judge.ts';

type Row = readonly [value: string, given: Given, outcome: 'matched' | 'unmatched' | 'undecided', why: string];
type Listed<Key extends 'reviews' | 'files' | 'commits' | 'threads'> = NonNullable<Given[Key]>[number];

const named = <Key extends string, Item>(key: Key, list: readonly (string | Item)[]) =>
  list.map((item) => (typeof item === 'string' ? { [key]: item } : item)) as Item[];
/** Reviews by their authors, files by their paths, commits by their messages, or as they are given. */
const reviews = (...list: (string | Listed<'reviews'>)[]): Given => ({ reviews: named('author', list) });
const files = (...list: (string | Listed<'files'>)[]): Given => ({ files: named('path', list) });
const commits = (...list: (string | Listed<'commits'>)[]): Given => ({ commits: named('message', list) });
const sec = (...members: string[]): Given => ({ teams: { 'octo/sec': members } });

const OBJECTION = { author: 'bob', state: 'changes-requested' } as const;
const COMMENT = { author: 'bob', state: 'commented' } as const;
const OUTSIDER = { author: 'bob', official: false };
const OLD = { author: 'bob', at: 'old' } as const;
const UPDATED = { author: 'bob', at: 'updated' } as const;
const OUTDATED = { author: 'bob', outdated: true };
const BOT = { author: 'ci[bot]', bot: true };

const BINARY = { path: 'a', diff: 'binary' } as const;
const TOO_LARGE = { path: 'a', diff: 'too-large' } as const;
const OF_DAN: Given = { codeowners: '* @dan', files: [{ path: 'a' }] };
const moved = (from: string, path: string) => ({ path, from });
const removed = (path: string) => ({ path, status: 'removed' }) as const;

const EXCEPT_UPDATES = '{ fresh: except-updates }';
const SIGNED_OFF = '{ every: { signed_off: true } }';
const OF_ALICE = '{ every: { signed_by: alice } }';
const BOBS = { message: 'a', author: 'bob' };
const MERGE = { message: 'Merge', parents: 2 };
const CLEAN_MERGE = { ...MERGE, clean: true };
const UNVERIFIED = { message: 'a', verified: false };
const VERIFIED = { message: 'a', verified: true };
const signed = (signed_by: string) => ({ message: 'a', signed_by });

const OTHERS = '{ resolved_by: others }';
const BY_BOT = { by: 'ci[bot]', bot: true };
/** A conversation, resolved by who began it unless another is given. */
const resolved = (thread: Listed<'threads'>): Given => ({
  threads: [{ resolved_by: thread.by.toLowerCase(), ...thread }],
});
const BY_BOB_OVER_CAROL = resolved({ by: 'bob', answered_by: ['carol'] });

/** Special cases, beside the tables of docs/rules.md. */
const TABLES: Readonly<Record<string, readonly Row[]>> = {
  title: [
    ["'eat'", { title: 'feat: x' }, 'matched', 'without anchors it is found anywhere'],
    ["['^fix', '^feat']", { title: 'feat: x' }, 'matched', 'one of a list is enough'],
    ["'(?i)^FEAT'", { title: 'feat: x' }, 'matched', 'case can be ignored'],
    ["'^\\p{L}+$'", { title: 'äöü' }, 'matched', 'classes know Unicode'],
    ["'.'", { title: '' }, 'unmatched', 'an empty title has nothing to match'],
  ],
  body: [
    ["'(?m)^Closes #\\d+$'", { body: 'Text\r\nCloses #12\r\nmore' }, 'matched', 'CRLF ends lines too'],
    ["'\\S'", { body: ' \n ' }, 'unmatched', 'blank is blank'],
  ],
  branch: [["'feature/*'", { branch: 'feature/x/y' }, 'unmatched', 'a star stays within a segment']],
  base: [
    ['main', { base: 'main' }, 'matched', 'the name itself'],
    ['main', { base: 'maintenance' }, 'unmatched', 'not a longer name'],
    ["[main, 'release/*']", { base: 'release/1.2' }, 'matched', 'one of a list'],
  ],
  repository: [
    ['example', {}, 'matched', 'without the owner'],
    ['octo/example', {}, 'unmatched', 'without the owner'],
    ["'Web-*'", { repository: 'octo/web-shop' }, 'matched', 'on either side'],
  ],
  author: [
    ['alice', { author: 'Alice' }, 'matched', 'case is ignored'],
    ["'renovate[bot]'", { author: 'renovate[bot]' }, 'matched', 'brackets are brackets'],
    ["'alic.'", { author: 'alice' }, 'unmatched', 'a dot is a dot'],
    ["['@Octo/Docs']", { author: 'bob', teams: { 'octo/docs': ['alice'] } }, 'unmatched', 'not in the team'],
    ["['@octo/docs']", { author: 'bob' }, 'undecided', 'a team that cannot be read'],
    ["[bob, '@octo/docs']", { author: 'bob' }, 'matched', 'the login settles it'],
  ],
  assignee: [
    ['Bob', { assignees: ['bob'] }, 'matched', 'case is ignored'],
    ['bo', { assignees: ['bob'] }, 'unmatched', 'a whole name'],
    ["['@octo/sec']", { assignees: ['bob'], ...sec('Bob') }, 'matched', 'a team'],
    ["['@octo/sec']", { assignees: ['dan'], ...sec('bob') }, 'unmatched', 'another'],
    ["['@octo/sec']", { assignees: ['bob'] }, 'undecided', 'a team that cannot be read'],
    ["['@octo/sec']", {}, 'unmatched', 'nobody, whoever is in the team'],
    ["[bob, '@octo/sec']", { assignees: ['bob'] }, 'matched', 'the login settles it'],
  ],
  milestone: [
    ["'*'", { milestone: 'v1' }, 'matched', 'any'],
    ["'*'", {}, 'unmatched', 'none'],
    ["'*'", { milestone: '' }, 'matched', 'one without a title'],
    ['straße', { milestone: 'STRASSE' }, 'unmatched', 'letters are not folded together'],
    ['[v1, v2]', { milestone: 'v2' }, 'matched', 'one of a list'],
    ['v1', { milestone: 'v1.1' }, 'unmatched', 'a whole title'],
    ["'v1*.'", { milestone: `v1${'.*'.repeat(40_000)}x` }, 'unmatched', 'a very long title'],
  ],
  visibility: [
    ['[internal, private]', { visibility: 'internal' }, 'matched', 'one of a list'],
    ['private', { visibility: 'internal' }, 'unmatched', 'internal is not private'],
    ['public', { repository_unread: true }, 'undecided', 'what could not be read'],
  ],
  topic: [
    ['Web', { topics: ['web'] }, 'matched', 'case is ignored'],
    ['web', { topics: ['webs'] }, 'unmatched', 'a whole name'],
    ['web', {}, 'unmatched', 'none'],
    ["'*'", { repository_unread: true }, 'undecided', 'what could not be read'],
  ],
  label: [
    ['ready', { labels: ['Ready', 'x'] }, 'matched', 'case is ignored'],
    ['ready', { labels: ['not ready'] }, 'unmatched', 'the whole name'],
  ],
  files: [
    ["'src/**'", { files: [] }, 'unmatched', 'an empty change'],
    ["'auth/**'", files(moved('auth/x.ts', 'x.ts')), 'unmatched', 'a file that is gone'],
    ["'test/**', status: removed", files(removed('test/a.ts')), 'matched', 'the status that is asked for'],
    ["'auth/**'", files(moved('x.ts', 'auth/x.ts')), 'matched', 'moved into a folder'],
  ],
  only_files: [
    ["['docs/**', '!**/*.js']", files('docs/a.js'), 'unmatched', 'excluded'],
    ["'!src/**'", files('docs/a.md'), 'matched', 'exclusions alone are all others'],
    ["'docs/**'", files(moved('docs/x', 'src/x')), 'unmatched', 'moved out'],
    ["'docs/**'", files(moved('docs/y', 'docs/x')), 'matched', 'moved within'],
    ["'docs/**'", files(removed('src/x')), 'unmatched', 'another was removed'],
    ["'docs/**'", files('docs'), 'unmatched', 'the folder became a link or a submodule'],
    ["'docs/**'", files('Docs/a.md'), 'unmatched', 'case matters'],
    ["'**'", { files: [], files_complete: false }, 'undecided', 'nothing is known'],
    ["'a'", { ...files('b'), files_complete: false }, 'unmatched', 'what was read settles it'],
  ],
  changed_lines: [
    ["'<= 3'", files({ path: 'a', additions: 2, deletions: 1 }), 'matched', 'the limit itself'],
    ["'< 3'", files({ path: 'a', additions: 2, deletions: 1 }), 'unmatched', 'less than'],
    ["'> 2'", files({ path: 'a', additions: 2, deletions: 1 }), 'matched', 'more than'],
    ["'>= 4'", files({ path: 'a', additions: 3 }), 'unmatched', 'at least'],
    ["'<= 3'", files(BINARY), 'undecided', 'nobody counted its lines'],
    ["'<= 3'", files({ path: 'a', diff: 'too-large', counted: false }), 'undecided', 'nobody counted its lines'],
    ["'<= 3', binary: ignore", files(BINARY), 'matched', 'the policy leaves binary files out'],
    ["'<= 3', except: '*.png'", files({ path: 'a.png', diff: 'binary' }), 'matched', 'the policy excepts it'],
    ["'<= 3'", files(BINARY, { path: 'b', additions: 4 }), 'unmatched', 'what was counted settles it'],
    ["'<= 3'", { ...files({ path: 'a', additions: 1 }), files_complete: false }, 'undecided', 'there may be more'],
    ["'<= 3'", { ...files({ path: 'a', additions: 4 }), files_complete: false }, 'unmatched', 'already too many'],
    ["'>= 3'", { ...files({ path: 'a', additions: 4 }), files_complete: false }, 'matched', 'already enough'],
    ["'= 3'", { ...files({ path: 'a', additions: 3 }), files_complete: false }, 'undecided', 'there may be more'],
    ["'= 3'", { ...files({ path: 'a', additions: 4 }), files_complete: false }, 'unmatched', 'already too many'],
    ["'> 3'", { ...files({ path: 'a', additions: 3 }), files_complete: false }, 'undecided', 'there may be more'],
    ["'<= 3'", files({ path: 'a', diff: 'too-large', additions: 4 }), 'unmatched', 'counted though unread'],
  ],
  changed_files: [["'<= 1'", { ...files('a'), files_complete: false }, 'undecided', 'there may be more']],
  threads: [
    [OTHERS, resolved({ ...BY_BOT, answered_by: ['bob'] }), 'unmatched', 'a machine over a person'],
    [OTHERS, resolved({ ...BY_BOT, answered_by: ['alice', 'helper[bot]'] }), 'matched', 'a machine, answered'],
    [OTHERS, resolved({ by: 'Alice', answered_by: ['ALICE'] }), 'matched', 'the author alone, in any case'],
    [OTHERS, BY_BOB_OVER_CAROL, 'matched', 'who made nothing, over another'],
    [OTHERS, resolved({ by: 'bob', answered_by: null }), 'matched', 'who made nothing, whoever wrote'],
    [OTHERS, resolved({ by: 'alice', resolved_by: 'bob', answered_by: ['carol'] }), 'matched', 'by another'],
    [OTHERS, resolved({ by: 'alice', answered_by: ['ghost'] }), 'unmatched', 'over an account that is gone'],
    [OTHERS, { ...BY_BOB_OVER_CAROL, commits_complete: false }, 'undecided', 'who may have made the change'],
    [OTHERS, { ...BY_BOB_OVER_CAROL, ...commits(BOBS) }, 'unmatched', 'who made the change'],
  ],
  added_lines: [
    ["'TODO'", files({ path: 'a', patch: '@@ -1,2 +1,1 @@\n-a TODO\n x\n' }), 'unmatched', 'a removed line'],
    ["'TODO'", files({ path: 'a', patch: '@@ -1 +1,2 @@\n a TODO\n+x\n' }), 'unmatched', 'context'],
    ["'x$'", files({ path: 'a', patch: '@@ -0,0 +1 @@\n+x\r\n' }), 'matched', 'CRLF is no part of a line'],
    ["'x', binary: ignore", files(BINARY), 'unmatched', 'the policy leaves binary files out'],
    ["'x'", files({ path: 'a', diff: 'too-large', status: 'removed' }), 'unmatched', 'a removed file adds nothing'],
    ["'x', in: '*.ts'", files(TOO_LARGE), 'unmatched', 'too large, and out of scope'],
    ["'x'", files(TOO_LARGE, { path: 'b', added: ['x'] }), 'matched', 'what was read settles it'],
    ["'x'", { files_complete: false }, 'undecided', 'not all files are known'],
    ["'x'", files({ path: 'a', patch: '@@ -0,0 +1,9 @@\n+y\n' }), 'undecided', 'the patch breaks off'],
    ["'x'", files(moved('a', 'b')), 'unmatched', 'a rename without a change'],
  ],
  commits: [
    ['{ some: { fixup: true } }', commits('squash! a\n\nb'), 'matched', 'squash!'],
    ['{ some: { fixup: true } }', commits('the fixup! a'), 'unmatched', 'at the start only'],
    ['{ some: { merge: true } }', commits({ message: 'a', parents: 2 }), 'matched', 'two parents'],
    ['{ some: { merge: true } }', commits({ message: 'Merge', parents: 1 }), 'unmatched', 'one parent'],
    ["{ every: { message: '^feat' } }", commits('feat: a', 'b'), 'unmatched', 'one does not'],
    ["{ every: { message: '^feat' } }", commits('feat: a', MERGE), 'matched', 'merges are passed over'],
    ['{ every: { merge: false } }', commits(MERGE), 'unmatched', 'unless they are meant'],
    [SIGNED_OFF, commits('a\n\nSigned-off-by: Alice <Alice@Example.test>'), 'matched', 'signed off'],
    [SIGNED_OFF, commits('a\n\nSigned-off-by: Bob <bob@example.test>'), 'unmatched', 'by another'],
    [SIGNED_OFF, commits(CLEAN_MERGE), 'matched', 'a clean merge needs none'],
    [SIGNED_OFF, commits(MERGE), 'unmatched', 'a merge that changes something needs one'],
    ["{ every: { message: '^a' }, some: { fixup: true } }", commits('ab'), 'unmatched', 'both are asked for'],
    ["{ oldest: { message: '^a' } }", commits('a', 'b'), 'matched', 'the first of the branch'],
    ["{ oldest: { message: '^a' } }", commits('b', 'a'), 'unmatched', 'not the newest'],
    ['{ some: { fixup: true } }', { ...commits('a'), commits_complete: false }, 'undecided', 'there may be more'],
    ["{ every: { message: '^a' } }", { ...commits('a'), commits_complete: false }, 'undecided', 'there may be more'],
    [
      "{ every: { message: '^a' } }",
      { ...commits('b'), commits_complete: false },
      'unmatched',
      'what was read settles it',
    ],
  ],
  'commits, signatures': [
    [
      '{ every: { verified: true } }',
      commits(VERIFIED, { ...CLEAN_MERGE, verified: false }),
      'unmatched',
      'a merge needs one',
    ],
    ['{ every: { verified: true, message: a } }', commits('b'), 'unmatched', 'another trait settles it'],
    ['{ some: { verified: false } }', commits('a'), 'undecided', 'it may have one'],
    ['{ some: { verified: false } }', commits('a', UNVERIFIED), 'matched', 'one certainly has none'],
    ['{ every: { signed_by: [bob, Alice] } }', commits(signed('alice'), signed('BOB')), 'matched', 'in whatever case'],
    [OF_ALICE, commits(signed('alice'), { ...CLEAN_MERGE, signed_by: 'bob' }), 'unmatched', 'a merge needs one'],
    [OF_ALICE, commits({ ...VERIFIED, author: 'alice', committer: 'alice' }), 'undecided', 'nobody says whose'],
    [OF_ALICE, commits({ ...signed('alice'), verified: false }), 'unmatched', 'one that is not verified'],
    [OF_ALICE, { ...commits(signed('alice')), commits_complete: false }, 'undecided', 'there may be more'],
    ['{ every: { signed_by: alice, verified: false } }', commits(VERIFIED), 'unmatched', 'what is known settles it'],
    ['{ some: { signed_by: alice } }', commits(signed('bob'), 'b'), 'undecided', 'it may be the other one'],
    ['{ newest: { signed_by: bob } }', commits(UNVERIFIED, signed('bob')), 'matched', 'the newest'],
    ['{ some: { verified: true } }', commits(UNVERIFIED), 'unmatched', 'none'],
  ],
  changes_requested: [
    ['true', reviews('bob'), 'unmatched', 'an approval'],
    ['true', reviews({ ...OBJECTION, at: 'old' }), 'matched', 'a push does not end it'],
    ['true', reviews(OBJECTION, 'BOB'), 'unmatched', 'taken back by an approval'],
    ['true', reviews(OBJECTION, COMMENT), 'matched', 'a comment does not take it back'],
    ['true', reviews({ author: 'bob', state: 'dismissed' }), 'unmatched', 'dismissed'],
    ['true', reviews({ ...OBJECTION, official: false }), 'unmatched', 'by somebody who may not write'],
    [
      "{ from: ['@octo/sec'] }",
      { ...reviews({ ...OBJECTION, author: 'Bob' }), ...sec('bob') },
      'matched',
      'by a member',
    ],
    ["{ from: ['@octo/sec'] }", {}, 'unmatched', 'by nobody, whoever is in the team'],
    ['true', { reviews_complete: false }, 'undecided', 'there may be more reviews'],
  ],
  reviews_requested: [
    ['{ from: Bob }', { requested: ['bob'] }, 'matched', 'case is ignored'],
    ['{ from: dan }', { requested: ['bob', '@octo/sec'] }, 'unmatched', 'of others'],
    ["{ from: ['@Octo/Sec'] }", { requested: ['@octo/sec'] }, 'matched', 'of the team itself'],
    ["{ from: ['@octo/sec'] }", { requested: ['bob'], ...sec('bob') }, 'matched', 'of a member of the team'],
    ["{ from: ['@octo/sec'] }", { requested: ['bob'] }, 'undecided', 'the team cannot be read'],
    ["{ from: '@octo/*' }", { requested: ['@octo/sec'] }, 'matched', 'teams are of the organisation'],
    ["{ from: '@octo/*' }", { requested: ['@other/sec'] }, 'unmatched', 'those of others are not'],
    ["{ from: '@octo/*' }", { requested: ['bob'], teams: { 'octo/*': ['bob'] } }, 'matched', 'of a member of it'],
    ["{ from: '@octo/*' }", { requested: ['bob'] }, 'undecided', 'it is not known who is a member'],
  ],
  approvals: [
    ["{ all_of: [bob, '@octo/sec'] }", { ...reviews('Bob'), ...sec('carol') }, 'unmatched', 'one of two groups'],
    ["{ all_of: [bob, '@octo/sec'] }", { ...reviews('bob', 'carol'), ...sec('carol') }, 'matched', 'both groups'],
    [
      "{ all_of: ['@octo/core', '@octo/sec'] }",
      { ...reviews('bob'), teams: { 'octo/sec': ['bob'], 'octo/core': ['bob'] } },
      'matched',
      'one person may be in both',
    ],
    ["{ all_of: [bob, '@octo/sec'] }", reviews('bob', 'carol'), 'undecided', 'a team that cannot be read'],
    ["{ all_of: [bob, '@octo/sec'] }", reviews('carol'), 'unmatched', 'whoever is in the team'],
    ["{ all_of: ['@octo/sec'] }", { reviews: [], ...sec() }, 'unmatched', 'a team without members'],
    ["{ all_of: ['@octo/sec'] }", { ...reviews(OUTSIDER), ...sec('bob') }, 'matched', 'a team that may not write'],
    ['{ count: 2, all_of: [bob] }', reviews('bob'), 'unmatched', 'and as many as `count`'],
    ['{ count: 2, all_of: [bob] }', reviews('bob', 'carol'), 'matched', 'who are counted'],
    ['{ count: 2, all_of: [bob] }', reviews('dan', 'carol'), 'unmatched', 'but not without the group'],
    ['{ count: 1, all_of: [bob] }', reviews(OUTSIDER), 'unmatched', '`count` is of people who may write'],
    ["{ count: 2, all_of: ['ci[bot]'] }", reviews(BOT, 'bob'), 'unmatched', 'a machine counts only where it is named'],
    ["{ all_of: ['ci[bot]'] }", reviews(BOT), 'matched', 'a machine that is named'],
    ['{ all_of: [alice] }', { author: 'alice', ...reviews('alice') }, 'unmatched', 'never the author'],
    ['{ all_of: [bob] }', { ...reviews('bob'), ...commits(BOBS) }, 'unmatched', 'who committed'],
    ['{ all_of: [bob], not_from: [bob] }', reviews('bob'), 'unmatched', 'whom the policy does not count'],
    ['{ all_of: [bob], fresh: true }', reviews(OLD), 'unmatched', 'an old approval'],
    ['{ from: [dan], all_of: [bob] }', reviews('bob'), 'unmatched', '`from` needs its own'],
    ['{ from: CODEOWNERS, all_of: [bob] }', { ...OF_DAN, ...reviews('dan') }, 'unmatched', 'the owner alone'],
    ['{ from: CODEOWNERS, all_of: [bob] }', { ...OF_DAN, ...reviews('dan', 'bob') }, 'matched', 'both'],
    ['1', reviews('bob'), 'matched', 'one'],
    ['2', reviews('bob', 'BOB'), 'unmatched', 'the same person twice'],
    ['1', { author: 'alice', ...reviews('Alice') }, 'unmatched', 'the own approval never counts'],
    ['1', { author: 'Alice', ...reviews('alice') }, 'unmatched', 'the own approval, of a login in another case'],
    ['1', reviews('bob', { author: 'bob', state: 'dismissed' }), 'unmatched', 'withdrawn by dismissal'],
    ['1', reviews('bob', COMMENT), 'matched', 'a comment withdraws nothing'],
    ['1', reviews(OBJECTION, 'Bob'), 'matched', 'given after all'],
    ['1', reviews(OUTSIDER), 'unmatched', 'an outsider'],
    ['{ from: [bob] }', reviews(OUTSIDER), 'matched', 'an outsider asked for by name'],
    ['{ fresh: true }', reviews(OLD), 'unmatched', 'given before the last push'],
    ['{ fresh: true }', reviews(OLD, 'bob'), 'matched', 'given again'],
    ['{ fresh: true }', reviews(OUTDATED), 'unmatched', 'given before the last change of base'],
    ['1', reviews(OUTDATED), 'matched', 'where fresh is not asked for'],
    ['{ fresh: true }', { ...reviews(OLD), last_change_unread: true }, 'unmatched', 'of an earlier commit'],
    ['1', reviews(OLD), 'matched', 'an old one, where fresh is not asked for'],
    ['{ fresh: true }', reviews(UPDATED), 'unmatched', 'updates from base count as pushes'],
    [EXCEPT_UPDATES, reviews({ ...UPDATED, outdated: true }), 'unmatched', 'given before a force-push'],
    [EXCEPT_UPDATES, { ...reviews(UPDATED), last_change_unread: true }, 'undecided', 'a force-push may be later'],
    ['{ not_from: bob }', reviews('Bob'), 'unmatched', 'does not count'],
    ['{ not_from: [bob] }', reviews('bob', 'dan'), 'matched', 'another'],
    ['{ from: [bob], not_from: [bob] }', reviews('bob'), 'unmatched', 'even if named'],
    ["{ count: 2, not_from: ['@octo/new'] }", reviews('bob'), 'unmatched', 'too few, whoever is in the team'],
    ["{ from: [bob], not_from: ['@octo/new'] }", reviews('dan'), 'unmatched', 'nobody who is wanted'],
    ['{ from: [Bob] }', reviews('bob'), 'matched', 'case is ignored'],
    ['{ from: [carol] }', reviews('bob'), 'unmatched', 'somebody else'],
    ["{ from: ['@octo/sec'] }", reviews('bob'), 'undecided', 'a team that cannot be read'],
    ["{ from: ['@octo/sec'] }", {}, 'unmatched', 'nobody approved, whoever is in the team'],
    ["{ from: [bob, '@octo/sec'] }", reviews('bob'), 'matched', 'the login settles it'],
    ['1', { ...reviews('bob'), reviews_complete: false }, 'undecided', 'a later word may be missing'],
    ['1', reviews('bob', OBJECTION), 'unmatched', 'withdrawn by asking for changes'],
    ['{ fresh: true }', { ...reviews('bob'), last_change_unread: true }, 'undecided', 'the last change may be later'],
    [EXCEPT_UPDATES, reviews(OLD), 'unmatched', 'given before a push'],
    ["{ not_from: ['@octo/new'] }", reviews('bob'), 'undecided', 'the team cannot be read'],
    ['{ from: [alice] }', { author: 'alice', ...reviews('alice') }, 'unmatched', 'not even by name'],
  ],
};

for (const [name, rows] of Object.entries(TABLES)) {
  for (const [value, given, outcome, why] of rows) {
    test(`${name}: ${value} is ${outcome} for ${JSON.stringify(given)}: ${why}`, (t) => {
      t.is(requiring(`{ ${name.replace(/,.*/, '')}: ${value} }`, given).outcome, outcome);
    });
  }
}

test('added_lines names every line found by file and line number, across hunks', (t) => {
  const patch =
    '@@ -1,3 +1,4 @@\n one\n+debugger\n-two\n+two again\n three\n@@ -10,2 +11,3 @@\n ten\n+x debugger\n eleven\n';
  const { require } = judge("require: { added_lines: 'debugger' }", { files: [{ path: 'a.ts', patch }] });
  const [first, second, ...others] = require?.kind === 'predicate' ? require.locations : [];
  t.is(require?.kind === 'predicate' ? plain(require.found) : '', '2 added lines match');
  t.like(first, { path: 'a.ts', line: 2, text: 'debugger' });
  t.like(second, { path: 'a.ts', line: 12, text: 'x debugger' });
  t.deepEqual(others, []);
});

test('what was found is said in words', (t) => {
  const tooLarge = requiring("{ added_lines: 'x' }", { files: [{ path: 'big.sql', diff: 'too-large' }] });
  t.is(tooLarge.found, 'no added line matches; the changes of "big.sql" are too large to read');
  t.is(requiring('{ commits: { some: { fixup: true } } }', commits('fixup! a')).found, '"0000000000 fixup! a"');
});

for (const [rule, path, why] of [
  ["forbid: { files: 'auth/**' }", moved('auth/x.ts', 'x.ts'), 'forbid sees the old name'],
  ["forbid: { files: 'auth/**' }", removed('auth/x.ts'), 'forbid sees a removed file'],
  ["when: { files: 'auth/**' }, require: { label: x }", removed('auth/x.ts'), 'when too'],
  ["require: { not: { files: 'auth/**' } }", removed('auth/x.ts'), 'not turns it round'],
  ["forbid: { not: { files: 'test/**' } }", removed('test/x.ts'), 'twice is a require'],
  ["require: { any: [{ files: 'test/**' }] }", removed('test/x.ts'), 'any is a require'],
] as const) {
  test(`files, which statuses count: ${rule}: ${why}`, (t) => {
    t.is(judge(rule, files(path)).outcome, 'failed');
  });
}

const NONE_REQUESTED = 'forbid: { reviews_requested: true }';

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
  const given = { ...commits({ message: 'a', author: 'dan', committer: 'dan' }), requests_withdrawn: [withdrawn] };

  test(`reviews_requested: withdrawn by ${why}`, (t) => {
    t.is(judge(NONE_REQUESTED, given).outcome, outcome);
    t.is(judge('require: { reviews_requested: true }', given).outcome, 'waiting', 'none is there');
    t.is(judge('forbid: { reviews_requested: { from: [eve] } }', given).outcome, 'passed', 'of somebody else');
  });
}

test('reviews_requested: what decides whether a withdrawn request counts may be unknown', (t) => {
  const by = { of: 'bob', by: 'carol' };
  t.is(judge(NONE_REQUESTED, { requests_withdrawn: [by], commits_complete: false }).outcome, 'undecided');
  for (const reviewer of ['bob', 'ghost']) {
    const byNobodyKnown = { of: reviewer, requested_by: 'ghost', by: 'Ghost' };
    t.is(judge(NONE_REQUESTED, { requests_withdrawn: [byNobodyKnown] }).outcome, 'undecided', 'a deleted account');
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
    const given = { ...files(moved('old/a', 'src/a')), codeowners, requests_withdrawn: [{ of: 'bob' }] };
    const ofTeam = [{ of: '@octo/sec' }];
    const outcomeWith = (more: Given) => judge(NONE_REQUESTED, { ...given, ...more }).outcome;
    t.is(outcomeWith({}), outcome);
    t.is(outcomeWith({ files_complete: false }), 'waiting', 'it may have other files');
    t.is(outcomeWith({ codeowners_unread: true }), 'waiting');
    t.is(outcomeWith({ requests_withdrawn: ofTeam }), /sec|\0/.test(codeowners) ? 'waiting' : 'passed');
  });
}

test('reviews_requested: an update from the base branch makes nobody an author', (t) => {
  const withdrawnAfter = (merge: object) => ({
    commits: [{ message: 'a' }, { message: 'merge', author: 'dan', committer: 'dan', parents: 2, ...merge }],
    requests_withdrawn: [{ of: 'bob', requested_by: 'carol', by: 'dan' }],
  });
  t.is(judge(NONE_REQUESTED, withdrawnAfter({ clean: true })).outcome, 'passed');
  t.is(judge(NONE_REQUESTED, withdrawnAfter({})).outcome, 'waiting');
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
  const { require } = judge(`require: { commits: ${SIGNED_OFF} }`, { base: 'main', ...commits('a') });
  const fix = require?.kind === 'predicate' ? plain(require.remedy.toMatch) : '';
  t.regex(fix, /"git rebase --signoff 0{10}"/);
});

test('changes_requested waits for what is not known of who requests them, and does not match', (t) => {
  const given = reviews({ ...OBJECTION, official: null });
  t.is(requiring('{ changes_requested: true }', given).outcome, 'awaited');
});
