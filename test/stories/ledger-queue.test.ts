import test from 'ava';
import { ledgerCommits, shownCommits } from '../helpers/ledger.ts';
import { type Scene, shareStories } from '../helpers/story.ts';

const gatehouse = shareStories(test, {}, { forges: ['github'] });

const POLICY = `version: 1
rules:
  - id: title
    require: { title: '^feat: ' }
`;
const QUEUE = 'github-merge-queue[bot]';

type How = 'merge' | 'squash' | 'rebase';

interface Queued {
  readonly number: number;
  readonly headSha: string;
}

/** A pull request of two commits, in the queue. `told`: whether the webhook of its group comes. */
async function enqueue(scene: Scene, title: string, how: How, told = true): Promise<Queued> {
  const name = title.replaceAll(/\W/g, '');
  const number = await scene.open({ [`${name}.ts`]: 'a\n' }, { title });
  await scene.push(number, { [`${name}-2.ts`]: 'b\n' });
  await scene.settled();
  const group = { number, headSha: scene.forge.enqueue(scene.repository, number, how) };
  if (told) {
    await scene.tell({ kind: 'merge-group', action: 'checks_requested', ...group });
    await scene.settled();
  }
  return group;
}

/** GitHub moves the base to the commit of the last group. */
async function mergeQueue(scene: Scene, commits: number): Promise<void> {
  const before = scene.forge.head(scene.repository, 'main');
  scene.forge.mergeQueue(scene.repository, 'main');
  await scene.tell({ kind: 'push', branch: 'main', commits, before });
  await scene.settled();
}

for (const how of ['merge', 'squash', 'rebase'] as const) {
  const each = how === 'rebase' ? 2 : 1;
  const times = <T>(value: T) => Array.from({ length: each }, () => value);

  test(`github: a queue that merges by ${how} brings what passed in its group`, async (t) => {
    const scene = gatehouse('github').scene({ '.gatehouse.yml': POLICY });
    await enqueue(scene, 'feat: one', how);
    const last = await enqueue(scene, 'feat: two', how);
    await mergeQueue(scene, 2 * each);
    const found = await ledgerCommits(scene);
    t.deepEqual(shownCommits(found), [...times(`passed #1 queue ${QUEUE}`), ...times(`passed #2 queue ${QUEUE}`)]);
    t.is(found.at(-1)?.sha, last.headSha, 'the commit of the last group is the tip');
  });

  test(`github: a queue that merges by ${how} never makes a red group passed`, async (t) => {
    const scene = gatehouse('github').scene({ '.gatehouse.yml': POLICY });
    await enqueue(scene, 'feat: one', how);
    await enqueue(scene, 'two', how);
    await mergeQueue(scene, 2 * each);
    t.deepEqual(shownCommits(await ledgerCommits(scene)), [
      ...times(`passed #1 queue ${QUEUE}`),
      ...times(`bypassed #2 queue ${QUEUE}`),
    ]);
  });
}

test('github: a queue without webhooks is judged as its pull requests were', async (t) => {
  const scene = gatehouse('github').scene({ '.gatehouse.yml': POLICY });
  await enqueue(scene, 'feat: one', 'merge', false);
  await enqueue(scene, 'two', 'merge', false);
  await mergeQueue(scene, 2);
  t.deepEqual(shownCommits(await ledgerCommits(scene)), [`passed #1 merge ${QUEUE}`, `bypassed #2 merge ${QUEUE}`]);
});
