import { patchOf } from '../../../src/facts/changed-files.ts';
import type { Given } from '../../../src/review/cases/given.ts';
import { fingerprinted } from '../../../src/review/evaluation/fingerprint.ts';
import { parsePolicy } from '../../../src/review/policy/parse.ts';
import { brokenPolicyVerdict, type Verdict, withProposedPolicyFaults } from '../../../src/review/verdict.ts';
import fc from '../../helpers/property.ts';
import test from '../../helpers/test.ts';
import { verdict } from './judge.ts';

const POLICY = `version: 1
rules:
  - { id: note, level: info, require: { label: noted } }
  - { id: careful, level: warn, require: { label: careful } }
  - { id: conventional-title, require: { title: '^feat: ' } }
  - { id: small, require: { changed_lines: '<= 3' } }
  - { id: docs-only, when: { label: docs }, forbid: { files: ['**', '!docs/**'] } }
`;
const GOOD: Given = { title: 'feat: x', labels: ['noted', 'careful'] };
const LARGE: Given = { files: [{ path: 'a', additions: 4 }] };
const WAITING = `version: 1
rules:
  - { id: approved, require: { approvals: { count: 1, from: ['@octo/core'] } } }
  - { id: conventional-title, require: { title: '^feat: ' } }
  - { id: small, require: { changed_lines: '<= 3' } }
`;
const TEAM: Given = { teams: { 'octo/core': ['bob'] } };
const approvedBy = (...authors: string[]): Given => ({ reviews: authors.map((author) => ({ author })) });

/** A policy of these rules, named a, b and so on. */
const ruled = (...rules: readonly string[]) =>
  `version: 1\nrules: [${rules.map((rule, index) => `{ id: ${'abc'[index]}, ${rule} }`).join(', ')}]`;
const BOB = 'require: { approvals: { from: [bob] } }';
const CAROL = 'require: { approvals: { from: [carol] } }';
const THREE = ruled('require: { approvals: 3 }');
const WAYS = 'require: { any: [{ approvals: { from: [bob] } }, { label: waived }, { approvals: 2 }] }';
const NO_RULE = 'No rule applies to this pull request';

const VERDICTS: readonly (readonly [policy: string, given: Given, state: Verdict['state'], description: string])[] = [
  [POLICY, GOOD, 'success', 'All 4 rules that apply are met'],
  [POLICY, { title: 'feat: x' }, 'success', 'No error, 1 warning and 1 note: careful, note'],
  [POLICY, { ...GOOD, title: 'x', ...LARGE }, 'failure', '2 of 4 rules failed: conventional-title, small'],
  [POLICY, { ...GOOD, files_complete: false }, 'error', '1 of 4 rules could not be judged: small'],
  [POLICY, { ...GOOD, title: 'x', files_complete: false }, 'failure', '1 of 4 rules failed: conventional-title'],
  [WAITING, TEAM, 'pending', 'Waiting for 1 approval from @octo/core'],
  [WAITING, { ...TEAM, title: 'x' }, 'failure', '1 of 3 rules failed: conventional-title'],
  [WAITING, { ...TEAM, files_complete: false }, 'error', '1 of 3 rules could not be judged: small'],
  [THREE, {}, 'pending', 'Waiting for 3 approvals'],
  [THREE, approvedBy('bob'), 'pending', 'Waiting for 2 more approvals'],
  [THREE, approvedBy('bob', 'carol'), 'pending', 'Waiting for 1 more approval'],
  [ruled(BOB, BOB, CAROL), {}, 'pending', 'Waiting for 1 approval from bob; 1 approval from carol'],
  [ruled(WAYS), {}, 'pending', 'Waiting for 1 approval from bob or 2 approvals'],
  [ruled(`level: warn, ${BOB}`), {}, 'success', 'No error, 1 warning: a'],
  [ruled('level: warn, require: { files: x }'), { files_complete: false }, 'success', 'No error, 1 warning: a'],
  [ruled('when: { label: x }, require: { title: y }'), {}, 'success', NO_RULE],
  ['version: 1\nrules: []', {}, 'success', NO_RULE],
];

test('a status says which rules decide it, and the worst of them counts', (t) => {
  for (const [policy, given, state, description] of VERDICTS) {
    const found = verdict(policy, given);
    t.deepEqual([found.state, found.description], [state, description], `${policy} ${JSON.stringify(given)}`);
  }
});

test('a verdict lists the rules that are met, and its findings by level', (t) => {
  const findings = (policy: string, given: Given) =>
    verdict(policy, given).findings.map(({ ruleId, outcome }) => `${ruleId} ${outcome}`);
  t.deepEqual(verdict(POLICY, GOOD).passed, ['note', 'careful', 'conventional-title', 'small']);
  t.deepEqual(findings(POLICY, GOOD), []);
  t.deepEqual(findings(POLICY, { title: 'x' }), ['conventional-title failed', 'careful failed', 'note failed']);
  t.deepEqual(findings(WAITING, { ...TEAM, title: 'feat: x', files_complete: false }), [
    'approved waiting',
    'small undecided',
  ]);
  t.deepEqual(findings(ruled(`level: warn, ${BOB}`), {}), ['a waiting']);
  t.deepEqual(findings(ruled('level: warn, require: { files: x }'), { files_complete: false }), ['a undecided']);
});

