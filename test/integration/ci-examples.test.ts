import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { parse } from 'yaml';
import { writeExecutable } from '../helpers/executable.ts';

/** The examples of docs/ci.md, run as far as that is possible without the service that would run them. */
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const document = await readFile(join(ROOT, 'docs/ci.md'), 'utf8');
const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));

const POLICY = `version: 1
rules:
  - id: conventional-title
    require: { title: '^(feat|fix|docs): ' }
`;
const CASES = `cases:
  - given: { title: Add docs }
    expect: { conventional-title: does not hold }
`;
const FAULTY = POLICY.replace('require', 'requires');
const FAILING = CASES.replace('does not hold', 'holds');

/** Does what the engine would do with the image, and notes what it was told. */
const DOCKER = `#!/bin/sh
echo "$*" >>"$CALLS"
while [ $# -gt 0 ]; do
  case "$1" in
    run | --rm) shift ;;
    -u | -w) shift 2 ;;
    -v) folder=\${2%:/policy:ro}; shift 2 ;;
    registry.example.com/gatehouse:${version}) shift; break ;;
    *) echo "unexpected: $1" >&2; exit 125 ;;
  esac
done
cd "$folder" && exec node "${ROOT}/src/main.ts" "$@"
`;

/** The first block of code under a heading. */
function blockUnder(heading: string): string {
  const [, section = ''] = document.split(`\n## ${heading}\n`);
  return /^```\w+\n([\s\S]*?)^```$/m.exec(section)?.[1] ?? '';
}

interface Folder {
  readonly path: string;
  write(name: string, text: string): Promise<void>;
  /** Runs a line of shell there. Resolves with its exit code. */
  sh(line: string): Promise<number>;
  /** What the engine was told since the last question. */
  calls(): Promise<readonly string[]>;
}

async function makeFolder(t: ExecutionContext): Promise<Folder> {
  const root = await mkdtemp(join(tmpdir(), 'gatehouse-ci-'));
  t.teardown(() => rm(root, { recursive: true, force: true }));
  const [path, bin, log] = [join(root, 'repository'), join(root, 'bin'), join(root, 'calls')];
  await mkdir(path);
  await mkdir(bin);
  await writeFile(log, '');
  await writeExecutable(join(bin, 'docker'), DOCKER);
  const env = { ...process.env, PATH: `${bin}:${process.env['PATH']}`, CALLS: log, GIT_CONFIG_GLOBAL: '/dev/null' };
  return {
    path,
    write: (name, text) => writeFile(join(path, name), text),
    sh: (line) =>
      new Promise((resolve) => {
        execFile('sh', ['-c', line], { cwd: path, env }, (error) => {
          resolve(error === null ? 0 : Number(error.code));
        });
      }),
    async calls() {
      const text = await readFile(log, 'utf8');
      await writeFile(log, '');
      return text.split('\n').filter((line) => line !== '');
    },
  };
}

/** The commands with the program, in order; what is before them prepares the machine. */
function commandsOf(workflow: string): readonly string[] {
  const { jobs } = parse(workflow) as { jobs: Record<string, { steps: { run?: string }[] }> };
  return Object.values(jobs)
    .flatMap(({ steps }) => steps.flatMap(({ run }) => run ?? []))
    .filter((line) => /^docker run |main\.ts/.test(line))
    .map((line) => line.replace('/opt/gatehouse', ROOT));
}

const SCRIPTS: readonly (readonly [heading: string, commands: readonly string[]])[] = [
  ['With the image', blockUnder('With the image').trim().split('\n')],
  ['Gitea and Forgejo', commandsOf(blockUnder('Gitea and Forgejo'))],
];

