import test from 'ava';
import { tellStory } from '../helpers/story.ts';
import { until } from '../helpers/until.ts';

const POLICY = "version: 1\nrules:\n  - { id: titled, require: { title: '^feat: ' } }\n";
/** More than enough to use up the share of one pull request. */
const EDITS = 60;

for (const forgets of [false, true]) {
  const title = `no success${forgets ? ' that our database does not know' : ''} stands during a wait for requests`;
  test(`github: ${title}`, async (t) => {
    await using story = await tellStory('github', { '.gatehouse.yml': POLICY });
    const { database } = story.door;
    const jobs = async (condition: string) => {
      const { rows } = await database.query(
        `SELECT FROM gatehouse_jobs.job WHERE name = 'review' AND state < 'completed' AND ${condition}`,
      );
      return rows.length;
    };
    const waits = async () => (await jobs("start_after > now() + interval '1 minute'")) > 0;
    story.forge.rateLimit.remaining = 400;
    const number = await story.open({ 'a.txt': 'a\n' }, { title: 'feat: a', author: 'mallory' });
    await story.settled();
    t.is(story.status(number)?.state, 'success');
    for (let edit = 0; edit < EDITS && !(await waits()); edit++) {
      if (forgets) {
        await database.query('DELETE FROM gatehouse.posted_statuses');
      }
      await story.edit(number, { title: `feat: ${edit}` });
      await until(async () => (await waits()) || (await jobs('true')) === 0);
    }
    t.true(await waits());
    t.is(story.status(number)?.state, 'pending');

    const other = await story.open({ 'b.txt': 'b\n' }, { title: 'feat: b', author: 'alice' });
    await until(() => story.status(other)?.state === 'success');
    t.is(story.status(number)?.state, 'pending');
  });
}
