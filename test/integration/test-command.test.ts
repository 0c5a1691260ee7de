import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { test as testCommand } from '../../src/commands/test.ts';
import { noise, policy, SLOW_TO_EVALUATE } from '../helpers/hostile-policies.ts';
import { runCommand } from '../helpers/run-command.ts';
import test from '../helpers/test.ts';

const POLICY = `version: 1
rules:
  - id: conventional-title
    require: { title: '^(feat|fix|docs): ' }
  - id: tests-with-code
    when: { files: 'src/**' }
    require: { files: 'test/**' }
  - id: review
    require: { approvals: 1 }
`;

/** Runs \`gatehouse test\` in a folder with these files. */
async function run(t: ExecutionContext, files: Readonly<Record<string, string>>, ...args: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  return { ...(await runCommand(testCommand, args, { folder })), folder };
}

const casesOf = (...cases: readonly string[]) => `cases:\n${cases.map((one) => `  - ${one}\n`).join('')}`;

/** The same, of the policy above with these cases. */
const runCases = (t: ExecutionContext, cases: string, ...args: readonly string[]) =>
  run(t, { '.gatehouse.yml': POLICY, '.gatehouse.test.yml': cases }, ...args);

for (const [path, meant] of [
  ['.gatehouse.yaml', '.gatehouse.yml'],
  ['.gatehouse.test.yaml', '.gatehouse.test.yml'],
  ['.github/gatehouse.test.yml', '.gatehouse.test.yml'],
] as const) {
  test(`${path} is refused, with the right name`, async (t) => {
    const own = POLICY + casesOf("{ given: { title: 'feat: x' }, expect: { conventional-title: holds } }");
    const files = meant === '.gatehouse.yml' ? { [path]: own } : { '.gatehouse.yml': own, [path]: 'cases: []\n' };
    const { code, stdout, stderr } = await run(t, files);
    t.deepEqual([code, stdout], [2, '']);
    const said = `${path}:1:1: Gatehouse doesn’t read a file with this name: rename it to ${meant}\n`;
    t.true(stderr.endsWith(said), stderr);
  });
}

test('gatehouse test runs cases of the policy and of .gatehouse.test.yml', async (t) => {
  const { code, stdout, stderr } = await run(t, {
    '.gatehouse.yml': `${POLICY}cases:
  - given: { title: 'Add docs', files: [{ path: docs/a.md }] }
    expect: { conventional-title: does not hold, tests-with-code: does not apply, review: waits }
`,
    '.gatehouse.test.yml': `cases:
  - given: { title: 'docs: one', files: [{ path: src/a.ts }, { path: test/a.ts }], reviews: [{ author: sally }] }
    expect: { conventional-title: holds, tests-with-code: holds, review: holds }
  - given: { files: [{ path: src/a.ts }], reviews_complete: false }
    expect: { tests-with-code: does not hold, review: cannot be judged }
`,
  });
  t.deepEqual({ code, stdout, stderr }, { code: 0, stdout: '3 passed, 0 failed\n', stderr: '' });
});

test('a rule that is only observed is tested like others, and marked', async (t) => {
  const policyText = POLICY.replace('  - id: review\n', '  - id: review\n    level: observe\n');
  const expecting = (outcome: string, ...args: readonly string[]) => {
    const cases = casesOf(`{ given: {}, expect: { review: ${outcome} } }`);
    return run(t, { '.gatehouse.yml': policyText, '.gatehouse.test.yml': cases }, ...args);
  };
  t.is((await expecting('waits')).code, 0);
  const { code, stdout } = await expecting('holds');
  t.is(code, 1);
  t.regex(
    stdout,
    /review \(observed\): expected "holds", found "waits"\n {4}review \(observe\) … would wait for others/,
  );
  const [first] = JSON.parse((await expecting('holds', '--json')).stdout).cases;
  t.like(first.rules[0], { id: 'review', observed: true, passed: false });
});

test('a failed case shows what was expected and found, with its line; exit code 1', async (t) => {
  const { code, stdout } = await runCases(
    t,
    `cases:
  - name: a title without a type
    given: { title: Add docs }
    expect:
      review: waits
      conventional-title: holds
`,
  );
  t.is(code, 1);
  t.true(stdout.startsWith('✘ .gatehouse.test.yml:2: a title without a type\n'), stdout);
  t.true(stdout.includes('.gatehouse.test.yml:6: conventional-title: expected "holds", found "does not hold"'), stdout);
  t.true(stdout.includes('Add docs'), 'the evaluation is shown');
  t.true(stdout.includes('0 passed, 1 failed'), stdout);
});

const partOf = (stdout: string) => stdout.slice(stdout.indexOf('Not covered'));

test('what no case reaches is named, with its line', async (t) => {
  const one =
    "{ given: { title: 'feat: one' }, expect: { conventional-title: holds, tests-with-code: does not apply } }";
  t.is(
    partOf((await runCases(t, casesOf(one))).stdout),
    `Not covered:
  .gatehouse.yml:4: conventional-title: require: title: no case where it does not match
  .gatehouse.yml:6: tests-with-code: when: files: no case where it matches
  .gatehouse.yml:7: tests-with-code: require: files: no case that reaches it
  .gatehouse.yml:8: review: no case
`,
  );
});

