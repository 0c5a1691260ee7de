import { CLIENTS } from '../helpers/forges.ts';
import { TITLED } from '../helpers/policies.ts';
import { pathsOfReads, shareStories, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import type { SimulatedForge } from '../simulated-forge/simulated-forge.ts';

const gatehouse = shareStories(test, CLIENTS);

for (const name of CLIENTS) {
  test(`${name}: no success is written for a title that changed meanwhile`, async (t) => {
    const scene = gatehouse(name).scene(TITLED);
    const { forge, repository } = scene;
    const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }, { title: 'things' }));
    // While the comment is updated, after the verdict and before the status.
    scene.when('PATCH', new RegExp(`^/repos/${repository}/issues/comments/`), () => {
      forge.edit(repository, number, { title: 'things' });
    });
    await scene.settled(scene.edit(number, { title: 'feat: things' }));
    t.deepEqual(scene.states(number), ['failure']);
  });

  const DURING: Readonly<Record<string, (forge: SimulatedForge, repository: string, number: number) => void>> = {
    'a push': (forge, repository, number) => forge.push(repository, number, { 'a.txt': 'b\n' }),
    'a push, and it was closed': (forge, repository, number) => {
      forge.push(repository, number, { 'a.txt': 'b\n' });
      forge.close(repository, number);
    },
    'a change of its base': (forge, repository, number) => forge.retarget(repository, number, 'next'),
  };
  for (const [what, happen] of Object.entries(DURING)) {
    test(`${name}: no success stays where a review was during ${what}`, async (t) => {
      const scene = gatehouse(name).scene(TITLED);
      const { forge, repository } = scene;
      forge.commit(repository, 'next', TITLED);
      const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }, { title: 'feat: things' }));
      const head = scene.head(number);
      t.is(scene.status(head)?.state, 'success');
      // While the present state is compared, after the review has entered the first head.
      const reads = pathsOfReads(repository, number);
      scene.when(undefined, reads, () => {
        scene.when(undefined, reads, () => happen(forge, repository, number));
      });
      await scene.edit(number, { title: 'feat: other things' });
      t.not(await scene.verdict(head, 'gatehouse/main'), 'success');
    });
  }

  test(`${name}: no pending status outlives a policy deleted in a first review`, async (t) => {
    const scene = gatehouse(name).scene(TITLED);
    const { forge, repository } = scene;
    const number = scene.openSilently({ 'a.txt': 'a\n' }, { title: 'feat: things' });
    const earlier = { context: 'gatehouse/main', state: 'success', description: '', author: 'gatehouse' };
    forge.setStatus(repository, scene.head(number), earlier);
    scene.when('POST', new RegExp(`^/repos/${repository}/statuses/`), () => {
      forge.commit(repository, 'main', { '.gatehouse.yml': null });
    });
    await scene.judge(number);
    t.deepEqual(scene.states(number), ['success', 'pending', 'success']);
    t.regex(scene.status(number)?.description ?? '', /^No policy requires anything any more$/);
  });
}

test('a review that a newer one has overtaken stops, and another completes it', async (t) => {
  await using story = await tellStory('github', TITLED);
  // As if a newer review began right after the first has recorded what it reads, and were then cut short.
  await story.door.database.query(
    `CREATE FUNCTION overtake() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN NEW.fence = nextval('gatehouse.review_fence'); RETURN NEW; END $$`,
  );
  await story.door.database.query(
    `CREATE TRIGGER overtake BEFORE UPDATE OF head_sha ON gatehouse.reviews
       FOR EACH ROW WHEN (OLD.head_sha = '') EXECUTE FUNCTION overtake()`,
  );
  const number = await story.settled(story.open({ 'a.txt': 'a\n' }, { title: 'things' }));
  t.deepEqual(story.states(number), ['failure']);
  t.is(story.comments(number).length, 1);
  const { rows } = await story.door.database.query<{ fence: string }>('SELECT fence FROM gatehouse.reviews');
  t.is(rows[0]?.fence, '3', 'the first review, the one that overtook it, and the one that completed it');
});
