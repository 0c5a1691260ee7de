import { deserialize, serialize } from 'node:v8';
import * as limits from '../../../src/review/limits.ts';
import type { Fault } from '../../../src/review/policy/faults.ts';
import { mergeBaseline, mergePolicies } from '../../../src/review/policy/merge.ts';
import { parsePolicy } from '../../../src/review/policy/parse.ts';
import fc from '../../helpers/property.ts';
import { sized } from '../../helpers/size.ts';
import test from '../../helpers/test.ts';
import { policyOf } from './judge.ts';

const origin = { path: '.gatehouse.yml' };

function faultsOf(text: string, role: 'own' | 'extended' = 'own'): readonly Fault[] {
  const result = parsePolicy(text, origin, role);
  return result.ok ? [] : result.faults;
}

const brief = (faults: readonly Fault[]) => faults.map(({ line, column, message }) => `${line}:${column}: ${message}`);

/** All faults, as one text; '' where the policy is valid. */
const faultsIn = (text: string) => brief(faultsOf(text)).join('\n');
const requiring = (condition: string) => `version: 1\nrules: [{ id: a, require: ${condition} }]`;
const repeated = <Item>(amount: number, item: (index: number) => Item) =>
  Array.from({ length: amount }, (_, index) => item(index));

const EXAMPLE = String.raw`version: 1
rules:
  - id: conventional-title
    require: { title: '^(feat|fix|docs|chore|refactor|test)(\(.+\))?!?: ' }
  - id: tests-with-code
    when: { files: ['src/**', '!**/*.md'], not: { author: ['renovate[bot]'] } }
    require: { files: ['test/**'] }
    level: warn
  - id: small
    require: { changed_lines: '<= 600', except: ['**/package-lock.json', 'gen/**'] }
  - id: no-focused-tests
    forbid: { added_lines: '\b(debugger|it\.only)\b', in: ['**/*.ts'] }
    message: Remove debugging code before merging.
  - id: security-review
    when: { files: ['auth/**'] }
    require:
      any:
        - approvals: { count: 1, from: ['@platform/security'], fresh: true }
        - label: security-waived
`;

test('the example of the design is a valid policy', (t) => {
  const { rules } = policyOf(EXAMPLE);
  t.deepEqual(
    rules.map(({ id, level, source }) => `${source.path}:${source.line}: ${id} ${level}`),
    [
      '.gatehouse.yml:3: conventional-title error',
      '.gatehouse.yml:5: tests-with-code warn',
      '.gatehouse.yml:9: small error',
      '.gatehouse.yml:11: no-focused-tests error',
      '.gatehouse.yml:14: security-review error',
    ],
  );
  t.deepEqual(rules[2]?.require, {
    ...{ kind: 'predicate', line: 10, name: 'changed_lines', value: { operator: '<=', limit: 600 } },
    options: { except: ['**/package-lock.json', 'gen/**'] },
  });
});

test('what a policy says is read once, as plain data that any thread can use', (t) => {
  const policy = policyOf(EXAMPLE);
  t.deepEqual(deserialize(serialize(policy)), policy);
  const read = policy.rules.flatMap(({ require, forbid }) => [require, forbid]);
  const [approvals] = read.flatMap((condition) => (condition?.kind === 'any' ? condition.parts : []));
  t.like(approvals, { name: 'approvals', value: { count: 1, teams: ['platform/security'], fresh: true } });
  const listed = policyOf(requiring('{ not: { files: a.ts, status: added } }')).rules[0]?.require;
  t.like(listed, { kind: 'not', part: { value: ['a.ts'], options: { status: ['added'] } } });
});

