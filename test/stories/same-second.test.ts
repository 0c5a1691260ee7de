import { forgesOf, pathsOfReads, resyncNow, type Scene, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const APPROVED = {
  '.gatehouse.yml': `version: 1
rules:
  - id: no-objection
    forbid: { changes_requested: true }
`,
};

const WAITING = { '.gatehouse.yml': 'version: 1\nrules: [{ id: approved, require: { approvals: 1 } }]\n' };

const readsOf = ({ forge, repository }: Scene, number: number) =>
  forge.seen.filter(({ path }) => pathsOfReads(repository, number).test(path)).length;

for (const name of FORGES) {
  test(`${name}: what changes in the second of the reading never stays unseen`, async (t) => {
    await using story = await tellStory(name, APPROVED);
    const { forge, repository } = story;
    const number = story.openSilently({ 'a.txt': 'a\n' });
    const pull = forge.pull(repository, number);
    // Something has changed just before each reading.
    const second = () => new Date(Math.floor(Date.now() / 1_000) * 1_000).toISOString();
    story.when(undefined, pathsOfReads(repository, number), () => Object.assign(pull, { updatedAt: second() }));
    t.is(await story.judge(number), 'success');
    const { updatedAt } = pull;
    // The webhook is lost, and the change shows in no time.
    forge.review(repository, number, 'bob', 'changes-requested');
    Object.assign(pull, { updatedAt });
    await resyncNow(story);
    t.not(story.status(number)?.state, 'success');
  });

  for (const [state, policy] of Object.entries({ success: APPROVED, pending: WAITING })) {
    test(`${name}: a pull request that is ${state} and changed long ago is looked at no more until its turn`, async (t) => {
      await using story = await tellStory(name, policy);
      t.is(await story.verdict(await story.open({ 'a.txt': 'a\n' })), state);
      // A comment of our own has changed it: one more review, long after it.
      story.forge.age(60_000);
      await resyncNow(story);
      const asked = () => [readsOf(story, 1), story.writes()];
      const before = asked();
      await resyncNow(story, { turns: false });
      t.deepEqual(asked(), before);
    });
  }
}
