import { forgesOf, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';
import type { Changes } from '../simulated-forge/git.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES);

const STRICT = { '.gatehouse.yml': "version: 1\nrules:\n  - id: small\n    require: { changed_files: '<= 1' }\n" };
const LAX = { '.gatehouse.yml': STRICT['.gatehouse.yml'].replace('<= 1', '<= 200') };
const NONE = { '.gatehouse.yml': null };
/** More than GitHub lists with the pull request: they are read by a request of their own. */
const MANY_FILES = Object.fromEntries(Array.from({ length: 110 }, (_, index) => [`f${index}.txt`, 'a\n']));

const FILES = /\/pulls\/\d+(?:\/files|\.diff)/;
const COMMENTS = /\/issues\/\d+\/comments/;

/** Once, when a review that has read another policy asks for this, a policy comes, and its webhook is dealt with. */
function restores(scene: Scene, policy: Changes, method: string, path: RegExp): { times: () => number } {
  const { forge, repository, door } = scene;
  let times = 0;
  scene.when(method, new RegExp(`^/repos/${repository}${path.source}$`), async () => {
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
  for (const [what, before, during, state, method, path] of [
    ['that is back before the review ends never stays released', STRICT, NONE, 'failure', 'GET', FILES],
    ['that is back while a verdict is posted always judges', LAX, STRICT, 'success', 'POST', COMMENTS],
  ] as const) {
    test(`${name}: a policy ${what}`, async (t) => {
      const scene = gatehouse(name).scene(before);
      const number = await scene.open(MANY_FILES);
      t.is(await scene.verdict(number), state);
      scene.forge.commit(scene.repository, 'main', during);
      const restored = restores(scene, before, method, path);
      await scene.tell({ kind: 'push', branch: 'main' });
      t.is(await scene.verdict(number), state);
      t.is(restored.times(), 1);
      t.is(scene.states(number).includes('success'), state === 'success');
    });
  }

  test(`${name}: a policy that comes during a first review always judges`, async (t) => {
    const scene = gatehouse(name).scene({ 'README.md': 'Hello\n' });
    const number = scene.openSilently(MANY_FILES);
    const restored = restores(scene, STRICT, 'GET', FILES);
    t.is(await scene.judge(number), 'failure');
    t.is(restored.times(), 1);
  });
}
