import { randomUUID } from 'node:crypto';
import { addDays, days, onOneDay } from '../helpers/days.ts';
import { DOOR, SECRET, WORKER } from '../helpers/door.ts';
import { CLIENTS } from '../helpers/forges.ts';
import { CONVENTIONAL_TITLES } from '../helpers/policies.ts';
import { forgesOf, REPOSITORY, shareStories, tellStory, workerComesBy } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { eventually } from '../helpers/until.ts';
import type { SimulatedForge } from '../simulated-forge/simulated-forge.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES);

const FILES = { '.gatehouse.yml': CONVENTIONAL_TITLES };

for (const name of CLIENTS) {
  test(`${name}: a starting worker reviews only pull requests with a missed webhook`, async (t) => {
    await using story = await tellStory(name, FILES, {}, DOOR);
    const { forge } = story;
    const told = await story.open({ 'a.txt': 'a\n' });
    const missed = story.openSilently({ 'b.txt': 'b\n' }, { title: 'things' });
    const closed = story.openSilently({ 'c.txt': 'c\n' });
    forge.close(REPOSITORY, closed);
    await workerComesBy(story);
    t.is(story.status(told)?.state, 'success');
    t.is(story.status(missed)?.state, 'failure');
    t.is(story.status(closed), undefined);
    // Its own comment has changed the failing one: one more review, long after it, which writes nothing.
    const writes = story.writes();
    forge.age(60_000);
    await workerComesBy(story);
    t.is(story.writes(), writes);

    const old = story.head(told);
    const push = forge.push(REPOSITORY, told, { 'a.txt': 'b\n' });
    forge.forgetRequests();
    await workerComesBy(story);
    t.is(story.status(old)?.state, 'pending', 'its success is withdrawn');
    t.deepEqual(story.states(push), ['success'], 'a push of which no webhook told');
    t.is(
      forge.seen.filter(({ path }) => (name === 'github' ? /\/facts$/ : /\.diff$/).test(path)).length,
      1,
      'what has a verdict is not looked at again',
    );
    t.is(story.writes(), 2);
  });
}

for (const name of FORGES) {
  test(`${name}: repeated and reordered webhooks write nothing`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const { forge, repository, door } = scene;
    const post = async (webhook: ReturnType<typeof forge.webhook>) => {
      await forge.send(`${door.url}/webhook`, webhook);
      await scene.settled();
    };
    const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }, { title: 'things' }));
    const event = { kind: 'pull-request', number, action: 'edited' } as const;
    forge.edit(repository, number, { title: 'other things' });
    const older = forge.webhook(repository, event, { secret: SECRET, deliveryId: randomUUID() });
    forge.edit(repository, number, { title: 'feat: things' });
    const newer = forge.webhook(repository, event, { secret: SECRET, deliveryId: randomUUID() });

    await post(newer);
    t.is(scene.status(number)?.state, 'success');
    const writes = scene.writes();
    const reads = forge.seen.filter(({ path }) => path.includes(`/repos/${repository}/`)).length;
    await post(newer);
    t.is(
      forge.seen.filter(({ path }) => path.includes(`/repos/${repository}/`)).length,
      reads,
      'a duplicate asks for nothing',
    );
    await post(older);
    t.is(scene.status(number)?.state, 'success');
    t.is(scene.writes(), writes);
    t.deepEqual(scene.states(number), ['failure', 'success']);
  });
}

// Which of them are requested, and how often, is integration/recover-deliveries.
test('github: an App requests the redelivery of failed deliveries once', async (t) => {
  const asApp = ({ app }: SimulatedForge) => {
    app.install('acme');
    return { FORGE_TOKEN: '', GITHUB_APP_ID: app.id, GITHUB_APP_PRIVATE_KEY: app.privateKey };
  };
  await using story = await tellStory('github', FILES, asApp, DOOR);
  const { forge } = story;
  for (const statusCode of [200, 503]) {
    const deliveredAt = new Date().toISOString();
    forge.addDelivery({ event: 'pull_request', deliveredAt, guid: `answered ${statusCode}`, statusCode });
  }
  for (const _ of ['first', 'second']) {
    await workerComesBy(story);
    t.is(forge.count('POST', /^\/app\/hook\/deliveries\/:id\/attempts$/), 1);
  }
});

test('a repository that is gone is asked for once, and its rows are deleted', async (t) => {
  await using story = await tellStory('gitea', FILES, {}, DOOR);
  const { forge, door } = story;
  const gone = story.scene(FILES);
  await gone.open({ 'c.txt': 'c\n' });
  await workerComesBy(story, {}, [gone.repository]);
  forge.deleteRepository(gone.repository);
  const missed = story.openSilently({ 'b.txt': 'b\n' });
  forge.forgetRequests();
  await workerComesBy(story, {}, [gone.repository, story.repository]);
  await workerComesBy(story, {}, [gone.repository]);
  t.is(story.status(missed)?.state, 'success', 'it stops the resync of no other');
  t.is(forge.seen.filter(({ path }) => path.includes(gone.repository)).length, 1);
  for (const [table, column] of [
    ['reviews', 'repository'],
    ['repositories', 'name'],
  ]) {
    t.is(
      (await door.database.query(`SELECT FROM gatehouse.${table} WHERE ${column} = $1`, [gone.repository])).rowCount,
      0,
    );
  }
});

test(
  'the worker drops days older than RETENTION_DAYS, and makes those ahead',
  onOneDay(async (t) => {
    await using story = await tellStory('github', FILES, { RETENTION_DAYS: '7' }, DOOR);
    const { database } = story.door;
    await story.open({ 'a.txt': 'a\n' });
    const had = await days(database);
    await addDays(database, 10);
    await database.query(
      `INSERT INTO gatehouse.deliveries
       SELECT (jsonb_populate_record(d, jsonb_build_object('delivery_id', 'copy-' || n, 'received_at', now() - make_interval(days => n)))).*
         FROM gatehouse.deliveries d, generate_series(1, 10) n`,
    );
    await database.query(`DROP TABLE gatehouse.${had.at(-1)}`);
    await using _worker = await story.openDoor({}, WORKER);
    // Of both tables: today, the seven days before it, and the seven after it.
    const expected = 2 * (7 + 1 + 7);
    await eventually('the old days are gone', async () => (await days(database)).length === expected);
    t.true((await days(database)).includes(had.at(-1) ?? ''));
    t.is((await story.door.deliveries()).length, 8);
  }),
);
