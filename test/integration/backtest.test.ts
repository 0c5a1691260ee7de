import { chmod, mkdtempDisposable, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ava from 'ava';
import type { ForgeName } from '../../src/forges/port/forges.ts';
import { FORGES } from '../helpers/forges.ts';
import { gatehouse } from '../helpers/process.ts';
import { runGatehouse } from '../helpers/run-command.ts';
import { until } from '../helpers/until.ts';
import { type SimulatedForge, startSimulatedForge } from '../simulated-forge/simulated-forge.ts';

const test = ava.serial;

const REPOSITORY = 'acme/widgets';
const POLICY = `version: 1
rules:
  - id: conventional-title
    require: { title: '^(feat|fix|docs): ' }
  - id: small
    require: { changed_lines: '<= 3' }
    message: Large changes are hard to review.
  - id: reviewed
    when: { not: { only_files: ['docs/**'] } }
    require: { approvals: 1 }
  - id: core
    when: { files: 'core/**' }
    require: { approvals: { from: ['@acme/core'] } }
  - id: noted
    level: warn
    require: { files: CHANGELOG.md }
`;

const ONE_APPROVAL = 'version: 1\nrules:\n  - { id: one, require: { approvals: 1 } }\n';

/** Of the title, the changed lines, the commits and the reviews. */
const FOUR_RULES = `version: 1
rules:
  - { id: titled, require: { title: '^feat' } }
  - { id: small, require: { changed_lines: '<= 3' } }
  - { id: signed, require: { commits: { every: { signed_off: true } } } }
  - { id: one, require: { approvals: 1 } }
`;

interface Merge {
  readonly title?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly approvedBy?: readonly string[];
  readonly author?: string;
}

/** A forge with a repository that has this policy. It ends with the test. */
async function forgeWith(name: ForgeName, files: Readonly<Record<string, string>> = { '.gatehouse.yml': POLICY }) {
  const forge = await startSimulatedForge({ forge: name });
  forge.createRepository(REPOSITORY, { 'src/app.ts': 'one\ntwo\n', ...files });
  let branches = 0;
  return {
    forge,
    [Symbol.asyncDispose]: () => forge.stop(),
    /** Opens a pull request. */
    open({
      title = 'feat: a change',
      files: changes = { 'src/app.ts': 'one\n2\n' },
      approvedBy = ['bob'],
      author = 'alice',
    }: Merge = {}) {
      branches += 1;
      const head = `topic-${branches}`;
      forge.commit(REPOSITORY, head, changes, { author });
      const number = forge.openPullRequest(REPOSITORY, { head, title, author });
      for (const person of approvedBy) {
        forge.review(REPOSITORY, number, person, 'approved');
      }
      return number;
    },
    merge(details?: Merge) {
      const number = this.open(details);
      forge.merge(REPOSITORY, number);
      return number;
    },
  };
}

function backtest(forge: SimulatedForge, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}) {
  const access = { FORGE: forge.name, FORGE_URL: forge.url, FORGE_TOKEN: forge.token };
  return runGatehouse(['backtest', REPOSITORY, ...args], { env: { ...access, ...env } });
}

/** What happened to each rule, by pull request. */
async function outcomes(forge: SimulatedForge): Promise<ReadonlyMap<number, Readonly<Record<string, string>>>> {
  const { stdout } = await backtest(forge, ['--json']);
  const { verdicts }: { verdicts: { number: number; rules: { id: string; outcome: string }[] }[] } = JSON.parse(stdout);
  return new Map(
    verdicts.map(({ number, rules }) => [number, Object.fromEntries(rules.map(({ id, outcome }) => [id, outcome]))]),
  );
}

