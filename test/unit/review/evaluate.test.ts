import { NO_PEOPLE_SETTINGS } from '../../../src/facts/authors/people-settings.ts';
import { pullRequestOf } from '../../../src/facts/pull-request.ts';
import { factsOf, unreadFacts } from '../../../src/facts/table.ts';
import type { Given } from '../../../src/review/cases/given.ts';
import { evaluate, neededOwnerTeams } from '../../../src/review/evaluation/evaluate.ts';
import type { RuleOutcome } from '../../../src/review/evaluation/evaluation.ts';
import { neededFacts } from '../../../src/review/policy/needs.ts';
import type { Condition, Policy } from '../../../src/review/policy/policy.ts';
import { predicates } from '../../../src/review/predicates/index.ts';
import { plain } from '../../../src/review/text.ts';
import { verdictOf } from '../../../src/review/verdict.ts';
import fc from '../../helpers/property.ts';
import { sized } from '../../helpers/size.ts';
import test from '../../helpers/test.ts';
import { judge, ruleOf } from './judge.ts';

// Conditions that are always true, false or undecided for this pull request
const given: Given = { title: 'yes', files_complete: false };
const YES = '{ title: yes }';
const NO = '{ title: no }';
const UNKNOWN = '{ files: x }';
/** False, and only others can change that. */
const THEIRS = '{ approvals: 1 }';
/** Not known until others report it. */
const AWAITED = '{ checks: { name: ci } }';

const logic: readonly (readonly [rule: string, outcome: RuleOutcome])[] = [
  [`require: ${YES}`, 'passed'],
  [`require: ${NO}`, 'failed'],
  [`require: ${UNKNOWN}`, 'undecided'],
  [`forbid: ${YES}`, 'failed'],
  [`forbid: ${NO}`, 'passed'],
  [`forbid: ${UNKNOWN}`, 'undecided'],
  [`require: ${YES}, forbid: ${YES}`, 'failed'],
  [`require: ${YES}, forbid: ${NO}`, 'passed'],
  [`require: ${NO}, forbid: ${UNKNOWN}`, 'failed'],
  [`when: ${YES}, require: ${NO}`, 'failed'],
  [`when: ${NO}, require: ${NO}`, 'inactive'],
  [`when: ${UNKNOWN}, require: ${NO}`, 'undecided'],
  [`when: ${UNKNOWN}, require: ${YES}`, 'passed'],
  [`when: ${UNKNOWN}, require: ${UNKNOWN}`, 'undecided'],
  [`require: { all: [${YES}, ${YES}] }`, 'passed'],
  [`require: { all: [${UNKNOWN}, ${NO}] }`, 'failed'],
  [`require: { all: [${UNKNOWN}, ${YES}] }`, 'undecided'],
  [`require: { any: [${UNKNOWN}, ${YES}] }`, 'passed'],
  [`require: { any: [${UNKNOWN}, ${NO}] }`, 'undecided'],
  [`require: { any: [${NO}, ${NO}] }`, 'failed'],
  [`require: { not: ${NO} }`, 'passed'],
  [`require: { not: ${UNKNOWN} }`, 'undecided'],
  [`require: ${THEIRS}`, 'waiting'],
  [`require: { not: { not: ${THEIRS} } }`, 'waiting'],
  [`forbid: { not: ${THEIRS} }`, 'waiting'],
  [`require: { all: [${THEIRS}, ${YES}] }`, 'waiting'],
  [`require: { all: [${THEIRS}, ${NO}] }`, 'failed'],
  [`require: { all: [${THEIRS}, ${UNKNOWN}] }`, 'undecided'],
  [`require: { all: [${THEIRS}, ${UNKNOWN}, ${NO}] }`, 'failed'],
  [`require: { any: [${THEIRS}, ${NO}] }`, 'waiting'],
  [`require: { any: [${THEIRS}, ${UNKNOWN}] }`, 'undecided'],
  [`require: { any: [{ all: [${THEIRS}, ${NO}] }, ${NO}] }`, 'failed'],
  [`require: { any: [{ all: [${THEIRS}, ${UNKNOWN}] }, ${NO}] }`, 'failed'],
  [`require: { any: [{ all: [${THEIRS}, ${NO}] }, ${THEIRS}] }`, 'waiting'],
  [`require: ${THEIRS}, forbid: ${YES}`, 'failed'],
  [`require: ${THEIRS}, forbid: ${UNKNOWN}`, 'undecided'],
  [`require: ${THEIRS}, forbid: ${NO}`, 'waiting'],
  [`forbid: { any: [${YES}, { not: ${THEIRS} }] }`, 'failed'],
  [`forbid: { all: [${YES}, { not: ${THEIRS} }] }`, 'waiting'],
  [`when: ${THEIRS}, require: ${NO}`, 'inactive'],
  [`require: ${AWAITED}`, 'waiting'],
  [`forbid: ${AWAITED}`, 'waiting'],
  [`require: { not: ${AWAITED} }`, 'waiting'],
  [`require: { all: [${AWAITED}, ${NO}] }`, 'failed'],
  [`require: { all: [${AWAITED}, ${UNKNOWN}] }`, 'undecided'],
  [`require: { any: [${AWAITED}, ${NO}] }`, 'waiting'],
  [`require: { any: [${AWAITED}, ${UNKNOWN}] }`, 'undecided'],
  [`require: { any: [${AWAITED}, ${YES}] }`, 'passed'],
  [`when: ${AWAITED}, require: ${YES}`, 'passed'],
  [`when: ${AWAITED}, require: ${NO}`, 'waiting'],
  [`when: ${AWAITED}, require: ${UNKNOWN}`, 'undecided'],
  [`when: { not: ${AWAITED} }, require: ${NO}`, 'waiting'],
  [`when: { any: [${AWAITED}, ${YES}] }, require: ${NO}`, 'failed'],
  [`when: { all: [${AWAITED}, ${NO}] }, require: ${NO}`, 'inactive'],
  [`when: { not: ${THEIRS} }, require: ${NO}`, 'failed'],
  [`when: ${UNKNOWN}, require: ${THEIRS}`, 'undecided'],
  [`when: ${YES}, require: ${THEIRS}`, 'waiting'],
  [`require: { title: yes, label: x }`, 'failed'],
  [`forbid: { title: yes, label: x }`, 'passed'],
  [`require: { not: { title: yes, label: x } }`, 'passed'],
];
for (const [rule, outcome] of logic) {
  test(`{ ${rule} } is ${outcome}`, (t) => t.is(judge(rule, given).outcome, outcome));
}

