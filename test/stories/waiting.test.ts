import { WORKER } from '../helpers/door.ts';
import { forgesOf, REPOSITORY, shareStories, tellStory } from '../helpers/story.ts';
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
    const number = await scene.open({ 'a.txt': 'a\n' }, { title: 'feat: a' });
    await scene.settled();
    t.deepEqual(scene.status(number), WAITING);
    t.deepEqual(scene.states(number), ['pending']);
    t.deepEqual(
      scene.forge.pull(scene.repository, number).reviews,
      [],
      'changes are not requested, nor is anything else reviewed',
    );

    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');

    await scene.review(number, 'bob', 'changes-requested');
    await scene.settled();
    t.deepEqual(scene.status(number), WAITING);
    t.is(scene.comments(number).length, 1);
  });

  test(`${name}: a commit with a waiting and a passing pull request is pending`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const { forge, repository } = scene;
    const number = await scene.open({ 'a.txt': 'a\n' }, { title: 'feat: a' });
    await scene.settled();
    const fork = forge.fork(repository, `twin-${number}`);
    const head = forge.pull(repository, number).headBranch;
    const twin = forge.openPullRequest(repository, { title: 'feat: twin', from: fork, head });
    await scene.tell({ kind: 'pull-request', number: twin, action: 'opened' });
    await scene.review(twin, 'bob', 'approved');
    await scene.settled();
    t.deepEqual(scene.status(twin), {
      state: 'pending',
      description: `#${number}: Waiting for 1 approval from bob (#${twin} has this commit too)`,
    });
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(twin)?.state, 'success');
  });

  test(`${name}: a resync does not review again what waits for others`, async (t) => {
    await using story = await tellStory(name, FILES);
    const { forge } = story;
    const number = await story.open({ 'a.txt': 'a\n' }, { title: 'feat: a' });
    await story.settled();
    t.deepEqual(story.status(number), WAITING);
    const comesBy = async () => {
      const started = new Date();
      await using _worker = await story.openDoor({}, WORKER);
      await story.resynced(started);
      await story.settledFor(REPOSITORY);
    };
    // Our own comment has changed the pull request: one more review, long after it.
    forge.age(60_000);
    await comesBy();
    forge.forgetRequests();
    await comesBy();
    t.is(forge.count('GET', /\/pulls\/:?\w+\/files$/), 0);
    t.is(forge.count('GET', /\/reviews$/), 0);
    t.is(story.writes(), 0);
    t.deepEqual(story.status(number), WAITING);
  });
}
