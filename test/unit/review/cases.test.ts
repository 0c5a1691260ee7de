import { parseCases } from '../../../src/review/cases/parse.ts';
import { runCases, unknownRules } from '../../../src/review/cases/run.ts';
import { evaluate } from '../../../src/review/evaluation/evaluate.ts';
import { notEvaluated } from '../../../src/review/evaluation/not-evaluated.ts';
import { parsePolicy } from '../../../src/review/policy/parse.ts';
import { say } from '../../../src/review/text.ts';
import { LONG_KEYS, MANY_RULES, MANY_UNKNOWN_RULES } from '../../helpers/hostile-policies.ts';
import test from '../../helpers/test.ts';
import { policyOf } from './judge.ts';

const POLICY = "version: 1\nrules:\n  - id: title\n    require: { title: '^feat: ' }\n";

function casesOf(text: string) {
  const parsed = parseCases(text, '.gatehouse.test.yml', 'cases');
  if (!parsed.ok) {
    throw new Error(JSON.stringify(parsed.faults));
  }
  return parsed.cases;
}

test('a review does not look into the cases of a policy, whatever they are', (t) => {
  for (const cases of ['cases: 7', 'cases: [{ given: { nonsense: true } }]', 'cases: { a: [b] }']) {
    t.is(policyOf(`${POLICY}${cases}\n`).rules.length, 1);
    t.false(parseCases(`${POLICY}${cases}\n`, '.gatehouse.yml', 'policy').ok);
  }
});

test('a policy with 64 KiB of cases is over its own limit, a file of cases is not', (t) => {
  const cases = `cases:\n${"  - given: { title: 'feat: one' }\n    expect: { title: holds }\n".repeat(1_200)}`;
  t.false(parsePolicy(POLICY + cases, { path: '.gatehouse.yml' }).ok);
  t.is(casesOf(cases).length, 1_200);
});

test('cases end after five of them have hit the limit of an evaluation', async (t) => {
  const policy = policyOf(POLICY);
  const cases = casesOf(`cases:\n${'  - given: {}\n    expect: { title: holds }\n'.repeat(50)}`);
  let evaluated = 0;
  const results = await runCases(policy, cases, async () => {
    evaluated += 1;
    return { rules: policy.rules.map((rule) => notEvaluated(rule, say`too much`)), ended: true };
  });
  t.true(evaluated < 10, `${evaluated} were evaluated`);
  t.is(results.length, 50);
  t.true(results.every(({ passed }) => !passed));
  t.is(results.at(-1)?.rules.length, 0, 'not run');
});

test('the results of cases are in the order of the file', async (t) => {
  const policy = policyOf(POLICY);
  const of = (title: string) => `  - given: { title: '${title}' }\n    expect: { title: holds }\n`;
  const cases = casesOf(`cases:\n${`${of('x')}${of('feat: x')}`.repeat(10)}`);
  const results = await runCases(policy, cases, async (...input) => evaluate(...input));
  t.deepEqual(
    results.map(({ passed }) => passed),
    cases.map((_, index) => index % 2 === 1),
  );
});

test('40,000 unknown rules in cases make 51 faults', (t) => {
  const cases = casesOf(MANY_UNKNOWN_RULES);
  const faults = unknownRules(policyOf(MANY_RULES), cases);
  t.is(faults.length, 51);
  t.is(faults[0]?.message, 'the policy has no rule "no0"');
  t.is(faults[50]?.message, 'and 39590 more rules that the policy does not have');
});

test('keys that aliases repeat count for the limits of a file', (t) => {
  const parsed = parseCases(LONG_KEYS, '.gatehouse.test.yml', 'cases');
  t.regex(parsed.ok ? '' : (parsed.faults[0]?.message ?? ''), /with its aliases written out the file has more than/);
});

test('a fault quotes a key of a hundred thousand characters in part', (t) => {
  const parsed = parseCases(`cases: []\n${'a'.repeat(100_000)}: 1\n`, '.gatehouse.test.yml', 'cases');
  t.true(!parsed.ok && JSON.stringify(parsed.faults).length < 2_000);
});