test('all errors are reported at once, with line and suggestion', (t) => {
  const text = `version: 2
rule: []
rules:
  - id: a
    requires: { title: x }
    level: wran
  - id: a
    forbids: { title: x }
  - id: b
    require: { titel: x, approvals: { form: [bob] } }
    forbid: { changed_lines: 600, in: ['**'] }
    title: x
  - require: { any: [], not: {} }
`;
  t.deepEqual(brief(faultsOf(text)), [
    '1:10: expected 1, the version that this Gatehouse reads, found 2',
    '2:1: unknown key "rule"; did you mean "rules"?',
    '5:5: unknown key "requires"; did you mean "require"?',
    '6:12: expected error, warn, info or observe, found "wran"; did you mean "warn"?',
    '7:9: the id "a" is already used by the rule on line 4',
    '8:5: unknown key "forbids"; did you mean "forbid"?',
    '10:16: unknown key "titel"; did you mean "title"?',
    '10:39: unknown key "form"; did you mean "from"?',
    "11:30: expected a comparison in quotes, such as '<= 600', found 600",
    '11:35: "in" stands alone: expected "added_lines" next to it',
    '12:5: unknown key "title"; "title" belongs under when, require or forbid',
    '13:5: missing key "id": expected a name',
    '13:21: expected at least one condition, found an empty list',
    '13:30: the condition is empty',
  ]);
});

test('an error has its file, expected and found value, and the nearest known word', (t) => {
  const [fault] = faultsOf('version: 1\nrules:\n  - { id: a, require: { draft: true }, level: eror }\n');
  t.deepEqual(fault, {
    file: '.gatehouse.yml',
    line: 3,
    column: 47,
    message: 'expected error, warn, info or observe, found "eror"; did you mean "error"?',
    expected: 'error, warn, info or observe',
    found: '"eror"',
    suggestion: 'error',
  });
});

const single: readonly (readonly [text: string, fault: RegExp])[] = [
  ['', /^1:1: the file is empty/],
  ['# nothing', /^1:1: the file is empty/],
  ['- 1', /^1:1: expected a mapping with `version` and `rules`, found a list/],
  ['version: 1', /^1:1: missing key "rules"/],
  ['rules: []', /^1:1: missing key "version"/],
  ['version: 1\nrules: 5', /^2:8: expected a list of rules, found 5/],
  ['version: 1\nrules: [5]', /^2:9: expected a rule: .* found 5/],
  ['version: 1\nrules: [{ id: a, require: 5 }]', /^2:27: expected a mapping of conditions/],
  ['version: 1\nrules: [{ id: a, require: }]', /^2:27: expected a mapping of conditions.* found nothing/],
  ['version: 1\nrules: [{ id: a }]', /^2:9: the rule has neither/],
  ['version: 1\nrules: [{ id: "a b", require: { draft: true } }]', /^2:15: expected a name of letters/],
  ['version: 1\nrules: [{ id: a, require: { draft: yes } }]', /^2:36: expected true or false, found "yes"/],
  ["version: 1\nrules: [{ id: a, require: { title: '(' } }]", /^2:36: not a valid RE2 pattern: missing closing \)/],
  ["version: 1\nrules: [{ id: a, require: { title: '(?=a)' } }]", /^2:36: lookahead and lookbehind are not available/],
  ["version: 1\nrules: [{ id: a, require: { title: '(a)\\1' } }]", /^2:36: backreferences are not available/],
  ["version: 1\nrules: [{ id: a, require: { title: [ok, '['] } }]", /^2:41: not a valid RE2 pattern/],
  ["version: 1\nrules: [{ id: a, require: { files: 'src/' } }]", /^2:36: to mean everything in a folder/],
  ['version: 1\nrules: [{ id: a, require: { files: [] } }]', /^2:36: expected at least a glob/],
  ["version: 1\nrules: [{ id: a, require: { changed_lines: 'few' } }]", /^2:44: expected a comparison: /],
  ['version: 1\nrules: [{ id: a, require: { approvals: 0 } }]', /^2:40: expected a whole number from 1, found 0/],
  ['version: 1\nrules: [{ id: a, require: { approvals: { from: [octo/sec] } } }]', /did you mean "@octo\/sec"\?/],
  ['version: 1\nrules: [{ id: a, id: b, require: { draft: true } }]', /^2:18: the key "id" is given twice/],
  ['version: 1\nrules: [{ id: a, __proto__: 1, require: { draft: true } }]', /^2:18: unknown key "__proto__"/],
  ['version: 1\nrules: [{ id: a, <<: { level: warn }, require: { draft: true } }]', /^2:18: unknown key "<<"/],
  ['version: 1\n__proto__: { rules: [] }\nrules: []', /^2:1: unknown key "__proto__"/],
  ['version: 1\nrules: []\nrules: []', /^3:1: the key "rules" is given twice/],
  ["version: 1\nrules: !!js/function 'process.exit()'", /^2:8: not valid YAML: Unresolved tag/],
  ["version: 1\nrules: [{ id: a, require: { title: 'a\0b' } }]", /control character/],
  ['version: 1\n\trules: []', /^2:1: not valid YAML/],
  ['version: 1\nrules: ]', /^2:8: not valid YAML/],
  ['version: 1\n---\nversion: 1', /not valid YAML/],
  ['version: !thing 1\nrules: []', /^1:10: not valid YAML: Unresolved tag: !thing/],
  ['version: 1\nrules: !!set { a }', /not valid YAML: Unresolved tag/],
  ['version: 1\nextends: https://evil.test/x', /^2:10: expected owner\/repo@ref/],
  ['version: 1\nextends: a/../b@main', /^2:10: expected owner\/repo@ref/],
  ['version: 1\nextends: a/b@-x', /^2:10: expected owner\/repo@ref/],
  ['version: 1\nextends: a/b@x/../y', /^2:10: expected owner\/repo@ref/],
  ['version: 1\nextends: ../b@main', /^2:10: expected owner\/repo@ref/],
];
for (const [text, fault] of single) {
  test(`${JSON.stringify(text)} is refused: ${fault.source}`, (t) => {
    t.regex(brief(faultsOf(text))[0] ?? 'no fault', fault);
  });
}

