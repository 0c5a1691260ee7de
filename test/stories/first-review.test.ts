import { ALL_FORGES, pathsOfReads, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const gatehouse = shareStories(test, ALL_FORGES);

const POLICY = `version: 1
rules:
  - id: conventional-title
    require: { title: '^(feat|fix|docs): ' }
  - id: no-debugger
    forbid: { added_lines: '\\bdebugger\\b', in: ['**/*.ts'] }
    message: Remove debugging code before merging.
`;

const FILES = { '.gatehouse.yml': POLICY, 'src/app.ts': 'one\ntwo\nthree\n' };

for (const name of ALL_FORGES) {
  test(`${name}: a broken rule is reported with place and reason, and a push fixes it`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = await scene.open({ 'src/app.ts': 'one\ndebugger;\nthree\n' }, { title: 'some changes' });
    await scene.settled();
    t.deepEqual(scene.status(number), {
      state: 'failure',
      description: '2 of 2 rules failed: conventional-title, no-debugger',
    });
    t.is(scene.comments(number).length, 1);
    t.regex(scene.comments(number)[0] ?? '', /conventional-title/);
    t.deepEqual(
      scene.inlines(number).map(({ path, line }) => ({ path, line })),
      [{ path: 'src/app.ts', line: 2 }],
    );

    const writes = scene.writes();
    const paths = pathsOfReads(scene.repository, number);
    const reads = () => scene.forge.seen.filter(({ path }) => paths.test(path)).length;
    const readsBefore = reads();
    await scene.settled(scene.tell({ kind: 'pull-request', number, action: 'labeled' }));
    t.true(reads() > readsBefore, 'the event was looked at');
    t.is(scene.writes(), writes, 'an event that changes nothing writes nothing');

    await scene.push(number, { 'src/app.ts': 'one\n2\nthree\n' });
    await scene.edit(number, { title: 'feat: count' });
    t.is(await scene.verdict(number), 'success');
    t.is(scene.comments(number).length, 1);
    t.regex(scene.comments(number)[0] ?? '', /✅/);
  });
}
