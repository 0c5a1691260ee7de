import { tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { eventually } from '../helpers/until.ts';

const FILES = { '.gatehouse.yml': 'version: 1\nrules:\n  - id: titled\n    require: { title: "." }\n' };

test('finished jobs are deleted after some minutes, and dead letters are kept', async (t) => {
  await using story = await tellStory('gitea', FILES);
  await story.settled(story.open({ 'a.txt': 'a\n' }));
  const { database } = story.door;
  await database.query(
    `INSERT INTO gatehouse_jobs.job (name, data, created_on, start_after, keep_until)
     VALUES ('review-dead-letters', '{}', now() - interval '1 hour', now() - interval '1 hour', now() + interval '1 day')`,
  );
  const finished = await database.query("SELECT FROM gatehouse_jobs.job WHERE name = 'review' AND state = 'completed'");
  t.is(finished.rowCount, 1);
  // Six minutes pass.
  await database.query("UPDATE gatehouse_jobs.job SET completed_on = completed_on - interval '6 minutes'");
  await database.query("UPDATE gatehouse_jobs.queue SET maintain_on = now() - interval '6 minutes'");
  await eventually('the finished job is deleted', async () => {
    const { rowCount } = await database.query("SELECT FROM gatehouse_jobs.job WHERE name = 'review'");
    return rowCount === 0;
  });
  const letters = await database.query("SELECT FROM gatehouse_jobs.job WHERE name = 'review-dead-letters'");
  t.is(letters.rowCount, 1);
});