for (const name of FORGES) {
  test(`${name}: merged pull requests are judged as they were when they were merged`, async (t) => {
    await using world = await forgeWith(name);
    const { forge } = world;
    world.merge();
    world.merge({ title: 'Change it', approvedBy: [] });
    world.merge({ files: { 'src/app.ts': '1\n2\n3\n4\n' } });
    world.merge({ files: { 'docs/a.md': 'one\n' }, approvedBy: [] });
    world.merge({ files: { 'core/a.ts': 'one\n' }, approvedBy: ['bob', 'carol'] });
    forge.close(REPOSITORY, world.open({ title: 'not merged' }));
    world.open({ title: 'open' });
    const { code, stdout, stderr } = await backtest(forge);
    t.is(code, 0);
    t.snapshot(stdout.replaceAll(/\d{4}-\d\d-\d\d/g, 'DATE'));
    t.regex(
      stderr,
      /^At most 5060 requests: 60 for the policy and the list, 50 for each of 100 pull requests \(about \d+ for a small one\)\n5 of 5 judged\n$/,
    );
    t.is(forge.writes(), 0);
  });
}

test('reviews after the merge do not count, and one dismissed since is not known', async (t) => {
  const policy =
    'version: 1\nrules:\n  - { id: one, require: { approvals: 1 } }\n  - { id: two, require: { approvals: 2 } }\n';
  await using world = await forgeWith('github', { '.gatehouse.yml': policy });
  const { forge } = world;
  const late = world.merge({ approvedBy: [] });
  await until(() => Date.now() > Date.parse(forge.pull(REPOSITORY, late).merged?.at ?? '') + 1_000);
  forge.review(REPOSITORY, late, 'bob', 'approved');
  const dismissed = world.merge({ approvedBy: ['bob'] });
  forge.dismiss(REPOSITORY, dismissed, forge.pull(REPOSITORY, dismissed).reviews[0]?.id ?? 0);
  const enough = world.merge({ approvedBy: ['bob', 'carol'] });
  forge.dismiss(REPOSITORY, enough, forge.pull(REPOSITORY, enough).reviews[0]?.id ?? 0);
  const found = await outcomes(forge);
  t.deepEqual(found.get(late), { one: 'waits', two: 'waits' });
  t.deepEqual(found.get(dismissed), { one: 'cannot be judged', two: 'waits' });
  t.deepEqual(found.get(enough), { one: 'holds', two: 'cannot be judged' });
});

test('on GitHub whoever may not write today may have written then', async (t) => {
  await using world = await forgeWith('github', { '.gatehouse.yml': ONE_APPROVAL });
  const { forge } = world;
  const left = world.merge({ approvedBy: ['bob'] });
  const both = world.merge({ approvedBy: ['bob', 'carol'] });
  forge.addOutsider('bob');
  const found = await outcomes(forge);
  t.deepEqual(found.get(left), { one: 'cannot be judged' });
  t.deepEqual(found.get(both), { one: 'holds' });
});

for (const name of FORGES) {
  test(`${name}: what the forge no longer has cannot be judged, and the rest is`, async (t) => {
    await using world = await forgeWith(name, { '.gatehouse.yml': FOUR_RULES });
    const { forge } = world;
    const first = world.merge();
    const fork = forge.fork(REPOSITORY, 'mallory');
    forge.commit(fork, 'topic', { 'src/app.ts': 'one\n2\n3\n' }, { author: 'mallory' });
    const forked = forge.openPullRequest(REPOSITORY, {
      head: 'topic',
      from: fork,
      author: 'mallory',
      title: 'feat: it',
    });
    forge.merge(REPOSITORY, forked);
    forge.deleteRepository(fork);
    // As where the repository was restored from a backup, or its pull requests were imported.
    const paths = name === 'github' ? 'pulls/1/(files|commits)' : 'git/refs/pull/1/head';
    forge.fault({ path: new RegExp(`${paths}$`), fault: { kind: 'status', status: 404 } });
    const { code, stdout } = await backtest(forge);
    t.is(code, 0);
    t.regex(stdout, /\n2 of 2 would have been stopped|\n1 of 2 would have been stopped/);
    t.regex(stdout, /\n {4}not read: .*(no longer has its commits|not found)/);
    const found = await outcomes(forge);
    const gone = { titled: 'holds', small: 'cannot be judged', signed: 'cannot be judged' };
    t.like(found.get(first), gone);
    t.deepEqual(found.get(forked), { titled: 'holds', small: 'holds', signed: 'does not hold', one: 'waits' });
  });
}

