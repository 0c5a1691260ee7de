import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { parse } from 'yaml';
import { writeExecutable } from '../helpers/executable.ts';
import { execute } from '../helpers/execute.ts';
import { podOf, render } from '../helpers/manifests.ts';
import ava from '../helpers/test.ts';
import { test } from '../helpers/test-with-helm.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFile(join(ROOT, path), 'utf8');
const { version } = JSON.parse(await read('package.json'));

interface Step {
  readonly id?: string;
  readonly run?: string;
}

interface Workflow {
  readonly defaults?: object;
  readonly jobs: Readonly<Record<string, { readonly steps?: readonly Step[] }>>;
}

const workflow: Workflow = parse(await read('.github/workflows/release.yml'));
const steps = Object.values(workflow.jobs).flatMap((job) => job.steps ?? []);

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
  const script = steps.find((step) => step.id === id)?.run ?? `exit 1 # there is no step ${id}`;
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
  t.deepEqual(workflow.defaults, { run: { shell: 'bash' } }, 'only a shell that is named has pipefail');
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
