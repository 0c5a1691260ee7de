import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { faultsOfWorkflow } from '../helpers/actions.ts';
import test from '../helpers/test.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = join(ROOT, '.github/workflows');

interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly if?: string;
  readonly needs?: string;
  readonly uses?: string;
  readonly permissions?: object;
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly on: object;
  readonly defaults?: object;
  readonly permissions?: object;
  readonly jobs: Readonly<Record<string, Job>>;
}

const files = await readdir(FOLDER);
const texts = new Map(
  await Promise.all(files.map(async (name) => [name, await readFile(join(FOLDER, name), 'utf8')] as const)),
);
const workflows = [...texts].map(([name, text]) => ({ name, text, ...(parse(text) as Workflow) }));
const workflow = (name: string) => parse(texts.get(name) ?? '') as Workflow;
const release = workflow('release.yml');
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps = [] }) => steps);
const commandsOf = (of: Workflow) => stepsOf(of).flatMap(({ run }) => run ?? []);
const { scripts, version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));

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

test('the other workflows run only .ci/run, npm ci and scripts of package.json', (t) => {
  for (const tested of workflows.filter(({ name }) => name !== 'release')) {
    const commands = commandsOf(tested);
    t.true(commands.length > 0, tested.name);
    for (const command of commands) {
      const [, script = ''] = /^npm (?:run )?([\w:]+)(?: -- (?:[\w -]|\$\{\{ matrix\.\w+ \}\})+)?$/.exec(command) ?? [];
      t.true(['.ci/run', 'npm ci'].includes(command) || script in scripts, `${tested.name}: ${command}`);
    }
  }
});

test('the scripts that the release runs exist, and no command has an expression in it', (t) => {
  const commands = commandsOf(release);
  const called = commands.flatMap((command) => [...command.matchAll(/\bnpm run (?:-s )?([\w:]+)/g)]);
  t.true(called.length > 0);
  for (const [call, script = ''] of called) {
    t.true(script in scripts, call);
  }
  for (const command of commands) {
    t.false(command.includes('${{'), command);
  }
});

test('workflows pin actions by digest, and jobs name their own permissions', (t) => {
  for (const pinned of workflows) {
    for (const { uses } of stepsOf(pinned)) {
      t.regex(uses ?? 'a/b@0000000000000000000000000000000000000000', /^[\w-]+\/[\w-]+@[0-9a-f]{40}$/, pinned.name);
    }
    for (const [, digest = '', version] of pinned.text.matchAll(/uses: \S+@(\S+)(?: # (v\d+\.\d+\.\d+))?$/gm)) {
      t.truthy(version, `${pinned.name}: the version of ${digest}`);
    }
    t.true(['{}', '{"contents":"read"}'].includes(JSON.stringify(pinned.permissions)), pinned.name);
  }
});

test('a job of the release may write only what it publishes', (t) => {
  t.deepEqual(release.permissions, {});
  t.deepEqual(Object.fromEntries(Object.entries(release.jobs).map(([name, { permissions }]) => [name, permissions])), {
    test: { contents: 'read' },
    registry: { contents: 'read', packages: 'write', 'id-token': 'write' },
    notes: { contents: 'write' },
    npm: { contents: 'read', 'id-token': 'write' },
  });
});

test('nothing is published unless .ci/run has passed for the commit', (t) => {
  t.deepEqual(release.on, { push: { tags: ['v*'] } });
  const { test: tested, ...publishing } = release.jobs;
  t.is(tested?.uses, './.github/workflows/ci.yml');
  const ci = workflow('ci.yml');
  t.true('workflow_call' in ci.on);
  t.true(commandsOf(ci).includes('.ci/run'));
  t.deepEqual(
    Object.entries(publishing).map(([name, { needs }]) => `${name} after ${needs}`),
    ['registry after test', 'notes after registry', 'npm after registry'],
  );
  // A job that needs one that failed is left out, unless its condition asks how the others ended.
  for (const { if: condition = '' } of Object.values(publishing)) {
    t.notRegex(condition, /always|failure|cancelled/);
  }
});

test('the image is for both platforms, with what is in it and where it comes from', (t) => {
  const built = stepsOf(release).find(({ id }) => id === 'image')?.with;
  t.like(built, { platforms: 'linux/amd64,linux/arm64', push: true, sbom: true, provenance: 'mode=max' });
});

test('docs/operations.md verifies what this workflow signs', async (t) => {
  const document = await readFile(join(ROOT, 'docs/operations.md'), 'utf8');
  const identity = `https://github.com/platform/gatehouse/.github/workflows/release.yml@refs/tags/v${version}`;
  t.true(document.includes(identity), 'cosign names the workflow and the tag');
  t.true(document.includes('ghcr.io/platform/gatehouse@sha256:'));
  t.true(document.includes('ghcr.io/platform/charts/gatehouse@sha256:'));
});
