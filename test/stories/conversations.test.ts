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
    t.is(await scene.verdict(number), 'success');

    const comment = await scene.commentInline(number, 'bob', { path: 'a.txt', line: 1, body: 'Why?' });
    t.is(await scene.verdict(number), 'failure');
    t.regex(scene.comments(number).join(), /1 unresolved conversation, `bob: a\.txt:1`/);

    await scene.resolve(number, 'alice', comment);
    t.is(await scene.verdict(number), tells ? 'success' : 'failure', 'only GitHub tells at once');
    await scene.comment(number, 'alice', '/gatehouse recheck');
    t.is(await scene.verdict(number), 'success');

    await scene.resolve(number, 'bob', comment, false);
    t.is(await scene.verdict(number), tells ? 'failure' : 'success');
    await scene.label(number, 'seen');
    t.is(await scene.verdict(number), 'failure', 'at any other event');
  });
}
