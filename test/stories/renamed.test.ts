import { randomUUID } from 'node:crypto';
import { DOOR, SECRET } from '../helpers/door.ts';
import { TITLES } from '../helpers/policies.ts';
import { forgesOf, REPOSITORY, shareStories, tellStory, workerComesBy } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES, { own: true });

const FILES = { '.gatehouse.yml': TITLES };
const RENAMED = 'acme/gadgets';

for (const name of FORGES) {
  test(`${name}: a renamed repository is asked for by its old name in one resync only`, async (t) => {
    await using story = await tellStory(name, FILES, {}, DOOR);
    const { forge } = story;
    const idle = story.scene(FILES);
    const number = await story.open({ 'a.txt': 'a\n' }, { title: 'things' });
    const closed = await idle.open({ 'a.txt': 'a\n' });
    forge.close(idle.repository, closed);
    await workerComesBy(story, {}, [REPOSITORY, idle.repository]);
    t.is(story.status(number)?.state, 'failure');

    forge.rename(REPOSITORY, RENAMED);
    forge.rename(idle.repository, 'acme/idle');
    const missed = story.openSilently({ 'b.txt': 'b\n' }, { title: 'feat: b' });
    await workerComesBy(story, {}, [REPOSITORY, RENAMED]);
    t.is(story.status(missed)?.state, 'success');
    const { database } = story.door;
    const names = async (table: string, column: string) =>
      (await database.query(`SELECT DISTINCT ${column} AS name FROM gatehouse.${table} ORDER BY 1`)).rows.map(
        (row) => row.name,
      );
    t.deepEqual(await names('repositories', 'name'), [RENAMED, 'acme/idle']);
    t.deepEqual(await names('reviews', 'repository'), [RENAMED]);

    forge.commit('acme/idle', 'topic', { 'c.txt': 'c\n' });
    const late = forge.openPullRequest('acme/idle', { head: 'topic', title: 'things' });
    forge.forgetRequests();
    await workerComesBy(story, {}, [RENAMED, 'acme/idle']);
    t.is(forge.seen.filter(({ path }) => path.includes(REPOSITORY) || path.includes(idle.repository)).length, 0);
    t.is(forge.statuses('acme/idle', forge.pull('acme/idle', late).headSha).at(-1)?.state, 'failure');
  });

  test.serial(`${name}: a rename never leaves an old head its success`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const { forge, repository } = scene;
    const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }, { title: 'feat: things' }));
    const old = scene.head(number);
    t.is(scene.states(old).at(-1), 'success');

    const event = { kind: 'pull-request', number, action: 'synchronize' } as const;
    const sent = forge.webhook(repository, event, { secret: SECRET, deliveryId: randomUUID() });
    await scene.rename(`${repository.split('/')[1]}-renamed`);
    await forge.send(`${scene.door.url}/webhook`, sent);
    t.is(await scene.verdict(number), 'success', 'after what was sent under the old name');
    // Its review is over before the resync that finds the rename.
    await scene.settled(scene.push(number, { 'a.txt': 'b\n' }));
    await scene.door.database.query('INSERT INTO gatehouse.repositories (name, due) VALUES ($1, true)', [repository]);
    await scene.resync();
    t.is(scene.status(number)?.state, 'success');
    t.is(scene.states(old).at(-1), 'pending');
  });
}
