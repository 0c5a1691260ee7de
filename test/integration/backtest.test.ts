import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ForgeName } from '../../src/forges/port/forges.ts';
import { forgesOf } from '../helpers/forges.ts';
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
  test(`${name}: merged pull requests are judged at the commit that was merged`, async (t) => {
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
    t.is(stderr, '5 of 5 judged\n');
    t.is(forge.writes(), 0);
  });
}

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
    const smallOnly = "version: 1\nrules:\n  - { id: small, require: { changed_lines: '<= 3' } }\n";
    forge.commit(REPOSITORY, 'main', { '.gatehouse.yml': smallOnly });
    t.deepEqual((await outcomes(forge)).get(number), { small: 'cannot be judged' });
  });

  test(`${name}: what is pushed to a branch after its merge is not judged`, async (t) => {
    await using world = await forgeWith(name, { '.gatehouse.yml': FOUR_RULES });
    const { forge } = world;
    const number = world.merge();
    forge.commit(REPOSITORY, forge.pull(REPOSITORY, number).headBranch, { 'src/app.ts': '1\n2\n3\n4\n' });
    t.like((await outcomes(forge)).get(number), { small: 'holds', one: 'holds' });
  });

  test(`${name}: reviews, teams and CODEOWNERS are those of today, and it says so`, async (t) => {
    const policy = `version: 1
rules:
  - { id: owned, require: { approvals: { from: [CODEOWNERS] } } }
  - { id: core, require: { approvals: { from: ['@acme/core'] } } }
`;
    await using world = await forgeWith(name, { '.gatehouse.yml': policy, CODEOWNERS: '* @bob\n' });
    const { forge } = world;
    forge.createTeam('acme/core', ['bob']);
    const byBob = world.merge();
    const late = world.merge({ approvedBy: [], files: { 'src/app.ts': 'one\n3\n' } });
    forge.commit(REPOSITORY, 'main', { CODEOWNERS: '* @carol\n' });
    forge.review(REPOSITORY, late, 'carol', 'approved');
    const found = await outcomes(forge);
    t.deepEqual(found.get(byBob), { owned: 'waits', core: 'holds' });
    t.deepEqual(found.get(late), { owned: 'holds', core: 'waits' });
    const { asOfToday } = JSON.parse((await backtest(forge, ['--json'])).stdout);
    t.deepEqual(asOfToday, ['reviews', 'a CODEOWNERS file', 'members of teams']);
  });
}

test('whether the author contributed for the first time then is not known', async (t) => {
  const policy = `version: 1
rules:
  - { id: two, when: { contributors: { first_time: true } }, require: { approvals: 2 } }
`;
  await using world = await forgeWith('github', { '.gatehouse.yml': policy });
  const number = world.merge();
  t.deepEqual((await outcomes(world.forge)).get(number), { two: 'cannot be judged' });
});

for (const name of FORGES) {
  test(`${name}: an approval before an update of the branch counts as it did then`, async (t) => {
    const policy = 'version: 1\nrules:\n  - { id: one, require: { approvals: { count: 1, fresh: except-updates } } }\n';
    await using world = await forgeWith(name, { '.gatehouse.yml': policy });
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
}

test('a repository without merged pull requests is a sentence, not a fault', async (t) => {
  await using world = await forgeWith('forgejo');
  world.open();
  const { code, stdout, stderr } = await backtest(world.forge);
  t.is(code, 0);
  t.is(stdout, '');
  t.is(stderr, 'acme/widgets has no merged pull requests: there is nothing to judge.\n');
  t.like(JSON.parse((await backtest(world.forge, ['--json'])).stdout), { pullRequests: 0, judged: 0, verdicts: [] });
});

for (const name of FORGES) {
  test(`${name}: after a 429 half-way it prints what was judged`, async (t) => {
    await using world = await forgeWith(name);
    const { forge } = world;
    for (let count = 0; count < 4; count += 1) {
      world.merge({ title: count === 3 ? 'Untitled' : 'feat: a change', files: { [`src/${count}.ts`]: 'one\n' } });
    }
    forge.fault({ path: /pulls\/2\/reviews$/, fault: { kind: 'too-many', retryAfter: 600 } });
    const stopped = await backtest(forge);
    t.is(stopped.code, 3);
    t.regex(stopped.stderr, /^gatehouse backtest: stopped after 2 of 4 pull requests: .*must wait until .*\n$/);
    t.regex(
      stopped.stdout,
      /^acme\/widgets: 2 merged pull requests, .*[\s\S]*\n1 of 2 would have been stopped\n {2}#4 "Untitled"/,
    );
    const { code, stdout } = await backtest(forge, ['--json']);
    t.is(code, 3);
    t.like(JSON.parse(stdout), { pullRequests: 4, judged: 2, complete: false });
  });
}

test('the last 500 requests of an hour are left to reviews', async (t) => {
  await using world = await forgeWith('github', { '.gatehouse.yml': ONE_APPROVAL });
  const { forge } = world;
  world.merge();
  world.merge();
  forge.forgetRequests();
  t.is((await backtest(forge, ['--limit', '1'])).code, 0);
  const ofOne = forge.count('GET');
  // Enough for what judging one takes, and for two requests of the next.
  forge.rateLimit.remaining = 502 + ofOne;
  const { code, stdout, stderr } = await backtest(forge);
  t.is(code, 3);
  t.regex(stdout, /^acme\/widgets: 1 merged pull request,/);
  t.regex(
    stderr,
    /^gatehouse backtest: stopped after 1 of 2 pull requests: (?:49\d|500) requests are left of the forge's limit until \d{4}-.*Z, and they are kept for reviews\n$/,
  );
  const { remaining } = forge.rateLimit;
  t.is((await backtest(forge)).code, 3);
  t.is(forge.rateLimit.remaining, remaining - 1, 'the first answer says that there are no more');
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
  t.regex(all.stderr, /stopped after 1 of 5 pull requests: GET .*answered 500\n$/);
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
  t.regex(judged.stdout, /\ntitled +error +0 +1 +0 +0 +0\nAs of today, not as of the merge: title\.\n\n/);
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
