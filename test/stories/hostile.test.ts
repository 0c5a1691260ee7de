import type { ExecutionContext } from 'ava';
import { CLIENTS, GITEAS } from '../helpers/forges.ts';
import { policy, SLOW_TO_PARSE } from '../helpers/hostile-policies.ts';
import { TITLES } from '../helpers/policies.ts';
import { forgesOf, pathsOfReads, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { symlink } from '../simulated-forge/git.ts';

const FORGES = forgesOf(import.meta.url);

/**
 * What somebody can try who can only open a pull request. The rest is where its subject is: the same head into an easier branch
 * (shared-head), changes while a review runs (stale-review), bought approvals (integration/forges/authors), texts that imitate
 * Gatehouse (inline, unit/review/render), too many and too large changes (burst, large-changes, integration/forges/large).
 */
const gatehouse = shareStories(test, [...FORGES, ...CLIENTS, 'forgejo'], { own: true });
/** Where a policy may take a fifth of its usual time, for those that would take minutes. */
const impatient = shareStories(test, CLIENTS, { maxTaskMs: 400 });

const LAX = TITLES.replace('^feat: ', '');
const OWNED = policy('    require: { approvals: { from: [CODEOWNERS] } }');
const TITLED = `    require: { title: '^feat: ' }`;

/** More than any forge shows at once. Every other text that is too much is a row of unit/review/policy. */
const TOO_LONG = `# ${'x'.repeat(1_200_000)}\n`;

/** In the place of the policy. What else is no file is a row of integration/forges/reading. */
const LINK = { '.gatehouse.yml': symlink('no/such/file.yml') };
const NO_FILE = '.gatehouse.yml is a symbolic link; a policy must be a file';

for (const name of CLIENTS) {
  test(`${name}: a policy that is too long is rejected with an explanation`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': TOO_LONG });
    const number = await scene.open({ 'a.txt': 'a\n' });
    t.is(await scene.verdict(number), 'error');
    t.regex(scene.comments(number).join(), /too large/);

    const calm = gatehouse(name).scene({ '.gatehouse.yml': policy(TITLED) });
    const proposing = await calm.open({ '.gatehouse.yml': TOO_LONG });
    t.is(await calm.verdict(proposing), 'failure');
    t.regex(calm.comments(proposing).join(), /too large/);
  });

  test(`${name}: a policy that is a link is an error, not taken for none`, async (t) => {
    const scene = gatehouse(name).scene(LINK);
    const number = await scene.open({ 'a.txt': 'a\n' });
    t.is(await scene.verdict(number), 'error');
    t.true(scene.status(number)?.description.includes(NO_FILE), scene.status(number)?.description);
    t.true(scene.comments(number).join().includes(NO_FILE));
  });

  test(`${name}: a proposed policy that is a link is a fault`, async (t) => {
    for (const files of [{ '.gatehouse.yml': policy(TITLED) }, { 'README.md': 'x\n' }]) {
      const scene = gatehouse(name).scene(files);
      const number = await scene.open(LINK, { title: 'feat: x' });
      t.is(await scene.verdict(number), 'failure');
      t.true(scene.comments(number).join().includes(NO_FILE));
    }
  });

  test(`${name}: CODEOWNERS that is a directory is an error until it is a file`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': OWNED, 'CODEOWNERS/a.txt': '* @mallory\n' });
    const number = await scene.open({ 'a.txt': 'a\n' });
    t.is(await scene.verdict(number), 'error');
    t.regex(scene.comments(number).join(), /CODEOWNERS is a directory/);
    await scene.push('main', { 'CODEOWNERS/a.txt': null, CODEOWNERS: '* @olivia\n' });
    t.is(await scene.verdict(number), 'pending');
  });

  test(`${name}: a proposed policy that compiles too long fails and stops nothing`, async (t) => {
    // Nobody has to have asked Gatehouse for anything: the repository has no policy.
    const scene = impatient(name).scene({ 'README.md': 'x\n' });
    const number = await scene.open({ '.gatehouse.yml': SLOW_TO_PARSE });
    t.is(await scene.verdict(number), 'failure');
    t.regex(scene.comments(number).join(), /reading this policy takes more than the 0\.4 seconds/);
    t.true((await scene.metric('gatehouse_tasks_ended_total{task="parsePolicy",limit="time"}')) > 0);
  });

  test(`${name}: no verdict mixes two heads that take turns by force-pushes`, async (t) => {
    const rule = `    forbid: { added_lines: debugger }`;
    const scene = gatehouse(name).scene({ '.gatehouse.yml': policy(rule) });
    const { forge, repository } = scene;
    const number = scene.openSilently({ 'a.txt': 'fine\n' });
    const fine = forge.pull(repository, number).headSha;
    const bad = forge.forcePush(repository, number, { 'a.txt': 'debugger\n' });
    scene.when('GET', new RegExp(`^/repos/${repository}/pulls/${number}/files`), () => {
      forge.pushCommit(repository, number, fine);
      scene.when(undefined, pathsOfReads(repository, number), () => forge.pushCommit(repository, number, bad));
    });
    await scene.judge(number);
    t.false(scene.states(bad).includes('success'), scene.states(bad).join());
    t.is(scene.status(number)?.state, 'failure');
  });

  test(`${name}: no verdict is of the commits of another head`, async (t) => {
    const rule = `    require: { commits: { every: { message: '^feat: ' } } }`;
    const scene = gatehouse(name).scene({ '.gatehouse.yml': policy(rule) });
    const { forge, repository } = scene;
    const number = scene.openSilently({ 'a.txt': 'a\n' });
    const bad = forge.forcePush(repository, number, { 'a.txt': 'b\n' }, { message: 'things' });
    const fine = forge.forcePush(repository, number, { 'a.txt': 'b\n' }, { message: 'feat: things' });
    forge.pushCommit(repository, number, bad);
    scene.when(undefined, new RegExp(`/repos/${repository}/pulls/${number}/(?:commits|facts)`), () => {
      forge.pushCommit(repository, number, fine);
      scene.when(undefined, pathsOfReads(repository, number), () => forge.pushCommit(repository, number, bad));
    });
    await scene.judge(number);
    t.false(scene.states(bad).includes('success'), scene.states(bad).join());
    t.is(scene.status(number)?.state, 'failure');
  });

  test(`${name}: a tag named like the base branch does not replace its files`, async (t) => {
    for (const [files, state] of [
      [{ '.gatehouse.yml': TITLES }, 'failure'],
      [{ '.gatehouse.yml': OWNED, CODEOWNERS: '* @bob\n' }, 'pending'],
    ] as const) {
      const scene = gatehouse(name).scene(files);
      const { forge, repository } = scene;
      const lax = forge.commit(repository, 'lax', { '.gatehouse.yml': LAX, CODEOWNERS: '# nobody\n' });
      forge.tag(repository, 'main', lax);
      const number = await scene.open({ 'a.txt': 'a\n' }, { title: 'things' });
      t.is(await scene.verdict(number), state);
    }
  });

  test(`${name}: extends reads a branch, a tag or a commit, and a branch before a tag`, async (t) => {
    const shared = `acme/policies-${name}`;
    const { forge } = gatehouse(name);
    forge.createRepository(shared, { '.gatehouse.yml': TITLES });
    const lax = forge.commit(shared, 'lax', { '.gatehouse.yml': LAX });
    forge.tag(shared, 'main', lax);
    forge.tag(shared, 'v1', lax);
    const states = await Promise.all(
      ['main', 'v1', lax].map(async (ref) => {
        const scene = gatehouse(name).scene({
          '.gatehouse.yml': `version: 1\nextends: ${shared}@${ref}\nrules: []\n`,
        });
        const number = await scene.open({ 'a.txt': 'a\n' }, { title: 'things' });
        return scene.verdict(number);
      }),
    );
    t.deepEqual(states, ['failure', 'success', 'success']);
  });
}

