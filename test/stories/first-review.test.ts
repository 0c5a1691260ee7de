import { ALL_FORGES, REPOSITORY, tellStory } from '../helpers/story.ts';
import ava from '../helpers/test.ts';

const test = ava.serial;

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
    await using story = await tellStory(name, FILES);
    const { forge } = story;
    forge.commit(REPOSITORY, 'topic', { 'src/app.ts': 'one\ndebugger;\nthree\n' });
    const number = forge.openPullRequest(REPOSITORY, { head: 'topic', title: 'some changes' });
    await story.tell({ kind: 'pull-request', number, action: 'opened' });
    await story.settled();

    t.deepEqual(story.status(number), {
      state: 'failure',
      description: '2 of 2 rules failed: conventional-title, no-debugger',
    });
    t.is(story.comments(number).length, 1);
    t.regex(story.comments(number)[0] ?? '', /conventional-title/);
    t.deepEqual(
      story.inlines(number).map(({ path, line }) => ({ path, line })),
      [{ path: 'src/app.ts', line: 2 }],
    );

    forge.push(REPOSITORY, number, { 'src/app.ts': 'one\n2\nthree\n' });
    forge.edit(REPOSITORY, number, { title: 'feat: count' });
    await story.tell({ kind: 'pull-request', number, action: 'synchronize' });
    await story.settled();
    t.is(story.status(number)?.state, 'success');
    t.is(story.comments(number).length, 1);
    t.regex(story.comments(number)[0] ?? '', /✅/);
  });

  test(`${name}: an event that changes nothing writes nothing`, async (t) => {
    await using story = await tellStory(name, FILES);
    const { forge } = story;
    forge.commit(REPOSITORY, 'topic', { 'src/app.ts': 'one\ndebugger;\nthree\n' });
    const number = forge.openPullRequest(REPOSITORY, { head: 'topic', title: 'some changes' });
    await story.tell({ kind: 'pull-request', number, action: 'opened' });
    await story.settled();
    forge.forgetRequests();
    await story.tell({ kind: 'pull-request', number, action: 'labeled' });
    await story.settled();
    t.true(forge.count() > 0);
    t.is(forge.writes(), 0);
  });
}
