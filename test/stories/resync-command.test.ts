import test from 'ava';
import { resync } from '../../src/commands/resync.ts';
import { type Story, tellStory, workerComesBy } from '../helpers/story.ts';

const POLICY = "version: 1\nrules: [{ id: t, require: { title: '^feat' } }]\n";

async function run(story: Story, ...names: string[]) {
  let said = '';
  const output = { write: (text: string | Uint8Array) => (said += text) };
  const { DATABASE_URL = '', REDIS_URL = '' } = story.environment;
  const env = { DATABASE_URL, REDIS_URL };
  const code = await resync.run(names, {
    stdin: (async function* () {})(),
    stdout: output,
    stderr: output,
    env,
    folder: '.',
  });
  return { code, said };
}

test('a repository that no delivery came from is looked at when it is named', async (t) => {
  await using story = await tellStory('gitea', { '.gatehouse.yml': POLICY });
  const number = story.openSilently({ 'a.txt': 'a' }, { title: 'feat: a' });
  const since = new Date();
  t.deepEqual(await run(story, story.repository), { code: 0, said: 'A look at 1 repository is queued.\n' });
  await story.resynced(since);
  await story.settled();
  t.is(story.status(number)?.state, 'success');
});

test('after the database was lost no pull request keeps a success it no longer earns', async (t) => {
  await using story = await tellStory('gitea', { '.gatehouse.yml': POLICY });
  const number = await story.open({ 'a.txt': 'a' }, { title: 'feat: a' });
  await story.settled();
  t.is(story.status(number)?.state, 'success');
  const { rows } = await story.door.database.query<{ name: string }>(
    "SELECT format('gatehouse.%I', relname) AS name FROM pg_class WHERE relnamespace = 'gatehouse'::regnamespace AND relname IN ('deliveries', 'frames', 'hooks', 'repositories', 'reviews', 'progress', 'posted_statuses')",
  );
  await story.door.database.query(`TRUNCATE ${rows.map(({ name }) => name).join(', ')} CASCADE`);
  story.forge.edit(story.repository, number, { title: 'bad' });
  const since = new Date();
  // In any case: the forge's names are the same.
  t.is(
    (await run(story, story.repository.toUpperCase(), story.repository)).said,
    'A look at 1 repository is queued.\n',
  );
  await story.resynced(since);
  await story.settled();
  t.is(story.status(number)?.state, 'failure');
});

test('a restored database shows no success that a pull request does not earn', async (t) => {
  await using story = await tellStory('gitea', { '.gatehouse.yml': POLICY });
  const number = await story.open({ 'a.txt': 'a' }, { title: 'bad' });
  await story.settled();
  const { database } = story.door;
  const tables = ['deliveries', 'frames', 'reviews', 'posted_statuses'];
  await database.query('CREATE SCHEMA backup');
  for (const table of tables) {
    await database.query(`CREATE TABLE backup.${table} AS TABLE gatehouse.${table}`);
  }
  await story.edit(number, { title: 'feat: a' });
  await story.settled();
  t.is(story.status(number)?.state, 'success');
  // Its webhook is lost with the database.
  story.forge.edit(story.repository, number, { title: 'bad again' });
  await database.query(`TRUNCATE ${tables.map((table) => `gatehouse.${table}`).join(', ')} CASCADE`);
  for (const table of tables) {
    await database.query(`INSERT INTO gatehouse.${table} SELECT * FROM backup.${table}`);
  }
  await workerComesBy(story);
  t.is(story.status(number)?.state, 'failure');
});

test('what is not the name of a repository is refused', async (t) => {
  await using story = await tellStory('gitea');
  await t.throwsAsync(run(story, 'widgets'), { message: /owner\/repository/ });
});