test('every part is evaluated, even when one settles it', (t) => {
  const { require } = judge(`require: { any: [${YES}, ${NO}, ${UNKNOWN}] }`, given);
  t.like(require, { parts: [{ outcome: 'matched' }, { outcome: 'unmatched' }, { outcome: 'undecided' }] });
});

test('nothing is asked of an inactive rule', (t) => {
  t.like(judge(`when: ${NO}, require: ${NO}`, given), { when: { outcome: 'unmatched' }, require: undefined });
});

test('a policy about titles needs nothing but the pull request', (t) => {
  t.deepEqual(neededFacts(ruleOf('require: { title: x, body: y, label: z, draft: false, base: main }')), {
    pullRequest: ['description', 'draft', 'labels', 'title'],
  });
});

/** What each predicate asks for beside the pull request, wherever it stands. */
const NEEDS: readonly (readonly [rule: string, facts: string])[] = [
  ['when: { files: x }, require: { draft: true }', 'changedFiles'],
  ['forbid: { any: [{ not: { added_lines: x } }] }', 'changedFiles lines'],
  ["require: { changed_files: '< 3' }", 'changedFiles'],
  ["require: { changed_lines: '< 3' }", 'changedFiles lines'],
  ['require: { commits: { some: { merge: true } } }', 'commits'],
  ['require: { commits: { every: { signed_off: true } } }', 'commits merges clean'],
  ['when: { not: { checks: { name: ci } } }, require: { title: x }', 'checks'],
  ['require: { checks: { all: true } }', 'checks'],
  ['require: { approvals: 1 }', 'commits authors reviews merges clean writers approvers'],
  ['require: { approvals: { committers: true } }', 'reviews writers approvers'],
  ['require: { approvals: { committers: true, fresh: true } }', 'reviews lastChange writers approvers'],
  [
    "require: { approvals: { from: ['@B/y', CODEOWNERS] } }, when: { author: ['@a/x'] }",
    'changedFiles commits authors reviews merges clean codeOwners teams a/x b/y',
  ],
  ["require: { author: ['@A/*', '@a/*'] }", 'teams author@a'],
  [
    "require: { all: [{ assignee: '@a/*' }, { reviews_requested: { from: '@a/*' } }] }",
    'changedFiles commits authors merges clean requestedReviews triage assignees codeOwners teams assignees@a requested@a',
  ],
];