for (const name of FORGES) {
  test(`${name}: a merged pull request without commits never meets their rules`, async (t) => {
    await using world = await forgeWith(name, { '.gatehouse.yml': FOUR_RULES });
    const { forge } = world;
    const number = world.merge({ approvedBy: ['bob'] });
    // As Gitea lists what it has merged before it knew what to compare it with.
    forge.fault({ path: /pulls\/1\/(commits|files)$/, fault: { kind: 'json', body: [] } });
    forge.fault({ path: /pulls\/1\.diff$/, fault: { kind: 'json', body: '' } });
    const { stdout } = await backtest(forge);
    t.regex(stdout, /not read: .*#1: the forge lists no commits of this pull request, and it must have some/);
    t.deepEqual((await outcomes(forge)).get(number), {
      titled: 'holds',
      small: 'cannot be judged',
      signed: 'cannot be judged',
      one: 'cannot be judged',
    });
  });
}

test('CODEOWNERS is that of the merge, and not known where the change is to it', async (t) => {
  const policy = 'version: 1\nrules:\n  - { id: owned, require: { approvals: { from: [CODEOWNERS] } } }\n';
  await using world = await forgeWith('github', { '.gatehouse.yml': policy, CODEOWNERS: '* @bob\n' });
  const { forge } = world;
  const byBob = world.merge();
  const changing = world.merge({ files: { CODEOWNERS: '* @carol\n' } });
  const notByCarol = world.merge({ files: { 'src/app.ts': 'one\n3\n' } });
  const found = await outcomes(forge);
  t.deepEqual(found.get(byBob), { owned: 'holds' });
  t.deepEqual(found.get(changing), { owned: 'cannot be judged' });
  t.deepEqual(found.get(notByCarol), { owned: 'waits' });
});

test('an approval before an update from the base branch counts as it did then', async (t) => {
  const policy = 'version: 1\nrules:\n  - { id: one, require: { approvals: { count: 1, fresh: except-updates } } }\n';
  await using world = await forgeWith('gitea', { '.gatehouse.yml': policy });
  const { forge } = world;
  const updated = world.open();
  forge.commit(REPOSITORY, 'main', { 'other.ts': 'other\n' });
  forge.updateBranch(REPOSITORY, updated, 'alice');
  forge.merge(REPOSITORY, updated);
  const pushed = world.open();
  const side = forge.commit(REPOSITORY, 'side', { 'side.ts': 'side\n' });
  forge.commit(REPOSITORY, forge.pull(REPOSITORY, pushed).headBranch, { 'side.ts': 'side\n' }, { merging: [side] });
  forge.merge(REPOSITORY, pushed);
  const found = await outcomes(forge);
  t.deepEqual(found.get(updated), { one: 'holds' });
  t.deepEqual(found.get(pushed), { one: 'waits' });
});

test('a repository without merged pull requests is a sentence, not a fault', async (t) => {
  await using world = await forgeWith('forgejo');
  world.open();
  const { code, stdout, stderr } = await backtest(world.forge);
  t.is(code, 0);
  t.is(stdout, '');
  t.regex(stderr, /\nacme\/widgets has no merged pull requests: there is nothing to judge\.\n$/);
  t.like(JSON.parse((await backtest(world.forge, ['--json'])).stdout), { pullRequests: 0, judged: 0, verdicts: [] });
});

for (const name of FORGES) {
  test(`${name}: after a 429 half-way it says what to do, and continues there later`, async (t) => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'gatehouse-backtest-'));
    const cache = join(folder.path, 'cache');
    await using world = await forgeWith(name);
    const { forge } = world;
    for (let count = 0; count < 4; count += 1) {
      world.merge({ title: count === 3 ? 'Untitled' : 'feat: a change', files: { [`src/${count}.ts`]: 'one\n' } });
    }
    forge.fault({ path: /pulls\/2\/reviews$/, times: 1, fault: { kind: 'too-many', retryAfter: 600 } });
    const stopped = await backtest(forge, ['--cache', cache]);
    t.is(stopped.code, 3);
    t.regex(
      stopped.stderr,
      /\ngatehouse backtest: stopped after 2 of 4 pull requests: .*must wait until .*\nRun the same command again after \d{4}-.*Z: it continues where it stopped, with what is in .*cache\.\n$/,
    );
    t.regex(
      stopped.stdout,
      /^acme\/widgets: 2 merged pull requests, .*[\s\S]*\n1 of 2 would have been stopped\n {2}#4 "Untitled"/,
    );
    t.is((await stat(cache)).mode & 0o777, 0o700);
    for (const file of await readdir(cache)) {
      t.is((await stat(join(cache, file))).mode & 0o777, 0o600);
    }

    forge.forgetRequests();
    const again = await backtest(forge, ['--cache', cache, '--json']);
    t.is(again.code, 0);
    t.like(JSON.parse(again.stdout), { judged: 4, complete: true, fromCache: 2 });
    t.deepEqual(
      forge.seen.filter(({ path }) => /\/pull(s)?\/[34]\//.test(path)),
      [],
    );
    t.true(forge.seen.some(({ path }) => /\/pulls\/1\//.test(path)));
    t.is(JSON.parse(again.stdout).requests, forge.seen.length);

    const whole = JSON.parse((await backtest(forge, ['--json'])).stdout);
    t.deepEqual(JSON.parse(again.stdout).verdicts, whole.verdicts, 'the same with and without a cache');
    const without = await failing(forge);
    t.regex(
      without,
      /\nRun the same command again after .*: it begins again; with --cache <folder> it would continue where it stopped\.\n$/,
    );
  });
}

async function failing(forge: SimulatedForge): Promise<string> {
  forge.fault({ path: /pulls\/2\/reviews$/, times: 1, fault: { kind: 'too-many', retryAfter: 600 } });
  return (await backtest(forge)).stderr;
}

test('it stops while less of the limit is left than is reserved', async (t) => {
  await using world = await forgeWith('github', { '.gatehouse.yml': ONE_APPROVAL });
  const { forge } = world;
  world.merge();
  world.merge();
  forge.rateLimit.remaining = 2_506;
  const { code, stderr } = await backtest(forge);
  t.is(code, 3);
  t.regex(
    stderr,
    /stopped after 1 of 2 pull requests: 2499 of 5000 requests are left of the forge's limit, and 2500 are reserved\nRun the same command again after /,
  );
  t.is((await backtest(forge, ['--reserve', '0'])).code, 0);
  t.is((await backtest(forge, ['--reserve', '49'])).code, 0);
  t.is((await backtest(forge, ['--reserve', 'half'])).code, 64);
});

test('a forge that stops answering ends it, and one answer that fails does not', async (t) => {
  await using world = await forgeWith('gitea', { '.gatehouse.yml': ONE_APPROVAL });
  const { forge } = world;
  for (let count = 0; count < 5; count += 1) {
    world.merge();
  }
  forge.fault({ path: /pulls\/4\/reviews$/, fault: { kind: 'status', status: 500 } });
  const one = await backtest(forge);
  t.is(one.code, 0);
  t.regex(
    one.stdout,
    /\n1 of 5 cannot be decided.*\n {2}#4 .*\n {4}one: cannot be judged: .*\n {4}not read: .*answered 500\n/,
  );
  forge.fault({ path: /pulls\/[123]\/reviews$/, fault: { kind: 'status', status: 500 } });
  const all = await backtest(forge);
  t.is(all.code, 3);
  t.regex(all.stdout, /^acme\/widgets: 1 merged pull request,/);
  t.regex(all.stderr, /stopped after 1 of 5 pull requests: GET .*answered 500\nRun the same command again: /);
});

test('a pull request with more than 50 requests is left undecided', async (t) => {
  await using world = await forgeWith('github', { '.gatehouse.yml': ONE_APPROVAL });
  const { forge } = world;
  const large = world.open({ approvedBy: [] });
  for (let count = 0; count < 5_100; count += 1) {
    forge.review(REPOSITORY, large, 'bob', 'commented');
  }
  forge.merge(REPOSITORY, large);
  const found = await backtest(forge);
  t.regex(
    found.stdout,
    /\n1 of 1 cannot be decided[\s\S]*not read: it takes more requests to the forge than one pull request may take\n/,
  );
  t.true(forge.count('GET', /reviews$/) <= 50);
});

test('a folder that others may look into is not used as a cache', async (t) => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'gatehouse-backtest-'));
  await chmod(folder.path, 0o755);
  await using world = await forgeWith('gitea');
  world.merge();
  const { code, stderr } = await backtest(world.forge, ['--cache', folder.path]);
  t.is(code, 64);
  t.regex(stderr, /--cache: others can read .*, and it holds private content: chmod 700 it\n/);
  t.is(world.forge.seen.length, 0);
});

