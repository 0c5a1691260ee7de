import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { execute } from '../helpers/execute.ts';
import test from '../helpers/test.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const { version: VERSION } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
/** npm without what this user has set, without a registry, and not as silent as whatever has started this. */
const OFFLINE = {
  npm_config_userconfig: '/dev/null',
  npm_config_registry: 'http://127.0.0.1:9/',
  npm_config_loglevel: 'notice',
};

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
  /** As people type it. Resolves with what npm and the script print, and whether there is a version now. */
  const npmVersion = (...args: string[]) =>
    execute('npm', ['version', ...args], { cwd: root, env: { ...process.env, ...OFFLINE } }).then(
      () => ({ made: true, printed: '' }),
      ({ stderr }: { readonly stderr: string }) => ({ made: false, printed: stderr }),
    );
  return { root, git, npmVersion };
}

test('a new version leaves the old one in no file but the changelog', async (t) => {
  const { root, git, npmVersion } = await cloneProject(t);
  t.deepEqual(await npmVersion('97.98.99'), { made: true, printed: '' });
  const left = await git('grep', '-lwF', VERSION, '--', ':!CHANGELOG.md', ':!package-lock.json').catch(() => '');
  t.is(left, '', 'add these files to release/version.ts');
  const lock = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8'));
  t.is(lock.version, '97.98.99');
  t.is(lock.packages[''].version, '97.98.99');
  const chart = await readFile(join(root, 'charts/gatehouse/Chart.yaml'), 'utf8');
  t.regex(chart, /^version: 97\.98\.99$/m);
  t.regex(chart, /^appVersion: "97\.98\.99"$/m);
});

test('a new version is one commit and an annotated tag, with nothing left uncommitted', async (t) => {
  const { root, git, npmVersion } = await cloneProject(t);
  t.true((await npmVersion('97.98.99')).made);
  t.is(await git('log', '--format=%s'), 'Release 97.98.99\nEverything');
  t.is(await git('cat-file', '-t', 'v97.98.99'), 'tag');
  t.is(await git('rev-parse', 'v97.98.99^{commit}'), await git('rev-parse', 'HEAD'));
  t.is(await git('status', '--porcelain'), '');
  const changelog = await readFile(join(root, 'CHANGELOG.md'), 'utf8');
  t.regex(changelog, /^## Unreleased\n\n## 97\.98\.99 - \d{4}-\d\d-\d\d\n/m);
});

test('the first release has the version that the package has already', async (t) => {
  const { git, npmVersion } = await cloneProject(t);
  t.true((await npmVersion(VERSION, '--allow-same-version')).made);
  t.is(await git('diff', '--name-only', 'HEAD~1'), 'CHANGELOG.md');
  t.is(await git('tag'), `v${VERSION}`);
});

test('a version that cannot be released changes nothing and says why', async (t) => {
  const { root, git, npmVersion } = await cloneProject(t);
  const refusal = async (version: string) => {
    const { made, printed } = await npmVersion(version);
    t.false(made, version);
    return printed;
  };
  t.regex(await refusal('1.2'), /Invalid version/);
  t.regex(await refusal('97.0.0-rc.1'), /not three numbers/);
  await git('tag', 'v97.0.0');
  t.regex(await refusal('97.0.0'), /tag v97\.0\.0 exists/);
  await writeFile(join(root, 'CHANGELOG.md'), '# Changelog\n\n## Unreleased\n');
  t.regex(await refusal('98.0.0'), /not clean/);
  await git('commit', '--quiet', '--all', '--message', 'Empty the changelog');
  t.regex(await refusal('98.0.0'), /lists no change/);
  t.is(await git('status', '--porcelain'), '');
  t.is(await git('log', '--format=%s'), 'Empty the changelog\nEverything');
  t.is(await git('tag'), 'v97.0.0');
});