for (const [rule, expected] of NEEDS) {
  test(`{ ${rule} } asks for ${expected}`, (t) => {
    const { pullRequest: _, ...facts } = neededFacts(ruleOf(rule));
    t.is(Object.entries(facts).flat(2).join(' '), expected);
  });
}

test('the owners’ teams are known once the files and CODEOWNERS are', (t) => {
  t.deepEqual(neededOwnerTeams(factsOf({ codeowners: '* @octo/core', files: [{ path: 'a' }] })), ['octo/core']);
  t.deepEqual(neededOwnerTeams(factsOf({ files: [{ path: 'a' }] })), []);
  const many = Array.from({ length: 90 }, (_, index) => `@octo/t${index}`).join(' ');
  t.is(neededOwnerTeams(factsOf({ codeowners: `* ${many}`, files: [{ path: 'a' }] }))?.length, 50);
});

test('a fact that was never read leaves undecided what needs it', (t) => {
  const facts = unreadFacts(pullRequestOf());
  const outcomeOf = (rule: string) => evaluate(ruleOf(rule), facts).rules[0]?.outcome;
  for (const condition of [
    ...['files: x', 'changed_files: "< 1"', 'added_lines: x', 'commits: { some: { merge: true } }'],
    ...['approvals: 1', 'approvals: { from: [CODEOWNERS] }'],
  ]) {
    t.is(outcomeOf(`require: { ${condition} }`), 'undecided', condition);
    t.is(outcomeOf(`forbid: { ${condition} }`), 'undecided', condition);
  }
  t.is(outcomeOf('require: { draft: false }'), 'passed');
});

// Hostile policies and changes

test('a pattern that matches everything names two hundred lines and counts the others', (t) => {
  const added = Array.from({ length: 5_000 }, () => 'x');
  const { forbid } = judge("forbid: { added_lines: '' }", { files: [{ path: 'a', added }] });
  t.is(forbid?.kind === 'predicate' ? plain(forbid.found) : '', '5000 added lines match');
  t.is(forbid?.kind === 'predicate' && forbid.locations.length, 200);
});

test('a hundred globs are matched with three thousand files', (t) => {
  const paths = Array.from({ length: 3_000 }, (_, index) => `packages/some-package/src/deep/folder/file${index}.ts`);
  const files = paths.map((path) => ({ path }));
  const globs = Array.from({ length: 100 }, (_, index) => `'**/*${index}x/**/*.ts'`).join(', ');
  t.is(evaluate(ruleOf(`forbid: { files: [${globs}] }`), factsOf({ files })).rules[0]?.outcome, 'passed');
});

// Properties

const predicateTexts: readonly (readonly [string, unknown])[] = [
  ['title', '^feat'],
  ['body', 'x'],
  ['label', ['ready', 'size/*']],
  ['draft', false],
  ['author', ['alice', '@octo/sec']],
  ['branch', 'topic'],
  ['base', ['main', 'release/*']],
  ['files', ['src/**', '!**/*.md']],
  ['changed_lines', '<= 10'],
  ['changed_files', '> 1'],
  ['added_lines', 'TODO'],
  ['commits', { every: { message: '^feat' } }],
  ['approvals', { count: 1, from: ['bob', '@octo/sec', 'CODEOWNERS'], fresh: true }],
];
const condition: fc.Arbitrary<Condition> = fc.letrec<{ node: Condition }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(...predicateTexts).map(([name, text]): Condition => {
      const value = predicates.get(name)?.schema.parse(text);
      return { kind: 'predicate', line: 1, name, value, options: {} };
    }),
    fc.record({
      kind: fc.constantFrom('all' as const, 'any' as const),
      line: fc.constant(1),
      parts: fc.array(tie('node'), { maxLength: 3 }),
    }),
    fc.record({ kind: fc.constant('not' as const), line: fc.constant(1), part: tie('node') }),
  ),
})).node;

