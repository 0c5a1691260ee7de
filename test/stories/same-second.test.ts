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
    await story.tell({ kind: 'pull-request', number, action: 'opened' });
    t.is(await story.verdict(number), 'success');
    const { updatedAt } = pull;
    // The webhook is lost, and the change shows in no time.
    forge.review(repository, number, 'bob', 'changes-requested');
    Object.assign(pull, { updatedAt });
    await resyncNow(story);
    t.not(story.status(number)?.state, 'success');
  });

  test(`${name}: a pull request that changed long ago is looked at no more`, async (t) => {
    await using story = await tellStory(name, APPROVED);
    const { forge, repository } = story;
    const number = story.openSilently({ 'a.txt': 'a\n' });
    Object.assign(forge.pull(repository, number), { updatedAt: new Date(Date.now() - 60_000).toISOString() });
    await story.tell({ kind: 'pull-request', number, action: 'opened' });
    t.is(await story.verdict(number), 'success');
    const before = readsOf(story, number);
    await resyncNow(story);
    t.is(readsOf(story, number), before);
  });
}
