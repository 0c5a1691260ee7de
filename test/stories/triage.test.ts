import { forgesOf, shareStories, tellStory, workerComesBy } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES);

const POLICY = `version: 1
rules:
  - id: assigned
    require: { assignee: [bob, '@acme/sorting'] }
  - id: planned
    require: { milestone: 'v2.*' }
`;
const PLANNED = `version: 1
rules:
  - id: planned
    require: { milestone: 'v2.*' }
`;
const TITLES = `version: 1
rules:
  - id: title
    require: { title: '^feat' }
`;

for (const name of FORGES) {
  test(`${name}: an assignee and a milestone are judged as soon as they change`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY });
    const { forge } = scene;
    forge.createTeam('acme/sorting', ['ALICE']);
    const number = await scene.open({ 'a.txt': 'a\n' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
    t.regex(scene.comments(number).join(), /no assignee.*\n.*no milestone/);

    const judged = async (change: Promise<void>) => {
      await change;
      await scene.settled();
      return scene.status(number)?.state;
    };
    t.is(await judged(scene.assign(number, 'mallory')), 'failure');
    t.is(await judged(scene.assign(number, 'alice')), 'failure');
    t.is(await judged(scene.setMilestone(number, 'V2.1')), 'success');
    t.is(await judged(scene.assign(number)), 'failure');
    t.is(await judged(scene.assign(number, 'mallory', 'bob')), 'success');
    t.is(await judged(scene.setMilestone(number, null)), 'failure');
  });

  test(`${name}: an assignee that no webhook told is seen by the resync`, async (t) => {
    await using story = await tellStory(name, { '.gatehouse.yml': POLICY }, {}, { door: true, worker: false });
    const { forge, repository } = story;
    const number = await story.open({ 'a.txt': 'a\n' });
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'failure');
    forge.assign(repository, number, 'bob');
    forge.setMilestone(repository, number, 'v2.0');
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'success');
  });

  test(`${name}: a renamed or deleted milestone ends a success at the next resync`, async (t) => {
    await using story = await tellStory(name, { '.gatehouse.yml': PLANNED }, {}, { door: true, worker: false });
    const { forge, repository } = story;
    const number = await story.open({ 'a.txt': 'a\n' });
    forge.setMilestone(repository, number, 'v2.0');
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'success');
    forge.renameMilestone(repository, number, 'later');
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'failure');
    forge.renameMilestone(repository, number, 'v2.1');
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'success');
    forge.renameMilestone(repository, number, null);
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'failure');
  });

  test(`${name}: an assignee asks the forge nothing if no rule looks at it`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': TITLES });
    const { forge, repository } = scene;
    const number = await scene.open({ 'a.txt': 'a\n' });
    await scene.settled();
    const before = forge.seen.length;
    await scene.assign(number, 'bob');
    await scene.setMilestone(number, 'v2.0');
    await scene.settled();
    t.deepEqual(
      forge.seen.slice(before).filter(({ path }) => path.includes(repository)),
      [],
    );
  });

  test(`${name}: assignees that cannot be read never let a rule pass`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY.replaceAll('require', 'forbid') });
    const number = scene.openSilently({ 'a.txt': 'a\n' });
    const { forge, repository } = scene;
    forge.assign(repository, number, 'bob');
    const path = new RegExp(`^/repos/${repository}/pulls/${number}$`);
    scene.when('GET', path, async () => {
      forge.fault({ path, times: 1, fault: { kind: 'status', status: 500 } });
    });
    await scene.tell({ kind: 'pull-request', number, action: 'opened' });
    await scene.settled();
    t.false(scene.states(number).includes('success'));
    t.is(scene.status(number)?.state, 'failure');
  });
}
