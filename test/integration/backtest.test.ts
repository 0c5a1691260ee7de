import { mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ForgeName } from '../../src/forges/port/forges.ts';
import { forgesOf } from '../helpers/forges.ts';
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

const policyOf = (...rules: readonly string[]) =>
  `version: 1\nrules:\n${rules.map((rule) => `  - { ${rule} }\n`).join('')}`;
const ONE_APPROVAL = policyOf('id: one, require: { approvals: 1 }');

/** Of the title, the changed lines, the commits and the reviews. */
const FOUR_RULES = policyOf(
  "id: titled, require: { title: '^feat' }",
  "id: small, require: { changed_lines: '<= 3' }",
  'id: signed, require: { commits: { every: { signed_off: true } } }',
  'id: one, require: { approvals: 1 }',
);

interface Merge {
  readonly title?: string;
  readonly files?: Readonly<Record<string, string>>;
  readonly approvedBy?: readonly string[];
}

/** A forge with a repository that has this policy. It ends with the test. */
async function forgeWith(name: ForgeName, policy = POLICY, files: Readonly<Record<string, string>> = {}) {
  const forge = await startSimulatedForge({ forge: name });
  const policyFile = policy === '' ? {} : { '.gatehouse.yml': policy };
  forge.createRepository(REPOSITORY, { 'src/app.ts': 'one\ntwo\n', ...policyFile, ...files });
  const env = { FORGE: name, FORGE_URL: forge.url, FORGE_TOKEN: forge.token };
  const run = (...args: readonly string[]) => runGatehouse(['backtest', ...args], { env });
  let branches = 0;
  return {
    forge,
    env,
    run,
    backtest: (...args: readonly string[]) => run(REPOSITORY, ...args),
    async json() {
      return JSON.parse((await run(REPOSITORY, '--json')).stdout);
    },
    /** What happened to each rule, by pull request. */
    async outcomes(): Promise<Readonly<Record<number, string>>> {
      const { verdicts }: { verdicts: { number: number; rules: { id: string; outcome: string }[] }[] } =
        await this.json();
      const told = (rules: (typeof verdicts)[0]['rules']) => rules.map(({ id, outcome }) => `${id} ${outcome}`);
      return Object.fromEntries(verdicts.map(({ number, rules }) => [number, told(rules).join(', ')]));
    },
    /** Opens a pull request. */
    open({ title = 'feat: a change', files: changes, approvedBy = ['bob'] }: Merge = {}) {
      branches += 1;
      const head = `topic-${branches}`;
      forge.commit(REPOSITORY, head, changes ?? { 'src/app.ts': 'one\n2\n' });
      const number = forge.openPullRequest(REPOSITORY, { head, title });
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
    [Symbol.asyncDispose]: () => forge.stop(),
  };
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
    const { code, stdout, stderr } = await world.backtest();
    t.deepEqual([code, stderr], [0, '5 of 5 judged\n']);
    t.snapshot(stdout.replaceAll(/\d{4}-\d\d-\d\d/g, 'DATE'));
    t.is(forge.writes(), 0);
  });
}

