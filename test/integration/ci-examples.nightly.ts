import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ExecutionContext } from 'ava';
import { parse } from 'yaml';
import { packNpm } from '../../release/npm/pack.ts';
import { evaluate, evaluated } from '../helpers/actions.ts';
import { writeExecutable } from '../helpers/executable.ts';
import { execute } from '../helpers/execute.ts';
import { CONVENTIONAL_TITLES } from '../helpers/policies.ts';
import test from '../helpers/test.ts';
import { startSimulatedForge } from '../simulated-forge/simulated-forge.ts';

/** The npm package, the Action, the hooks, the examples of docs/prove.md, and the start of docs/guide-policy.md, run without a registry. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path: string) => readFile(join(ROOT, path), 'utf8');
const document = await read('docs/prove.md');
const guide = await read('docs/guide-policy.md');
const action = parse(await read('action.yml'));
const hooks: readonly Hook[] = parse(await read('.pre-commit-hooks.yaml'));
const { version } = JSON.parse(await read('package.json'));

interface Hook {
  readonly id: string;
  readonly entry: string;
}

const CASES = `cases:
  - given: { title: Add docs }
    expect: { conventional-title: does not hold }
`;
const FAULTY = CONVENTIONAL_TITLES.replace('require', 'requires');
const FAILING = CASES.replace('does not hold', 'holds');

/** Does what the engine would do with the image. */
const DOCKER = `#!/bin/sh
while [ $# -gt 0 ]; do
  case "$1" in
    run | --rm) shift ;;
    -u | -w) shift 2 ;;
    -v) folder=\${2%:/policy:ro}; shift 2 ;;
    registry.example.com/gatehouse:${version}) shift; break ;;
    *) echo "unexpected: $1" >&2; exit 125 ;;
  esac
done
cd "$folder" && exec node "${ROOT}/src/main.js" "$@"
`;

/** The first block of code under a heading. */
function blockUnder(heading: string): string {
  const [, section = ''] = document.split(`\n### ${heading}\n`);
  return /^```\w+\n([\s\S]*?)^```$/m.exec(section)?.[1] ?? '';
}

/** npm without a registry, and without what this user has in caches and settings. */
const OFFLINE = {
  npm_config_offline: 'true',
  npm_config_registry: 'http://127.0.0.1:9/',
  npm_config_update_notifier: 'false',
  npm_config_userconfig: '/dev/null',
};

const packed = await mkdtemp(join(tmpdir(), 'gatehouse-packed-'));
const tarball = await packNpm({ root: ROOT, destination: packed });
test.after.always(() => rm(packed, { recursive: true }));

type Folder = Awaited<ReturnType<typeof makeFolder>>;