test('a cache that was damaged, or lacks what a policy needs, is read again', async (t) => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'gatehouse-backtest-'));
  await using world = await forgeWith('gitea', { '.gatehouse.yml': ONE_APPROVAL });
  const { forge } = world;
  world.merge();
  const run = async () => JSON.parse((await backtest(forge, ['--cache', folder.path, '--json'])).stdout);
  t.is((await run()).fromCache, 0);
  t.is((await run()).fromCache, 1);
  const [file = ''] = await readdir(folder.path);
  const text = await readFile(join(folder.path, file), 'utf8');
  await writeFile(join(folder.path, file), text.replaceAll('approved', 'rejected'));
  const repaired = await run();
  t.is(repaired.fromCache, 0);
  t.is(repaired.verdicts[0].outcome, 'passed');
  forge.commit(REPOSITORY, 'main', { '.gatehouse.yml': POLICY });
  t.is((await run()).fromCache, 0, 'another policy needs the changed files');
  forge.commit(REPOSITORY, 'main', { '.gatehouse.yml': ONE_APPROVAL });
  t.is((await run()).fromCache, 1, 'and this one no more than they');
});

test('--policy takes a file, and without any policy that is what to do', async (t) => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'gatehouse-backtest-'));
  const file = join(folder.path, 'next.yml');
  await using world = await forgeWith('gitea', {});
  world.merge();
  const none = await backtest(world.forge);
  t.is(none.code, 2);
  t.regex(none.stderr, /acme\/widgets has no policy in its default branch main, .*name one with --policy <file>\n$/);
  await writeFile(file, 'version: 1\nrules:\n  - { id: titled, require: { title: "^fix" } }\n');
  const judged = await backtest(world.forge, ['--policy', file]);
  t.is(judged.code, 0);
  t.regex(judged.stdout, /\ntitled \* +error +0 +1 +0 +0 +0\n/);
  t.regex(judged.stderr, /^At most 60 requests: 60 for the policy and the list, none for each of 100/);
  await writeFile(file, 'version: 1\nrules:\n  - { id: a, requires: { draft: false } }\n');
  const broken = await backtest(world.forge, ['--policy', file]);
  t.is(broken.code, 2);
  t.regex(
    broken.stderr,
    /^gatehouse backtest: the policy cannot be used:\n {2}.*next\.yml:3:\d+: unknown key "requires"/,
  );
});

test('the repository is a name or an address of the configured forge', async (t) => {
  await using world = await forgeWith('gitea');
  const { forge } = world;
  world.merge();
  const env = { FORGE: 'gitea', FORGE_URL: forge.url, FORGE_TOKEN: forge.token };
  const run = (repository: string) => runGatehouse(['backtest', repository], { env });
  // A process: it has to end.
  t.is((await gatehouse(['backtest', `${forge.url}/${REPOSITORY}`], env).ended()).code, 0);
  const other = await run('https://git.example.com/acme/widgets');
  t.is(other.code, 64);
  t.regex(other.stderr, /is not a repository of the configured forge, gitea at /);
  t.is((await run('widgets')).code, 64);
  const missing = await run('acme/gone');
  t.is(missing.code, 2);
  t.regex(missing.stderr, /acme\/gone does not exist, or these credentials may not see it\n$/);
  forge.rename(REPOSITORY, 'acme/gadgets');
  t.regex((await run(REPOSITORY)).stdout, /^acme\/gadgets: 1 merged pull request,/);
});
