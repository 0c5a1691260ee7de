import { resync } from '../../src/commands/resync.ts';
import { runCommand } from '../helpers/run-command.ts';
import { forgesOf, resyncNow, type Story, tellStory, workerComesBy } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const POLICY = "version: 1\nrules: [{ id: t, require: { title: '^feat' } }]\n";

async function run(story: Story, ...names: string[]) {
  const { DATABASE_URL = '', REDIS_URL = '' } = story.environment;
  const { code, stdout, stderr } = await runCommand(resync, names, { env: { DATABASE_URL, REDIS_URL } });
  return { code, said: stdout + stderr };
}

async function loseDatabase({ door }: Story): Promise<void> {
  const tables = ['deliveries', 'frames', 'delivery_keys', 'repositories', 'reviews', 'progress', 'statuses'];
  await door.database.query(`TRUNCATE ${tables.map((table) => `gatehouse.${table}`).join(', ')} CASCADE`);
}

test('after the database was lost no pull request keeps a success it no longer earns', async (t) => {
  await using story = await tellStory('gitea', { '.gatehouse.yml': POLICY });
  const number = await story.open({ 'a.txt': 'a' }, { title: 'feat: a' });
  t.is(await story.verdict(number), 'success');
  await loseDatabase(story);
  story.forge.edit(story.repository, number, { title: 'bad' });
  const since = new Date();
  // In any case: the forge's names are the same.
  t.deepEqual(await run(story, story.repository.toUpperCase(), story.repository), {
    code: 0,
    said: 'Queued a resync of 1 repository.\n',
  });
  await story.resynced(since);
  t.is(await story.verdict(number), 'failure');
});

for (const name of FORGES) {
  test(`${name}: a worker looks at every repository after a lost database`, async (t) => {
    await using story = await tellStory(name, { '.gatehouse.yml': POLICY });
    const number = await story.open({ 'a.txt': 'a' }, { title: 'feat: a' });
    t.is(await story.verdict(number), 'success');
    await loseDatabase(story);
    story.forge.edit(story.repository, number, { title: 'bad' });
    await workerComesBy(story);
    t.is(story.status(number)?.state, 'failure');
  });
}

test('a restored database shows no success that a pull request does not earn', async (t) => {
  await using story = await tellStory('gitea', { '.gatehouse.yml': POLICY });
  const number = await story.settled(story.open({ 'a.txt': 'a' }, { title: 'bad' }));
  const { database } = story.door;
  const tables = ['deliveries', 'frames', 'delivery_keys', 'reviews', 'statuses'];
  await database.query('CREATE SCHEMA backup');
  for (const table of tables) {
    await database.query(`CREATE TABLE backup.${table} AS TABLE gatehouse.${table}`);
  }
  await story.edit(number, { title: 'feat: a' });
  t.is(await story.verdict(number), 'success');
  // Its webhook is lost with the database.
  story.forge.edit(story.repository, number, { title: 'bad again' });
  await database.query(`TRUNCATE ${tables.map((table) => `gatehouse.${table}`).join(', ')} CASCADE`);
  for (const table of tables) {
    await database.query(`INSERT INTO gatehouse.${table} SELECT * FROM backup.${table}`);
  }
  await workerComesBy(story);
  t.is(story.status(number)?.state, 'failure');
});

const CHECKED = 'version: 1\nrules: [{ id: built, require: { checks: { name: build } } }]\n';

for (const name of FORGES) {
  test(`${name}: in a repository that is named, what changed untold is found at once`, async (t) => {
    await using story = await tellStory(name, { '.gatehouse.yml': CHECKED });
    const number = await story.settled(story.open({ 'a.txt': 'a' }));
    story.forge.age(60_000);
    await resyncNow(story);
    const build = { context: 'build', state: 'success', author: 'bob', description: '' };
    story.forge.setStatus(story.repository, story.head(number), build);
    await resyncNow(story, { turns: false });
    t.is(story.status(number, 'gatehouse/main')?.state, 'pending', 'nobody’s turn has come');
    const since = new Date();
    await run(story, story.repository);
    await story.resynced(since);
    await story.settled();
    t.is(story.status(number, 'gatehouse/main')?.state, 'success');
  });
}

test('what is not the name of a repository is refused', async (t) => {
  await t.throwsAsync(runCommand(resync, ['widgets'], { env: {} }), { message: /owner\/repository/ });
});
