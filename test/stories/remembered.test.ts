import { CLIENTS } from '../helpers/forges.ts';
import { type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const gatehouse = shareStories(test, CLIENTS);

const FILES = {
  '.gatehouse.yml': `version: 1
rules:
  - id: conventional-title
    require: { title: '^feat: ' }
  - id: no-debugger
    forbid: { added_lines: '\\bdebugger\\b' }
`,
};
const GOOD = { title: 'feat: things' };
const BAD = { title: 'things' };

async function redeliver(scene: Scene, number: number): Promise<void> {
  await scene.settled(scene.tell({ kind: 'pull-request', number, action: 'synchronize' }));
}

for (const name of CLIENTS) {
  test(`${name}: a review shows nothing before its verdict where no success stands`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = await scene.settled(scene.open({ 'a.ts': 'one\n' }, GOOD));
    t.deepEqual(scene.states(number), ['success']);
    t.deepEqual(scene.comments(number), [], 'no success is reported where no failure was');
    await scene.settled(scene.push(number, { 'a.ts': 'debugger\n' }));
    t.deepEqual(scene.states(number), ['failure']);
  });

  test(`${name}: somebody else's success on a new head is pending at once`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const { forge, repository } = scene;
    const number = scene.openSilently({ 'a.ts': 'one\n' }, BAD);
    const foreign = { context: 'gatehouse/main', description: 'Trust me', author: 'mallory' } as const;
    forge.setStatus(repository, scene.head(number), { ...foreign, state: 'success' });
    await redeliver(scene, number);
    t.deepEqual(scene.states(number), ['success', 'pending', 'failure']);
  });

  test(`${name}: a success over ours is replaced before the review judges`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const { forge, repository } = scene;
    const number = await scene.settled(scene.open({ 'a.ts': 'one\n' }, BAD));
    const foreign = { context: 'gatehouse/main', description: 'Trust me', author: 'mallory' } as const;
    forge.setStatus(repository, scene.head(number), { ...foreign, state: 'success' });
    await scene.settled(scene.edit(number, GOOD));
    t.deepEqual(scene.states(number), ['failure', 'success', 'failure', 'success']);
  });

  test(`${name}: a head pushed again with a success from before is pending at once`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const { forge, repository } = scene;
    const number = await scene.settled(scene.open({ 'a.ts': 'one\n' }, GOOD));
    const pull = forge.pull(repository, number);
    const { headBranch, headSha } = pull;
    await scene.push(number, { 'a.ts': 'two\n' });
    await scene.settled(scene.edit(number, BAD));
    pull.headRepository.branches.set(headBranch, headSha);
    pull.headSha = headSha;
    await redeliver(scene, number);
    t.deepEqual(scene.states(headSha), ['success', 'pending', 'failure']);
  });

  test(`${name}: somebody else's status over ours is replaced, whatever is remembered`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const { forge, repository } = scene;
    for (const details of [GOOD, BAD]) {
      const number = await scene.settled(scene.open({ [`${details.title}.ts`]: 'one\n' }, details));
      const ours = scene.status(number);
      const { headSha } = forge.pull(repository, number);
      const foreign = { context: 'gatehouse/main', description: 'Trust me', author: 'mallory' } as const;
      forge.setStatus(repository, headSha, { ...foreign, state: ours?.state === 'success' ? 'failure' : 'success' });
      await redeliver(scene, number);
      t.deepEqual(scene.status(number), ours);
      t.is(forge.statuses(repository, headSha).at(-1)?.author, 'gatehouse');
    }
  });

  test(`${name}: a status that is remembered wrongly is corrected`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = await scene.settled(scene.open({ 'a.ts': 'one\n' }, GOOD));
    await scene.settled(scene.edit(number, BAD));
    const failure = scene.status(number);
    await scene.settled(scene.edit(number, GOOD));
    // As after a write that came too late: a success is shown, and the failure is remembered.
    await scene.door.database.query(
      "UPDATE gatehouse.posted_statuses SET state = 'failure', description = $2 WHERE repository = $1",
      [scene.repository, failure?.description],
    );
    t.is(scene.status(number)?.state, 'success');
    await scene.settled(scene.edit(number, BAD));
    t.deepEqual(scene.status(number), failure);
  });

  test(`${name}: comments that people delete or edit come back as they were`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const { forge, repository } = scene;
    const number = await scene.settled(scene.open({ 'a.ts': 'debugger\n' }, BAD));
    const before = { comments: scene.comments(number), inlines: scene.inlines(number) };
    t.deepEqual([before.comments.length, before.inlines.length], [1, 1]);
    const pull = forge.pull(repository, number);
    pull.comments.splice(0);
    pull.inlineComments.splice(0);
    await redeliver(scene, number);
    t.deepEqual({ comments: scene.comments(number), inlines: scene.inlines(number) }, before);

    const [comment] = pull.comments;
    t.truthy(comment);
    if (comment !== undefined) {
      comment.body = comment.body.replace('conventional-title', 'nothing at all');
    }
    await redeliver(scene, number);
    t.deepEqual(scene.comments(number), before.comments);
  });
}
