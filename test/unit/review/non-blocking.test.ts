import test from 'ava';
import { evaluate, neededOwnerTeams } from '../../../src/review/evaluation/evaluate.ts';
import { evaluateNonBlocking, ownerTeamsNonBlocking } from '../../../src/review/evaluation/non-blocking.ts';
import { MAX_STEPS } from '../../../src/review/limits.ts';
import { factsOf, noise } from './facts.ts';
import { policyOf, ruleOf } from './judge.ts';

/** A few million steps for each pattern: more than is done at once. */
const COSTLY = policyOf(`version: 1
rules:
  - { id: costly, forbid: { added_lines: '(a|b)*a(a|b){60}[^ab]' } }
  - { id: cheap, require: { title: '^feat: ' } }
`);
const FACTS = factsOf({ title: 'feat: much', files: [{ path: 'a.txt', added: [...noise(200, 200)] }] });

test('what is costly to judge is judged to the same end as at once', async (t) => {
  const evaluation = evaluate(COSTLY, FACTS);
  t.true(evaluation.steps > 2_000_000 && evaluation.steps < MAX_STEPS, String(evaluation.steps));
  t.deepEqual(await evaluateNonBlocking(COSTLY, FACTS), evaluation);
  t.deepEqual(await evaluateNonBlocking(ruleOf("require: { title: '^fix: ' }"), FACTS), {
    ...evaluate(ruleOf("require: { title: '^fix: ' }"), FACTS),
  });
});

test('meanwhile the process does other things', async (t) => {
  // Every step of the budget, which takes seconds.
  const facts = factsOf({ files: [{ path: 'a.txt', added: [...noise(5_000, 200)] }] });
  const policy = ruleOf("forbid: { added_lines: '(a|b)*a(a|b){200}[^ab]' }");
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 10);
  const { rules } = await evaluateNonBlocking(policy, facts);
  clearInterval(timer);
  t.is(rules[0]?.outcome, 'undecided');
  t.true(turns > 10, `${turns} turns`);
});

test('the teams of a CODEOWNERS that is costly to match are the same, too', async (t) => {
  const lines = Array.from({ length: 400 }, (_, index) => `**/*a*b*c*${index}*d/** @octo/team-${index % 60}`);
  const files = Array.from({ length: 400 }, (_, index) => ({ path: `${'abc/'.repeat(20)}x${index}d/file` }));
  const facts = factsOf({ codeowners: lines.join('\n'), files });
  t.is(neededOwnerTeams(facts, 2_000_000), undefined);
  t.deepEqual(await ownerTeamsNonBlocking(facts), neededOwnerTeams(facts) ?? []);
});
