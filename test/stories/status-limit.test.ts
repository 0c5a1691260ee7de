import { TITLED } from '../helpers/policies.ts';
import { type Scene, type Story, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const gatehouse = shareStories(test, ['github']);

const GOOD = 'feat: things';
const BAD = 'Things';
/** GitHub's limit for one name on one commit. */
const MOST = 1_000;

function fill(scene: Scene, number: number, count: number, author = 'mallory') {
  for (let index = 0; index < count; index++) {
    scene.impersonate(number, 'failure', author);
  }
}

/** As after so many statuses that Gatehouse has set itself, as many edits of a title cause. */
async function haveWritten(story: Story, scene: Scene, number: number, count: number): Promise<void> {
  fill(scene, number, count, 'gatehouse');
  await story.door.database.query(
    'UPDATE gatehouse.statuses SET posting = posting + $1, answered = answered + $1 WHERE head_sha = $2',
    [count, scene.head(number)],
  );
}

test.serial('github: no success is the last status that a commit takes', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const number = scene.openSilently({ 'a.txt': 'a\n' }, { title: GOOD });
  fill(scene, number, MOST - 1);
  t.is(await scene.judge(number), 'error');
  t.regex(scene.status(number)?.description ?? '', /push a new commit/);
  t.regex(scene.comments(number).join(), /Push a new commit/);
  await scene.push(number, { 'a.txt': 'b\n' });
  t.is(await scene.verdict(number), 'success');
});

test.serial('github: no author uses up by edits what takes a success back', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const number = await scene.open({ 'a.txt': 'a\n' }, { title: GOOD });
  t.is(await scene.verdict(number), 'success');
  await haveWritten(gatehouse('github'), scene, number, 898);
  const { headSha } = scene.forge.pull(scene.repository, number);
  const count = () => scene.forge.statuses(scene.repository, headSha).length;
  const before = count();
  for (const title of [BAD, GOOD, `${BAD}!`, `${GOOD}!`, BAD]) {
    await scene.edit(number, { title });
    t.not(await scene.verdict(number), 'success');
  }
  t.regex(scene.status(number)?.description ?? '', /push a new commit/);
  t.true(count() - before <= 2, `${count() - before} statuses`);
});

test.serial('github: no success that cannot be taken back goes unnoticed', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }, { title: GOOD }));
  const own = scene.status(number);
  t.is(own?.state, 'success');
  const before = await scene.metric('gatehouse_frozen_successes_total');
  // Others set as many as there are, and the newest is a success.
  fill(scene, number, MOST - 2);
  scene.impersonate(number, 'success');
  await scene.settled(scene.edit(number, { title: BAD }));
  t.true((await scene.metric('gatehouse_frozen_successes_total')) > before);
  t.regex(scene.comments(number).join(), /Push a new commit/);
});