test('machine accounts and trailers that are in no case are named', async (t) => {
  const { stdout } = await run(t, {
    '.gatehouse.yml': `version: 1
author_trailers: [Assisted-by, On-behalf-of]
machine_accounts: [lint-bot, 'ci-*', '*@agents.test', coder]
rules:
  - id: approved
    require: { approvals: 1 }
`,
    '.gatehouse.test.yml': `cases:
  - given:
      commits: [{ message: "x\\n\\nassisted-by: Coder <c@agents.test>" }]
      reviews: [{ author: Lint-Bot }]
    expect: { approved: waits }
  - given: { reviews: [{ author: bob }] }
    expect: { approved: holds }
`,
  });
  t.is(
    partOf(stdout),
    `Not covered:
  .gatehouse.yml: machine_accounts: ci-*: no case with this account
  .gatehouse.yml: machine_accounts: coder: no case with this account
  .gatehouse.yml: author_trailers: On-behalf-of: no case with this trailer
`,
  );
});

test('gatehouse test --json and --junit report every case, with names escaped', async (t) => {
  const holds = 'expect: { conventional-title: holds }';
  const cases = casesOf(
    `{ name: 'a <b> & "c"', given: { title: A },\n      ${holds} }`,
    `{ given: { title: 'fix: B' }, ${holds} }`,
  );
  const { code, stdout, folder } = await runCases(t, cases, '--json', '--junit', 'report.xml');
  t.is(code, 1);
  const report = JSON.parse(stdout);
  t.deepEqual([report.passed, report.failed], [1, 1]);
  t.deepEqual(report.cases[0], {
    file: '.gatehouse.test.yml',
    line: 2,
    name: 'a <b> & "c"',
    passed: false,
    rules: [{ id: 'conventional-title', line: 3, expected: 'holds', found: 'does not hold', passed: false }],
  });
  const xml = await readFile(join(folder, 'report.xml'), 'utf8');
  t.regex(xml, /<testsuites tests="2" failures="1" errors="0" skipped="0"/);
  t.true(xml.includes('name=".gatehouse.test.yml:2: a &lt;b&gt; &amp; &quot;c&quot;"'), xml);
  t.is(xml.match(/<failure /g)?.length, 1);
});

const WAITS = '{ given: {}, expect: { review: waits } }';

for (const [title, cases, expected] of [
  [
    'an unknown rule',
    casesOf('{ given: {}, expect: { conventional-titel: holds } }'),
    '.gatehouse.test.yml:2:28: the policy has no rule "conventional-titel"; did you mean "conventional-title"?',
  ],
  [
    'an unknown outcome',
    casesOf('{ given: {}, expect: { review: hold } }'),
    '.gatehouse.test.yml:2:36: expected one of holds, does not hold, waits, does not apply, cannot be judged, found "hold"; did you mean "holds"?',
  ],
  [
    'an unknown fact',
    casesOf('{ given: { titel: one }, expect: { review: waits } }'),
    '.gatehouse.test.yml:2:16: unknown key "titel"; did you mean "title"?',
  ],
  ['a case without expectations', casesOf('given: {}'), 'missing key "expect"'],
  ['an empty list of expectations', casesOf('{ given: {}, expect: {} }'), 'at least one rule'],
  ['no cases', 'cases: []\n', 'no cases'],
  ['a file that is not YAML', 'cases: [\n', 'not valid YAML'],
  ['a file of more than 1 MiB', `# ${'a'.repeat(1024 * 1024)}\n`, 'too large'],
  ['more than 5,000 cases', casesOf(...Array.from({ length: 5_001 }, () => WAITS)), 'at most 5000 cases'],
  ['aliases that expand without end', `cases: &a [${'*a, '.repeat(3)}*a]\n`, '.gatehouse.test.yml'],
] as const) {
  test(`cases with a fault are not run, and exit with 2: ${title}`, async (t) => {
    const { code, stdout, stderr } = await runCases(t, cases);
    t.true(stderr.includes(expected), stderr.slice(0, 1_000));
    t.deepEqual([code, stdout], [2, '']);
  });
}

test('rules of an extended policy are tested with a copy of it', async (t) => {
  const policyText = 'version: 1\nextends: acme/policies@main\n';
  const files = { '.gatehouse.yml': policyText, 'copy.yml': POLICY, '.gatehouse.test.yml': casesOf(WAITS) };
  const without = await run(t, files);
  t.is(without.code, 2);
  t.regex(without.stderr, /no rule "review"; .*--extends/);
  const given = await run(t, files, '--extends', 'copy.yml');
  t.is(given.code, 0, given.stderr);
});

test('--baseline runs the cases of a policy with locked rules, a fault in any other', async (t) => {
  const locking = POLICY.replace('    require: { approvals', '    locked: true\n    require: { approvals');
  const files = { '.gatehouse.yml': locking + casesOf(WAITS) };
  const { code, stdout, stderr } = await run(t, files, '--baseline');
  t.deepEqual([code, stderr], [0, '']);
  t.regex(stdout, /^1 passed, 0 failed\n/);
  const other = await run(t, files);
  t.is(other.code, 2);
  t.regex(other.stderr, /^\.gatehouse\.yml:9:5: "locked" has an effect only in the organisation’s policy repository/);
  const both = await t.throwsAsync(run(t, files, '--baseline', '--extends', '.gatehouse.yml'), { name: 'UsageError' });
  t.regex(both?.message ?? '', /a baseline cannot extend another policy/);
});

test('a policy that takes too long ends its case, and not the others', async (t) => {
  const added = noise(3_500).trimEnd().split('\n');
  const { code, stdout } = await run(t, {
    '.gatehouse.yml': policy(SLOW_TO_EVALUATE),
    '.gatehouse.test.yml': JSON.stringify({
      cases: [
        { given: { files: [{ path: 'a.ts', added }] }, expect: { 'rule-0': 'cannot be judged' } },
        { given: {}, expect: { 'rule-0': 'holds' } },
      ],
    }),
  });
  t.true(stdout.includes('2 passed, 0 failed'), stdout.slice(0, 2_000));
  t.is(code, 0);
});
