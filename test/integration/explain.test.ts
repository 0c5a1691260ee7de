import { mkdtemp, mkdtempDisposable, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ForgeName } from '../../src/forges/port/forges.ts';
import { forgesOf } from '../helpers/forges.ts';
import { NOWHERE } from '../helpers/free-port.ts';
import { gatehouse } from '../helpers/process.ts';
import { runGatehouse } from '../helpers/run-command.ts';
import ava from '../helpers/test.ts';
import { type SimulatedForge, startSimulatedForge } from '../simulated-forge/simulated-forge.ts';

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

async function withForge(
  name: ForgeName,
  files: Readonly<Record<string, string>>,
  work: (forge: SimulatedForge, run: typeof explain) => Promise<void>,
): Promise<void> {
  const forge = await startSimulatedForge({ forge: name });
  forge.createRepository(REPOSITORY, { 'src/app.ts': 'one\ntwo\n', ...files });
  try {
    await work(forge, explain);
  } finally {
    await forge.stop();
  }
}

const page = (forge: SimulatedForge, number: number) =>
  `${forge.url}/${REPOSITORY}/${forge.name === 'github' ? 'pull' : 'pulls'}/${number}`;

/** Neither stores nor a secret are there to be used. */
function explain(forge: SimulatedForge, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const access = { FORGE: forge.name, FORGE_URL: forge.url, FORGE_TOKEN: forge.token };
  return runGatehouse(['explain', ...args], { env: { ...access, ...env } });
}

for (const name of FORGES) {
  test(`${name}: the evaluation is printed as a tree, without writing to the forge`, async (t) => {
    await withForge(name, { '.gatehouse.yml': POLICY }, async (forge, run) => {
      forge.commit(REPOSITORY, 'topic', { 'src/app.ts': 'one\ndebugger;\ntwo\n' });
      const number = forge.openPullRequest(REPOSITORY, { head: 'topic', title: 'fix: a leak', labels: ['api'] });
      const { code, stdout, stderr } = await run(forge, [page(forge, number)]);
      t.is(stderr, '');
      t.is(code, 1);
      t.regex(
        stdout,
        /^acme\/widgets#1 fix: a leak\ntopic at [0-9a-f]{10} into main, by alice\n\nfailure: 2 of 3 rules/,
      );
      t.regex(stdout, /\nconventional-title \(error\) ✔ passed \.gatehouse\.yml:3\n└─ require: title ● yes\n/);
      t.regex(stdout, /\nno-debugger \(error\) ✘ failed .*\n└─ forbid: added_lines ● yes\n/);
      t.regex(stdout, /\n {3}src\/app\.ts:2: debugger;\n/);
      t.regex(stdout, /\n├─ when: label ● yes\n[\s\S]*└─ require: any ○ no\n {3}├─ files ○ no\n/);
      t.false(stdout.includes(ESCAPE), 'no colours outside a terminal');
      t.is(forge.writes(), 0);
      t.true(forge.count('GET') > 0);
    });
  });
}

test('the exit code is 0 for success, 1 failure, 2 undecided, 3 waiting for others', async (t) => {
  const files = { '.gatehouse.yml': POLICY };
  await withForge('gitea', files, async (forge, run) => {
    forge.commit(REPOSITORY, 'topic', { 'src/app.ts': 'three\n' });
    const number = forge.openPullRequest(REPOSITORY, { head: 'topic', title: 'fix: a leak' });
    t.is((await run(forge, [page(forge, number)])).code, 0);
    forge.edit(REPOSITORY, number, { title: 'a leak' });
    t.is((await run(forge, [page(forge, number)])).code, 1);
    forge.commit(REPOSITORY, 'main', {
      '.gatehouse.yml':
        'version: 1\nrules:\n  - { id: asked, require: { approvals: { from: ["@elsewhere/core"] } } }\n',
    });
    forge.review(REPOSITORY, number, 'bob', 'approved');
    const undecided = await run(forge, [page(forge, number)]);
    t.is(undecided.code, 2);
    t.regex(undecided.stdout, /\nerror: 1 of 1 rule could not be judged: asked\n/);
    forge.commit(REPOSITORY, 'main', {
      '.gatehouse.yml': 'version: 1\nrules:\n  - { id: asked, require: { approvals: { from: [olga] } } }\n',
    });
    const waiting = await run(forge, [page(forge, number)]);
    t.is(waiting.code, 3);
    t.regex(waiting.stdout, /\npending: Waiting for 1 approval from olga\n\nasked \(error\) … waiting for others/);
  });
});

