import { randomUUID } from 'node:crypto';
import test from 'ava';
import { SECRET } from '../helpers/door.ts';
import { eventually, FORGES, REPOSITORY, type Story, shareStories, tellStory } from '../helpers/story.ts';

const gatehouse = shareStories(test);

const TITLES = `version: 1
rules:
  - id: conventional-title
    require: { title: '^(feat|fix|docs): ' }
`;
const FILES = { '.gatehouse.yml': TITLES };
const DOOR = { door: true, worker: false };
const WORKER = { door: false, worker: true };

/** A worker that starts, looks at everything once, and is stopped again. */
async function workerComesBy(story: Story): Promise<void> {
  const started = new Date();
  await using _worker = await story.openDoor({}, WORKER);
  await story.resynced(started);
  await story.settled();
}

for (const name of FORGES) {
  test(`${name}: a worker that starts finds the pull requests of which no webhook told, and leaves the others`, async (t) => {
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

    const push = forge.push(REPOSITORY, told, { 'a.txt': 'b\n' });
    forge.forgetRequests();
    await workerComesBy(story);
    t.deepEqual(story.states(push), ['pending', 'success'], 'a push of which no webhook told');
    t.is(forge.count('GET', /\/files$/), 1, 'what has a verdict is not looked at again');
    t.is(forge.writes(), 2);
  });

  test(`${name}: a webhook told twice, and two told in the wrong order, change nothing and write nothing`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const { forge, repository, door } = scene;
    const post = async ({ headers, body }: ReturnType<typeof forge.webhook>) => {
      const response = await fetch(`${door.url}/webhook`, { method: 'POST', headers, body });
      t.is(response.status, 200);
      await scene.settled();
    };
    const number = await scene.open({ 'a.txt': 'a\n' }, { title: 'things' });
    await scene.settled();
    const event = { kind: 'pull-request', number, action: 'edited' } as const;
    forge.edit(repository, number, { title: 'other things' });
    const older = forge.webhook(repository, event, { secret: SECRET, deliveryId: randomUUID() });
    forge.edit(repository, number, { title: 'feat: things' });
    const newer = forge.webhook(repository, event, { secret: SECRET, deliveryId: randomUUID() });

    await post(newer);
    t.is(scene.status(number)?.state, 'success');
    const writes = scene.writes();
    const reads = forge.seen.filter(({ path }) => path.startsWith(`/repos/${repository}/`)).length;
    await post(newer);
    t.is(
      forge.seen.filter(({ path }) => path.startsWith(`/repos/${repository}/`)).length,
      reads,
      'a duplicate asks for nothing',
    );
    await post(older);
    t.is(scene.status(number)?.state, 'success');
    t.is(scene.writes(), writes);
    t.deepEqual(scene.states(number), ['pending', 'failure', 'success']);
  });
}

test('github: deliveries that a hook could not make are asked for again, once', async (t) => {
  await using story = await tellStory('github', FILES, {}, DOOR);
  const { forge } = story;
  await story.open({ 'a.txt': 'a\n' });
  const hook = `${REPOSITORY}#1`;
  const deliveredAt = new Date().toISOString();
  const delivery = { event: 'pull_request', deliveredAt, hook };
  forge.addDelivery({ ...delivery, guid: 'accepted', statusCode: 200 });
  forge.addDelivery({ ...delivery, guid: 'failed', statusCode: 503 });
  forge.addDelivery({ ...delivery, guid: 'failed at first', statusCode: 503 });
  forge.addDelivery({ ...delivery, guid: 'failed at first', statusCode: 200 });
  forge.addDelivery({ ...delivery, guid: 'of another hook', statusCode: 503, hook: `${REPOSITORY}#2` });
  await workerComesBy(story);
  t.is(forge.count('POST', /\/attempts$/), 1);
  await workerComesBy(story);
  t.is(forge.count('POST', /\/attempts$/), 1);
});

test('github: an App asks for its failed deliveries again, of all repositories at once', async (t) => {
  await using story = await tellStory(
    'github',
    FILES,
    ({ app }) => ({ FORGE_TOKEN: '', GITHUB_APP_ID: app.id, GITHUB_APP_PRIVATE_KEY: app.privateKey }),
    DOOR,
  );
  const { forge } = story;
  forge.app.install('acme');
  const number = await story.open({ 'a.txt': 'a\n' });
  forge.addDelivery({ event: 'pull_request', guid: 'failed', statusCode: 503, deliveredAt: new Date().toISOString() });
  await workerComesBy(story);
  t.is(story.status(number)?.state, 'success');
  t.is(forge.count('POST', /^\/app\/hook\/deliveries\/:id\/attempts$/), 1);
});

test('github: a repository whose deliveries may not be read is resynced all the same', async (t) => {
  await using story = await tellStory('github', FILES, {}, DOOR);
  await story.open({ 'a.txt': 'a\n' });
  const missed = story.openSilently({ 'b.txt': 'b\n' });
  story.forge.fault({ path: /\/hooks\//, fault: { kind: 'status', status: 403 } });
  await workerComesBy(story);
  t.is(story.status(missed)?.state, 'success');
});

test('a repository that cannot be looked at does not keep a resync from the others', async (t) => {
  await using story = await tellStory('gitea', FILES, {}, DOOR);
  await story.open({ 'a.txt': 'a\n' });
  const missed = story.openSilently({ 'b.txt': 'b\n' });
  const gone = story.scene(FILES);
  await gone.open({ 'c.txt': 'c\n' });
  story.forge.deleteRepository(gone.repository);
  await workerComesBy(story);
  t.is(story.status(missed)?.state, 'success');
});

test('deliveries older than RETENTION_DAYS are deleted, no more than 1,000 at a time', async (t) => {
  await using story = await tellStory('github', FILES, { RETENTION_DAYS: '7' }, DOOR);
  const { database } = story.door;
  await story.open({ 'a.txt': 'a\n' });
  await database.query(
    `INSERT INTO gatehouse.deliveries
     SELECT (jsonb_populate_record(d, jsonb_build_object('delivery_id', 'copy-' || n, 'received_at', now() - age))).*
       FROM gatehouse.deliveries d,
            (SELECT n, CASE WHEN n <= 2500 THEN interval '8 days' ELSE interval '6 days' END AS age
               FROM generate_series(1, 2510) n) copies`,
  );
  await database.query('CREATE TABLE batches (size int)');
  await database.query(
    `CREATE FUNCTION note_batch() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN INSERT INTO batches SELECT count(*) FROM gone; RETURN NULL; END $$`,
  );
  await database.query(
    `CREATE TRIGGER note_batch AFTER DELETE ON gatehouse.deliveries
     REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION note_batch()`,
  );
  await using _worker = await story.openDoor({}, WORKER);
  await eventually('a batch was not full, so that it was the last', async () => {
    const { rows } = await database.query('SELECT FROM batches WHERE size < 1000');
    return rows.length > 0;
  });
  const { rows } = await database.query('SELECT size FROM batches');
  t.deepEqual(
    rows.map(({ size }) => size),
    [1_000, 1_000, 500],
  );
  t.is((await story.door.deliveries()).length, 11);
});
