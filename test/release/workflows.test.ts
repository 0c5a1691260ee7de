import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { parse } from 'yaml';
import { faultsOfWorkflow } from '../helpers/actions.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = join(ROOT, '.github/workflows');

interface Step {
  readonly uses?: string;
  readonly run?: string;
}

interface Workflow {
  readonly permissions?: object;
  readonly jobs: Readonly<Record<string, { readonly permissions?: object; readonly steps: readonly Step[] }>>;
}

const files = await readdir(FOLDER);
const texts = new Map(
  await Promise.all(files.map(async (name) => [name, await readFile(join(FOLDER, name), 'utf8')] as const)),
);
const workflows = [...texts].map(([name, text]) => ({ name, text, ...(parse(text) as Workflow) }));
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps }) => steps);
const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));

test('GitHub finds no fault with the workflows', (t) => {
  t.true(workflows.length > 0);
  for (const { name, text } of workflows) {
    t.deepEqual(faultsOfWorkflow(name, text), [], name);
  }
});

test('GitHub’s parser finds what is wrong with a workflow', (t) => {
  const [{ name, text } = { name: '', text: '' }] = workflows;
  t.deepEqual(
    faultsOfWorkflow(name, text.replace('timeout-minutes', 'time-out-minutes')).map((fault) =>
      fault.replace(/^.*: /, ''),
    ),
    ["Unexpected value 'time-out-minutes'"],
  );
});

test('every command of a workflow is .ci/run, npm ci, or a script of package.json', (t) => {
  for (const workflow of workflows) {
    const commands = stepsOf(workflow).flatMap(({ run }) => run ?? []);
    t.true(commands.length > 0, workflow.name);
    for (const command of commands) {
      const [, script = ''] = /^npm (?:run )?([\w:]+)(?: -- (?:[\w -]|\$\{\{ matrix\.\w+ \}\})+)?$/.exec(command) ?? [];
      t.true(['.ci/run', 'npm ci'].includes(command) || script in scripts, `${workflow.name}: ${command}`);
    }
  }
});

test('workflows pin actions by digest, and jobs name their own permissions', (t) => {
  for (const workflow of workflows) {
    for (const { uses } of stepsOf(workflow)) {
      t.regex(uses ?? 'a/b@0000000000000000000000000000000000000000', /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/, workflow.name);
    }
    for (const [, digest = '', version] of workflow.text.matchAll(/uses: \S+@(\S+)(?: # (v\d+\.\d+\.\d+))?$/gm)) {
      t.truthy(version, `${workflow.name}: the version of ${digest}`);
    }
    t.true(['{}', '{"contents":"read"}'].includes(JSON.stringify(workflow.permissions)), workflow.name);
  }
});
