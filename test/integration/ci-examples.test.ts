import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { CASES_PATH, POLICY_PATHS } from '../../src/review/policy/paths.ts';
import { faultsOfAction, faultsOfWorkflow } from '../helpers/actions.ts';
import { execute } from '../helpers/execute.ts';
import test from '../helpers/test.ts';

/** What is read of the Action, the hooks and the examples of docs/prove.md. They are run in ci-examples.nightly.ts. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFile(join(ROOT, path), 'utf8');

test('nothing tells a reader to run the npm registry’s own package of that name', async (t) => {
  const search = ['grep', '-nE', 'np[x] (--yes )?gatehouse', '--', '.', ':!test'];
  // With nothing found, git ends with 1.
  const { code, stdout } = await t.throwsAsync<Error & { code: number; stdout: string }>(
    execute('git', search, { cwd: ROOT }),
  );
  t.deepEqual([code, stdout], [1, '']);
});

test('GitHub finds no fault with the Action, and its steps put no input into a script', async (t) => {
  const text = await read('action.yml');
  t.deepEqual(faultsOfAction(text), []);
  for (const { run } of parse(text).runs.steps) {
    t.false(run.includes('${{'), run);
  }
});

test('docs/prove.md: the workflow with the Action is valid, with known inputs', async (t) => {
  const document = await read('docs/prove.md');
  const [, block = ''] = /^### With the Action\n[\s\S]*?^```\w+\n([\s\S]*?)^```$/m.exec(document) ?? [];
  t.deepEqual(faultsOfWorkflow('policy.yml', block), []);
  const { on, jobs } = parse(block);
  t.deepEqual(on.pull_request.paths.slice(0, 2), ['**/gatehouse.yml', '.gatehouse*.yml']);
  const used = jobs.policy.steps.at(-1);
  const { version } = JSON.parse(await read('package.json'));
  t.is(used.uses, `tools/gatehouse@v${version}`);
  t.deepEqual(used.with, { package: `https://files.example.com/gatehouse-npm-${version}.tgz` });
  t.deepEqual(Object.keys(parse(await read('action.yml')).inputs), ['package', 'cases', 'baseline']);
});

test('the hooks of pre-commit run for changes of the policy and its cases only', async (t) => {
  const hooks: readonly { readonly id: string; readonly files: string }[] = parse(await read('.pre-commit-hooks.yaml'));
  const runs = (path: string) => hooks.filter(({ files }) => new RegExp(files).test(path)).map(({ id }) => id);
  for (const path of POLICY_PATHS) {
    t.deepEqual(runs(path), ['gatehouse-check', 'gatehouse-test'], path);
  }
  t.deepEqual(runs(CASES_PATH), ['gatehouse-test']);
  for (const path of ['src/main.js', 'docs/.gatehouse.yml', '.gatehouse.yml.bak', 'gatehouse.yml']) {
    t.deepEqual(runs(path), [], path);
  }
});
