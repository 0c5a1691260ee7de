import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { parse } from 'yaml';
import { faultsOfWorkflow } from '../helpers/actions.ts';
import { writeExecutable } from '../helpers/executable.ts';
import { execute } from '../helpers/execute.ts';
import { podOf, render } from '../helpers/manifests.ts';
import ava from '../helpers/test.ts';
import { test } from '../helpers/test-with-helm.ts';

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

ava('GitHub finds no fault with the workflows', (t) => {
  t.true(workflows.length > 0);
  for (const { name, text } of workflows) {
    t.deepEqual(faultsOfWorkflow(name, text), [], name);
  }
});

ava('GitHub’s parser finds what is wrong with a workflow', (t) => {
  const [{ name, text } = { name: '', text: '' }] = workflows;
  t.deepEqual(
    faultsOfWorkflow(name, text.replace('timeout-minutes', 'time-out-minutes')).map((fault) =>
      fault.replace(/^.*: /, ''),
    ),
    ["Unexpected value 'time-out-minutes'"],
  );
});

ava('the other workflows run only .ci/run, npm ci and scripts of package.json', (t) => {
  for (const tested of workflows.filter(({ name }) => name !== 'release')) {
    const commands = commandsOf(tested);
    t.true(commands.length > 0, tested.name);
    for (const command of commands) {
      const [, script = ''] = /^npm (?:run )?([\w:]+)(?: -- (?:[\w -]|\$\{\{ matrix\.\w+ \}\})+)?$/.exec(command) ?? [];
      t.true(['.ci/run', 'npm ci'].includes(command) || script in scripts, `${tested.name}: ${command}`);
    }
  }
});

