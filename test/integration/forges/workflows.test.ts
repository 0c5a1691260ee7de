import type { ExecutionContext } from 'ava';
import { factsOf } from '../../../src/facts/table.ts';
import { evaluate } from '../../../src/review/evaluation/evaluate.ts';
import { verdictOf } from '../../../src/review/verdict.ts';
import ava from '../../helpers/test.ts';
import type { WorkflowRun } from '../../simulated-forge/world.ts';
import { ruleOf } from '../../unit/review/judge.ts';
import { SITE, setUpPull } from './setup.ts';

/** What rules say of the checks of GitHub's workflows, as they are read. Serial: all at once would time out. */
const test = ava.serial;

type State = 'pending' | 'success';

/** One run of a workflow, in which the job `test` ends so: in progress without a result. */
interface Ran extends Partial<WorkflowRun> {
  readonly app?: string;
  readonly result?: string;
}

const A = (result?: string, run: Partial<WorkflowRun> = {}): Ran => ({
  file: 'a.yml',
  ...run,
  ...(result && { result }),
});
const B = (result: string): Ran => A(result, { file: 'b.yml' });
const by = (app: string, result: string): Ran => ({ app, result });

/** The status by a rule on the name and by one on all, each with its default results unless told. */
const CASES: readonly (readonly [what: string, history: readonly Ran[], named: State, all: State, is?: string])[] = [
  ['fails in one workflow and passes in another', [A('failure'), B('success')], 'pending', 'pending'],
  ['fails in one workflow and is skipped in another', [A('failure'), B('skipped')], 'pending', 'pending', 'skipped'],
  ['passes in one workflow and fails in another', [A('success'), B('failure')], 'pending', 'pending'],
  ['passes in two workflows', [A('success'), B('success')], 'success', 'success'],
  ['fails by one App and passes by another', [by('ci', 'failure'), by('cd', 'success')], 'pending', 'pending'],
  ['fails, and passes in a newer run', [A('failure'), A('success')], 'success', 'success'],
  ['passes, and fails in a newer run', [A('success'), A('failure')], 'pending', 'pending'],
  ['fails, and is skipped in a newer run', [A('failure'), A('skipped')], 'pending', 'pending', 'skipped'],
  ['fails, and is cancelled in a newer run', [A('failure'), A('cancelled')], 'pending', 'pending', 'cancelled'],
  [
    'fails, and is neutral in a newer run of its App',
    [by('ci', 'failure'), by('ci', 'neutral')],
    'pending',
    'pending',
    'neutral',
  ],
  ['passes, and is skipped in a newer run', [A('success'), A('skipped')], 'success', 'success'],
  ['passes, and is cancelled in a newer run', [A('success'), A('cancelled')], 'success', 'success'],
  ['passes, and has begun in a newer run', [A('success'), A()], 'pending', 'pending'],
  ['has begun, and is skipped in a newer run', [A(), A('skipped')], 'pending', 'pending', 'skipped'],
  ['has begun, and passes in a newer run', [A(), A('success')], 'success', 'success'],
  ['is cancelled, and skipped in a newer run', [A('cancelled'), A('skipped')], 'pending', 'pending', 'skipped'],
  ['is cancelled, and passes in a newer run', [A('cancelled'), A('success')], 'success', 'success'],
  ['is skipped, and passes in a newer run', [A('skipped'), A('success')], 'success', 'success'],
  ['is skipped in all runs', [A('skipped'), A('skipped')], 'pending', 'success'],
  [
    'fails for the pull request and passes on push',
    [A('failure'), A('success', { event: 'push' })],
    'pending',
    'pending',
  ],
  ['fails and passes on another branch', [A('failure'), A('success', { branch: 'other' })], 'pending', 'pending'],
];

/** The status by a rule on the name `test`, and by one on all checks. */
const RULES = ['{ name: test }', '{ all: true }'] as const;

/** A pull request on which workflows run. `said` is the verdict of a rule on its checks. */
async function openRuns(t: ExecutionContext) {
  const { simulated, forge, ref, head } = await setUpPull(t, 'github');
  return {
    simulated,
    ref,
    head,
    /** One run of a workflow with the job `test`. */
    runs({ app = 'github-actions', result, ...run }: Ran) {
      const suite = simulated.openSuite(SITE, head(), app, run);
      simulated.runCheck(SITE, head(), { name: 'test', app, suite, ...(result && { conclusion: result }) });
    },
    async said(checks: string) {
      const facts = { ...factsOf({}), checks: await forge.checks(SITE, head()) };
      return verdictOf(evaluate(ruleOf(`require: { checks: ${checks} }`), facts));
    },
  };
}