test('anchors may be used to say a list once', (t) => {
  const { rules } = policyOf(`version: 1
rules:
  - { id: a, require: { files: &code ['src/**', 'lib/**'] } }
  - { id: b, forbid: { files: *code } }
`);
  t.is(rules.length, 2);
});

test('a policy may consist of what it extends', (t) => {
  t.deepEqual(policyOf('version: 1\nextends: octo/policies@v1/stable\n').extends, {
    repository: 'octo/policies',
    ref: 'v1/stable',
  });
});

test('an extended policy cannot extend another one', (t) => {
  const text = 'version: 1\nextends: octo/policies@main\n';
  t.deepEqual(brief(faultsOf(text, 'extended')), [
    '2:10: an extended policy cannot extend another one: only one level is supported',
  ]);
});

test('merging keeps the order of the base, replaces rules by id, and adds the others', (t) => {
  const rule = (id: string, level: string) => `{ id: ${id}, level: ${level}, require: { draft: false } }`;
  const base = policyOf(
    `version: 1\nrules: [${rule('a', 'error')}, ${rule('b', 'error')}]`,
    { path: 'p.yml', repository: 'octo/p@main' },
    'extended',
  );
  const own = policyOf(`version: 1\nextends: octo/p@main\nrules: [${rule('c', 'info')}, ${rule('a', 'warn')}]`);
  const merged = mergePolicies(base, own);
  t.deepEqual(
    merged.rules.map(({ id, level, source }) => `${id} ${level} ${source.repository ?? 'own'}`),
    ['a warn own', 'b error octo/p@main', 'c info own'],
  );
  t.is(merged.extends, undefined);
});

test('what policies say of co-authors and machines adds up, and nothing takes it away', (t) => {
  const base = policyOf('version: 1\nauthor_trailers: Assisted-by\nmachine_accounts: [a-bot, b-bot]\nrules: []');
  const own = policyOf('version: 1\nauthor_trailers: [On-behalf-of]\nmachine_accounts: [b-bot, c-bot]\nrules: []');
  for (const merged of [mergePolicies(base, own), mergeBaseline(base, own)]) {
    t.deepEqual(merged.authorTrailers, ['Assisted-by', 'On-behalf-of']);
    t.deepEqual(merged.machineAccounts, ['a-bot', 'b-bot', 'c-bot']);
  }
  t.deepEqual(mergeBaseline(base, policyOf('version: 1\nrules: []')).machineAccounts, ['a-bot', 'b-bot']);
  t.deepEqual(brief(faultsOf('version: 1\nauthor_trailers: ["Assisted-by:"]\nrules: []')).length, 1);
});

// Hostile files. What bounds them are the limits, not the clock.