test('with --json everything is one object for programs, whatever the terminal', async (t) => {
  await withForge('github', { '.gatehouse.yml': POLICY }, async (forge, run) => {
    forge.commit(REPOSITORY, 'topic', { 'src/app.ts': 'one\ndebugger;\ntwo\n' });
    const number = forge.openPullRequest(REPOSITORY, { head: 'topic', title: 'a leak' });
    const { code, stdout } = await run(forge, [page(forge, number), '--json']);
    t.is(code, 1);
    const told = JSON.parse(stdout);
    t.is(told.outcome, 'judged');
    t.like(told.pullRequest, { repository: REPOSITORY, number, title: 'a leak' });
    t.deepEqual(told.status, {
      state: 'failure',
      description: '2 of 2 rules failed: conventional-title, no-debugger',
    });
    t.deepEqual(
      told.rules.map(({ id, outcome }: { id: string; outcome: string }) => [id, outcome]),
      [
        ['conventional-title', 'failed'],
        ['no-debugger', 'failed'],
        ['documented', 'inactive'],
      ],
    );
    t.deepEqual(told.rules[1].forbid.locations, [{ path: 'src/app.ts', line: 2, text: 'debugger;' }]);
    t.is(typeof told.rules[0].require.found, 'string');
  });
});

test('a locked rule of the baseline is explained beside the rule of the same id', async (t) => {
  await withForge('gitea', { '.gatehouse.yml': POLICY }, async (forge, run) => {
    forge.createRepository('acme/policies', {
      '.gatehouse.yml': "version: 1\nrules: [{ id: no-debugger, locked: true, forbid: { added_lines: 'debugger' } }]\n",
    });
    forge.commit(REPOSITORY, 'topic', { 'src/app.ts': 'three\n' });
    const number = forge.openPullRequest(REPOSITORY, { head: 'topic', title: 'fix: a leak' });
    const setting = { POLICY_REPOSITORY: 'policies' };
    const { code, stdout } = await run(forge, [page(forge, number)], setting);
    t.is(code, 0);
    t.regex(stdout, /\n\nno-debugger@baseline \(error\) ✔ passed acme\/policies:\.gatehouse\.yml:2\n/);
    t.regex(stdout, /\n\nno-debugger \(error\) ✔ passed \.gatehouse\.yml:/);
  });
});

test('text of a pull request cannot control the terminal', async (t) => {
  await withForge('github', { '.gatehouse.yml': POLICY }, async (forge, run) => {
    forge.commit(REPOSITORY, 'topic', { 'src/app.ts': `debugger; ${ESCAPE}[2J\n` });
    const number = forge.openPullRequest(REPOSITORY, { head: 'topic', title: `${ESCAPE}]0;owned\u0007` });
    const { stdout } = await run(forge, [page(forge, number)]);
    t.false(stdout.includes(ESCAPE));
    t.regex(stdout, /\\u\{1b\}\]0;owned/);
  });
});

