import { shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

// What GitHub's GraphQL tells in part, late or not at all decides nothing.
const gatehouse = shareStories(test, ['github']);

const FILES = {
  '.gatehouse.yml': `version: 1
rules:
  - id: conventional-title
    require: { title: '^feat: ' }
  - id: no-keys
    forbid: { files: ['**/*.key'] }
`,
};
const APPROVED = {
  '.gatehouse.yml': 'version: 1\nrules: [{ id: reviewed, require: { approvals: { count: 1 } } }]\n',
};
const GOOD = { title: 'feat: things' };

/** The second query: whether the pull request is still what was judged. */
function lookAt(repository: string, number: number): RegExp {
  return new RegExp(`^/graphql/repos/${repository}/pulls/${number}$`);
}

test('github: a status that somebody sets during a review is replaced', async (t) => {
  const scene = gatehouse('github').scene(APPROVED);
  const { repository } = scene;
  const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }, GOOD));
  const ours = scene.status(number);
  t.is(ours?.state, 'pending');
  scene.when('POST', lookAt(repository, number), () => {
    scene.impersonate(number, 'success');
  });
  await scene.judge(number);
  t.deepEqual(scene.status(number), ours);
  t.deepEqual(scene.states(number), ['pending', 'success', 'pending']);
});

test('github: our comment that is deleted during a review is written again', async (t) => {
  const scene = gatehouse('github').scene(FILES);
  const { forge, repository } = scene;
  const number = await scene.settled(scene.open({ 'a.key': 'secret\n' }, GOOD));
  t.is(scene.comments(number).length, 1);
  forge.edit(repository, number, { title: 'things' });
  scene.when('POST', lookAt(repository, number), () => forge.pull(repository, number).comments.splice(0));
  await scene.judge(number);
  t.is(scene.comments(number).length, 1);
  t.is(scene.status(number)?.state, 'failure');
});
