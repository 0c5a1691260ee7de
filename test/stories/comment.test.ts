import { BEFORE, FILE, POLICY, PROPOSED } from '../../demo/example.ts';
import { ALL_FORGES, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const gatehouse = shareStories(test, ALL_FORGES);

for (const name of ALL_FORGES) {
  test(`${name}: the comments on the demo's pull request`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY, [FILE]: BEFORE });
    const number = await scene.settled(scene.open({ [FILE]: PROPOSED }, { title: 'Negative sizes' }));
    const [comment = '', ...others] = scene.comments(number).map((body) => lasting(scene, number, body));
    t.deepEqual(others, []);
    t.snapshot(comment);
    for (const { body } of scene.inlines(number)) {
      t.snapshot(lasting(scene, number, body));
    }
  });

  test(`${name}: the status leads to the comment, and without one to the pull request`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY });
    const target = (number: number) => {
      const { headSha } = scene.forge.pull(scene.repository, number);
      return scene.forge.statuses(scene.repository, headSha).at(-1)?.targetUrl;
    };
    const page = (number: number) =>
      `${scene.forge.url}/${scene.repository}/${name === 'github' ? 'pull' : 'pulls'}/${number}`;
    const good = await scene.open({ 'a.txt': 'a\n' }, { title: 'feat: a' });
    const bad = await scene.settled(scene.open({ 'b.txt': 'b\n' }, { title: 'b' }));
    t.is(target(good), page(good));
    const [comment] = scene.forge.pull(scene.repository, bad).comments;
    t.is(target(bad), `${page(bad)}#issuecomment-${comment?.id}`);

    await scene.settled(scene.edit(bad, { title: 'feat: b' }));
    t.is(target(bad), `${page(bad)}#issuecomment-${comment?.id}`);
  });

  test(`${name}: \`comments: off\` posts no comments, and removes old ones`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY, [FILE]: BEFORE });
    const number = await scene.settled(scene.open({ [FILE]: PROPOSED }, { title: 'Negative sizes' }));
    const counts = () => [scene.comments(number).length, scene.inlines(number).length];
    t.deepEqual(counts(), [1, 2]);
    for (const [comments, expected] of [
      ['summary', [1, 0]],
      ['off', [0, 0]],
      ['all', [1, 2]],
    ] as const) {
      scene.forge.commit(scene.repository, 'main', { '.gatehouse.yml': `${POLICY}comments: ${comments}\n` });
      await scene.settled(scene.tell({ kind: 'push', branch: 'main' }));
      t.deepEqual(counts(), expected, comments);
      t.is(scene.status(number)?.state, 'failure');
      t.is(/widget\.ts` \[2\]\(/.test(scene.comments(number).join()), comments !== 'off');
    }
  });
}

/** Without what differs from run to run. */
function lasting({ forge, repository }: Scene, number: number, body: string): string {
  const { headSha } = forge.pull(repository, number);
  return body
    .replaceAll(forge.url, 'https://forge.test')
    .replaceAll(repository, 'acme/widgets')
    .replaceAll(headSha, 'HEAD')
    .replaceAll(/finding [0-9a-f]{32}/g, 'finding FINGERPRINT')
    .replaceAll(/\b[0-9a-f]{40}\b/g, 'BASE');
}
