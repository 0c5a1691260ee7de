import { forgesOf, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';
import type { Changes } from '../simulated-forge/git.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES);

const STRICT = { '.gatehouse.yml': "version: 1\nrules:\n  - id: small\n    require: { changed_files: '<= 1' }\n" };
const LAX = { '.gatehouse.yml': STRICT['.gatehouse.yml'].replace('<= 1', '<= 200') };
/** More than GitHub lists with the pull request: they are read by a request of their own. */
const MANY_FILES = Object.fromEntries(Array.from({ length: 110 }, (_, index) => [`f${index}.txt`, 'a\n']));

const FILES = '/pulls/N(?:/files|\\.diff)';
const COMMENTS = '/issues/N/comments';

/** Once, during a review that has read another policy: this one comes, and its webhook is dealt with. */
function restores(
  scene: Scene,
  number: number,
  policy: Changes,
  method: string,
  path: string,
): { times: () => number } {
  const { forge, repository, door } = scene;
  let times = 0;
  scene.when(method, new RegExp(`^/repos/${repository}${path.replace('N', `${number}`)}$`), async () => {
    times += 1;
    forge.commit(repository, 'main', policy);
    await scene.tell({ kind: 'push', branch: 'main' });
    await until(async () => {
      const { rowCount } = await door.database.query(
        `SELECT FROM gatehouse_jobs.job
          WHERE name IN ('push', 'review-repository') AND data->>'repository' = $1 AND state < 'completed'`,
        [repository],
      );
      return rowCount === 0;
    });
  });
  return { times: () => times };
}

for (const name of FORGES) {
  test(`${name}: a policy that is back before the review ends never stays released`, async (t) => {
    const scene = gatehouse(name).scene(STRICT);
    const number = await scene.open(MANY_FILES);
    t.is(await scene.verdict(number), 'failure');
    scene.forge.commit(scene.repository, 'main', { '.gatehouse.yml': null });
    const restored = restores(scene, number, STRICT, 'GET', FILES);
    await scene.settled(scene.tell({ kind: 'push', branch: 'main' }));
    t.is(restored.times(), 1);
    t.is(scene.status(number)?.state, 'failure');
    t.false(scene.states(number).includes('success'));
  });

  test(`${name}: a policy that comes during a first review always judges`, async (t) => {
    const scene = gatehouse(name).scene({ 'README.md': 'Hello\n' });
    const number = scene.openSilently(MANY_FILES);
    const restored = restores(scene, number, STRICT, 'GET', FILES);
    await scene.judge(number);
    t.is(restored.times(), 1);
    t.is(scene.status(number)?.state, 'failure');
  });

  test(`${name}: a policy that is back while a verdict is posted always judges`, async (t) => {
    const scene = gatehouse(name).scene(LAX);
    const number = await scene.open(MANY_FILES);
    t.is(await scene.verdict(number), 'success');
    scene.forge.commit(scene.repository, 'main', STRICT);
    const restored = restores(scene, number, LAX, 'POST', COMMENTS);
    await scene.settled(scene.tell({ kind: 'push', branch: 'main' }));
    t.is(restored.times(), 1);
    t.is(scene.status(number)?.state, 'success');
  });
}