const policies: fc.Arbitrary<Policy> = fc
  .array(
    fc.record(
      {
        level: fc.constantFrom('error' as const, 'warn' as const, 'info' as const),
        when: condition,
        require: condition,
        forbid: condition,
      },
      { requiredKeys: ['level', 'require'] },
    ),
    { maxLength: 4 },
  )
  .map((rules) => ({
    origin: { path: '.gatehouse.yml' },
    ...NO_PEOPLE_SETTINGS,
    rules: rules.map((rule, index) => ({
      id: `r${index}`,
      ...rule,
      needs: neededFacts({ rules: [] }),
      source: { path: '.gatehouse.yml', line: index + 1 },
    })),
  }));

const givens: fc.Arbitrary<Given> = fc.record(
  {
    title: fc.string(),
    body: fc.string(),
    draft: fc.boolean(),
    labels: fc.array(fc.constantFrom('ready', 'size/S', 'x')),
    files: fc.array(
      fc.record(
        {
          path: fc.constantFrom('src/a.ts', 'src/b.md', 'x'),
          added: fc.array(fc.string()),
          patch: fc.string(),
          diff: fc.constantFrom('binary' as const, 'too-large' as const),
        },
        { requiredKeys: ['path'] },
      ),
      { maxLength: 3 },
    ),
    files_complete: fc.boolean(),
    commits: fc.array(fc.record({ message: fc.string() }), { maxLength: 3 }),
    reviews: fc.array(
      fc.record({
        author: fc.constantFrom('alice', 'bob', 'Bob', 'carol'),
        state: fc.constantFrom(...(['approved', 'changes-requested', 'commented', 'dismissed'] as const)),
        at: fc.constantFrom('head' as const, 'old' as const),
      }),
      { maxLength: 5 },
    ),
    teams: fc.constantFrom({}, { 'octo/sec': ['carol'] }),
    codeowners: fc.constantFrom('* @bob', 'src/ @octo/sec', ''),
  },
  { requiredKeys: [] },
);

test('evaluation is total and deterministic, whatever the policy and the pull request', (t) => {
  fc.assert(
    fc.property(policies, givens, (policy, from) => {
      const first = evaluate(policy, factsOf(from));
      t.deepEqual(evaluate(policy, factsOf(from)), first);
      t.deepEqual(verdictOf(evaluate(policy, factsOf(from))), verdictOf(first));
      t.is(first.rules.length, policy.rules.length);
    }),
    { numRuns: sized(75, 300) },
  );
});

test('a draft is never judged better than the same pull request when it is ready', (t) => {
  const order = ['success', 'pending', 'error', 'failure'];
  fc.assert(
    fc.property(policies, givens, (policy, from) => {
      const [draft = 0, ready = 0] = [true, false].map((isDraft) =>
        order.indexOf(verdictOf(evaluate(policy, factsOf({ ...from, draft: isDraft }))).state),
      );
      t.true(draft >= ready);
    }),
    { numRuns: sized(75, 300) },
  );
});

test('the worse of a draft and of what it would be once ready is what counts', (t) => {
  for (const [rule, outcome, asIfReady] of [
    ['when: { draft: false }, require: { title: "^feat" }', 'failed', true],
    ['when: { draft: false }, require: { approvals: 1 }', 'waiting', true],
    ['when: { not: { all: [{ draft: true }] } }, require: { label: x }', 'failed', true],
    ['when: { draft: true }, require: { label: x }', 'failed', undefined],
    ['require: { draft: false }', 'failed', undefined],
    ['require: { any: [{ draft: true }, { label: x }] }', 'failed', true],
    ['forbid: { any: [{ draft: true }, { label: x }] }', 'failed', undefined],
    ['when: { draft: false }, require: { title: things }', 'inactive', undefined],
  ] as const) {
    const [found] = evaluate(ruleOf(rule), factsOf({ title: 'things', draft: true, reviews: [] })).rules;
    t.deepEqual([found?.outcome, found?.asIfReady], [outcome, asIfReady], rule);
  }
});

test('reading less never turns a failure or a question into a pass', (t) => {
  fc.assert(
    fc.property(policies, givens, (policy, from) => {
      const full = verdictOf(evaluate(policy, factsOf({ ...from, files_complete: true })));
      const partial = verdictOf(evaluate(policy, unreadFacts(pullRequestOf(from))));
      if (full.state !== 'success') {
        t.not(partial.state, 'success');
      }
    }),
    { numRuns: sized(125, 500) },
  );
});