/** A repository, with what runs a line of shell there: `sh` resolves with its exit code. */
async function makeFolder(t: ExecutionContext) {
  const root = await mkdtemp(join(tmpdir(), 'gatehouse-ci-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const [path, bin] = [join(root, 'repository'), join(root, 'bin')];
  await mkdir(path);
  await mkdir(bin);
  await writeExecutable(join(bin, 'docker'), DOCKER);
  const own = {
    ...OFFLINE,
    npm_config_cache: join(root, 'npm'),
    // What is installed with --global.
    npm_config_prefix: join(root, 'global'),
    PATH: `${bin}:${join(root, 'global/bin')}:${process.env['PATH']}`,
  };
  const run = (
    line: string,
    env: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> =>
    execute('sh', ['-c', line], { cwd: path, env: { ...process.env, ...own, ...env } }).then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      // One that was killed has no code.
      ({ code, stdout, stderr }) => ({ code: Number(code ?? Number.NaN), stdout, stderr }),
    );
  return {
    path,
    write: (name: string, text: string) => writeFile(join(path, name), text),
    run,
    sh: async (...line: Parameters<typeof run>) => (await run(...line)).code,
    install: () => run(`npm install --no-audit --no-fund ${tarball}`),
  };
}

/** The exit codes of commands for a good policy, for a case that fails, and for a faulty policy. */
async function codesOf(folder: Folder, run: (command: string) => Promise<number>, commands: readonly string[]) {
  const codes: number[][] = [];
  for (const [policy, cases] of [
    [CONVENTIONAL_TITLES, CASES],
    [CONVENTIONAL_TITLES, FAILING],
    [FAULTY, CASES],
  ] as const) {
    await folder.write('.gatehouse.yml', policy);
    await folder.write('.gatehouse.test.yml', cases);
    const found: number[] = [];
    for (const command of commands) {
      found.push(await run(command));
    }
    codes.push(found);
  }
  return codes;
}

/** Of `check` and `test`. */
const EXPECTED = [
  [0, 0],
  [0, 1],
  [1, 2],
];

const TARBALL = `https://files.example.com/gatehouse-npm-${version}.tgz`;

for (const heading of ['With npm', 'With the image']) {
  test(`docs/prove.md, ${heading}: the commands check and test the policy`, async (t) => {
    const folder = await makeFolder(t);
    const commands = blockUnder(heading).trim().replaceAll(TARBALL, tarball).split('\n');
    t.deepEqual(await codesOf(folder, folder.sh, commands), EXPECTED);
  });
}

const MAX_INSTALLED_BYTES = 5_000_000;

test('the npm package is one without dependencies, and small', async (t) => {
  const folder = await makeFolder(t);
  t.is((await folder.install()).code, 0);
  const { stdout } = await folder.run('du -sb node_modules && ls node_modules && ls node_modules/gatehouse');
  const [size = '', ...names] = stdout.trim().split('\n');
  const others = names.filter((name) => !/^(?!gatehouse\.|worker\.).*\.js$/.test(name));
  const files = ['LICENSE', 'README.md', 'THIRD-PARTY.txt', 'docs', 'gatehouse.js', 'package.json', 'worker.js'];
  t.deepEqual(others.toSorted(), [...files, 'gatehouse'].toSorted());
  t.true(Number.parseInt(size, 10) < MAX_INSTALLED_BYTES, size);
  const installed = (name: string) => readFile(join(folder.path, 'node_modules/gatehouse', name), 'utf8');
  // npm refuses to publish it under a name that is not the publisher's.
  t.like(JSON.parse(await installed('package.json')), { private: true, version });
  const licences = await installed('THIRD-PARTY.txt');
  t.regex(licences, /^zod \d/m);
  t.regex(licences, /^re2js \d/m);
  t.notRegex(licences, /^(pg|pg-boss|ioredis|koa) \d/m);
});

test('the npm package keeps compiled code beside itself, and runs where it cannot', async (t) => {
  const folder = await makeFolder(t);
  t.is((await folder.install()).code, 0);
  await folder.write('.gatehouse.yml', CONVENTIONAL_TITLES);
  const cache = 'node_modules/gatehouse/.compiled';
  // A file in its place: root may write into any folder.
  t.is(await folder.sh(`touch ${cache} && env -u NODE_COMPILE_CACHE npx gatehouse check && rm ${cache}`), 0);
  const { code, stdout } = await folder.run(
    `env -u NODE_COMPILE_CACHE npx gatehouse check >/dev/null && find ${cache} -type f`,
  );
  t.is(code, 0);
  t.true(stdout.trim().split('\n').length > 3, stdout);
});

test('the npm package explains a pull request', async (t) => {
  const folder = await makeFolder(t);
  const forge = await startSimulatedForge({ forge: 'gitea' });
  t.teardown(() => forge.stop());
  forge.createRepository('acme/widgets', { '.gatehouse.yml': CONVENTIONAL_TITLES });
  forge.commit('acme/widgets', 'topic', { 'a.txt': 'a' });
  const number = forge.openPullRequest('acme/widgets', { head: 'topic', title: 'feat: widgets' });
  const env = { FORGE: 'gitea', FORGE_URL: forge.url, FORGE_TOKEN: forge.token };
  const line = `npx --yes --package ${tarball} gatehouse explain ${forge.url}/acme/widgets/pulls/${number}`;
  const { code, stdout, stderr } = await folder.run(line, env);
  t.is(code, 0, stderr);
  t.regex(stdout, /conventional-title/);
});

test('the npm package never lacks a command of the policy guide that needs no database', async (t) => {
  const folder = await makeFolder(t);
  const [install = ''] = /^npm install --global .*$/m.exec(guide) ?? [];
  t.is(await folder.sh(install.replace('./dist/gatehouse-npm-*.tgz', tarball)), 0, install);
  const { stdout: help } = await folder.run('gatehouse --help');
  const offered = [...help.matchAll(/^ {2}([a-z]+) {2}/gm)].map(([, name]) => name);
  const used = new Set([...guide.matchAll(/^\$ gatehouse ([a-z]+)/gm)].map(([, name]) => name));
  t.true(used.has('init'), 'the commands of the guide were found');
  // It reads the database.
  used.delete('report');
  t.deepEqual(
    [...used].filter((name) => !offered.includes(name)),
    [],
  );

  const forge = await startSimulatedForge({ forge: 'gitea' });
  t.teardown(() => forge.stop());
  forge.createRepository('acme/widgets');
  for (const part of [1, 2, 3]) {
    forge.commit('acme/widgets', `part-${part}`, { [`src/${part}.ts`]: 'one\n' });
    const title = part === 3 ? 'Change it' : 'feat: a part';
    forge.merge('acme/widgets', forge.openPullRequest('acme/widgets', { head: `part-${part}`, title }));
  }
  const env = { FORGE: 'gitea', FORGE_URL: forge.url, FORGE_TOKEN: forge.token };
  const proposed = await folder.run('gatehouse init acme/widgets --write', env);
  t.is(proposed.code, 0, proposed.stderr);
  t.regex(await readFile(join(folder.path, '.gatehouse.yml'), 'utf8'), /# Small changes: met by 3 of 3 \(100%\)\n/);
  await folder.write('.gatehouse.yml', CONVENTIONAL_TITLES);
  const judged = await folder.run('gatehouse backtest acme/widgets --policy .gatehouse.yml', env);
  t.is(judged.code, 0, judged.stderr);
  t.regex(judged.stdout, /\n1 of 3 would have been stopped\n {2}#3 "Change it" /);
  t.is(forge.writes(), 0);
});

test('the npm package says so where Node is too old', async (t) => {
  const folder = await makeFolder(t);
  t.is((await folder.install()).code, 0);
  const older = "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.5.1' } });";
  await folder.write('older.mjs', older);
  const { code, stderr } = await folder.run('npx gatehouse check', { NODE_OPTIONS: '--import ./older.mjs' });
  t.is(code, 1);
  t.is(stderr, 'Gatehouse needs Node 24.6 or newer, this is 22.5.1\n');
});

/** The steps of the Action that a runner runs for these inputs, in a folder. Resolves with their exit codes. */
async function actionCodes(folder: Folder, given: Readonly<Record<string, string>>): Promise<readonly number[]> {
  const inputs: Record<string, string> = { package: tarball };
  for (const [name, input] of Object.entries<{ default?: string }>(action.inputs)) {
    inputs[name] ??= given[name] ?? input.default ?? '';
  }
  const codes: number[] = [];
  for (const step of action.runs.steps) {
    if (step.if === undefined || evaluate(step.if, inputs) === 'true') {
      const env = Object.entries<string>(step.env).map(([name, value]) => [name, evaluated(value, inputs)]);
      codes.push(await folder.sh(step.run, Object.fromEntries(env)));
    }
  }
  return codes;
}

test('the Action checks and tests the policy, and stops at a fault', async (t) => {
  const folder = await makeFolder(t);
  t.deepEqual(await codesOf(folder, async () => Math.max(...(await actionCodes(folder, {}))), ['']), [[0], [1], [2]]);
});

test('the Action leaves out the cases, and checks a baseline, where its inputs say so', async (t) => {
  const folder = await makeFolder(t);
  await folder.write('.gatehouse.yml', CONVENTIONAL_TITLES.replace('require:', 'locked: true\n    require:'));
  t.deepEqual(await actionCodes(folder, { cases: 'false' }), [1], 'only a baseline may lock rules');
  t.deepEqual(await actionCodes(folder, { cases: 'false', baseline: 'true' }), [0]);
  t.deepEqual(await actionCodes(folder, { cases: 'true\n', baseline: 'true' }), [0, 2], 'anything else tests them');
});

test('the hooks of pre-commit refuse a faulty policy and a failing case', async (t) => {
  const folder = await makeFolder(t);
  const [{ hooks: named, rev }] = parse(blockUnder('Before a commit')).repos;
  t.is(rev, `v${version}`);
  const idOf = ({ id }: Hook) => id;
  t.deepEqual(named.map(idOf), hooks.map(idOf));
  const [, install = ''] = /`(npm install --global [^`]+)`/.exec(document) ?? [];
  t.is(await folder.sh(install.replace(TARBALL, tarball)), 0);
  const entries = hooks.map(({ entry }) => entry);
  t.deepEqual(await codesOf(folder, folder.sh, entries), EXPECTED);
});
