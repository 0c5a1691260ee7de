import { forgesOf, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { type Changes, symlink } from '../simulated-forge/git.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES);

const STRICT = `version: 1
rules:
  - id: small
    require: { changed_files: '<= 1' }
`;
const LENIENT = STRICT.replace('<= 1', '<= 9');
const BROKEN = STRICT.replace('require', 'requires');
const TWO_FILES = { 'a.txt': 'a\n', 'b.txt': 'b\n' };

const extending = (repository: string) => ({
  '.gatehouse.yml': `version: 1\nextends: ${repository}@main\nrules: []\n`,
});

/** What a pull request with these files shows. */
async function judged(scene: Scene, files: Changes) {
  const number = await scene.settled(scene.open(files));
  return { number, ...scene.status(number), said: scene.comments(number).join() };
}

for (const name of FORGES) {
  test(`${name}: a pull request that fixes an invalid policy says so, and does not pass`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': BROKEN });
    const fixing = await judged(scene, { '.gatehouse.yml': LENIENT });
    t.is(fixing.state, 'error');
    t.regex(fixing.said, /own policy file is valid: merging it fixes this/);

    const other = await judged(scene, TWO_FILES);
    t.is(other.state, 'error');
    t.regex(other.description ?? '', /^The policy cannot be used: \.gatehouse\.yml:\d/);
    t.regex(other.said, /`\.gatehouse\.yml:4:5`.*requires.*did you mean.*require/s);
    scene.forge.merge(scene.repository, fixing.number);
    await scene.tell({ kind: 'push', branch: 'main' });
    t.is(await scene.verdict(other.number), 'success', 'what was open when the policy was fixed is judged again');
  });

  test(`${name}: a pull request is judged by the policy of its base, not its own`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': STRICT });
    for (const own of [
      { '.gatehouse.yml': LENIENT },
      { '.gatehouse.yml': null },
      { '.gatehouse.yml': null, '.github/gatehouse.yml': LENIENT },
    ]) {
      t.is((await judged(scene, { ...TWO_FILES, ...own })).state, 'failure');
    }
  });

  test(`${name}: the first policy of a repository is checked in its pull request`, async (t) => {
    const scene = gatehouse(name).scene({ 'README.md': 'Hello\n' });
    const broken = await judged(scene, { '.gatehouse.yml': BROKEN });
    t.is(broken.state, 'failure');
    t.regex(broken.said, /`\.gatehouse\.yml:4:5`/);
    t.like(await judged(scene, { '.gatehouse.yml': STRICT, 'a.txt': 'a\n' }), {
      state: 'success',
      description: 'No rule applies to this pull request',
    });
  });

  test(`${name}: a first policy under nearly the right name fails, with the right one`, async (t) => {
    const scene = gatehouse(name).scene({ 'README.md': 'Hello\n' });
    const [path, meant] = ['.github/.gatehouse.yml', '.github/gatehouse.yml'];
    const { number, said, ...shown } = await judged(scene, { [path]: STRICT, 'a.txt': 'a\n' });
    t.deepEqual(shown, { state: 'failure', description: `${path} as proposed has 1 fault` });
    t.true(
      said.includes(`\`${path}:1:1\` \`Gatehouse doesn’t read a file with this name: rename it to ${meant}\``),
      said,
    );
    await scene.push(number, { [path]: null, [meant]: STRICT });
    t.not(await scene.verdict(number), 'failure', meant);
    const writes = scene.writes();
    await judged(scene, { 'deep/gatehouse.yml': STRICT, '.github/workflows/gatehouse.yml': 'on: push\n' });
    t.is(scene.writes(), writes, 'other files have such names for other reasons');
  });

  test(`${name}: an extended policy under nearly the right name is named, if it may be`, async (t) => {
    const story = gatehouse(name);
    for (const [isPrivate, expected] of [
      [false, /it has \.github\/gatehouse\.yaml, and .* rename it to \.github\/gatehouse\.yml/],
      [true, /or Gatehouse may not see it/],
    ] as const) {
      const common = story.scene({ '.github/gatehouse.yaml': STRICT });
      story.forge.setPrivate(common.repository, isPrivate);
      const { state, said } = await judged(story.scene(extending(common.repository)), TWO_FILES);
      t.is(state, 'error');
      t.regex(said, expected);
      t.is(said.includes('gatehouse.yaml'), !isPrivate);
    }
  });

  test(`${name}: extends never follows a repository to another owner or name`, async (t) => {
    const story = gatehouse(name);
    for (const moved of ['evil/policies', 'acme/policies-2']) {
      const { repository } = story.scene({ '.gatehouse.yml': STRICT });
      const scene = story.scene(extending(repository));
      const { number, state, said } = await judged(scene, TWO_FILES);
      t.is(state, 'failure');
      t.true(said.includes(`in \`${repository}@main\``), said);
      const renamed = `${moved}-of-${repository.split('/')[1]}`;
      story.forge.rename(repository, renamed);
      story.forge.commit(renamed, 'main', { '.gatehouse.yml': LENIENT });
      t.is(await scene.judge(number), 'error', moved);
      t.false(scene.states(number).includes('success'));
      t.regex(scene.comments(number).join(), /was renamed or transferred: name it as it is called now/);
    }
  });

  test(`${name}: another repository of an extended name never judges`, async (t) => {
    const { forge, ...story } = gatehouse(name);
    const { repository } = story.scene({ '.gatehouse.yml': STRICT });
    const scene = story.scene(extending(repository));
    const { number, state } = await judged(scene, TWO_FILES);
    t.is(state, 'failure');
    forge.deleteRepository(repository);
    forge.createRepository(repository, { '.gatehouse.yml': LENIENT });
    t.is(await scene.judge(number), 'error');
    t.false(scene.states(number).includes('success'));
    t.regex(scene.comments(number).join(), /extend a policy under another name/, 'what to do');

    forge.rename(repository, `${repository}-again`);
    forge.commit(scene.repository, 'main', extending(`${repository}-again`));
    t.is(await scene.judge(number), 'success');
  });

  test(`${name}: a proposal never decides which repository a name means`, async (t) => {
    const { forge, ...story } = gatehouse(name);
    const { repository } = story.scene({ '.gatehouse.yml': STRICT });
    await judged(story.scene({ '.gatehouse.yml': LENIENT }), extending(repository));
    forge.deleteRepository(repository);
    forge.createRepository(repository, { '.gatehouse.yml': LENIENT });
    t.is((await judged(story.scene(extending(repository)), TWO_FILES)).state, 'success');
  });

  test(`${name}: a success beside cases never stands once the base has lost the file that it reads`, async (t) => {
    const scene = gatehouse(name).scene({
      '.gatehouse.yml': LENIENT,
      '.gatehouse.test.yml': 'version: 1\ncases: []\n',
    });
    const { number, state } = await judged(scene, { '.gatehouse.test.yaml': 'a\n' });
    t.is(state, 'success', 'what is read has the right name');
    await scene.settled(scene.push('main', { '.gatehouse.test.yml': null }));
    t.is(await scene.verdict(number), 'failure');
    scene.forge.commit(scene.repository, 'main', { '.gatehouse.test.yml': symlink('elsewhere') });
    t.is(await scene.judge(number), 'success', 'something has the right name');
  });

  test(`${name}: extends rejects another owner, and a chain`, async (t) => {
    const { forge, ...story } = gatehouse(name);
    forge.createRepository('rivals/secrets', { '.gatehouse.yml': STRICT });
    const chained = story.scene(extending('acme/any')).repository;
    for (const [repository, expected] of [
      ['rivals/secrets', /belongs to another owner/],
      [chained, /only one level is supported/],
    ] as const) {
      const { state, said } = await judged(story.scene(extending(repository)), TWO_FILES);
      t.is(state, 'error');
      t.regex(said, expected);
    }
    t.false(
      forge.seen.some(({ path }) => path.includes('rivals')),
      'it was not even looked at',
    );
  });
}
