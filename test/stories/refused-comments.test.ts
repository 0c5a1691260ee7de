import { TITLED } from '../helpers/policies.ts';
import { forgesOf, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, [...FORGES, 'gitea']);

const FILES = {
  '.gatehouse.yml': `version: 1
rules:
  - id: no-debugger
    forbid: { added_lines: '\\bdebugger\\b' }
`,
};
const REVIEWS = /\/pulls\/\d+\/reviews$/;

for (const name of FORGES) {
  test(`${name}: the status goes out though comments are refused`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const refuse = (path: string) =>
      scene.forge.fault({
        method: 'POST',
        path: new RegExp(`^/repos/${scene.repository}/${path}$`),
        fault: { kind: 'status', status: 403 },
      });
    refuse('issues/\\d+/comments');
    refuse('pulls/\\d+/reviews');
    const number = await scene.settled(scene.open({ 'app.ts': 'debugger\n' }));
    t.deepEqual(scene.status(number), {
      state: 'failure',
      description: '1 of 1 rule failed: no-debugger (the forge refused: comment, comments at lines)',
    });
    const posts = scene.forge.seen.filter(
      ({ method, path }) => method === 'POST' && path.startsWith(`/repos/${scene.repository}/`) && REVIEWS.test(path),
    );
    t.is(posts.length, 1, 'what is refused is not tried again');

    await scene.push(number, { 'app.ts': 'done\n' });
    t.is(await scene.verdict(number), 'success');
  });
}

/** As where strangers have written more than is read of a list. */
function overflow({ forge, repository }: Scene, number: number, times = 1): void {
  for (let time = 0; time < times; time++) {
    forge.comment(repository, number, 'mallory', 'x'.repeat(17_000_000));
  }
}

for (const name of new Set([...FORGES, 'gitea'] as const)) {
  test(`${name}: comments of strangers that are too much to be read hold up no status, and no job is tried forever`, async (t) => {
    const scene = gatehouse(name).scene(TITLED);
    const number = scene.openSilently({ 'a.txt': 'a\n' }, { title: 'Bad' });
    overflow(scene, number);
    t.is(await scene.judge(number), 'failure');
    await scene.settled(scene.comment(number, 'mallory', '/gatehouse help'));
    const jobs = (await scene.door.jobs()).filter(({ key }) => key.startsWith(`${scene.repository}#`));
    t.deepEqual([...new Set(jobs.map(({ state }) => state))], ['completed']);
  });
}

test('gitea: comments of strangers that are too much to be read hide none of ours', async (t) => {
  const scene = gatehouse('gitea').scene(TITLED);
  const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }, { title: 'Bad' }));
  overflow(scene, number);
  await scene.settled(scene.edit(number, { title: 'feat: good' }));
  t.deepEqual(scene.status(number), { state: 'success', description: 'The rule that applies is met' });
  t.notRegex(scene.comments(number).join(), /conventional-title/);
  // After a push nothing but the id leads to it.
  await scene.push(number, { 'b.txt': 'b\n' });
  await scene.settled(scene.edit(number, { title: 'Bad' }));
  t.is(scene.comments(number).length, 1);
  t.regex(scene.comments(number).join(), /conventional-title/);
  t.is(scene.status(number)?.description, '1 of 1 rule failed: conventional-title');
});