/** GitHub refuses such names. */
for (const name of ['gitea', 'forgejo'] as const) {
  for (const kind of ['branch', 'tag'] as const) {
    test(`${name}: a ${kind} named like the base commit never replaces its files`, async (t) => {
      const scene = gatehouse(name).scene({ '.gitea/gatehouse.yml': OWNED, '.gitea/CODEOWNERS': '* @bob\n' });
      const { forge, repository } = scene;
      const base = forge.head(repository, 'main');
      const files = { '.gitea/gatehouse.yml': LAX, '.gitea/CODEOWNERS': '# nobody\n' };
      const lax = forge.commit(repository, 'lax', files);
      if (kind === 'tag') {
        forge.tag(repository, base, lax);
      } else {
        forge.reset(repository, base, lax);
      }
      const number = await scene.open({ 'a.txt': 'a\n' });
      t.is(await scene.verdict(number), 'pending');
    });
  }
}

for (const name of FORGES) {
  test(`${name}: a NUL byte in a text file never hides its lines from a rule`, async (t) => {
    const noDebugging = "    forbid: { added_lines: debugger, in: '**/*.ts' }";
    const scene = gatehouse(name).scene({ '.gatehouse.yml': policy(noDebugging) });
    const number = await scene.open({ 'src/a.ts': 'debugger\n// \0\n' });
    t.is(await scene.verdict(number), 'error');
    t.regex(scene.comments(number).join(), /src\/a\.ts/);
  });

  test(`${name}: neither the author nor a changed CODEOWNERS can approve`, async (t) => {
    const story = gatehouse(name);
    story.forge.addOutsider('otto');
    // Gitea and Forgejo read expressions where GitHub reads globs; this is either.
    const owners = (login: string) => ({ CODEOWNERS: `.* @${login}\n* @${login}\n` });
    const scene = story.scene({ '.gatehouse.yml': OWNED, ...owners('olivia') });
    const number = await scene.open({ 'a.txt': 'a\n', ...owners('mallory') }, { author: 'mallory' });
    for (const [login, says, state] of [
      ['mallory', 'approved', 'pending'],
      ['otto', 'approved', 'pending'],
      ['olivia', 'commented', 'pending'],
      ['olivia', 'approved', 'success'],
      ['olivia', 'changes-requested', 'pending'],
    ] as const) {
      await scene.review(number, login, says);
      t.is(await scene.verdict(number), state, `${login} ${says}`);
    }
    const anyone = story.scene({ '.gatehouse.yml': policy('    require: { approvals: 1 }') });
    const other = await anyone.open({ 'a.txt': 'a\n' }, { author: 'mallory' });
    for (const [login, state] of [
      ['mallory', 'pending'],
      ['otto', 'pending'],
      ['olivia', 'success'],
    ] as const) {
      await anyone.review(other, login, 'approved');
      t.is(await anyone.verdict(other), state, `${login}, of anybody`);
    }
  });
}