test('a closed, archived, missing and unruled pull request have different messages', async (t) => {
  await withForge('forgejo', {}, async (forge, run) => {
    forge.commit(REPOSITORY, 'topic', { 'src/app.ts': 'three\n' });
    const number = forge.openPullRequest(REPOSITORY, { head: 'topic', title: 'a leak' });
    const none = await run(forge, [page(forge, number)]);
    t.is(none.code, 0);
    t.regex(none.stdout, /\nNo policy: its base branch main has none/);
    t.is(JSON.parse((await run(forge, [page(forge, number), '--json'])).stdout).outcome, 'no-policy');
    forge.archive(REPOSITORY);
    const archived = await run(forge, [page(forge, number)]);
    t.is(archived.code, 0);
    t.regex(archived.stdout, /\nIts repository is archived, where nothing can be merged/);
    t.is(JSON.parse((await run(forge, [page(forge, number), '--json'])).stdout).outcome, 'archived');
    forge.unarchive(REPOSITORY);
    forge.close(REPOSITORY, number);
    const closed = await run(forge, [page(forge, number)]);
    t.is(closed.code, 0);
    t.regex(closed.stdout, /\nIt is closed, and Gatehouse judges open pull requests only\.\n/);
    t.is(JSON.parse((await run(forge, [page(forge, number), '--json'])).stdout).outcome, 'closed');
    const missing = await run(forge, [page(forge, 99)]);
    t.is(missing.code, 2);
    t.regex(missing.stdout, /^acme\/widgets#99 does not exist, or these credentials may not see it\.\n$/);
    t.is(JSON.parse((await run(forge, [page(forge, 99), '--json'])).stdout).outcome, 'not-found');
    t.is(forge.writes(), 0);
  });
});

test('errors of the policy, and of a proposed policy, are printed with their lines', async (t) => {
  const broken = 'version: 1\nrules:\n  - { id: a, requires: { draft: false } }\n';
  await withForge('gitea', { '.gatehouse.yml': broken }, async (forge, run) => {
    forge.commit(REPOSITORY, 'mend', { '.gatehouse.yml': POLICY });
    const mending = forge.openPullRequest(REPOSITORY, { head: 'mend', title: 'fix: the policy' });
    const first = await run(forge, [page(forge, mending)]);
    t.is(first.code, 2);
    t.regex(first.stdout, /\nThe policy cannot be used:\n {2}\.gatehouse\.yml:3:\d+: unknown key "requires"/);
    t.regex(first.stdout, /\nThis pull request’s own policy is valid: merging it fixes this\.\n/);
    forge.merge(REPOSITORY, mending);
    forge.commit(REPOSITORY, 'break', { '.gatehouse.yml': broken });
    const breaking = forge.openPullRequest(REPOSITORY, { head: 'break', title: 'fix: the policy' });
    const second = await run(forge, [page(forge, breaking)]);
    t.is(second.code, 1);
    t.regex(second.stdout, /✔ passed[\s\S]*\nThe policy as this pull request would change it has faults:\n {2}\.gateh/);
  });
});

test('POLICY_FILE judges a repository that has no policy of its own', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-explain-'));
  const file = join(folder, 'policy.yml');
  await withForge('github', {}, async (forge, run) => {
    forge.commit(REPOSITORY, 'topic', { 'src/app.ts': 'three\n' });
    const number = forge.openPullRequest(REPOSITORY, { head: 'topic', title: 'a leak' });
    await writeFile(file, POLICY);
    const judged = await run(forge, [page(forge, number)], { POLICY_FILE: file });
    t.is(judged.code, 1);
    t.regex(judged.stdout, /conventional-title \(error\) ✘ failed/);
    await writeFile(file, 'version: 2\n');
    const faulty = await run(forge, [page(forge, number)], { POLICY_FILE: file });
    t.is(faulty.code, 78);
    t.regex(faulty.stderr, /^POLICY_FILE cannot be used:\n.*policy\.yml:1:\d+: /);
    t.is(faulty.stdout, '');
  });
  await rm(folder, { recursive: true });
});

for (const name of FORGES) {
  test(`${name}: --policy judges by a file, whatever policy the base branch has`, async (t) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'gatehouse-explain-'));
    const file = join(folder.path, 'next.yml');
    const next =
      'version: 1\nextends: acme/rules@main\nrules:\n  - { id: small, require: { changed_lines: "<= 1" } }\n';
    await writeFile(file, next);
    await withForge(name, { '.gatehouse.yml': POLICY }, async (forge, run) => {
      const shared = 'version: 1\nrules:\n  - { id: shared, require: { title: "^feat" } }\n';
      forge.createRepository('acme/rules', { '.gatehouse.yml': shared });
      forge.commit(REPOSITORY, 'topic', { 'src/app.ts': 'one\ndebugger;\ntwo\n' });
      const number = forge.openPullRequest(REPOSITORY, { head: 'topic', title: 'feat: a leak' });
      const present = await run(forge, [page(forge, number)]);
      t.regex(present.stdout, /\nfailure: 1 of 2 rules failed: no-debugger\n/);
      const judged = await run(forge, [page(forge, number), '--policy', file]);
      t.is(judged.stderr, '');
      t.is(judged.code, 0);
      t.regex(
        judged.stdout,
        /\nsuccess: All 2 rules that apply are met\n\nshared .*\n[\s\S]*\nsmall \(error\) ✔ passed .*next\.yml:4\n/,
      );
      t.false(judged.stdout.includes('no-debugger'));

      await writeFile(file, 'version: 1\nrules:\n  - { id: a, requires: { draft: false } }\n');
      const faulty = await run(forge, [page(forge, number), '--policy', file]);
      t.is(faulty.code, 2);
      t.regex(faulty.stdout, /\nThe policy cannot be used:\n {2}.*next\.yml:3:\d+: unknown key "requires"/);
      t.is(forge.writes(), 0);
    });
  });
}