for (const name of FORGES) {
  test(`${name}: what the forge no longer has cannot be judged, and the rest is`, async (t) => {
    await using world = await forgeWith(name, FOUR_RULES);
    const { forge } = world;
    const first = world.merge();
    const fork = forge.fork(REPOSITORY, 'mallory');
    const author = 'mallory';
    forge.commit(fork, 'topic', { 'src/app.ts': 'one\n2\n3\n' }, { author });
    const forked = forge.openPullRequest(REPOSITORY, { head: 'topic', from: fork, author, title: 'feat: it' });
    forge.merge(REPOSITORY, forked);
    forge.deleteRepository(fork);
    // As where the repository was restored from a backup, or its pull requests were imported.
    const paths = name === 'github' ? 'pulls/1/(files|commits)' : 'git/refs/pull/1/head';
    forge.fault({ path: new RegExp(`${paths}$`), fault: { kind: 'status', status: 404 } });
    const { code, stdout } = await world.backtest();
    t.is(code, 0);
    t.regex(stdout, /\n[12] of 2 would have been stopped/);
    t.regex(stdout, /\n {4}not read: .*(no longer has its commits|not found)/);
    const found = await world.outcomes();
    t.regex(found[first] ?? '', /^titled holds, small cannot be judged, signed cannot be judged, one /);
    t.is(found[forked], 'titled holds, small holds, signed does not hold, one waits');
  });

  test(`${name}: a merged pull request without commits never meets their rules`, async (t) => {
    await using world = await forgeWith(name, FOUR_RULES);
    const { forge } = world;
    world.merge();
    // As Gitea lists what it has merged before it knew what to compare it with.
    forge.fault({ path: /pulls\/1\/(commits|files)$/, fault: { kind: 'json', body: [] } });
    forge.fault({ path: /pulls\/1\.diff$/, fault: { kind: 'json', body: '' } });
    const { stdout } = await world.backtest();
    t.regex(stdout, /not read: .*#1: the forge lists no commits of this pull request, and it must have some/);
    const unknown = 'small cannot be judged, signed cannot be judged, one cannot be judged';
    t.deepEqual(await world.outcomes(), { 1: `titled holds, ${unknown}` });
    const smallOnly = policyOf("id: small, require: { changed_lines: '<= 3' }");
    forge.commit(REPOSITORY, 'main', { '.gatehouse.yml': smallOnly });
    t.deepEqual(await world.outcomes(), { 1: 'small cannot be judged' });
  });

  test(`${name}: what is pushed to a branch after its merge is not judged`, async (t) => {
    await using world = await forgeWith(name, FOUR_RULES);
    const { headBranch } = world.forge.pull(REPOSITORY, world.merge());
    world.forge.commit(REPOSITORY, headBranch, { 'src/app.ts': '1\n2\n3\n4\n' });
    t.deepEqual(await world.outcomes(), { 1: 'titled holds, small holds, signed does not hold, one holds' });
  });

  test(`${name}: reviews, teams and CODEOWNERS are those of today, and it says so`, async (t) => {
    const from = (whom: string, id: string) => `id: ${id}, require: { approvals: { from: ['${whom}'] } }`;
    const policy = policyOf(from('CODEOWNERS', 'owned'), from('@acme/core', 'core'));
    await using world = await forgeWith(name, policy, { CODEOWNERS: '* @bob\n' });
    const { forge } = world;
    forge.createTeam('acme/core', ['bob']);
    const byBob = world.merge();
    const late = world.merge({ approvedBy: [], files: { 'src/app.ts': 'one\n3\n' } });
    forge.commit(REPOSITORY, 'main', { CODEOWNERS: '* @carol\n' });
    forge.review(REPOSITORY, late, 'carol', 'approved');
    t.deepEqual(await world.outcomes(), { [byBob]: 'owned waits, core holds', [late]: 'owned holds, core waits' });
    t.deepEqual((await world.json()).asOfToday, ['reviews', 'a CODEOWNERS file', 'members of teams']);
  });

  test(`${name}: an approval before an update of the branch counts as it did then`, async (t) => {
    const policy = policyOf('id: one, require: { approvals: { count: 1, fresh: except-updates } }');
    await using world = await forgeWith(name, policy);
    const { forge } = world;
    const updated = world.open();
    forge.commit(REPOSITORY, 'main', { 'other.ts': 'other\n' });
    forge.updateBranch(REPOSITORY, updated, 'alice');
    forge.merge(REPOSITORY, updated);
    const pushed = world.open();
    const side = forge.commit(REPOSITORY, 'side', { 'side.ts': 'side\n' });
    forge.commit(REPOSITORY, forge.pull(REPOSITORY, pushed).headBranch, { 'side.ts': 'side\n' }, { merging: [side] });
    forge.merge(REPOSITORY, pushed);
    t.deepEqual(await world.outcomes(), { [updated]: 'one holds', [pushed]: 'one waits' });
  });

  test(`${name}: after a 429 half-way it prints what was judged`, async (t) => {
    await using world = await forgeWith(name);
    for (let count = 0; count < 4; count += 1) {
      world.merge({ title: count === 3 ? 'Untitled' : 'feat: a change', files: { [`src/${count}.ts`]: 'one\n' } });
    }
    world.forge.fault({ path: /pulls\/2\/reviews$/, fault: { kind: 'too-many', retryAfter: 600 } });
    const stopped = await world.backtest();
    t.is(stopped.code, 3);
    t.regex(stopped.stderr, /^gatehouse backtest: stopped after 2 of 4 pull requests: .*must wait until .*\n$/);
    t.regex(
      stopped.stdout,
      /^acme\/widgets: 2 merged pull requests, .*[\s\S]*\n1 of 2 would have been stopped\n {2}#4 "Untitled"/,
    );
    t.is((await world.backtest('--json')).code, 3);
    t.like(await world.json(), { pullRequests: 4, judged: 2, complete: false });
  });
}

test('whether the author contributed for the first time then is not known', async (t) => {
  const policy = policyOf('id: two, when: { contributors: { first_time: true } }, require: { approvals: 2 }');
  await using world = await forgeWith('github', policy);
  world.merge();
  t.deepEqual(await world.outcomes(), { 1: 'two cannot be judged' });
});

test('a repository without merged pull requests is a sentence, not a fault', async (t) => {
  await using world = await forgeWith('forgejo');
  world.open();
  const nothing = 'acme/widgets has no merged pull requests: there is nothing to judge.\n';
  t.deepEqual(await world.backtest(), { code: 0, stdout: '', stderr: nothing });
  const { pullRequests, judged, verdicts } = await world.json();
  t.deepEqual([pullRequests, judged, verdicts], [0, 0, []]);
});

test('the last 500 requests of an hour are left to reviews', async (t) => {
  await using world = await forgeWith('github', ONE_APPROVAL);
  const { forge } = world;
  world.merge();
  world.merge();
  forge.forgetRequests();
  t.is((await world.backtest('--limit', '1')).code, 0);
  const ofOne = forge.count('GET');
  // Enough for what judging one takes, and for two requests of the next.
  forge.rateLimit.remaining = 502 + ofOne;
  const { code, stdout, stderr } = await world.backtest();
  t.is(code, 3);
  t.regex(stdout, /^acme\/widgets: 1 merged pull request,/);
  t.regex(
    stderr,
    /^gatehouse backtest: stopped after 1 of 2 pull requests: (?:49\d|500) requests are left of the forge's limit until \d{4}-.*Z, and they are kept for reviews\n$/,
  );
  const { remaining } = forge.rateLimit;
  t.is((await world.backtest()).code, 3);
  t.is(forge.rateLimit.remaining, remaining - 1, 'the first answer says that there are no more');
});

test('a forge that stops answering ends it, and one answer that fails does not', async (t) => {
  await using world = await forgeWith('gitea', ONE_APPROVAL);
  const { forge } = world;
  for (let count = 0; count < 5; count += 1) {
    world.merge();
  }
  forge.fault({ path: /pulls\/4\/reviews$/, fault: { kind: 'status', status: 500 } });
  const one = await world.backtest();
  t.is(one.code, 0);
  t.regex(
    one.stdout,
    /\n1 of 5 cannot be decided.*\n {2}#4 .*\n {4}one: cannot be judged: .*\n {4}not read: .*answered 500\n/,
  );
  forge.fault({ path: /pulls\/[123]\/reviews$/, fault: { kind: 'status', status: 500 } });
  const all = await world.backtest();
  t.is(all.code, 3);
  t.regex(all.stdout, /^acme\/widgets: 1 merged pull request,/);
  t.regex(all.stderr, /stopped after 1 of 5 pull requests: GET .*answered 500\n$/);
});

test('--policy takes a file, and without any policy that is what to do', async (t) => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'gatehouse-backtest-'));
  const file = join(folder.path, 'next.yml');
  await using world = await forgeWith('gitea', '');
  world.merge();
  const none = await world.backtest();
  t.is(none.code, 2);
  t.regex(none.stderr, /acme\/widgets has no policy in its default branch main, .*name one with --policy <file>\n$/);
  await writeFile(file, policyOf("id: titled, require: { title: '^fix' }"));
  const judged = await world.backtest('--policy', file);
  t.is(judged.code, 0);
  t.regex(judged.stdout, /\ntitled +error +0 +1 +0 +0 +0\nAs of today, not as of the merge: title\.\n\n/);
  await writeFile(file, policyOf('id: a, requires: { draft: false }'));
  const broken = await world.backtest('--policy', file);
  t.is(broken.code, 2);
  t.regex(
    broken.stderr,
    /^gatehouse backtest: the policy cannot be used:\n {2}.*next\.yml:3:\d+: unknown key "requires"/,
  );
});

test('the repository is a name or an address of the configured forge', async (t) => {
  await using world = await forgeWith('gitea');
  const { forge, env, run } = world;
  world.merge();
  // A process: it has to end.
  t.is((await gatehouse(['backtest', `${forge.url}/${REPOSITORY}`], env).ended()).code, 0);
  for (const [asked, code, said] of [
    ['https://git.example.com/acme/widgets', 64, /is not a repository of the configured forge, gitea at /],
    ['widgets', 64, /^gatehouse backtest: /],
    ['acme/gone', 2, /acme\/gone does not exist, or these credentials cannot see it\n$/],
  ] as const) {
    const refused = await run(asked);
    t.is(refused.code, code);
    t.regex(refused.stderr, said);
  }
  forge.rename(REPOSITORY, 'acme/gadgets');
  t.regex((await run(REPOSITORY)).stdout, /^acme\/gadgets: 1 merged pull request,/);
});
