import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ForgeName } from '../../src/forges/port/forges.ts';
import { forgesOf } from '../helpers/forges.ts';
import { NOWHERE } from '../helpers/free-port.ts';
import { gatehouse } from '../helpers/process.ts';
import { runGatehouse } from '../helpers/run-command.ts';
import ava from '../helpers/test.ts';
import { startSimulatedForge } from '../simulated-forge/simulated-forge.ts';

const FORGES = forgesOf(import.meta.url);

const test = ava.serial;

const REPOSITORY = 'acme/widgets';
const POLICY = `version: 1
rules:
  - id: conventional-title
    require: { title: '^(feat|fix|docs): ' }
  - id: no-debugger
    forbid: { added_lines: '\\bdebugger\\b', in: ['**/*.ts'] }
  - id: documented
    when: { label: api }
    require: { any: [{ files: 'docs/**' }, { label: no-docs }] }
`;
const ESCAPE = '\u001b';

type Env = Readonly<Record<string, string>>;

/** A forge with a repository that has these files, and `gatehouse explain`: neither stores nor a secret are there. */
async function forgeWith(name: ForgeName, files: Readonly<Record<string, string>>) {
  const forge = await startSimulatedForge({ forge: name });
  forge.createRepository(REPOSITORY, { 'src/app.ts': 'one\ntwo\n', ...files });
  const page = (number: number) => `${forge.url}/${REPOSITORY}/${name === 'github' ? 'pull' : 'pulls'}/${number}`;
  const access = { FORGE: name, FORGE_URL: forge.url, FORGE_TOKEN: forge.token };
  return {
    forge,
    access,
    page,
    /** Opens a pull request, and returns its number. */
    open(title: string, text = 'three\n', labels: readonly string[] = []) {
      forge.commit(REPOSITORY, 'topic', { 'src/app.ts': text });
      return forge.openPullRequest(REPOSITORY, { head: 'topic', title, labels });
    },
    explain: (number: number, args: readonly string[] = [], env: Env = {}) =>
      runGatehouse(['explain', page(number), ...args], { env: { ...access, ...env } }),
    [Symbol.asyncDispose]: () => forge.stop(),
  };
}

async function policyFile() {
  const folder = await mkdtempDisposable(join(tmpdir(), 'gatehouse-explain-'));
  const path = join(folder.path, 'next.yml');
  return { path, write: (text: string) => writeFile(path, text), [Symbol.asyncDispose]: () => folder.remove() };
}

const oneRule = (rule: string) => `version: 1\nrules:\n  - { ${rule} }\n`;
const BROKEN = oneRule('id: a, requires: { draft: false }');
const WITH_DEBUGGER = 'one\ndebugger;\ntwo\n';