test('with --policy the baseline of the organisation stays in force', async (t) => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'gatehouse-explain-'));
  const file = join(folder.path, 'next.yml');
  await writeFile(file, 'version: 1\nrules:\n  - { id: titled, require: { title: leak } }\n');
  await withForge('gitea', {}, async (forge, run) => {
    const baseline = 'version: 1\nrules:\n  - { id: titled, locked: true, require: { title: "^fix" } }\n';
    forge.createRepository('acme/policies', { '.gatehouse.yml': baseline });
    forge.commit(REPOSITORY, 'topic', { 'src/app.ts': 'three\n' });
    const number = forge.openPullRequest(REPOSITORY, { head: 'topic', title: 'a leak' });
    const { code, stdout } = await run(forge, [page(forge, number), '--policy', file], {
      POLICY_REPOSITORY: 'policies',
    });
    t.is(code, 1);
    t.regex(stdout, /\ntitled@baseline \(error\) ✘ failed acme\/policies/);
  });
});

test('a --policy file that cannot be read is wrong usage, and no forge is asked', async (t) => {
  await withForge('gitea', {}, async (forge, run) => {
    const { code, stderr } = await run(forge, [page(forge, 1), '--policy', '/nowhere/policy.yml']);
    t.is(code, 64);
    t.regex(stderr, /^gatehouse explain: --policy: cannot read \/nowhere\/policy\.yml: ENOENT/);
    t.is(forge.seen.length, 0);
  });
});

test('a forge that refuses or hangs gives a message and status 2, without the token', async (t) => {
  await withForge('gitea', { '.gatehouse.yml': POLICY }, async (forge, run) => {
    const refused = await run(forge, [page(forge, 1)], { FORGE_TOKEN: 'not-its-token' });
    t.is(refused.code, 2);
    t.regex(refused.stderr, /^gatehouse explain: the pull request could not be read: .*401/);
    t.false(refused.stderr.includes('not-its-token'));
    t.false(refused.stderr.includes('    at '), 'no stack');
  });
  const nowhere = `http://${NOWHERE}`;
  const gone = { FORGE: 'gitea', FORGE_URL: nowhere, FORGE_TOKEN: 'any' };
  const silent = await runGatehouse(['explain', `${nowhere}/acme/widgets/pulls/1`], { env: gone });
  t.is(silent.code, 2);
  t.regex(silent.stderr, /could not be reached.*ECONNREFUSED/);
});

test('a proxy in the environment is not used: the forge is asked directly', async (t) => {
  await withForge('github', { '.gatehouse.yml': POLICY }, async (forge) => {
    forge.commit(REPOSITORY, 'topic', { 'src/app.ts': 'one\ntwo\nthree\n' });
    const number = forge.openPullRequest(REPOSITORY, { head: 'topic', title: 'fix: a leak' });
    const proxy = `http://${NOWHERE}`;
    const env = {
      ...{ FORGE: forge.name, FORGE_URL: forge.url, FORGE_TOKEN: forge.token },
      ...{ HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NODE_USE_ENV_PROXY: '1' },
    };
    // A process: Node reads its variable when it starts.
    const { code, stderr } = await gatehouse(['explain', page(forge, number)], env).ended();
    t.is(stderr, '');
    t.is(code, 0);
  });
});

test('an address of another forge is wrong usage, and the forge is not asked', async (t) => {
  await withForge('gitea', {}, async (forge, run) => {
    const { code, stderr } = await run(forge, ['https://git.example.com/acme/widgets/pulls/1']);
    t.is(code, 64);
    t.regex(stderr, /is not on the configured forge, gitea at http:\/\/127\.0\.0\.1:\d+; set FORGE and FORGE_URL/);
    t.is(forge.seen.length, 0);
  });
});

test('all missing forge settings are reported at once, with status 78', async (t) => {
  const { code, stderr } = await runGatehouse(['explain', 'https://x.example.com/a/b/pulls/1'], {
    env: { FORGE: 'gitea' },
  });
  t.is(code, 78);
  t.is(
    stderr,
    'The configuration has 2 faults:\n  FORGE_URL: is required when FORGE is gitea\n  FORGE_TOKEN: is required\n',
  );
});
