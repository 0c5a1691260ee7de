import { resyncNow, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const RULES = {
  '.gatehouse.yml':
    'version: 1\nrules: [{ id: reviewed, require: { approvals: 1 } }, { id: calm, forbid: { changes_requested: true } }]\n',
};

test('github: access that is lost and given behind 150 strangers is found in the pull request’s turn', async (t) => {
  await using story = await tellStory('github', RULES);
  const { forge, repository } = story;
  const number = story.openSilently({ 'a.txt': 'a\n' });
  for (let index = 0; index < 150; index++) {
    forge.addOutsider(`stranger-${index}`);
    forge.review(repository, number, `stranger-${index}`, 'changes-requested');
  }
  forge.review(repository, number, 'yara', 'approved');
  t.is(await story.judge(number), 'success');
  // What was changed this very second is looked at again by each resync.
  forge.age(60_000);
  await resyncNow(story);
  forge.removeOutsider('stranger-149');
  await resyncNow(story);
  t.is(story.status(number)?.state, 'pending', 'the objection counts');
  forge.addOutsider('stranger-149');
  await resyncNow(story);
  t.is(story.status(number)?.state, 'success');
  forge.fault({ path: /^\/graphql/, fault: { kind: 'status', status: 502 } });
  forge.addOutsider('yara');
  await resyncNow(story);
  t.is(story.status(number)?.state, 'pending', 'also without GraphQL');
});