test('the description fits into a commit status, however many rules fail', (t) => {
  const rules = Array.from({ length: 60 }, (_, index) => `{ id: a-rather-long-name-${index}, require: { label: x } }`);
  const { description } = verdict(`version: 1\nrules: [${rules}]`, {});
  t.is(description.length, 140);
  t.regex(description, /^60 of 60 rules failed: a-rather-long-name-0, .*…$/);
});

test("a finding names its rule's file and how to fix it", (t) => {
  t.like(verdict(POLICY, { ...GOOD, title: 'x' }).findings[0], {
    source: { path: '.gatehouse.yml', line: 5 },
    reasons: [{ kind: 'predicate', fix: ['Change the title to match ', { patterns: ['^feat: '] }, '.'], wanted: true }],
  });
});

test('the report lists every alternative, and only the unmet ones of required parts', (t) => {
  const any = ruled('require: { any: [{ label: x }, { all: [{ title: feat }, { label: y }] }] }');
  const [reason] = verdict(any, { title: 'feat' }).findings[0]?.reasons ?? [];
  const ways = reason?.kind === 'one-of' ? reason.ways : [];
  t.like(ways, [[{ predicate: 'label' }], [{ predicate: 'label' }]]);
  t.deepEqual(
    ways.map(({ length }) => length),
    [1, 1],
  );
});

test('what forbids several things at once names them as ways out', (t) => {
  const { findings } = verdict(ruled('forbid: { title: feat, label: x }'), { title: 'feat', labels: ['x'] });
  t.is(findings[0]?.reasons[0]?.kind, 'one-of');
});

test('a negated predicate points at what matched', (t) => {
  const files = [{ path: 'a.ts', added: ['x', 'TODO'] }];
  const { findings } = verdict(ruled('require: { not: { added_lines: TODO } }'), { files });
  t.is(findings[0]?.locations.length, 1);
  t.like(findings[0]?.locations[0], { path: 'a.ts', line: 2 });
});

const parsed = parsePolicy('version: 1\nrulez: []', { path: '.gatehouse.yml' });
const FAULTS = parsed.ok ? [] : parsed.faults;

test('a policy that cannot be read is an error that says where', (t) => {
  t.like(brokenPolicyVerdict(FAULTS), {
    state: 'error',
    description: 'The policy cannot be used: .gatehouse.yml:1: missing key "rules": expected a list of rules',
  });
});

test('a pull request with an invalid policy fails, and keeps its other findings', (t) => {
  const proposed = '.gatehouse.yml as proposed has 2 faults';
  const passed = withProposedPolicyFaults(verdict(POLICY, GOOD), FAULTS);
  t.like(passed, { state: 'failure', description: proposed });
  const waiting = withProposedPolicyFaults(verdict(WAITING, TEAM), FAULTS);
  t.like(waiting, { state: 'failure', description: proposed });
  const failed = withProposedPolicyFaults(verdict(POLICY, { ...GOOD, title: 'x' }), FAULTS);
  t.is(failed.description, `1 of 4 rules failed: conventional-title; ${proposed}`);
  t.is(withProposedPolicyFaults(failed, []).state, 'failure');
});

// Fingerprints

const TODO = 'version: 1\nrules: [{ id: todo, forbid: { added_lines: TODO } }]';
const prints = (lines: readonly string[], start = 1) => {
  const patch = patchOf(lines).replace('+1,', `+${start},`);
  return verdict(TODO, { files: [{ path: 'a.ts', patch }] }).findings.flatMap(({ locations }) =>
    locations.map(({ fingerprint }) => fingerprint),
  );
};

test('a fingerprint is 32 hexadecimal digits, and each place has its own', (t) => {
  const found = prints(['TODO 1', 'TODO 1', 'TODO 2']);
  t.is(new Set(found).size, 3);
  for (const fingerprint of found) {
    t.regex(fingerprint, /^[0-9a-f]{32}$/);
  }
});

test('long lines that begin alike have fingerprints of their own', (t) => {
  const long = `TODO ${'x'.repeat(500)}`;
  const [a] = prints([`${long}1`]);
  const [b] = prints([`${long}2`]);
  t.not(a, b);
});

const line = fc.constantFrom('TODO 1', 'TODO 2', '  TODO', 'x', '');

test('fingerprints do not change when lines move', (t) => {
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1, maxLength: 8 }),
      fc.array(fc.constantFrom('x', 'y', ''), { maxLength: 5 }),
      fc.nat(500),
      (lines, above, start) => {
        t.deepEqual(prints([...above, ...lines], start + 1), prints(lines));
      },
    ),
  );
});

test('fixing one place does not change the other fingerprints', (t) => {
  const before = prints(['TODO 1', 'TODO 2', 'TODO 3']);
  t.deepEqual(prints(['TODO 1', 'TODO 3']), [before[0], before[2]]);
});

test('fingerprints tell rules and paths apart', (t) => {
  const at = { path: 'a', line: 1, text: 'x' };
  const all = [...fingerprinted('a', [at, { ...at, path: 'b' }, { path: 'a' }]), ...fingerprinted('b', [at])].map(
    ({ fingerprint }) => fingerprint,
  );
  t.is(new Set(all).size, 4);
});