for (const [heading, commands] of SCRIPTS) {
  test(`docs/ci.md, ${heading}: the commands check and test the policy`, async (t) => {
    const folder = await makeFolder(t);
    const codes = async (policy: string, cases: string) => {
      await folder.write('.gatehouse.yml', policy);
      await folder.write('.gatehouse.test.yml', cases);
      const found: number[] = [];
      for (const command of commands) {
        found.push(await folder.sh(command));
      }
      return found;
    };
    t.deepEqual(await codes(POLICY, CASES), [0, 0]);
    t.deepEqual(await codes(POLICY, FAILING), [0, 1]);
    t.deepEqual(await codes(FAULTY, CASES), [1, 2]);
  });
}

test('docs/ci.md: GitHub runs the commands that are given for the image', (t) => {
  t.deepEqual(commandsOf(blockUnder('GitHub')), blockUnder('With the image').trim().split('\n'));
});

for (const heading of ['GitHub', 'Gitea and Forgejo']) {
  test(`docs/ci.md, ${heading}: the workflow runs for changes of the policy`, (t) => {
    const { on, jobs } = parse(blockUnder(heading));
    t.deepEqual(Object.keys(on), ['pull_request']);
    t.deepEqual(on.pull_request.paths.slice(0, 2), ['**/gatehouse.yml', '.gatehouse*.yml']);
    t.regex(jobs.policy.steps[0].uses, /^actions\/checkout@v\d+$/);
  });
}

test('docs/ci.md clones this version, and installs the packages of production', (t) => {
  const workflow = blockUnder('Gitea and Forgejo');
  t.true(workflow.includes(`git clone -q --depth 1 --branch v${version} https://`), workflow);
  t.true(workflow.includes('npm ci --omit=dev --ignore-scripts --prefix /opt/gatehouse\n'), workflow);
});

async function makeRepository(t: ExecutionContext): Promise<Folder> {
  const folder = await makeFolder(t);
  t.is(await folder.sh('git init -q && git config user.name alice && git config user.email alice@example.test'), 0);
  const hook = join(folder.path, '.git/hooks/pre-commit');
  await mkdir(join(folder.path, '.git/hooks'), { recursive: true });
  await writeExecutable(hook, blockUnder('Before a commit'));
  return folder;
}

const COMMIT = 'git commit -qm change';

test('docs/ci.md: the hook refuses a commit with a faulty policy or a failing case', async (t) => {
  const folder = await makeRepository(t);
  await folder.write('.gatehouse.yml', POLICY);
  await folder.write('.gatehouse.test.yml', CASES);
  t.is(await folder.sh(`git add . && ${COMMIT}`), 0);
  t.deepEqual(
    (await folder.calls()).map((call) => call.split(' ').at(-1)),
    ['check', 'test'],
  );
  await folder.write('.gatehouse.yml', FAULTY);
  t.is(await folder.sh(`git add . && ${COMMIT}`), 1);
  await folder.write('.gatehouse.yml', POLICY);
  await folder.write('.gatehouse.test.yml', FAILING);
  t.is(await folder.sh(`git add . && ${COMMIT}`), 1);
});

test('docs/ci.md: the hook looks at what is staged, and only at the policy', async (t) => {
  const folder = await makeRepository(t);
  await folder.write('.gatehouse.yml', POLICY);
  await folder.write('.gatehouse.test.yml', CASES);
  await folder.sh('git add .');
  await folder.write('.gatehouse.yml', FAULTY);
  t.is(await folder.sh(COMMIT), 0, 'the fault is not staged');
  await folder.sh('git add . && git show HEAD:.gatehouse.yml >.gatehouse.yml');
  t.is(await folder.sh(COMMIT), 1, 'the fault is staged');
  await folder.sh('git add .');
  await folder.calls();
  await folder.write('other.txt', 'one\n');
  t.is(await folder.sh(`git add . && ${COMMIT}`), 0);
  t.is(await folder.sh(`git rm -q .gatehouse.test.yml .gatehouse.yml && ${COMMIT}`), 0);
  t.deepEqual(await folder.calls(), [], 'nothing to check');
});
