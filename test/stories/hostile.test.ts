import { CLIENTS } from '../helpers/forges.ts';
import { policy, SLOW_TO_PARSE } from '../helpers/hostile-policies.ts';
import { pathsOfReads, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { symlink } from '../simulated-forge/git.ts';

/**
 * What somebody can try who can only open a pull request. The rest is where its subject is: the same head into an easier branch
 * (shared-head), changes while a review runs (stale-review), NUL bytes, renames, deleted tests and forks (hidden-changes),
 * own and bought approvals (integration/forges/authors, safety), a policy or CODEOWNERS of a tag's (base-commit), other hosts and texts that
 * imitate Gatehouse (safety, inline), too many and too large changes (burst, large-changes, integration/forges/large),
 * checks (checks).
 */
const gatehouse = shareStories(test, CLIENTS);
/** Where a policy may take a fifth of its usual time, for those that would take minutes. */
const impatient = shareStories(test, CLIENTS, { maxTaskMs: 400 });

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

  test(`${name}: a proposed policy that compiles too long fails and stops nothing`, async (t) => {
    // Nobody has to have asked Gatehouse for anything: the repository has no policy.
    const scene = impatient(name).scene({ 'README.md': 'x\n' });
    const number = await scene.open({ '.gatehouse.yml': SLOW_TO_PARSE });
    t.is(await scene.verdict(number), 'failure');
    t.regex(scene.comments(number).join(), /reading this policy takes more than the 0\.4 seconds/);
    const metrics = await (await fetch(scene.door.metricsUrl)).text();
    t.regex(metrics, /gatehouse_tasks_ended_total\{task="parsePolicy",limit="time"\} \d/);
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
}
