import { readFile } from 'node:fs/promises';
import { NO_PEOPLE_SETTINGS } from '../../../src/facts/authors/people-settings.ts';
import { factsOf } from '../../../src/facts/table.ts';
import { evaluate } from '../../../src/review/evaluation/evaluate.ts';
import { MAX_RULES } from '../../../src/review/limits.ts';
import { parsePolicy } from '../../../src/review/policy/parse.ts';
import { plain } from '../../../src/review/text.ts';
import { verdictOf } from '../../../src/review/verdict.ts';
import { makeReviewWorkers } from '../../../src/review/workers/review-workers.ts';
import { MAX_TASK_MS, makeWorkerPool, type WorkerPoolOptions } from '../../../src/review/workers/worker-pool.ts';
import test from '../../helpers/test.ts';
import { policyOf, ruleOf } from './judge.ts';
import { noise } from './noise.ts';

const ORIGIN = { path: '.gatehouse.yml' };
const SIMPLE = "version: 1\nrules:\n  - { id: titled, require: { title: '^feat: ' } }\n";

/**
 * Folding the case of each of these classes takes some milliseconds: a hundred times what {@link BRIEFLY} allows, on any
 * machine, so that what ends it may look late.
 */
const SLOW = `version: 1
rules:
${Array.from({ length: MAX_RULES }, (_, index) => `  - { id: r${index}, require: { title: '(?i)${index}${'[b-\u{1e943}]'.repeat(72)}' } }\n`).join('')}`;
const BRIEFLY = { maxTaskMs: 200 };

/** An evaluation that takes minutes: the automaton is new at nearly every character. */
const SLOW_RULES = policyOf(`version: 1
rules:
  - { id: quick, require: { title: '^feat: ' } }
  - { id: slow, forbid: { added_lines: '(a|b)*a(a|b){200}[^ab]' } }
`);
const NOISY = factsOf({ title: 'feat: x', files: [{ path: 'a.txt', added: [...noise(20_000, 200)] }] });

/** Its evaluation has more than 16 MB. */
function tooManyRules() {
  const text = `version: 1\nrules:\n  - { id: titled, message: ${'m'.repeat(1_000)}, require: { title: x } }\n`;
  const { rules } = policyOf(text);
  return { origin: ORIGIN, rules: Array.from({ length: 17_000 }, () => rules).flat(), ...NO_PEOPLE_SETTINGS };
}

type Ended = Parameters<NonNullable<WorkerPoolOptions['onEnded']>>[0];

/** Threads, and what was ended in them. */
function watched(options: Partial<WorkerPoolOptions> = {}) {
  const ended: Ended[] = [];
  return { workers: makeReviewWorkers({ onEnded: (task) => ended.push(task), ...options }), ended };
}

test('parsing a policy for too long is stopped, and does not block the process', async (t) => {
  const { workers, ended } = watched(BRIEFLY);
  let turns = 0;
  const timer = setInterval(() => {
    turns += 1;
  }, 1);
  const parsed = await workers.parsePolicy('acme/widgets', SLOW, ORIGIN);
  clearInterval(timer);
  t.false(parsed.ok);
  t.regex(parsed.ok ? '' : (parsed.faults[0]?.message ?? ''), /^reading this policy takes more than the 0.2 seconds/);
  t.deepEqual(ended, [{ task: 'parsePolicy', owner: 'acme/widgets', limit: 'time' }]);
  t.true(turns > 10, `${turns} turns`);
  t.deepEqual(await workers.parsePolicy('acme/widgets', SIMPLE, ORIGIN), parsePolicy(SIMPLE, ORIGIN));
  await workers.close();
});

test('the documents name the processor time that a task may take', async (t) => {
  for (const document of ['rules', 'prove', 'metrics', 'development']) {
    const text = await readFile(new URL(`../../../docs/${document}.md`, import.meta.url), 'utf8');
    t.regex(text, new RegExp(`\\b${MAX_TASK_MS / 1_000} seconds of processor time`), document);
  }
});

test('what went over its limit is not tried again until its text changes', async (t) => {
  const { workers, ended } = watched(BRIEFLY);
  const first = await workers.parsePolicy('acme/widgets', SLOW, ORIGIN);
  t.deepEqual(await workers.parsePolicy('acme/widgets', SLOW, ORIGIN), first);
  t.is(ended.length, 1);
  await workers.parsePolicy('acme/widgets', `${SLOW}# changed\n`, ORIGIN);
  t.is(ended.length, 2);
  await workers.close();
});

test('a text that many pull requests bring at once is worked on once', async (t) => {
  const { workers, ended } = watched(BRIEFLY);
  const parse = () => workers.parsePolicy('acme/widgets', SLOW, ORIGIN);
  const [first, ...others] = await Promise.all([parse(), parse(), parse()]);
  t.deepEqual(others, [first, first]);
  t.is(ended.length, 1);
  await workers.close();
});

test('a text that a review brings again is not worked on again', async (t) => {
  const { workers } = watched({ size: 1, maxTaskMs: 60_000 });
  const cases = 'cases:\n  - title: x\n';
  const work = async () => [
    await workers.parsePolicy('acme/widgets', SIMPLE, ORIGIN),
    await workers.parseCases('acme/widgets', cases, 'cases.yml', 'cases'),
  ];
  const first = await work();
  let isFree = false;
  const slow = t.throwsAsync(workers.parsePolicy('acme/hostile', SLOW, ORIGIN), { message: /closed/ }).finally(() => {
    isFree = true;
  });
  t.deepEqual(await work(), first);
  t.false(isFree, 'the only worker is busy with another text');
  await workers.close();
  await slow;
});