const rules = (amount: number) =>
  `version: 1\nrules:\n${repeated(amount, (index) => `- {id: r${index}, require: {draft: true}}`).join('\n')}`;

test('as many rules as the limit are read, and one more is a fault', (t) => {
  t.is(faultsIn(rules(limits.MAX_RULES)), '');
  t.is(faultsIn(rules(limits.MAX_RULES + 1)), '3:1: expected at most 100 rules, found 101');
});

test('a file over the size limit is not read at all', (t) => {
  t.regex(faultsIn(rules(10_000)), /^\d+:\d+: the file is too large: \d+ bytes of at most 65536$/);
  const inBytes = `version: 1\nrules: []\n#${'é'.repeat(limits.MAX_POLICY_BYTES / 2)}`;
  t.is(faultsOf(inBytes).length, 1, 'bytes, not characters');
});

test('aliases that stand for a billion values are stopped early', (t) => {
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]'];
  for (let index = 1; index < 9; index += 1) {
    const [name, last] = [index, index - 1].map((at) => String.fromCharCode(97 + at));
    bomb.push(`${name}: &${name} [${Array.from({ length: 9 }, () => `*${last}`).join(', ')}]`);
  }
  t.regex(faultsIn(bomb.join('\n')), /more than 50 uses of aliases/);
  t.regex(faultsIn('version: &a [*a]'), /alias|nested|unresolved/i);
});

test('a few aliases that stand for very much are stopped too', (t) => {
  const list = repeated(1_000, () => 'x');
  const uses = repeated(40, () => '*a');
  t.regex(faultsIn(`version: &a [${list}]\nrules: [${uses}]`), /expands to more than 20000 keys and values/);
});

test('a long list of patterns cannot be multiplied by aliases', (t) => {
  const list = repeated(90, (index) => `'${index}${'[a-z]'.repeat(90)}'`).join(', ');
  const rule = (index: number, patterns: string) => `  - { id: r${index}, require: { title: ${patterns} } }\n`;
  const uses = repeated(6, (index) => rule(index, '*all')).join('');
  t.is(
    faultsIn(`version: 1\nrules:\n${rule(9, `&all [${list}]`)}${uses}`),
    '4:33: with its aliases written out the file has more than 65536 characters',
  );
});

test('deep nesting is a fault and not a crash', (t) => {
  for (const open of ['[', '{a: ', '- ', '? ']) {
    t.regex(faultsIn(open.repeat(limits.MAX_POLICY_BYTES / open.length - 10)), /nested|YAML/);
  }
  t.regex(faultsIn(`version: ${'['.repeat(40)}${']'.repeat(40)}`), /nested deeper than 32 levels/);
  t.is(faultsIn(`version: 1\nrules: ${'['.repeat(10_000)}`), '2:40: nested deeper than 32 levels');
});

test('conditions may be nested six deep', (t) => {
  const nested = (depth: number) => requiring(`${'{ not: '.repeat(depth)}{ draft: true }${' }'.repeat(depth)}`);
  t.is(faultsIn(nested(limits.MAX_CONDITION_DEPTH)), '');
  t.regex(faultsIn(nested(limits.MAX_CONDITION_DEPTH + 1)), /nested deeper than 6 levels/);
});

test('predicates are counted over all rules', (t) => {
  const rule = (id: number) => `- {id: r${id}, require: {all: [${repeated(100, () => '{draft: true}')}]}}\n`;
  const most = `version: 1\nrules:\n${repeated(limits.MAX_PREDICATES / 100, rule).join('')}`;
  t.is(faultsIn(most), '');
  t.regex(faultsIn(`${most}- {id: one-more, require: {draft: true}}`), /more than 500 predicates/);
});

test('patterns are limited in length and in what their repetitions come to', (t) => {
  const title = (pattern: string) => faultsIn(requiring(`{ title: '${pattern}' }`));
  t.is(title('a'.repeat(limits.MAX_PATTERN_LENGTH)), '');
  t.regex(title('a'.repeat(limits.MAX_PATTERN_LENGTH + 1)), /500 characters; this one has 501/);
  t.is(title('\\w{1000}'), '');
  for (const large of [
    ...['(?:\\pL{100}){100}', '(a{1,1000}b){1,1000}', '([]a]{999}){999}'],
    ...['\\w{1000}'.repeat(3), `${'('.repeat(4)}a${'{9})'.repeat(4)}`],
  ]) {
    t.regex(title(large), /too large to run/, large);
  }
});