ava('the scripts that the release runs exist, and no command has an expression in it', (t) => {
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

ava('workflows pin actions by digest, and jobs name their own permissions', (t) => {
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

ava('a job of the release may write only what it publishes', (t) => {
  t.deepEqual(release.permissions, {});
  t.deepEqual(Object.fromEntries(Object.entries(release.jobs).map(([name, { permissions }]) => [name, permissions])), {
    test: { contents: 'read' },
    registry: { contents: 'read', packages: 'write', 'id-token': 'write' },
    notes: { contents: 'write' },
    npm: { contents: 'read', 'id-token': 'write' },
  });
});

ava('nothing is published unless .ci/run has passed for the commit', (t) => {
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

ava('the image is for both platforms, with what is in it and where it comes from', (t) => {
  const built = stepsOf(release).find(({ id }) => id === 'image')?.with;
  t.like(built, { platforms: 'linux/amd64,linux/arm64', push: true, sbom: true, provenance: 'mode=max' });
});

interface Played {
  readonly folder: string;
  /** What it wrote for later steps. */
  readonly written: string;
}

/** Runs the commands of a step of the release as a runner does, in a folder with these programs before all others. */
async function play(
  t: ExecutionContext,
  id: string,
  env: Readonly<Record<string, string>>,
  programs: Readonly<Record<string, string>> = {},
): Promise<Played> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-release-step-'));
  t.teardown(() => rm(folder, { recursive: true }));
  await cp(join(ROOT, 'charts'), join(folder, 'charts'), { recursive: true });
  await cp(join(ROOT, 'package.json'), join(folder, 'package.json'));
  await writeFile(join(folder, 'CHANGELOG.md'), CHANGELOG);
  for (const [name, text] of Object.entries(programs)) {
    await writeExecutable(join(folder, name), `#!/bin/sh\n${text}\n`);
  }
  const written = join(folder, 'written.txt');
  await writeFile(written, '');
  const script = stepsOf(release).find((step) => step.id === id)?.run ?? `exit 1 # there is no step ${id}`;
  const own = { PATH: `${folder}:${process.env['PATH']}`, GITHUB_ENV: written, GITHUB_OUTPUT: written };
  await execute('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script], {
    cwd: folder,
    env: { ...own, ...env },
  });
  return { folder, written: await readFile(written, 'utf8') };
}

const CHANGELOG = `# Changelog

## Unreleased

- Later.

## 1.2.3 - 2026-01-02

### Fixed

- A door.

## 1.2.0 - 2025-01-01

- Old.
`;
const IMAGE = 'ghcr.io/platform/gatehouse';
const CHARTS = 'ghcr.io/platform/charts';
const DIGEST = `sha256:${'1'.repeat(64)}`;

ava('the release is named after its tag and its repository, in lower case', async (t) => {
  const { written } = await play(t, 'names', {
    GITHUB_REF_NAME: `v${version}`,
    GITHUB_REPOSITORY: 'Platform/Gatehouse',
  });
  t.is(written, `VERSION=${version}\nIMAGE=${IMAGE}\nCHARTS=${CHARTS}\n`);
});

ava('a tag that is not the version of its commit is not released', async (t) => {
  const env = { GITHUB_REPOSITORY: 'platform/gatehouse' };
  await t.throwsAsync(play(t, 'names', { ...env, GITHUB_REF_NAME: 'v97.98.99' }));
});

ava('what is released already is not replaced', async (t) => {
  const env = { GITHUB_REPOSITORY: 'platform/gatehouse', GITHUB_REF_NAME: `v${version}` };
  await t.throwsAsync(play(t, 'names', env, { gh: 'exit 0' }));
  await t.notThrowsAsync(play(t, 'names', env, { gh: 'echo "release not found" >&2; exit 1' }));
});

test('the released chart installs the image by its digest', async (t) => {
  const push = `echo "$*" >>calls.txt; [ "$1" != push ] || echo "Digest: ${DIGEST}" >&2`;
  const { folder, written } = await play(t, 'chart', { VERSION: version, IMAGE, CHARTS, DIGEST }, { helm: push });
  t.is(written, `digest=${DIGEST}\n`);
  t.is(
    await readFile(join(folder, 'calls.txt'), 'utf8'),
    `package charts/gatehouse\npush gatehouse-${version}.tgz oci://${CHARTS}\n`,
  );
  const door = (await render({ chart: join(folder, 'charts/gatehouse') })).find(({ kind }) => kind === 'Deployment');
  t.is(door === undefined ? undefined : podOf(door)?.spec.containers[0]?.image, `${IMAGE}:${version}@${DIGEST}`);
});

ava('a chart that could not be pushed ends the release', async (t) => {
  t.deepEqual(release.defaults, { run: { shell: 'bash' } }, 'only a shell that is named has pipefail');
  await t.throwsAsync(play(t, 'chart', { VERSION: version, IMAGE, CHARTS, DIGEST }, { helm: '[ "$1" != push ]' }));
});

ava('image and chart are signed by their digests', async (t) => {
  const env = { IMAGE, CHARTS, IMAGE_DIGEST: DIGEST, CHART_DIGEST: DIGEST };
  const { folder, written } = await play(t, 'signed', env, { cosign: 'echo "$*" >calls.txt' });
  const [image, chart] = [`${IMAGE}@${DIGEST}`, `${CHARTS}/gatehouse@${DIGEST}`];
  t.is(await readFile(join(folder, 'calls.txt'), 'utf8'), `sign --yes ${image} ${chart}\n`);
  t.is(written, `image=${image}\nchart=${chart}\n`);
});

ava('the notes of a release are its section of the changelog, and the digests', async (t) => {
  const env = { GITHUB_REF_NAME: 'v1.2.3', IMAGE: `${IMAGE}@${DIGEST}`, CHART: `${CHARTS}/gatehouse@${DIGEST}` };
  const { folder } = await play(t, 'notes', env, { gh: 'echo "$*" >calls.txt' });
  t.is(
    await readFile(join(folder, 'notes.md'), 'utf8'),
    `\n### Fixed\n\n- A door.\n\n\nImage: \`${env.IMAGE}\`\nChart: \`${env.CHART}\`\n`,
  );
  t.regex(await readFile(join(folder, 'calls.txt'), 'utf8'), /^release create v1\.2\.3 --verify-tag .*notes\.md\n$/);
});

ava('docs/operations.md verifies what this workflow signs', async (t) => {
  const document = await readFile(join(ROOT, 'docs/operations.md'), 'utf8');
  const identity = `https://github.com/platform/gatehouse/.github/workflows/release.yml@refs/tags/v${version}`;
  t.true(document.includes(identity), 'cosign names the workflow and the tag');
  t.true(document.includes(`${IMAGE}@sha256:`));
  t.true(document.includes(`${CHARTS}/gatehouse@sha256:`));
});