test('one repository never holds all workers', async (t) => {
  const { workers } = watched({ maxTaskMs: 60_000 });
  let hostile = 0;
  const slow = [SLOW, `${SLOW}# another\n`].map(async (text) => {
    await t.throwsAsync(workers.parsePolicy('acme/hostile', text, ORIGIN), { message: /closed/ });
    hostile += 1;
  });
  t.true((await workers.parsePolicy('acme/honest', SIMPLE, ORIGIN)).ok);
  t.is(hostile, 0);
  await workers.close();
  await Promise.all(slow);
});

test('several repositories with slow policies never hold all workers', async (t) => {
  const pool = makeWorkerPool({ size: 2, maxTaskMs: 60_000 });
  const slow = ['acme/one', 'acme/two'];
  const parse = (owner: string, text: string) => pool.run(owner, 'parsePolicy', { text, origin: ORIGIN, role: 'own' });
  // Both workers have started.
  await Promise.all([parse('octo/one', SIMPLE), parse('octo/two', SIMPLE)]);
  for (const owner of slow) {
    const facts = factsOf({ title: owner });
    t.like(await pool.run(owner, 'evaluate', { policy: tooManyRules(), facts, observed: facts }), { limit: 'size' });
  }
  const parsing = slow.map((owner) => t.throwsAsync(parse(owner, SLOW), { message: /closed/ }));
  t.like(await parse('octo/honest', SIMPLE), { kind: 'done' });
  await pool.close();
  await Promise.all(parsing);
});

test('an evaluation that takes too long leaves all rules undecided, and names one', async (t) => {
  const { workers, ended } = watched(BRIEFLY);
  const evaluation = await workers.evaluate(SLOW_RULES, NOISY);
  t.is(evaluation.rules.length, 2);
  t.like(evaluation.rules, [
    { rule: { id: 'quick' }, outcome: 'undecided' },
    { rule: { id: 'slow' }, outcome: 'undecided' },
  ]);
  const require = evaluation.rules[0]?.require;
  t.regex(
    require?.kind === 'predicate' ? plain(require.found) : '',
    /more than the 0\.2 seconds of processor time .* at the rule "slow"$/,
  );
  t.is(verdictOf(evaluation).state, 'error');
  t.deepEqual(await workers.evaluate(SLOW_RULES, NOISY), evaluation);
  t.is(ended.length, 1);
  await workers.close();
});

test('an evaluation that takes too long is an error at warn and info too', async (t) => {
  const { workers } = watched(BRIEFLY);
  const rules = SLOW_RULES.rules.map((rule, index) => ({ ...rule, level: index === 0 ? 'info' : 'warn' }) as const);
  const verdict = verdictOf(await workers.evaluate({ ...SLOW_RULES, rules }, NOISY));
  t.like(verdict, { state: 'error', description: '2 of 2 rules could not be judged: slow, quick' });
  await workers.close();
});

test('work that needs too much memory is ended, and the process goes on', async (t) => {
  const { workers, ended } = watched({ maxTaskMs: 60_000 });
  const patch = `@@ -0,0 +1,4000000 @@\n${'+\n'.repeat(4_000_000)}`;
  const facts = factsOf({ files: [{ path: 'a.txt', patch }] });
  const { rules } = await workers.evaluate(ruleOf("forbid: { added_lines: 'x' }"), facts);
  t.is(rules[0]?.outcome, 'undecided');
  t.is(ended[0]?.limit, 'memory');
  await workers.close();
});

test('a worker evaluates to the same end as the process itself', async (t) => {
  const { workers } = watched();
  const facts = factsOf({ title: 'fix: x', files: [{ path: 'a.txt', added: ['abab', 'TODO'] }] });
  const policy = policyOf(`version: 1
rules:
  - { id: title, require: { title: '^feat: ' } }
  - { id: todo, forbid: { added_lines: TODO, in: '**/*.txt' } }
`);
  t.deepEqual(await workers.evaluate(policy, facts), evaluate(policy, facts));
  t.deepEqual(await workers.ownerTeams(factsOf({ codeowners: '* @octo/core', files: [{ path: 'a' }] })), ['octo/core']);
  await workers.close();
});

test('closing the workers fails what is under way and what comes later', async (t) => {
  const { workers } = watched();
  const running = workers.parsePolicy('acme/widgets', SLOW, ORIGIN);
  const waiting = workers.parsePolicy('acme/widgets', SIMPLE, ORIGIN);
  await Promise.all([
    workers.close(),
    t.throwsAsync(running, { message: /closed/ }),
    t.throwsAsync(waiting, { message: /closed/ }),
  ]);
  await t.throwsAsync(workers.parsePolicy('acme/widgets', SIMPLE, ORIGIN), { message: /closed/ });
});

test('a result that is too large to read at once is not returned', async (t) => {
  const { workers, ended } = watched();
  const evaluation = await workers.evaluate(tooManyRules(), factsOf({}));
  t.true(evaluation.ended);
  t.deepEqual(ended, [{ task: 'evaluate', owner: 'octo/example', limit: 'size' }]);
  await workers.close();
});
