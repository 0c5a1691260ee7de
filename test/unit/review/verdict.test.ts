import { patchOf } from '../../../src/facts/changed-files.ts';
import { fingerprinted } from '../../../src/review/evaluation/fingerprint.ts';
import { parsePolicy } from '../../../src/review/policy/parse.ts';
import { brokenPolicyVerdict, withProposedPolicyFaults } from '../../../src/review/verdict.ts';
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
const good = { title: 'feat: x', labels: ['noted', 'careful'] };

test('success when every active rule is met', (t) => {
  const result = verdict(POLICY, good);
  t.is(result.state, 'success');
  t.is(result.description, 'All 4 rules that apply are met');
  t.deepEqual(result.passed, ['note', 'careful', 'conventional-title', 'small']);
});

test('warnings and notes are reported, and never fail', (t) => {
  const result = verdict(POLICY, { title: 'feat: x' });
  t.is(result.state, 'success');
  t.is(result.description, 'No error, 1 warning and 1 note: careful, note');
  t.deepEqual(
    result.findings.map(({ ruleId }) => ruleId),
    ['careful', 'note'],
  );
});

test('an error fails, and the description says which of how many', (t) => {
  const result = verdict(POLICY, { ...good, title: 'x', files: [{ path: 'a', additions: 4 }] });
  t.is(result.state, 'failure');
  t.is(result.description, '2 of 4 rules failed: conventional-title, small');
});

const WAITING = `version: 1
rules:
  - { id: approved, require: { approvals: { count: 1, from: ['@octo/core'] } } }
  - { id: conventional-title, require: { title: '^feat: ' } }
  - { id: small, require: { changed_lines: '<= 3' } }
`;
const team = { teams: { 'octo/core': ['bob'] } };

test('a rule that only others can fulfil is pending, and says whom it waits for', (t) => {
  const result = verdict(WAITING, team);
  t.is(result.state, 'pending');
  t.is(result.description, 'Waiting for 1 approval from @octo/core');
  t.is(result.findings[0]?.outcome, 'waiting');
});

test('a rule that waits for more approvals says how many are missing', (t) => {
  const policy = 'version: 1\nrules: [{ id: a, require: { approvals: { count: 3 } } }]';
  const reviews = ['bob', 'carol'].map((author) => ({ author }));
  t.is(verdict(policy, {}).description, 'Waiting for 3 approvals');
  t.is(verdict(policy, { reviews: reviews.slice(0, 1) }).description, 'Waiting for 2 more approvals');
  t.is(verdict(policy, { reviews }).description, 'Waiting for 1 more approval');
});

test('a failure of the author and what cannot be judged outweigh waiting', (t) => {
  t.is(verdict(WAITING, { ...team, title: 'x' }).state, 'failure');
  t.is(verdict(WAITING, { ...team, title: 'x' }).description, '1 of 3 rules failed: conventional-title');
  t.is(verdict(WAITING, { ...team, files_complete: false }).state, 'error');
});

test('rules that wait for the same name it once, and a warning never blocks', (t) => {
  const rules = ['approved', 'again', 'other'].map(
    (id) => `  - { id: ${id}, require: { approvals: { from: [${id === 'other' ? 'carol' : 'bob'}] } } }`,
  );
  const policy = `version: 1\nrules:\n${rules.join('\n')}`;
  t.is(verdict(policy, {}).description, 'Waiting for 1 approval from bob and 1 approval from carol');
  const warning = 'version: 1\nrules: [{ id: a, level: warn, require: { approvals: 1 } }]';
  t.is(verdict(warning, {}).state, 'success');
  t.is(verdict(warning, {}).findings[0]?.outcome, 'waiting');
});

test('of several ways, those of others are waited for', (t) => {
  const policy =
    'version: 1\nrules: [{ id: a, require: { any: [{ approvals: { from: [bob] } }, { label: waived }, { approvals: 2 }] } }]';
  t.is(verdict(policy, {}).description, 'Waiting for 1 approval from bob or 2 approvals');
});

test('an error that cannot be judged is an error, never a pass', (t) => {
  const result = verdict(POLICY, { ...good, files_complete: false });
  t.is(result.state, 'error');
  t.is(result.description, '1 of 4 rules could not be judged: small');
  t.is(result.findings[0]?.outcome, 'undecided');
});

