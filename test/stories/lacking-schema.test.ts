import { makeLog } from '../../src/log.ts';
import { DOOR, WORKER } from '../helpers/door.ts';
import { TITLES } from '../helpers/policies.ts';
import { tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { eventually } from '../helpers/until.ts';

test('a worker whose schema lacks a column takes no job, says why once, and starts when it is there', async (t) => {
  await using story = await tellStory('gitea', { '.gatehouse.yml': TITLES }, {}, DOOR);
  const { database } = story.door;
  const number = await story.open({ 'a.txt': 'a\n' }, { title: 'feat: a' });
  await database.query('ALTER TABLE gatehouse.reviews RENAME COLUMN rules TO gone');
  const lines: { readonly level: string; readonly msg: string; readonly err?: { readonly message: string } }[] = [];
  const log = makeLog('debug', { write: (line: string) => lines.push(JSON.parse(line)) });
  const waits = () => lines.filter(({ msg }) => msg === 'the worker cannot start yet');
  const taken = async () =>
    (await database.query("SELECT FROM gatehouse_jobs.job WHERE state >= 'active' OR retry_count > 0")).rowCount ?? 0;

  await using _worker = await story.openDoor({}, WORKER, { log });
  await eventually('the worker looked twice, or took a job', async () => waits().length > 1 || (await taken()) > 0);
  t.is(await taken(), 0);
  t.deepEqual(
    waits().map(({ level }) => level),
    ['warn', ...Array.from({ length: waits().length - 1 }, () => 'debug')],
  );
  t.regex(waits()[0]?.err?.message ?? '', /^database: the schema lacks gatehouse\.reviews\.rules: /);

  await database.query('ALTER TABLE gatehouse.reviews RENAME COLUMN gone TO rules');
  await story.settled();
  t.is(await story.verdict(number), 'success');
});