for (const name of FORGES) {
  test(`${name}: the evaluation is printed as a tree, without writing to the forge`, async (t) => {
    await using world = await forgeWith(name, { '.gatehouse.yml': POLICY });
    const { code, stdout, stderr } = await world.explain(world.open('fix: a leak', WITH_DEBUGGER, ['api']));
    t.deepEqual([code, stderr], [1, '']);
    t.regex(stdout, /^acme\/widgets#1 fix: a leak\ntopic at [0-9a-f]{10} into main, by alice\n\nfailure: 2 of 3 rules/);
    t.regex(stdout, /\nconventional-title \(error\) ✔ passed \.gatehouse\.yml:3\n└─ require: title ● yes\n/);
    t.regex(stdout, /\nno-debugger \(error\) ✘ failed .*\n└─ forbid: added_lines ● yes\n/);
    t.regex(stdout, /\n {3}src\/app\.ts:2: debugger;\n/);
    t.regex(stdout, /\n├─ when: label ● yes\n[\s\S]*└─ require: any ○ no\n {3}├─ files ○ no\n/);
    t.false(stdout.includes(ESCAPE), 'no colours outside a terminal');
    t.is(world.forge.writes(), 0);
    t.true(world.forge.count('GET') > 0);
  });
}

test('the exit code is 0 for success, 1 failure, 2 undecided, 3 waiting for others', async (t) => {
  await using world = await forgeWith('gitea', { '.gatehouse.yml': POLICY });
  const { forge, explain } = world;
  const number = world.open('fix: a leak');
  t.is((await explain(number)).code, 0);
  forge.edit(REPOSITORY, number, { title: 'a leak' });
  t.is((await explain(number)).code, 1);
  const askedOf = (reviewer: string) =>
    forge.commit(REPOSITORY, 'main', {
      '.gatehouse.yml': oneRule(`id: asked, require: { approvals: { from: ['${reviewer}'] } }`),
    });
  forge.createTeam('elsewhere/core', ['bob']);
  askedOf('@elsewhere/core');
  forge.review(REPOSITORY, number, 'bob', 'approved');
  const undecided = await explain(number);
  t.is(undecided.code, 2);
  t.regex(undecided.stdout, /\nerror: 1 of 1 rule could not be judged: asked\n/);
  askedOf('olga');
  const waiting = await explain(number);
  t.is(waiting.code, 3);
  t.regex(waiting.stdout, /\npending: Waiting for 1 approval from olga\n\nasked \(error\) … waiting for others/);
});

test('with --json everything is one object for programs, whatever the terminal', async (t) => {
  await using world = await forgeWith('github', { '.gatehouse.yml': POLICY });
  const { code, stdout } = await world.explain(world.open('a leak', WITH_DEBUGGER), ['--json']);
  t.is(code, 1);
  const told = JSON.parse(stdout);
  t.like(told, {
    outcome: 'judged',
    pullRequest: { repository: REPOSITORY, number: 1, title: 'a leak' },
    status: { state: 'failure', description: '2 of 2 rules failed: conventional-title, no-debugger' },
  });
  t.deepEqual(
    told.rules.map(({ id, outcome }: { id: string; outcome: string }) => `${id}: ${outcome}`),
    ['conventional-title: failed', 'no-debugger: failed', 'documented: inactive'],
  );
  t.deepEqual(told.rules[1].forbid.locations, [{ path: 'src/app.ts', line: 2, text: 'debugger;' }]);
  t.is(typeof told.rules[0].require.found, 'string');
});

test('locked rules of the baseline are explained beside those of the same id, also with --policy', async (t) => {
  await using world = await forgeWith('gitea', { '.gatehouse.yml': POLICY });
  await using file = await policyFile();
  await file.write(oneRule('id: no-debugger, require: { title: leak }'));
  world.forge.createRepository('acme/policies', {
    '.gatehouse.yml': oneRule("id: no-debugger, locked: true, forbid: { added_lines: '^three' }"),
  });
  const number = world.open('fix: a leak');
  for (const [args, own] of [
    [[], '.gatehouse.yml'],
    [['--policy', file.path], file.path],
  ] as const) {
    const { code, stdout } = await world.explain(number, args, { POLICY_REPOSITORY: 'policies' });
    t.is(code, 1);
    t.regex(stdout, /\n\nno-debugger@baseline \(error\) ✘ failed acme\/policies:\.gatehouse\.yml:3\n/);
    t.true(stdout.includes(`\n\nno-debugger (error) ✔ passed ${own}:`), stdout);
  }
});

test('text of a pull request cannot control the terminal', async (t) => {
  await using world = await forgeWith('github', { '.gatehouse.yml': POLICY });
  const { stdout } = await world.explain(world.open(`${ESCAPE}]0;owned\u0007`, `debugger; ${ESCAPE}[2J\n`));
  t.false(stdout.includes(ESCAPE));
  t.regex(stdout, /\\u\{1b\}\]0;owned/);
});

