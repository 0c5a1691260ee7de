import test from 'ava';
import { BEFORE, FILE, POLICY, PROPOSED } from '../../demo/example.ts';
import { FORGES, type Scene, shareStories } from '../helpers/story.ts';

const gatehouse = shareStories(test);

for (const name of FORGES) {
  test(`${name}: the comments on the demo's pull request`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY, [FILE]: BEFORE });
    const number = await scene.open({ [FILE]: PROPOSED }, { title: 'Negative sizes' });
    await scene.settled();
    const [comment = '', ...others] = scene.comments(number).map((body) => lasting(scene, number, body));
    t.deepEqual(others, []);
    t.snapshot(comment, `${wordsOf(comment)} words`);
    t.true(wordsOf(comment) < 90);
    for (const { body } of scene.inlines(number)) {
      t.snapshot(lasting(scene, number, body), `${wordsOf(body)} words`);
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

/** Words that a reader sees: hidden comments, tags and the addresses of links left out. */
function wordsOf(body: string): number {
  const shown = body
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\]\([^)]*\)/g, ']')
    .replaceAll(/^[-| :]+$/gm, '');
  return shown.match(/[\p{L}\p{N}][^\s|]*/gu)?.length ?? 0;
}
