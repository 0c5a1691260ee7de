import { CLIENTS } from '../helpers/forges.ts';
import { shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const gatehouse = shareStories(test, CLIENTS);

const ANY = { '.gatehouse.yml': 'version: 1\nrules: [{ id: answered, require: { threads: {} } }]\n' };
const FILES = { 'a.txt': 'one\ntwo\n' };

for (const name of CLIENTS) {
  const tells = name === 'github';

  test(`${name}: a new conversation takes the success, and resolved gives it back`, async (t) => {
    const scene = gatehouse(name).scene(ANY);
    const number = await scene.open(FILES);
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');

    const comment = await scene.commentInline(number, 'bob', { path: 'a.txt', line: 1, body: 'Why?' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
    t.regex(scene.comments(number).join(), /1 unresolved conversation, `bob: a\.txt:1`/);

    await scene.resolve(number, 'alice', comment);
    await scene.settled();
    t.is(scene.status(number)?.state, tells ? 'success' : 'failure', 'only GitHub tells at once');
    await scene.comment(number, 'alice', '/gatehouse recheck');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');

    await scene.resolve(number, 'bob', comment, false);
    await scene.settled();
    t.is(scene.status(number)?.state, tells ? 'failure' : 'success');
    await scene.label(number, 'seen');
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure', 'at any other event');
  });
}
