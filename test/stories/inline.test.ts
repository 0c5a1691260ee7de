import { ALL_FORGES, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const gatehouse = shareStories(test, ALL_FORGES);

const FILES = {
  '.gatehouse.yml': `version: 1
rules:
  - id: no-debugger
    forbid: { added_lines: '\\bdebugger\\b', in: ['**/*.ts'] }
`,
  'app.ts': 'one\ntwo\nthree\n',
};

/** The comments that a reader would take for standing, by their hidden names. */
function standing(scene: Scene, number: number): readonly string[] {
  return scene.inlines(number).flatMap(({ body, path, line }) => {
    const fingerprint = /^<!-- gatehouse:finding (\w+) -->/.exec(body)?.[1];
    return fingerprint === undefined ? [] : [`${path}:${line} ${fingerprint}`];
  });
}

const fingerprints = (scene: Scene, number: number) =>
  standing(scene, number)
    .map((comment) => comment.split(' ')[1])
    .toSorted();

for (const name of ALL_FORGES) {
  test(`${name}: a line has one comment, where the line is, until it is fixed`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = await scene.open({ 'app.ts': 'one\ndebugger; // here\nthree\ndebugger; // and there\n' });
    await scene.settled();
    const first = fingerprints(scene, number);
    t.deepEqual(
      standing(scene, number).map((comment) => comment.split(' ')[0]),
      ['app.ts:2', 'app.ts:4'],
    );
    t.is(new Set(first).size, 2);

    await scene.push(number, { 'app.ts': 'zero\none\ndebugger; // here\nthree\ndebugger; // and there\n' });
    await scene.settled();
    t.deepEqual(fingerprints(scene, number), first, 'moved lines are the same findings');
    t.deepEqual(
      standing(scene, number).map((comment) => comment.split(' ')[0]),
      ['app.ts:3', 'app.ts:5'],
    );

    await scene.settled(scene.push(number, { 'app.ts': 'zero\none\nfixed\nthree\ndebugger; // and there\n' }));
    t.is(standing(scene, number).length, 1);
    t.true(first.includes(fingerprints(scene, number)[0]));

    await scene.settled(scene.push(number, { 'app.ts': 'zero\none\nfixed\nthree\n' }));
    t.deepEqual(standing(scene, number), []);
    t.is(scene.status(number)?.state, 'success');

    await scene.settled(scene.push(number, { 'app.ts': 'debugger; // here\none\n' }));
    t.is(standing(scene, number).length, 1, 'what comes back is reported again');
  });

  test(`${name}: comments stay with their lines, and are new after a force-push`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const change = { 'app.ts': 'debugger; // here\ntwo\n' };
    const number = await scene.settled(scene.open(change));
    const posted = () => scene.forge.pull(scene.repository, number).inlineComments.map(({ id, sha }) => ({ id, sha }));
    const first = posted();
    await scene.settled(scene.push(number, { 'app.ts': 'debugger; // here\ntwo\nthree\n' }));
    t.deepEqual(posted(), first);

    const sha = scene.forge.forcePush(scene.repository, number, change);
    await scene.judge(number);
    t.is(standing(scene, number).length, 1);
    // GitHub moves its comments over to the new commit by itself.
    if (name !== 'github') {
      t.deepEqual(
        posted().map((comment) => comment.sha),
        [sha],
      );
    }
  });

  test(`${name}: comments of others that imitate Gatehouse's are not touched`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const { forge, repository } = scene;
    const model = await scene.settled(scene.open({ 'app.ts': 'debugger\n' }));
    const [stolen] = scene.inlines(model);
    const [review = ''] = scene.comments(model);

    const number = scene.openSilently({ 'app.ts': 'debugger\n' });
    forge.comment(repository, number, 'mallory', review);
    forge.commentInline(repository, number, 'mallory', { path: 'app.ts', line: 1, body: stolen?.body ?? '' });
    t.is(await scene.judge(number), 'failure');
    t.is(scene.comments(number).length, 1);
    t.is(scene.inlines(number).length, 1);
    await scene.settled(scene.push(number, { 'app.ts': 'done\n' }));
    t.is(scene.inlines(number).length, 0);
    const others = forge.pull(repository, number);
    t.deepEqual(
      [others.comments, others.inlineComments].map((list) => list.filter(({ author }) => author === 'mallory').length),
      [1, 1],
    );
  });
}