test('a failure outweighs what cannot be judged', (t) => {
  t.is(verdict(POLICY, { ...good, title: 'x', files_complete: false }).state, 'failure');
});

test('a warning that cannot be judged blocks nothing, and is reported', (t) => {
  const policy = 'version: 1\nrules: [{ id: a, level: warn, require: { files: x } }]';
  const result = verdict(policy, { files_complete: false });
  t.is(result.state, 'success');
  t.is(result.findings[0]?.outcome, 'undecided');
});

test('no rule that applies is success', (t) => {
  const result = verdict('version: 1\nrules: [{ id: a, when: { label: x }, require: { title: y } }]', {});
  t.is(result.state, 'success');
  t.is(result.description, 'No rule applies to this pull request');
});

test('the description fits into a commit status, however many rules fail', (t) => {
  const rules = Array.from(
    { length: 60 },
    (_, index) => `  - { id: a-rather-long-name-${index}, require: { label: x } }`,
  );
  const { description } = verdict(`version: 1\nrules:\n${rules.join('\n')}`, {});
  t.is(description.length, 140);
  t.true(description.startsWith('60 of 60 rules failed: a-rather-long-name-0, '));
  t.true(description.endsWith('…'));
});

test("a finding names its rule's file and how to fix it", (t) => {
  const [finding] = verdict(POLICY, { ...good, title: 'x' }).findings;
  t.deepEqual(finding?.source, { path: '.gatehouse.yml', line: 5 });
  const [reason] = finding?.reasons ?? [];
  if (reason?.kind !== 'predicate') {
    return t.fail();
  }
  t.deepEqual(reason.fix, ['Edit the ', 'title', '.']);
  t.true(reason.wanted);
});

test('the report lists every alternative, and only the unmet ones of required parts', (t) => {
  const any =
    'version: 1\nrules: [{ id: a, require: { any: [{ label: x }, { all: [{ title: feat }, { label: y }] }] } }]';
  const [finding] = verdict(any, { title: 'feat' }).findings;
  const [reason] = finding?.reasons ?? [];
  if (reason?.kind !== 'one-of') {
    return t.fail();
  }
  t.deepEqual(
    reason.ways.map((way) => way.map((inner) => (inner.kind === 'predicate' ? inner.predicate : inner.kind))),
    [['label'], ['label']],
  );
});

test('what forbids several things at once names them as ways out', (t) => {
  const policy = 'version: 1\nrules: [{ id: a, forbid: { title: feat, label: x } }]';
  const [finding] = verdict(policy, { title: 'feat', labels: ['x'] }).findings;
  t.is(finding?.reasons[0]?.kind, 'one-of');
});

test('a negated predicate points at what matched', (t) => {
  const policy = 'version: 1\nrules: [{ id: a, require: { not: { added_lines: TODO } } }]';
  const [finding] = verdict(policy, { files: [{ path: 'a.ts', added: ['x', 'TODO'] }] }).findings;
  t.deepEqual(
    finding?.locations.map(({ path, line }) => [path, line]),
    [['a.ts', 2]],
  );
});

test('a policy that cannot be read is an error that says where', (t) => {
  const parsed = parsePolicy('version: 1\nrulez: []', { path: '.gatehouse.yml' });
  if (parsed.ok) {
    return t.fail();
  }
  const result = brokenPolicyVerdict(parsed.faults);
  t.is(result.state, 'error');
  t.is(
    result.description,
    'The policy cannot be used: .gatehouse.yml:1: missing key "rules": expected a list of rules',
  );
});

test('a pull request with an invalid policy fails, and keeps its other findings', (t) => {
  const parsed = parsePolicy('version: 1\nrulez: []', { path: '.gatehouse.yml' });
  if (parsed.ok) {
    return t.fail();
  }
  const passed = withProposedPolicyFaults(verdict(POLICY, good), parsed.faults);
  t.is(passed.state, 'failure');
  t.is(passed.description, '.gatehouse.yml as proposed has 2 faults');
  const failed = withProposedPolicyFaults(verdict(POLICY, { ...good, title: 'x' }), parsed.faults);
  t.is(failed.description, '1 of 4 rules failed: conventional-title; .gatehouse.yml as proposed has 2 faults');
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
