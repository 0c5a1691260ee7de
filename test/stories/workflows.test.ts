import { type Scene, shareStories, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import type { WorkflowRun } from '../simulated-forge/world.ts';

const gatehouse = shareStories(test, ['github']);

const policy = (checks: string) => ({
  '.gatehouse.yml': `version: 1\nrules:\n  - id: ci\n    require: { checks: ${checks} }\n`,
});

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

async function runs(scene: Scene, number: number, { app = 'github-actions', result, ...run }: Ran): Promise<void> {
  const { headSha } = scene.forge.pull(scene.repository, number);
  const suite = scene.forge.openSuite(scene.repository, headSha, app, run);
  const job = { name: 'test', app, suite, ...(result && { conclusion: result }) };
  await scene.tell({ kind: 'check-run', run: scene.forge.runCheck(scene.repository, headSha, job) });
}

/** The status by a rule on the name and by one on all, each with its default results unless told. */
const CASES: readonly (readonly [what: string, history: readonly Ran[], named: string, all: string, is?: string])[] = [
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

for (const [what, history, named, all, is] of CASES) {
  test(`a check that ${what}`, async (t) => {
    const results = is === undefined ? '' : `, is: [success, ${is}]`;
    const scenes = [`{ name: test${results} }`, `{ all: true${results} }`].map((checks) =>
      gatehouse('github').scene(policy(checks)),
    );
    const states = scenes.map(async (scene) => {
      const number = await scene.open({ 'a.txt': 'a\n' });
      for (const ran of history) {
        await runs(scene, number, ran);
      }
      await scene.settled();
      return scene.status(number)?.state;
    });
    t.deepEqual(await Promise.all(states), [named, all]);
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
    const scene = gatehouse('github').scene(policy('{ all: true, is: [success] }'));
    const { forge, repository } = scene;
    const number = await scene.open({ 'a.txt': 'a\n' });
    await runs(scene, number, A(first));
    const suite = forge.openSuite(repository, forge.pull(repository, number).headSha, 'github-actions', A());
    suite.set = { status: 'completed', conclusion };
    await runs(scene, number, B('success'));
    await scene.settled();
    t.is(scene.status(number)?.state, state);
  });
}

for (const checks of ['{ name: test }', '{ all: true }']) {
  test(`a failure beside a job of its name stands until it is run again: ${checks}`, async (t) => {
    const scene = gatehouse('github').scene(policy(checks));
    const { forge, repository } = scene;
    const number = await scene.open({ 'a.txt': 'a\n' });
    const { headSha } = forge.pull(repository, number);
    const suite = forge.openSuite(repository, headSha, 'github-actions');
    const run = async (conclusion: string, beside?: { readonly startedAt: string }) => {
      const made = forge.runCheck(repository, headSha, {
        name: 'test',
        app: 'github-actions',
        suite,
        conclusion,
        ...beside,
      });
      await scene.tell({ kind: 'check-run', run: made });
      await scene.settled();
      return made;
    };
    const { startedAt } = await run('failure');
    await run('success', { startedAt });
    t.is(scene.status(number)?.state, 'pending', 'a job of a matrix, later');
    await run('cancelled');
    t.is(scene.status(number)?.state, 'pending', 'an attempt that was broken off');
    await run('success');
    t.is(scene.status(number)?.state, 'success', 'another attempt');
  });

  for (const [from, branch] of [
    ['a branch', 'topic'],
    ['a fork', null],
  ] as const) {
    test(`a success for another base hides no failure, from ${from}: ${checks}`, async (t) => {
      const scene = gatehouse('github').scene(policy(checks));
      const { forge, repository } = scene;
      const fork = branch === null && { from: forge.fork(repository, `mallory-${repository.replace(/\W/g, '-')}`) };
      const number = await scene.open({ 'a.txt': 'a\n' }, { ...fork });
      const run = async (ran: Ran) => {
        await runs(scene, number, { ...ran, branch });
        await scene.settled();
        return scene.status(number)?.state;
      };
      t.is(await run(A('failure')), 'pending');
      t.is(await run(A('success')), 'success', 'alone');
      t.is(await run(A('failure')), 'pending');
      forge.commit(repository, 'next', {});
      const { headBranch } = forge.pull(repository, number);
      const other = forge.openPullRequest(repository, { head: headBranch, base: 'next', ...fork });
      t.is(await run(A('success')), 'pending', 'two with one head');
      t.is(await run(A('success', { event: 'pull_request_target' })), 'pending');
      forge.close(repository, other);
      t.is(await run(A('success')), 'success', 'alone again');
    });
  }

  test(`a workflow that could not start waits until it has run: ${checks}`, async (t) => {
    const scene = gatehouse('github').scene(policy(checks));
    const { forge, repository } = scene;
    const number = await scene.open({ 'a.txt': 'a\n' });
    const { headSha } = forge.pull(repository, number);
    await runs(scene, number, B('success'));
    const suite = forge.openSuite(repository, headSha, 'github-actions', { file: 'a.yml' });
    suite.set = { status: 'completed', conclusion: 'startup_failure' };
    await runs(scene, number, A('skipped'));
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
    await runs(scene, number, A('success'));
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`checks whose workflow may not be read are an error that says why: ${checks}`, async (t) => {
    await using story = await tellStory('github', policy(checks));
    story.forge.graphql.forbidden.push('workflowRun');
    const number = await story.open({ 'a.txt': 'a\n' });
    await runs(story, number, A('success'));
    await story.settled();
    t.is(story.status(number)?.state, 'error');
    t.regex(story.comments(number).join(), /checks that could not be read in full.*permission `Actions: read`/);
  });
}

test('a check that was skipped is named in the status and the comment, with what to do', async (t) => {
  const scene = gatehouse('github').scene(policy('{ name: test }'));
  const number = await scene.open({ 'a.txt': 'a\n' });
  await runs(scene, number, A('skipped'));
  await scene.settled();
  t.like(scene.status(number), {
    state: 'pending',
    description: 'Waiting for the check test (test was skipped: run it again, or allow it with is: [success, skipped])',
  });
  t.true(scene.comments(number).join().includes('run it again, or allow it with `is: [success, skipped]`'));
});
