import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DOOR } from '../helpers/door.ts';
import { forgesOf, REPOSITORY, shareStories, tellStory, workerComesBy } from '../helpers/story.ts';
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
  test(`${name}: a policy change before the commits that a push lists is applied`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': LENIENT });
    const { forge, repository } = scene;
    const number = await scene.open(TWO_FILES);
    await scene.settled();
    forge.commit(repository, 'main', { '.gatehouse.yml': STRICT });
    for (let commit = 1; commit <= 6; commit++) {
      forge.commit(repository, 'main', { 'README.md': `${commit}\n` });
    }
    await scene.tell({ kind: 'push', branch: 'main', commits: 7 });
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
  });

  test(`${name}: a policy change in a branch with a name in another script is applied`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': LENIENT });
    const { forge, repository } = scene;
    forge.commit(repository, 'größe', { 'README.md': 'a\n' });
    const number = await scene.open(TWO_FILES, { base: 'größe' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
    forge.commit(repository, 'größe', { '.gatehouse.yml': STRICT });
    await scene.tell({ kind: 'push', branch: 'größe' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
  });

  test(`${name}: a push to a policy that others extend has their pull requests reviewed`, async (t) => {
    const story = gatehouse(name);
    const common = story.scene({ '.gatehouse.yml': LENIENT });
    const scene = story.scene({ '.gatehouse.yml': `version: 1\nextends: ${common.repository}@main\nrules: []\n` });
    const number = await scene.open(TWO_FILES);
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
    story.forge.commit(common.repository, 'main', { '.gatehouse.yml': STRICT });
    await common.tell({ kind: 'push', branch: 'main' });
    await common.settled();
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
  });

  test(`${name}: a push that changes no rule reads little and reviews nothing`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': STRICT });
    const { forge, repository } = scene;
    await scene.open(TWO_FILES);
    await scene.open({ 'c.txt': 'c\n' });
    await scene.settled();
    const asked = () => forge.seen.filter(({ path }) => path.includes(`/repos/${repository}/`)).length;
    const before = asked();
    forge.commit(repository, 'topic', { 'README.md': 'b\n' });
    await scene.tell({ kind: 'push', branch: 'topic' });
    await scene.settled();
    t.is(asked(), before, 'no pull request goes into it');
    forge.commit(repository, 'main', { 'README.md': 'Nothing of the policy\n' });
    await scene.tell({ kind: 'push', branch: 'main' });
    await scene.settled();
    // The branch, the policy, and three times whether a pull request brought the push.
    t.is(asked() - before, 5);
  });

  test(`${name}: a deleted policy releases what it blocked`, async (t) => {
    const scene = gatehouse(name).scene({
      '.gatehouse.yml': `${STRICT}  - id: no-debugger\n    forbid: { added_lines: debugger }\n`,
    });
    const { forge, repository } = scene;
    const number = await scene.open(TWO_FILES);
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
    t.is(scene.inlines(number).length, 1);
    forge.commit(repository, 'main', { '.gatehouse.yml': null });
    await scene.tell({ kind: 'push', branch: 'main' });
    await scene.settled();
    t.deepEqual(scene.status(number), {
      state: 'success',
      description: 'No policy requires anything any more',
    });
    t.deepEqual(scene.comments(number), []);
    t.true(scene.inlines(number).every(({ body }) => body.includes('Resolved')));
    const writes = scene.writes();
    await scene.edit(number, { title: 'still nothing' });
    await scene.settled();
    t.is(scene.writes(), writes);
  });

  test(`${name}: a resync finds changed rules of which no webhook told, and settles`, async (t) => {
    const owners = `version: 1\nrules:\n  - id: owned\n    require: { approvals: { from: CODEOWNERS } }\n`;
    await using story = await tellStory(name, { '.gatehouse.yml': LENIENT }, {}, DOOR);
    const { forge } = story;
    const common = story.scene({ '.gatehouse.yml': LENIENT });
    const extending = story.scene({ '.gatehouse.yml': `version: 1\nextends: ${common.repository}@main\nrules: []\n` });
    const owned = story.scene({ '.gatehouse.yml': owners, CODEOWNERS: '*.md @ada\n' });
    const scenes = [story, extending, owned];
    const numbers: number[] = [];
    for (const scene of scenes) {
      numbers.push(await scene.open(TWO_FILES));
    }
    const repositories = scenes.map(({ repository }) => repository);
    const states = () => scenes.map((scene, index) => scene.status(numbers[index] ?? 0)?.state);
    await workerComesBy(story, {}, repositories);
    const first = states();
    t.deepEqual(first.slice(0, 2), ['success', 'success']);
    forge.commit(REPOSITORY, 'main', { '.gatehouse.yml': STRICT });
    forge.commit(common.repository, 'main', { '.gatehouse.yml': STRICT });
    forge.commit(owned.repository, 'main', { CODEOWNERS: '* @ada\n' });
    await workerComesBy(story, {}, repositories);
    t.deepEqual(states().slice(0, 2), ['failure', 'failure']);
    t.notDeepEqual(states()[2], first[2], 'CODEOWNERS');

    // One more for the comments, which move the time of the last change, and then none.
    forge.age(60_000);
    await workerComesBy(story, {}, repositories);
    forge.forgetRequests();
    await workerComesBy(story, {}, repositories);
    t.is(forge.count('GET', /\/files$|\.diff$/), 0);
    t.is(forge.writes(), 0);
  });

  test(`${name}: a resync finds a dismissed approval, which sends no webhook on Gitea`, async (t) => {
    const policy = `version: 1\nrules:\n  - id: approved\n    require: { approvals: 1 }\n`;
    await using story = await tellStory(name, { '.gatehouse.yml': policy }, {}, DOOR);
    const { forge } = story;
    const number = await story.open(TWO_FILES);
    const { id } = forge.review(REPOSITORY, number, 'ada', 'approved');
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'success');
    forge.dismiss(REPOSITORY, number, id);
    await workerComesBy(story);
    t.not(story.status(number)?.state, 'success');
  });
}

test('a changed POLICY_FILE reaches open pull requests at the start of a worker', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-policy-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const file = join(folder, 'organisation.yml');
  await writeFile(file, LENIENT);
  await using story = await tellStory('gitea', { 'README.md': 'Hello\n' }, {}, DOOR);
  const number = await story.open(TWO_FILES);
  await workerComesBy(story, { POLICY_FILE: file });
  t.is(story.status(number)?.state, 'success');
  await writeFile(file, STRICT);
  await workerComesBy(story, { POLICY_FILE: file });
  t.is(story.status(number)?.state, 'failure');
});
