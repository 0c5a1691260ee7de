import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { DOOR, SECRET, WORKER } from '../helpers/door.ts';
import { TITLES } from '../helpers/policies.ts';
import { REPOSITORY, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { eventually } from '../helpers/until.ts';

const FILES = { '.gatehouse.yml': TITLES };
const BASELINE = 'acme/.gatehouse';

/** Until `end`, the database stores no resync. */
async function refuseResyncs(database: pg.Pool) {
  await database.query(
    `CREATE SEQUENCE public.refusals;
     CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN PERFORM nextval('public.refusals'); RAISE EXCEPTION 'not now'; END $$;
     CREATE TRIGGER refuse BEFORE INSERT ON gatehouse_jobs.job_common
       FOR EACH ROW WHEN (NEW.name = 'resync') EXECUTE FUNCTION public.refuse()`,
  );
  return {
    async end(): Promise<void> {
      await eventually('a resync was refused', async () => {
        const { rows } = await database.query<{ is_called: boolean }>('SELECT is_called FROM public.refusals');
        return rows[0]?.is_called === true;
      });
      await database.query('DROP TRIGGER refuse ON gatehouse_jobs.job_common');
    },
  };
}

test('a resync that could not be queued when a worker starts never counts as done', async (t) => {
  await using story = await tellStory('github', FILES, {}, DOOR);
  const number = story.openSilently({ 'a.txt': 'a\n' }, { title: 'feat: a' });
  await story.door.database.query('INSERT INTO gatehouse.repositories (name) VALUES ($1)', [REPOSITORY]);
  const refusal = await refuseResyncs(story.door.database);
  const started = new Date();
  await using _worker = await story.openDoor({}, WORKER);
  await refusal.end();
  await story.resynced(started);
  t.is(await story.verdict(number), 'success');
});

test('a baseline whose resync could not be queued at once never waits for the next', async (t) => {
  const setting = { POLICY_REPOSITORY: '.gatehouse' };
  await using story = await tellStory('github', {}, setting);
  story.forge.createRepository(BASELINE, { '.gatehouse.yml': TITLES });
  const number = await story.settled(story.open({ 'a.txt': 'a\n' }, { title: 'feat: a' }));
  const refusal = await refuseResyncs(story.door.database);
  const since = new Date();
  story.forge.commit(BASELINE, 'main', { '.gatehouse.yml': TITLES.replace('^feat: ', '^never') });
  const to = { secret: SECRET, deliveryId: randomUUID() };
  await story.forge.deliver(`${story.door.url}/webhook`, BASELINE, { kind: 'push', branch: 'main' }, to);
  await refusal.end();
  await story.resynced(since);
  t.is(await story.verdict(number), 'failure');
});