test('a closed, archived, missing and unruled pull request have different messages', async (t) => {
  await using world = await forgeWith('forgejo', {});
  const { forge, explain } = world;
  world.open('a leak');
  for (const [outcome, code, said, number, prepare] of [
    ['no-policy', 0, /\nNo policy: its base branch main has none/, 1, () => {}],
    ['archived', 0, /\nIts repository is archived and cannot merge anything/, 1, () => forge.archive(REPOSITORY)],
    ['closed', 0, /\nIt is closed, and Gatehouse only judges open pull requests\.\n/, 1, close],
    ['not-found', 2, /^acme\/widgets#99 does not exist, or these credentials cannot see it\.\n$/, 99, () => {}],
  ] as const) {
    prepare();
    const found = await explain(number);
    t.is(found.code, code, outcome);
    t.regex(found.stdout, said);
    t.is(JSON.parse((await explain(number, ['--json'])).stdout).outcome, outcome);
  }
  t.is(forge.writes(), 0);

  function close() {
    forge.unarchive(REPOSITORY);
    forge.close(REPOSITORY, 1);
  }
});

test('errors of the policy, and of a proposed policy, are printed with their lines', async (t) => {
  await using world = await forgeWith('gitea', { '.gatehouse.yml': BROKEN });
  const propose = (head: string, policy: string) => {
    world.forge.commit(REPOSITORY, head, { '.gatehouse.yml': policy });
    return world.forge.openPullRequest(REPOSITORY, { head, title: 'fix: the policy' });
  };
  const mending = propose('mend', POLICY);
  const first = await world.explain(mending);
  t.is(first.code, 2);
  t.regex(first.stdout, /\nThe policy cannot be used:\n {2}\.gatehouse\.yml:3:\d+: unknown key "requires"/);
  t.regex(first.stdout, /\nThis pull request’s own policy is valid: merging it fixes this\.\n/);
  world.forge.merge(REPOSITORY, mending);
  const second = await world.explain(propose('break', BROKEN));
  t.is(second.code, 1);
  t.regex(second.stdout, /✔ passed[\s\S]*\nThe policy that this pull request proposes has faults:\n {2}\.gateh/);
});

test('POLICY_FILE judges a repository that has no policy of its own', async (t) => {
  await using file = await policyFile();
  await using world = await forgeWith('github', {});
  const number = world.open('a leak');
  await file.write(POLICY);
  const judged = await world.explain(number, [], { POLICY_FILE: file.path });
  t.is(judged.code, 1);
  t.regex(judged.stdout, /conventional-title \(error\) ✘ failed/);
  await file.write('version: 2\n');
  const faulty = await world.explain(number, [], { POLICY_FILE: file.path });
  t.deepEqual([faulty.code, faulty.stdout], [78, '']);
  t.regex(faulty.stderr, /^POLICY_FILE cannot be used:\n.*next\.yml:1:\d+: /);
});

test('--policy judges by a file, whatever policy the base branch has', async (t) => {
  await using file = await policyFile();
  await file.write(`extends: acme/rules@main\n${oneRule('id: small, require: { changed_lines: "<= 1" }')}`);
  await using world = await forgeWith('gitea', { '.gatehouse.yml': POLICY });
  world.forge.createRepository('acme/rules', { '.gatehouse.yml': oneRule('id: shared, require: { title: "^feat" }') });
  const number = world.open('feat: a leak', WITH_DEBUGGER);
  t.regex((await world.explain(number)).stdout, /\nfailure: 1 of 2 rules failed: no-debugger\n/);
  const judged = await world.explain(number, ['--policy', file.path]);
  t.deepEqual([judged.code, judged.stderr], [0, '']);
  t.regex(
    judged.stdout,
    /\nsuccess: All 2 rules that apply are met\n\nshared .*\n[\s\S]*\nsmall \(error\) ✔ passed .*next\.yml:4\n/,
  );
  t.false(judged.stdout.includes('no-debugger'));

  await file.write(BROKEN);
  const faulty = await world.explain(number, ['--policy', file.path]);
  t.is(faulty.code, 2);
  t.regex(faulty.stdout, /\nThe policy cannot be used:\n {2}.*next\.yml:3:\d+: unknown key "requires"/);
  t.is(world.forge.writes(), 0);
});

test('wrong usage and missing settings are reported, and no forge is asked', async (t) => {
  await using world = await forgeWith('gitea', {});
  const elsewhere = 'https://git.example.com/acme/widgets/pulls/1';
  for (const [args, env, code, said] of [
    [
      [world.page(1), '--policy', '/nowhere/policy.yml'],
      world.access,
      64,
      /^gatehouse explain: --policy: cannot read \/nowhere\/policy\.yml: ENOENT/,
    ],
    [
      [elsewhere],
      world.access,
      64,
      /is not on the configured forge, gitea at http:\/\/127\.0\.0\.1:\d+; set FORGE and FORGE_URL/,
    ],
    [
      [elsewhere],
      { FORGE: 'gitea' },
      78,
      /^The configuration has 2 faults:\n {2}FORGE_URL: is required when FORGE is gitea\n {2}FORGE_TOKEN: is required\n$/,
    ],
  ] as const) {
    const ran = await runGatehouse(['explain', ...args], { env });
    t.is(ran.code, code);
    t.regex(ran.stderr, said);
  }
  t.is(world.forge.seen.length, 0);
});

test('a forge that refuses or is not there gives a message and status 2, without the token', async (t) => {
  await using world = await forgeWith('gitea', { '.gatehouse.yml': POLICY });
  const refused = await world.explain(1, [], { FORGE_TOKEN: 'not-its-token' });
  t.is(refused.code, 2);
  t.regex(refused.stderr, /^gatehouse explain: cannot read the pull request: .*401/);
  t.false(refused.stderr.includes('not-its-token'));
  t.false(refused.stderr.includes('    at '), 'no stack');
  const nowhere = `http://${NOWHERE}`;
  const silent = await runGatehouse(['explain', `${nowhere}/acme/widgets/pulls/1`], {
    env: { ...world.access, FORGE_URL: nowhere },
  });
  t.is(silent.code, 2);
  t.regex(silent.stderr, /could not be reached.*ECONNREFUSED/);
});

test('a proxy in the environment is not used: the forge is asked directly', async (t) => {
  await using world = await forgeWith('github', { '.gatehouse.yml': POLICY });
  const number = world.open('fix: a leak', 'one\ntwo\nthree\n');
  const proxy = `http://${NOWHERE}`;
  const env = { ...world.access, HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NODE_USE_ENV_PROXY: '1' };
  // A process: Node reads its variable when it starts.
  const { code, stderr } = await gatehouse(['explain', world.page(number)], env).ended();
  t.deepEqual([code, stderr], [0, '']);
});
