import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { releaseChangelog } from '../../release/changelog.ts';
import { release } from '../../release/release.ts';
import { compareVersions, readVersion } from '../../release/versions.ts';
import { execute } from '../helpers/execute.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const DAY = '2026-11-21';

/** A repository with the project's files as they are now, so that uncommitted ones are tried too. */
async function cloneProject(t: ExecutionContext) {
  const root = await mkdtemp(join(tmpdir(), 'gatehouse-release-'));
  t.teardown(() => rm(root, { recursive: true }));
  const git = async (...args: string[]) => (await execute('git', args, { cwd: root })).stdout.trim();
  const { stdout } = await execute('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
  });
  for (const file of stdout.split('\0').filter(Boolean)) {
    await mkdir(dirname(join(root, file)), { recursive: true });
    // A file that is deleted and not committed yet is listed all the same.
    await cp(join(ROOT, file), join(root, file)).catch((error: NodeJS.ErrnoException) => t.is(error.code, 'ENOENT'));
  }
  await git('init', '--quiet');
  await git('config', 'user.name', 'Tester');
  await git('config', 'user.email', 'tester@example.test');
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'Everything');
  return { root, git };
}

test('a release leaves the old version in no file but the changelog', async (t) => {
  const { root, git } = await cloneProject(t);
  const old = await readVersion(root);
  await release({ root, version: '97.98.99', day: DAY });
  const left = await git('grep', '-lwF', old, '--', ':!CHANGELOG.md', ':!package-lock.json').catch(() => '');
  t.is(left, '', 'add these files to release/versions.ts');
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
  t.is(lock.version, '97.98.99');
  t.is(lock.packages[''].version, '97.98.99');
  const chart = await readFile(join(root, 'charts/gatehouse/Chart.yaml'), 'utf8');
  t.regex(chart, /^version: 97\.98\.99$/m);
  t.regex(chart, /^appVersion: "97\.98\.99"$/m);
});

test('a release is one commit and an annotated tag, with nothing left uncommitted', async (t) => {
  const { root, git } = await cloneProject(t);
  await release({ root, version: '97.98.99', day: DAY });
  t.is(await git('log', '--format=%s'), 'Release 97.98.99\nEverything');
  t.is(await git('cat-file', '-t', 'v97.98.99'), 'tag');
  t.is(await git('rev-parse', 'v97.98.99^{commit}'), await git('rev-parse', 'HEAD'));
  t.is(await git('status', '--porcelain'), '');
  t.true((await readFile(join(root, 'CHANGELOG.md'), 'utf8')).includes(`## Unreleased\n\n## 97.98.99 - ${DAY}\n`));
});

test('the first release has the version that the package has already', async (t) => {
  const { root, git } = await cloneProject(t);
  const version = await readVersion(root);
  await release({ root, version, day: DAY });
  t.is(await git('diff', '--name-only', 'HEAD~1'), '.gatehouse.yml\nCHANGELOG.md');
  const changed = await git('diff', '--unified=0', 'HEAD~1', '--', '.gatehouse.yml');
  t.regex(changed, /^- {4}level: observe # until 0\.1\.0 is released$/m, 'from now on the changelog is required');
  t.is(await git('tag'), `v${version}`);
});

test('a release that cannot be made changes nothing and says why', async (t) => {
  const { root, git } = await cloneProject(t);
  const attempt = (version: string) => t.throwsAsync(release({ root, version, day: DAY }));
  t.regex((await attempt('1.2'))?.message ?? '', /not a version/);
  t.regex((await attempt('0.0.1'))?.message ?? '', /older than/);
  await git('tag', 'v97.0.0');
  t.regex((await attempt('97.0.0'))?.message ?? '', /tag v97\.0\.0 exists/);
  await writeFile(join(root, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n');
  t.regex((await attempt('98.0.0'))?.message ?? '', /uncommitted/);
  await git('commit', '--quiet', '--all', '--message', 'Empty the changelog');
  t.regex((await attempt('98.0.0'))?.message ?? '', /lists no change/);
  t.is(await git('status', '--porcelain'), '');
  t.is(await git('log', '--format=%s'), 'Empty the changelog\nEverything');
});

test('what was unreleased goes under the version, above older releases', (t) => {
  const before = '# Changelog\n\n## Unreleased\n\n### Added\n\n- New.\n\n## 0.0.9 - 2026-01-02\n\n- Old.\n';
  const after = releaseChangelog(before, '0.2.0', DAY);
  t.is(after, before.replace('## Unreleased\n', `## Unreleased\n\n## 0.2.0 - ${DAY}\n`));
  t.throws(() => releaseChangelog(after, '0.3.0', DAY), { message: /lists no change/ });
  t.throws(() => releaseChangelog(before, '0.0.9', DAY), { message: /has a section for 0\.0\.9/ });
});

test('versions are compared by number, part by part', (t) => {
  t.true(compareVersions('0.10.0', '0.9.9') > 0);
  t.true(compareVersions('1.0.0', '1.0.1') < 0);
  t.is(compareVersions('1.2.3', '1.2.3'), 0);
});