/** A repository that mallory cannot see, and which a policy that they propose would show. */
async function assertUnread(
  t: ExecutionContext,
  scene: Scene,
  propose: (files: Readonly<Record<string, string>>) => Promise<number>,
): Promise<void> {
  const secret = `acme/secret-${scene.repository.split('/')[1]}`;
  scene.forge.createRepository(secret, { '.gatehouse.yml': 'version: 1\nrules: [{ id: TOP-SECRET }]\n' });
  const number = await propose({ '.gatehouse.yml': `version: 1\nextends: ${secret}@main\nrules: []\n` });
  await scene.settled();
  t.false(scene.forge.seen.some(({ path }) => path.includes(secret)));
  t.notRegex(scene.comments(number).join(), /TOP-SECRET/);
}

// On Gitea and Forgejo the pull request of a deleted fork is closed.
test('github: a proposed policy of a deleted fork reads no other repository', async (t) => {
  const scene = gatehouse('github').scene({ '.gatehouse.yml': 'version: 1\nrules: []\n' });
  const from = scene.forge.fork(scene.repository, 'mallory');
  const broken = scene.openSilently({ '.gatehouse.yml': 'version: 2\n' }, { from, author: 'mallory' });
  await assertUnread(t, scene, async (files) => {
    const number = scene.openSilently(files, { from, author: 'mallory' });
    scene.forge.deleteRepository(from);
    await scene.judge(number);
    return number;
  });
  t.is(await scene.judge(broken), 'failure', 'what a deleted fork proposes is read all the same');
});

for (const name of GITEAS) {
  test(`${name}: a stranger who pushes to refs/for never passes for a writer`, async (t) => {
    const rules = ['    require: { fork: false }', '    when: { fork: true }\n    require: { label: checked }'];
    const scene = gatehouse(name).scene({ '.gatehouse.yml': policy(...rules) });
    const own = await scene.open({ 'a.txt': 'a\n' });
    const pushed = await scene.pushForReview({ 'a.txt': 'a\n' });
    t.is(await scene.verdict(own), 'success');
    t.is(await scene.verdict(pushed), 'failure');
    t.regex(scene.comments(pushed).join(), /rule-0[\s\S]*rule-1/);
  });

  test(`${name}: a policy that a stranger pushes to refs/for reads no other repository`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': 'version: 1\nrules: []\n' });
    await assertUnread(t, scene, (files) => scene.pushForReview(files));
  });
}

// What a forge leaves out is undecided: integration/forges/missing-words has each word.
test('github: a forbidden draft is never green if it is not told', async (t) => {
  const { forge, repository, ...scene } = gatehouse('github').scene({
    '.gatehouse.yml': policy('    forbid: { draft: true }'),
  });
  forge.fault({ path: new RegExp(`^/graphql/repos/${repository}/pulls/`), fault: { kind: 'status', status: 502 } });
  const number = await scene.open({ 'a.txt': 'a\n' });
  t.is(await scene.verdict(number), 'success', 'where it tells');
  const answers = new RegExp(`^/repos/${repository}/pulls/1$`);
  forge.fault({ path: answers, fault: { kind: 'replace', text: '"draft":', by: '"x":' } });
  await scene.edit(number, { title: 'feat: another' });
  t.is(await scene.verdict(number), 'error');
});
