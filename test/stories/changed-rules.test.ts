import { forgesOf, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES);

const STRICT = `version: 1
rules:
  - id: small
    require: { changed_files: '<= 1' }
`;
const LENIENT = STRICT.replace('<= 1', '<= 9');
const TWO_FILES = { 'a.txt': 'a\n', 'b.txt': 'debugger\n' };

for (const name of FORGES) {
  test(`${name}: a policy change in a branch with a name in another script is applied`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': LENIENT });
    const { forge, repository } = scene;
    forge.commit(repository, 'größe', { 'README.md': 'a\n' });
    const number = await scene.open(TWO_FILES, { base: 'größe' });
    t.is(await scene.verdict(number), 'success');
    forge.commit(repository, 'größe', { '.gatehouse.yml': STRICT });
    await scene.tell({ kind: 'push', branch: 'größe' });
    t.is(await scene.verdict(number), 'failure');
  });

  test(`${name}: a push to a policy that others extend has their pull requests reviewed`, async (t) => {
    const story = gatehouse(name);
    const common = story.scene({ '.gatehouse.yml': LENIENT });
    const scene = story.scene({ '.gatehouse.yml': `version: 1\nextends: ${common.repository}@main\nrules: []\n` });
    const number = await scene.open(TWO_FILES);
    t.is(await scene.verdict(number), 'success');
    story.forge.commit(common.repository, 'main', { '.gatehouse.yml': STRICT });
    await common.settled(common.tell({ kind: 'push', branch: 'main' }));
    t.is(await scene.verdict(number), 'failure');
  });

  test(`${name}: a push that changes no rule reads little and reviews nothing`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': STRICT });
    const { forge, repository } = scene;
    await scene.open(TWO_FILES);
    await scene.settled(scene.open({ 'c.txt': 'c\n' }));
    const asked = () => forge.seen.filter(({ path }) => path.includes(`/repos/${repository}/`)).length;
    const before = asked();
    forge.commit(repository, 'topic', { 'README.md': 'b\n' });
    await scene.settled(scene.tell({ kind: 'push', branch: 'topic' }));
    t.is(asked(), before, 'no pull request goes into it');
    forge.commit(repository, 'main', { 'README.md': 'Nothing of the policy\n' });
    await scene.settled(scene.tell({ kind: 'push', branch: 'main' }));
    // The branch, the policy, and three times whether a pull request brought the push.
    t.is(asked() - before, 5);
  });

  test(`${name}: a deleted policy releases what it blocked`, async (t) => {
    const scene = gatehouse(name).scene({
      '.gatehouse.yml': `${STRICT}  - id: no-debugger\n    forbid: { added_lines: debugger }\n`,
    });
    const { forge, repository } = scene;
    const number = await scene.open(TWO_FILES);
    t.is(await scene.verdict(number), 'failure');
    t.is(scene.inlines(number).length, 1);
    forge.commit(repository, 'main', { '.gatehouse.yml': null });
    await scene.settled(scene.tell({ kind: 'push', branch: 'main' }));
    t.deepEqual(scene.status(number), {
      state: 'success',
      description: 'No policy requires anything any more',
    });
    t.deepEqual(scene.comments(number), []);
    t.true(scene.inlines(number).every(({ body }) => body.includes('Resolved')));
    const writes = scene.writes();
    await scene.settled(scene.edit(number, { title: 'still nothing' }));
    t.is(scene.writes(), writes);
  });
}
