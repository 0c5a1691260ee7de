import { randomUUID } from 'node:crypto';
import { SECRET } from '../helpers/door.ts';
import { forgesOf, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES);

const NO_DEBUGGER = `version: 1
rules:
  - id: no-debugger
    forbid: { added_lines: 'debugger;?$', in: ['**/*.ts', '**/*.bin'], binary: ignore }
`;
const FILES = { '.gatehouse.yml': NO_DEBUGGER, 'README.md': 'Hello\n' };

for (const name of FORGES) {
  test(`${name}: a fork's pull request is reviewed, also when the fork is deleted`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const { forge, repository } = scene;
    const fork = forge.fork(repository, 'mallory');
    const number = await scene.open({ 'a.ts': 'debugger\n' }, { from: fork, author: 'mallory' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
    t.deepEqual(
      scene.inlines(number).map(({ path, line }) => `${path}:${line}`),
      ['a.ts:1'],
    );
    t.deepEqual(forge.statuses(fork), [], 'nothing is written to the fork');

    await scene.push(number, { 'a.ts': 'done\n', '.gatehouse.yml': 'version: 2\n' });
    forge.deleteRepository(fork);
    await scene.settled();
    if (name !== 'github') {
      t.is(forge.pull(repository, number).state, 'closed');
      return;
    }
    await scene.edit(number, { body: 'The fork is gone.' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure', 'the policy it proposes was read all the same');
    t.regex(scene.status(number)?.description ?? '', /as proposed has/);
  });

  test(`${name}: a renamed repository is found by its old and its new name`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const { forge, repository, door } = scene;
    const number = await scene.open({ 'a.ts': 'debugger\n' });
    await scene.settled();
    const renamed = `${repository}-renamed`;
    const late = forge.webhook(
      repository,
      { kind: 'pull-request', number, action: 'synchronize' },
      { secret: SECRET, deliveryId: randomUUID() },
    );
    forge.push(repository, number, { 'a.ts': 'debugger;\n' });
    forge.rename(repository, renamed);
    await forge.send(`${door.url}/webhook`, late);
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure', 'what was sent under the old name');
    t.is(scene.comments(number).length, 1);

    await scene.push(number, { 'a.ts': 'done\n' });
    t.deepEqual(
      (await door.deliveries())
        .filter(({ repository: name, event }) => name === renamed && event === 'pull_request')
        .map(({ event }) => event),
      ['pull_request'],
      'the push is delivered under the new name',
    );
    await gatehouse(name).settledFor(renamed);
    t.is(scene.status(number)?.state, 'success');
    t.is(scene.comments(number).length, 1);
  });

  test(`${name}: binary and moved files, CRLF and missing line ends are read correctly`, async (t) => {
    const scene = gatehouse(name).scene({
      ...FILES,
      'ends.ts': 'one\ntwo',
      'crlf.ts': 'one\r\ntwo\r\nthree\r\n',
      'old/place.ts': 'a\nb\nc\nd\ndebugger\n',
    });
    const number = await scene.open({
      'logo.bin': Buffer.from('PNG\0\ndebugger\n'),
      'ends.ts': 'one\ntwo\ndebugger',
      'crlf.ts': 'one\r\ndebugger;\r\nthree\r\n',
      'old/place.ts': null,
      'new/place.ts': 'a\nb\nc\nd\ndebugger\nnew\n',
    });
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
    t.deepEqual(
      scene
        .inlines(number)
        .map(({ path, line }) => `${path}:${line}`)
        .toSorted(),
      ['crlf.ts:2', 'ends.ts:3'],
      'not the binary file, and not the line that only moved',
    );
    t.false(scene.comments(number).join().includes('\r'));
  });

  test(`${name}: 3,001 files are all judged, or it is said that they were not`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const many = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`src/${index}.ts`, `${index}\n`]));
    const number = await scene.open({ ...many, 'src/z.ts': 'debugger\n' });
    await scene.settled();
    if (name === 'github') {
      t.deepEqual(scene.status(number), {
        state: 'error',
        description: '1 of 1 rule could not be judged: no-debugger',
      });
      t.regex(scene.comments(number).join(), /the list of changed files is not complete/);
    } else {
      t.is(scene.status(number)?.state, 'failure');
      t.deepEqual(
        scene.inlines(number).map(({ path }) => path),
        ['src/z.ts'],
      );
    }
    await scene.push(number, { 'src/z.ts': null });
    await scene.settled();
    t.is(scene.status(number)?.state, 'success', '3,000 files are read on every forge');
  });

  test(`${name}: a diff of 5 MB is searched, and one that cannot be read is no pass`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const line = `${'x'.repeat(99)}\n`;
    const wide = Object.fromEntries(Array.from({ length: 52 }, (_, index) => [`src/${index}.ts`, line.repeat(1_000)]));
    const spread = await scene.open({ ...wide, 'src/z.ts': 'debugger\n' });
    const inOne = await scene.open({ 'src/all.ts': line.repeat(52_000) });
    await scene.settled();
    t.is(scene.status(spread)?.state, 'failure');
    t.deepEqual(
      scene.inlines(spread).map(({ path }) => path),
      ['src/z.ts'],
    );
    t.is(scene.status(inOne)?.state, 'error');
    t.regex(scene.comments(inOne).join(), /src\/all\.ts.*too large to read/);
  });
}