for (const [what, history, named, all, is] of CASES) {
  test(`a check that ${what}`, async (t) => {
    const { runs, said } = await openRuns(t);
    history.forEach(runs);
    const results = is === undefined ? '' : `, is: [success, ${is}]`;
    t.is((await said(`{ name: test${results} }`)).state, named);
    t.is((await said(`{ all: true${results} }`)).state, all);
  });
}

for (const [conclusion, first, state] of [
  ['cancelled', 'success', 'success'],
  ['stale', 'success', 'success'],
  ['skipped', 'success', 'success'],
  ['neutral', 'success', 'success'],
  ['cancelled', 'failure', 'pending'],
  ['cancelled', 'skipped', 'pending'],
  ['failure', 'success', 'pending'],
  ['startup_failure', 'success', 'pending'],
] as const) {
  test(`a workflow that is ${conclusion} before it has a job, after a ${first}`, async (t) => {
    const { simulated, head, runs, said } = await openRuns(t);
    runs(A(first));
    simulated.openSuite(SITE, head(), 'github-actions', A()).set = { status: 'completed', conclusion };
    runs(B('success'));
    t.is((await said('{ all: true, is: [success] }')).state, state);
  });
}

for (const checks of RULES) {
  test(`a failure beside a job of its name stands until it is run again: ${checks}`, async (t) => {
    const { simulated, head, said } = await openRuns(t);
    const suite = simulated.openSuite(SITE, head(), 'github-actions');
    const run = (conclusion: string, beside?: { readonly startedAt: string }) =>
      simulated.runCheck(SITE, head(), { name: 'test', app: 'github-actions', suite, conclusion, ...beside });
    const { startedAt } = run('failure');
    run('success', { startedAt });
    t.is((await said(checks)).state, 'pending', 'a job of a matrix, later');
    run('cancelled');
    t.is((await said(checks)).state, 'pending', 'an attempt that was broken off');
    run('success');
    t.is((await said(checks)).state, 'success', 'another attempt');
  });

  for (const from of ['a branch', 'a fork'] as const) {
    test(`a success for another base hides no failure, from ${from}: ${checks}`, async (t) => {
      const { simulated, ref, head, runs, said } = await openRuns(t);
      const isFork = from === 'a fork';
      const fork = isFork && { from: simulated.fork(SITE, 'mallory') };
      if (isFork) {
        simulated.close(SITE, ref.number);
        simulated.openPullRequest(SITE, { head: 'topic', ...fork });
      }
      const run = async (ran: Ran) => {
        runs({ ...ran, branch: isFork ? null : 'topic' });
        return (await said(checks)).state;
      };
      t.is(await run(A('failure')), 'pending');
      t.is(await run(A('success')), 'success', 'alone');
      t.is(await run(A('failure')), 'pending');
      simulated.commit(SITE, 'next', {});
      const other = simulated.openPullRequest(SITE, { head: 'topic', base: 'next', ...fork });
      t.is(simulated.pull(SITE, other).headSha, head());
      t.is(await run(A('success')), 'pending', 'two with one head');
      t.is(await run(A('success', { event: 'pull_request_target' })), 'pending');
      simulated.close(SITE, other);
      t.is(await run(A('success')), 'success', 'alone again');
    });
  }

  test(`a workflow that could not start waits until it has run: ${checks}`, async (t) => {
    const { simulated, head, runs, said } = await openRuns(t);
    runs(B('success'));
    const suite = simulated.openSuite(SITE, head(), 'github-actions', { file: 'a.yml' });
    suite.set = { status: 'completed', conclusion: 'startup_failure' };
    runs(A('skipped'));
    t.is((await said(checks)).state, 'pending');
    runs(A('success'));
    t.is((await said(checks)).state, 'success');
  });

  test(`checks whose workflow may not be read are undecided, and say why: ${checks}`, async (t) => {
    const { simulated, runs, said } = await openRuns(t);
    simulated.graphql.forbidden.push('workflowRun');
    runs(A('success'));
    const { state, findings } = await said(checks);
    t.is(state, 'error');
    t.regex(JSON.stringify(findings), /checks that could not be read in full.*permission .*Actions: read/);
  });
}
