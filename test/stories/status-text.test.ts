import { forgesOf } from '../helpers/forges.ts';
import { TITLED } from '../helpers/policies.ts';
import { shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

// Whatever text is in a status, it is set.
const gatehouse = shareStories(test, [...FORGES, 'github', 'gitea']);

const OVERRIDABLE = TITLED['.gatehouse.yml'].replace('rules:', 'override: { by: bob }\nrules:');
const RED = { title: 'things' };

for (const name of FORGES) {
  test(`${name}: an emoji in an override's reason does not keep the status from being set`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': OVERRIDABLE });
    const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }, RED));
    const command = `/gatehouse override conventional-title ${scene.head(number)} 🔥🔥 hotfix 👩‍🚒`;
    await scene.comment(number, 'bob', command);
    t.is(await scene.verdict(number), 'success');
    t.regex(scene.status(number)?.description ?? '', /^1 rule overridden: \ufffd hotfix /);
    t.regex(scene.comments(number).join(), /🔥🔥 hotfix 👩/u);
    t.deepEqual(scene.states(number), ['failure', 'success']);

    const writes = scene.writes();
    await scene.judge(number);
    t.is(scene.writes(), writes, 'nothing has changed');
  });
}

// They refuse with different answers.
for (const name of ['github', 'gitea'] as const) {
  test(`${name}: a forge that refuses the words of a status still shows its state`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': OVERRIDABLE });
    const { forge, repository } = scene;
    const refuseWords = () =>
      forge.fault({
        method: 'POST',
        path: new RegExp(`^/repos/${repository}/statuses/`),
        times: 1,
        fault: { kind: 'status', status: name === 'github' ? 422 : 400 },
      });
    refuseWords();
    const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }, RED));
    const shown = { state: 'failure', description: 'See the pull request' };
    t.deepEqual(scene.status(number), shown);
    const writes = scene.writes();
    await scene.judge(number);
    t.is(scene.writes(), writes, 'it is not posted again');

    forge.setStatus(repository, scene.head(number), { ...shown, context: 'gatehouse/main', author: 'mallory' });
    refuseWords();
    await scene.judge(number);
    const authors = forge.statuses(repository, scene.head(number)).map(({ author }) => author);
    t.deepEqual(authors, ['gatehouse', 'mallory', 'gatehouse'], 'the same words by somebody else are not ours');

    refuseWords();
    await scene.comment(number, 'bob', `/gatehouse override conventional-title ${scene.head(number)} hotfix`);
    await scene.settled();
    const description = '1 rule overridden: See the pull request';
    t.deepEqual(scene.status(number), { state: 'success', description });
  });
}