for (const name of new Set([...FORGES, 'gitea'] as const)) {
  test(`${name}: strangers never keep the first comment away, nor mar the status, by writing too much to be read`, async (t) => {
    const scene = gatehouse(name).scene(TITLED);
    const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }, { title: 'feat: good' }));
    overflow(scene, number, 3);
    await scene.settled(scene.edit(number, { title: 'feat: better' }));
    t.deepEqual(scene.status(number), { state: 'success', description: 'The rule that applies is met' });
    await scene.settled(scene.edit(number, { title: 'Bad' }));
    t.deepEqual(scene.status(number), { state: 'failure', description: '1 of 1 rule failed: conventional-title' });
    t.is(scene.comments(number).filter((body) => body.includes('conventional-title')).length, 1);
  });

  test(`${name}: a comment that the forge writes after all is not there twice for good`, async (t) => {
    const scene = gatehouse(name).scene(TITLED);
    const path = new RegExp(`^/repos/${scene.repository}/issues/\\d+/comments$`);
    scene.forge.fault({ method: 'POST', path, times: 1, fault: { kind: 'late' } });
    const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }, { title: 'Bad' }));
    t.is(scene.status(number)?.state, 'failure');
    scene.forge.carryOutLate();
    t.is(scene.comments(number).length, 2);
    await scene.judge(number);
    t.is(scene.comments(number).length, 1);
  });
}

test('gitea: the status goes out though comments at lines fail with 500', async (t) => {
  const scene = gatehouse('gitea').scene(FILES);
  scene.forge.fault({
    method: 'POST',
    path: new RegExp(`^/repos/${scene.repository}/pulls/\\d+/reviews$`),
    fault: { kind: 'status', status: 500 },
  });
  const number = await scene.settled(scene.open({ 'app.ts': 'debugger\n' }));
  t.deepEqual(scene.status(number), {
    state: 'failure',
    description: '1 of 1 rule failed: no-debugger (the forge refused: comments at lines)',
  });
  t.regex(scene.comments(number).join(), /`app\.ts` \[1\]\(/, 'the comment names the lines');
  t.is(scene.comments(number).length, 1);
});

for (const name of FORGES) {
  // As GitHub's write limit does where comments have used up their part of it.
  test(`${name}: a success never stays because a comment could not be written`, async (t) => {
    const scene = gatehouse(name).scene(TITLED);
    const number = await scene.open({ 'a.txt': 'a\n' }, { title: 'feat: things' });
    t.is(await scene.verdict(number), 'success');

    const before = scene.forge.seen.length;
    const comments = new RegExp(`^/repos/${scene.repository}/issues/${number}/comments$`);
    scene.forge.fault({ method: 'POST', path: comments, times: 1, fault: { kind: 'status', status: 503 } });
    await scene.settled(scene.edit(number, { title: 'things' }));
    const posts = scene.forge.seen
      .slice(before)
      .filter(({ method, path }) => method === 'POST' && path.startsWith(`/repos/${scene.repository}/`))
      .flatMap(({ path }) => /comments|statuses/.exec(path)?.[0] ?? []);
    t.deepEqual(posts.slice(0, 3), ['comments', 'statuses', 'comments']);
    t.is(scene.status(number)?.state, 'failure');
    t.is(scene.comments(number).length, 1, 'the job comes back for the comment');
  });
}

for (const name of FORGES) {
  test(`${name}: a pull request without a policy is free though its old comments cannot be deleted, which follow`, async (t) => {
    const scene = gatehouse(name).scene(TITLED);
    const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }, { title: 'things' }));
    t.is(scene.comments(number).length, 1);
    const path = new RegExp(`^/repos/${scene.repository}/issues/comments/\\d+$`);
    // More often than a request is repeated at once.
    scene.forge.fault({ method: 'DELETE', path, times: 3, fault: { kind: 'status', status: 503 } });
    const before = scene.forge.seen.length;
    await scene.settled(scene.push('main', { '.gatehouse.yml': null }));
    const made = scene.forge.seen.slice(before).map(({ method, path: asked }) => `${method} ${asked}`);
    const freed = made.findIndex((request) => request.startsWith(`POST /repos/${scene.repository}/statuses/`));
    const deleted = made.findLastIndex((request) => request.startsWith(`DELETE /repos/${scene.repository}/`));
    t.true(freed >= 0 && freed < deleted, made.join('\n'));
    t.is(scene.status(number)?.state, 'success');
    t.deepEqual(scene.comments(number), []);
  });
}
