import { forgesOf, shareStories, tellStory, workerComesBy } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES);

const POLICY = `version: 1
rules:
  - id: public-only
    require: { visibility: public, topic: 'tier-*' }
`;

for (const name of FORGES) {
  test(`${name}: visibility and topics of the repository are judged`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY });
    await scene.setTopics('web', 'Tier-1');
    const number = await scene.open({ 'a.txt': 'a\n' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: changed settings of the repository end a success at the next resync`, async (t) => {
    await using story = await tellStory(name, { '.gatehouse.yml': POLICY }, {}, { door: true, worker: false });
    await story.setTopics('tier-1');
    const number = await story.open({ 'a.txt': 'a\n' });
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'success');
    await story.setTopics('web');
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'failure');
    await story.setTopics('tier-2');
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'success');
    await story.setPrivate(true);
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'failure');
  });
}
