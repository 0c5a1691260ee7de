import { forgesOf, pathsOfReads, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES);

const POLICY = `version: 1
rules:
  - id: approved
    require: { approvals: { from: [bob] } }
  - id: conventional-title
    require: { title: '^feat: ' }
`;
const FILES = { '.gatehouse.yml': POLICY };
const WAITING = { state: 'pending', description: 'Waiting for 1 approval from bob' };

for (const name of FORGES) {
  test(`${name}: a pull request that lacks only an approval is pending, not red`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }, { title: 'feat: a' }));
    t.deepEqual(scene.status(number), WAITING);
    t.deepEqual(scene.states(number), ['pending']);
    t.deepEqual(
      scene.forge.pull(scene.repository, number).reviews,
      [],
      'changes are not requested, nor is anything else reviewed',
    );

    await scene.review(number, 'bob', 'approved');
    t.is(await scene.verdict(number), 'success');

    await scene.settled(scene.review(number, 'bob', 'changes-requested'));
    t.deepEqual(scene.status(number), WAITING);
    t.is(scene.comments(number).length, 1);
  });

  test.serial(`${name}: a resync does not review again what waits for others`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const { forge, repository } = scene;
    const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }, { title: 'feat: a' }));
    t.deepEqual(scene.status(number), WAITING);
    // Our own comment has changed the pull request: one more review, long after it.
    forge.age(60_000);
    await scene.resync();
    const writes = scene.writes();
    const paths = pathsOfReads(repository, number);
    const read = () => forge.seen.filter(({ path }) => paths.test(path)).length;
    const before = read();
    t.true(before > 0);
    await scene.resync();
    t.is(read(), before);
    t.is(scene.writes(), writes);
    t.deepEqual(scene.status(number), WAITING);
  });
}
