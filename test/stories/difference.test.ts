import { forgesOf, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { eventually } from '../helpers/until.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, [...FORGES, 'gitea']);

const FILES = {
  '.gatehouse.yml': `version: 1
rules:
  - id: no-debugger
    forbid: { added_lines: '\\bdebugger\\b' }
`,
};
/** Several looks of one review: more of the same would only be slow. */
const LOOKS = 3;

test('gitea: a head is not judged by the difference of the head before it', async (t) => {
  const scene = gatehouse('gitea').scene(FILES);
  const number = await scene.open({ 'app.ts': 'fine\n' });
  await scene.settled();
  t.deepEqual(scene.states(number), ['success']);
  const asked = () =>
    scene.forge.seen.filter(({ path }) => path === `/repos/${scene.repository}/git/refs/pull/${number}/head`).length;

  scene.forge.delayDifferences(Number.POSITIVE_INFINITY);
  t.teardown(() => scene.forge.delayDifferences(0));
  const before = asked();
  const head = await scene.push(number, { 'app.ts': 'debugger\n' });
  await eventually('the difference was looked at repeatedly', () => asked() - before >= LOOKS);
  t.false(scene.states(head).includes('success'), 'the old difference says nothing of the new head');

  scene.forge.delayDifferences(0);
  await scene.settled();
  t.is(scene.status(number)?.state, 'failure');
  t.false(scene.states(head).includes('success'));
});

for (const name of FORGES) {
  test(`${name}: an empty list of files where there must be some never lets a rule pass`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = scene.openSilently({ 'app.ts': 'debugger\n' });
    const pull = `/repos/${scene.repository}/pulls/${number}`;
    scene.forge.fault({ path: new RegExp(`${pull}/files$`), times: 2, fault: { kind: 'json', body: [] } });
    if (name === 'gitea') {
      // It says how many files there are: the list is asked for only if the diff has another number.
      scene.forge.fault({ path: new RegExp(`${pull}\\.diff$`), times: 1, fault: { kind: 'json', body: '' } });
    }
    await scene.tell({ kind: 'pull-request', number, action: 'opened' });
    await scene.settled();
    t.false(scene.states(number).includes('success'));
    t.is(scene.status(number)?.state, 'failure', 'it was read again');
  });
}
