import { forgesOf, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES);

const TITLED = {
  '.gatehouse.yml': `version: 1
rules:
  - id: titled
    require: { title: '^feat: ' }
`,
};
/** None is longer than a comment of Gatehouse may be. All together are more than is kept of an answer. */
const COMMENTS = 90;
const longText = (name: string) => (name === 'github' ? '\u{1f600}'.repeat(65_536) : 'x'.repeat(390_000));

// Serial: the forge writes its answers in this process, and a connection waits only 10 seconds for each.
for (const name of FORGES) {
  test.serial(`${name}: no comments of strangers keep Gatehouse's own from being updated`, async (t) => {
    const scene = gatehouse(name).scene(TITLED);
    const { forge, repository } = scene;
    const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }, { title: 'Bad' }));
    t.regex(scene.comments(number).join(), /titled/);
    for (let written = 0; written < COMMENTS; written += 1) {
      forge.comment(repository, number, 'mallory', longText(name));
    }
    await scene.settled(scene.edit(number, { title: 'feat: good' }));
    t.deepEqual(scene.status(number), { state: 'success', description: 'The rule that applies is met' });
    t.is(scene.comments(number).length, 1);
    t.notRegex(scene.comments(number).join(), /titled/);

    // After a push nothing but the id leads to it.
    await scene.push(number, { 'b.txt': 'b\n' });
    await scene.settled(scene.edit(number, { title: 'Bad' }));
    t.is(scene.comments(number).length, 1);
    t.regex(scene.comments(number).join(), /titled/);
    t.is(scene.status(number)?.description, '1 of 1 rule failed: titled');
  });

  test.serial(`${name}: no status waits for a list of comments that cannot be read`, async (t) => {
    const scene = gatehouse(name).scene(TITLED);
    const { forge, repository } = scene;
    const number = scene.openSilently({ 'a.txt': 'a\n' }, { title: 'Bad' });
    for (let written = 0; written < COMMENTS; written += 1) {
      forge.comment(repository, number, 'mallory', longText(name));
    }
    t.is(await scene.judge(number), 'failure');
    await scene.settled(scene.comment(number, 'mallory', '/gatehouse help'));
    const jobs = (await scene.door.jobs()).filter(({ key }) => key.startsWith(`${repository}#`));
    t.deepEqual([...new Set(jobs.map(({ state }) => state))], ['completed'], 'none is tried again and again');
  });
}