test('lists and messages are limited too', (t) => {
  const list = repeated(limits.MAX_LIST_ENTRIES + 1, () => 'a');
  t.regex(faultsIn(requiring(`{ title: [${list}] }`)), /at most 100 of them, found 101/);
  t.regex(faultsIn(requiring(`{ draft: true }, message: ${'m'.repeat(1001)}`)), /at most 1000 characters/);
});

test('a file that is wrong all over shows fifty faults and counts the others', (t) => {
  const faults = faultsOf(`version: 1\nrules: [${repeated(90, (index) => `{id: r${index}, require: {nope: 1}}`)}]`);
  t.is(faults.length, limits.MAX_POLICY_FAULTS + 1);
  t.is(faults.at(-1)?.message, 'and 40 more faults after this line');
});

test('the worst files that fit the limits never take more than seconds of a thread', (t) => {
  // Of this thread's processor time, which does not count what runs beside it.
  const started = process.threadCpuUsage();
  const titled = (amount: number, pattern: string) =>
    `version: 1\nrules:\n${repeated(amount, (index) => `- {id: r${index}, require: {title: ${pattern}}}`).join('\n')}`;
  for (const text of [
    ...[']'.repeat(65_000), 'a\n: ]'.repeat(12_000), repeated(9_000, (index) => `k${index}: 1`).join('\n')],
    titled(100, `'${'(?:\\pL{100}){10}'.repeat(30)}'`),
    titled(30, `[${repeated(100, () => "'\\w{999}'")}]`),
  ]) {
    t.false(parsePolicy(text, origin).ok && text.includes(']]'));
  }
  const { user, system } = process.threadCpuUsage(started);
  t.true(user + system < 30_000_000, `${user + system} µs`);
});

const yamlish = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom(...'version:rules-id{}[]&*!|>\'"#%@`,? \n\t1'), maxLength: 200 }),
  fc
    .array(
      fc.constantFrom(
        ...['version: 1\n', 'rules:\n', '  - id: a\n', '    require:\n', '      any:\n', '        - not: {label: x}\n'],
        ...['      title: "("\n', '    when: [\n', '*a\n', '&a\n', '<<: \n', '\u0000', '\ud800'],
      ),
      { maxLength: 15 },
    )
    .map((parts) => parts.join('')),
  fc.json(),
);

test('no text makes the parser throw, and every fault is inside the file', (t) => {
  fc.assert(
    fc.property(yamlish, (text) => {
      const result = parsePolicy(text, origin);
      if (result.ok) {
        return;
      }
      t.true(result.faults.length > 0);
      const lines = text.split('\n').length;
      for (const { line, column } of result.faults) {
        t.true(line >= 1 && column >= 1 && line <= lines + 1);
      }
    }),
    { numRuns: sized(500, 2_000) },
  );
});

for (const [condition, fault] of [
  ['added_lines: "\\b(debugger)\\b"', /control character \(U\+0008\).*single quotes/],
  ['commits: {}', /expected at least one of `some`, `every`, `newest`, `oldest` and `count`/],
  ['commits: { some: {} }', /expected at least one of message, fixup, merge, signed_off, verified and signed_by/],
  ['commits: { every: { signed_by: a@example.test } }', /a login, without "@" and "\*"/],
  ["commits: { every: { signed_by: '@alice' } }", /a login, without "@" and "\*", or a team/],
  ["commits: { every: { signed_by: '*' } }", /a login, without "@" and "\*"/],
  ['approvals: { from: codeowners }', /did you mean "CODEOWNERS"\?/],
  ["approvals: { from: '@octo' }", /a team is written "@organisation\/team"/],
] as const) {
  test(`what would never or always hold is a fault: ${condition}`, (t) => {
    t.regex(faultsIn(`version: 1\nrules: [{ id: a, forbid: { ${condition} } }]`), fault);
  });
}

test('a version in quotes is not said to be meant as itself', (t) => {
  t.notRegex(faultsIn("version: '1'\nrules: []\n"), /did you mean/);
});
