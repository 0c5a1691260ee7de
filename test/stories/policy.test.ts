import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { forgesOf, type Scene, shareStories, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES);

const STRICT = `version: 1
rules:
  - id: small
    require: { changed_files: '<= 1' }
`;
const LENIENT = STRICT.replace('<= 1', '<= 9');
const BROKEN = `version: 1
rules:
  - id: small
    requires: { changed_files: '<= 1' }
`;
const TWO_FILES = { 'a.txt': 'a\n', 'b.txt': 'b\n' };

async function judged(scene: Scene, files: Readonly<Record<string, string | null>>): Promise<number> {
  const number = await scene.settled(scene.open(files));
  return number;
}

for (const name of FORGES) {
  test(`${name}: an invalid policy on the base branch is an error with the reason`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': BROKEN });
    const number = await judged(scene, TWO_FILES);
    t.is(scene.status(number)?.state, 'error');
    t.regex(scene.status(number)?.description ?? '', /^The policy cannot be used: \.gatehouse\.yml:\d/);
    const [comment = ''] = scene.comments(number);
    t.regex(comment, /`\.gatehouse\.yml:4:5`/, 'the file, the line and the column');
    t.regex(comment, /requires.*did you mean.*require/);
  });

  test(`${name}: a pull request that fixes an invalid policy says so, and does not pass`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': BROKEN });
    const number = await judged(scene, { '.gatehouse.yml': LENIENT });
    t.is(scene.status(number)?.state, 'error');
    t.regex(scene.comments(number).join(), /own policy file is valid: merging it fixes this/);

    const other = await judged(scene, TWO_FILES);
    t.is(scene.status(other)?.state, 'error');
    scene.forge.merge(scene.repository, number);
    await scene.tell({ kind: 'push', branch: 'main' });
    t.is(await scene.verdict(other), 'success', 'what was open when the policy was fixed is judged again');
    t.regex(scene.comments(other).join(), /✅/);
  });

  test(`${name}: a pull request is judged by the policy of its base, not its own`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': STRICT });
    const weakening = await judged(scene, { ...TWO_FILES, '.gatehouse.yml': LENIENT });
    t.is(scene.status(weakening)?.state, 'failure');
    const deleting = await judged(scene, { ...TWO_FILES, '.gatehouse.yml': null });
    t.is(scene.status(deleting)?.state, 'failure');
    const moving = await judged(scene, {
      ...TWO_FILES,
      '.gatehouse.yml': null,
      '.github/gatehouse.yml': LENIENT,
    });
    t.is(scene.status(moving)?.state, 'failure');
  });

  test(`${name}: a pull request with an invalid policy fails, with the line`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': LENIENT });
    const number = await judged(scene, { '.gatehouse.yml': BROKEN });
    t.deepEqual(scene.status(number), { state: 'failure', description: '.gatehouse.yml as proposed has 1 fault' });
    t.regex(scene.comments(number).join(), /as this pull request changes it has faults.*`\.gatehouse\.yml:4:5`/s);

    await scene.push(number, { '.gatehouse.yml': STRICT });
    t.is(await scene.verdict(number), 'success');
  });

  test(`${name}: the first policy of a repository is checked in its pull request`, async (t) => {
    const scene = gatehouse(name).scene({ 'README.md': 'Hello\n' });
    const broken = await judged(scene, { '.gatehouse.yml': BROKEN });
    t.is(scene.status(broken)?.state, 'failure');
    t.regex(scene.comments(broken).join(), /`\.gatehouse\.yml:4:5`/);
    const good = await judged(scene, { '.gatehouse.yml': STRICT, 'a.txt': 'a\n' });
    t.deepEqual(scene.status(good), { state: 'success', description: 'No rule applies to this pull request' });
  });

  test(`${name}: a first policy under nearly the right name fails, with the right one`, async (t) => {
    const scene = gatehouse(name).scene({ 'README.md': 'Hello\n' });
    const [path, meant] = ['.github/.gatehouse.yml', '.github/gatehouse.yml'];
    const number = await judged(scene, { [path]: STRICT, 'a.txt': 'a\n' });
    t.deepEqual(scene.status(number), { state: 'failure', description: `${path} as proposed has 1 fault` });
    const [comment = '', ...others] = scene.comments(number);
    t.true(
      comment.includes(`\`${path}:1:1\` \`Gatehouse doesn’t read a file with this name: rename it to ${meant}\``),
      comment,
    );
    t.deepEqual(others, []);
    await scene.push(number, { [path]: null, [meant]: STRICT });
    t.not(await scene.verdict(number), 'failure', meant);
    const writes = scene.writes();
    await judged(scene, { 'deep/gatehouse.yml': STRICT, '.github/workflows/gatehouse.yml': 'on: push\n' });
    t.is(scene.writes(), writes, 'other files have such names for other reasons');
  });

  test(`${name}: an extended policy under nearly the right name is named, if it may be`, async (t) => {
    const story = gatehouse(name);
    for (const [visibility, said] of [
      ['public', /it has \.github\/gatehouse\.yaml, and .* rename it to \.github\/gatehouse\.yml/],
      ['private', /or Gatehouse may not see it/],
    ] as const) {
      const common = story.scene({ '.github/gatehouse.yaml': STRICT });
      story.forge.setPrivate(common.repository, visibility === 'private');
      const scene = story.scene({ '.gatehouse.yml': `version: 1\nextends: ${common.repository}@main\n` });
      const number = await judged(scene, TWO_FILES);
      t.is(scene.status(number)?.state, 'error');
      t.regex(scene.comments(number).join(), said);
      t.is(scene.comments(number).join().includes('gatehouse.yaml'), visibility === 'public');
    }
  });

  // Serial: a resync meanwhile would update the links in comments.
  test.serial(`${name}: a policy change reviews every open pull request into the branch`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': LENIENT });
    const { forge, repository } = scene;
    forge.commit(repository, 'release', { 'release.txt': 'r\n' });
    const first = await judged(scene, TWO_FILES);
    const second = await judged(scene, { 'c.txt': 'c\n', 'd.txt': 'd\n' });
    const elsewhere = await scene.open({ 'e.txt': 'e\n', 'f.txt': 'f\n' }, { base: 'release' });
    const closed = await scene.settled(scene.open({ 'g.txt': 'g\n', 'h.txt': 'h\n' }));
    forge.close(repository, closed);

    forge.commit(repository, 'main', { '.gatehouse.yml': STRICT });
    await scene.settled(scene.tell({ kind: 'push', branch: 'main' }));
    t.deepEqual(
      [first, second, elsewhere, closed].map((number) => scene.status(number)?.state),
      ['failure', 'failure', 'success', 'pending'],
    );

    forge.commit(repository, 'main', { 'README.md': 'Nothing of the policy\n' });
    const writes = scene.writes();
    await scene.settled(scene.tell({ kind: 'push', branch: 'main' }));
    t.is(scene.writes(), writes);
  });

  test(`${name}: a policy may extend one of the same owner, and replace its rules`, async (t) => {
    const story = gatehouse(name);
    const common = story.scene({
      '.gatehouse.yml': `${STRICT}  - id: described\n    require: { body: '.' }\n`,
    });
    const extending = `version: 1\nextends: ${common.repository}@main\n`;
    const scene = story.scene({ '.gatehouse.yml': `${extending}${LENIENT.split('\n').slice(1).join('\n')}` });
    const number = await judged(scene, TWO_FILES);
    t.deepEqual(scene.status(number), { state: 'failure', description: '1 of 2 rules failed: described' });
    t.true(scene.comments(number).join().includes(`in \`${common.repository}@main\``), 'where the rule lives');
  });

  test(`${name}: extends never follows a repository to another owner or name`, async (t) => {
    const story = gatehouse(name);
    for (const moved of ['evil/policies', 'acme/policies-2']) {
      const common = story.scene({ '.gatehouse.yml': STRICT });
      const extending = `version: 1\nextends: ${common.repository}@main\n`;
      const scene = story.scene({ '.gatehouse.yml': extending });
      const number = await judged(scene, TWO_FILES);
      t.is(scene.status(number)?.state, 'failure');
      story.forge.rename(common.repository, `${moved}-of-${common.repository.split('/')[1]}`);
      story.forge.commit(`${moved}-of-${common.repository.split('/')[1]}`, 'main', { '.gatehouse.yml': LENIENT });
      await scene.tell({ kind: 'pull-request', number, action: 'synchronize' });
      t.is(await scene.verdict(number), 'error', moved);
      t.false(scene.states(number).includes('success'));
      t.regex(scene.comments(number).join(), /was renamed or transferred: name it as it is called now/);
    }
  });

  test(`${name}: another repository of an extended name never judges`, async (t) => {
    const story = gatehouse(name);
    const common = story.scene({ '.gatehouse.yml': STRICT });
    const scene = story.scene({ '.gatehouse.yml': `version: 1\nextends: ${common.repository}@main\n` });
    const number = await judged(scene, TWO_FILES);
    t.is(scene.status(number)?.state, 'failure');
    story.forge.deleteRepository(common.repository);
    story.forge.createRepository(common.repository, { '.gatehouse.yml': LENIENT });
    await scene.tell({ kind: 'pull-request', number, action: 'synchronize' });
    t.is(await scene.verdict(number), 'error');
    t.false(scene.states(number).includes('success'));
    t.regex(scene.comments(number).join(), /extend a policy under another name/, 'what to do');

    const renamed = `${common.repository}-again`;
    story.forge.rename(common.repository, renamed);
    story.forge.commit(scene.repository, 'main', { '.gatehouse.yml': `version: 1\nextends: ${renamed}@main\n` });
    await scene.tell({ kind: 'pull-request', number, action: 'synchronize' });
    t.is(await scene.verdict(number), 'success');
  });

  test(`${name}: a proposal never decides which repository a name means`, async (t) => {
    const story = gatehouse(name);
    const common = story.scene({ '.gatehouse.yml': STRICT });
    const scene = story.scene({ '.gatehouse.yml': LENIENT });
    await judged(scene, { '.gatehouse.yml': `version: 1\nextends: ${common.repository}@main\n` });
    story.forge.deleteRepository(common.repository);
    story.forge.createRepository(common.repository, { '.gatehouse.yml': LENIENT });
    const extending = story.scene({ '.gatehouse.yml': `version: 1\nextends: ${common.repository}@main\n` });
    t.is(extending.status(await judged(extending, TWO_FILES))?.state, 'success');
  });

  test(`${name}: extends rejects another owner, a missing policy, and a chain`, async (t) => {
    const story = gatehouse(name);
    story.forge.createRepository('rivals/secrets', { '.gatehouse.yml': STRICT });
    const reads = () => story.forge.seen.filter(({ path }) => path.includes('rivals')).length;
    const before = reads();
    const foreign = story.scene({ '.gatehouse.yml': 'version: 1\nextends: rivals/secrets@main\nrules: []\n' });
    const inForeign = await judged(foreign, TWO_FILES);
    t.is(foreign.status(inForeign)?.state, 'error');
    t.regex(foreign.comments(inForeign).join(), /belongs to another owner/);
    t.is(reads() - before, 0, 'it was not even looked at');

    const missing = story.scene({ '.gatehouse.yml': 'version: 1\nextends: acme/nowhere@main\nrules: []\n' });
    const inMissing = await judged(missing, TWO_FILES);
    t.regex(missing.comments(inMissing).join(), /no policy can be read/);

    const one = story.scene({});
    const other = story.scene({ '.gatehouse.yml': `version: 1\nextends: ${one.repository}@main\nrules: []\n` });
    story.forge.commit(one.repository, 'main', {
      '.gatehouse.yml': `version: 1\nextends: ${other.repository}@main\nrules: []\n`,
    });
    const inLoop = await judged(one, TWO_FILES);
    t.is(one.status(inLoop)?.state, 'error');
    t.regex(one.comments(inLoop).join(), /only one level is supported/);
  });

  test(`${name}: the operator's policy is used only where a repository has none`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-policy-'));
    t.teardown(() => rm(folder, { recursive: true }));
    const file = join(folder, 'organisation.yml');
    await writeFile(file, STRICT);
    await using story = await tellStory(name, { 'README.md': 'Hello\n' }, { POLICY_FILE: file });
    const without = await judged(story, TWO_FILES);
    t.deepEqual(story.status(without), { state: 'failure', description: '1 of 1 rule failed: small' });
    t.true(story.comments(without).join().includes('organisation.yml'));

    const own = story.scene({ '.gatehouse.yml': LENIENT });
    const withOwn = await judged(own, TWO_FILES);
    t.is(own.status(withOwn)?.state, 'success');
  });
}
