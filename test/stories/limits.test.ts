import { forgesOf, REPOSITORY, type Story, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const FORGES = forgesOf(import.meta.url);

const POLICY = "version: 1\nrules:\n  - { id: titled, require: { title: '^feat: ' } }\n";
/** As often as a pull request is judged in an hour. */
const MOST = 60;

async function isIn(story: Story, number: number, condition: string): Promise<boolean> {
  const { rows } = await story.door.database.query(
    `SELECT FROM gatehouse_jobs.job
      WHERE name = 'review' AND state < 'completed' AND data->>'number' = $1 AND ${condition}`,
    [`${number}`],
  );
  return rows.length > 0;
}

const waits = (story: Story, number: number) => isIn(story, number, "start_after > now() + interval '1 minute'");

for (const name of FORGES) {
  test(`${name}: no success stands while a review waits its hour, known or lost`, async (t) => {
    await using story = await tellStory(name, { '.gatehouse.yml': POLICY });
    const kept = await story.open({ 'a.txt': 'a\n' }, { title: 'feat: a', author: 'mallory' });
    const lost = await story.settled(story.open({ 'b.txt': 'b\n' }, { title: 'feat: b', author: 'mallory' }));
    for (const number of [kept, lost]) {
      t.is(story.status(number)?.state, 'success');
      for (let edit = 0; edit < MOST && !(await waits(story, number)); edit++) {
        if (number === lost) {
          await story.door.database.query('DELETE FROM gatehouse.statuses WHERE head_sha = $1', [story.head(lost)]);
        }
        await story.edit(number, { title: `feat: ${edit}` });
        await until(async () => (await waits(story, number)) || !(await isIn(story, number, 'true')));
      }
      t.true(await waits(story, number));
      const { state, description } = story.status(number) ?? {};
      t.is(state, 'pending');
      t.regex(description ?? '', /^Waits until \d\d:\d\d UTC: acme\/widgets#\d+ was judged 60 times within an hour$/);
    }
    const other = await story.open({ 'c.txt': 'c\n' }, { title: 'feat: c', author: 'alice' });
    await until(() => story.status(other)?.state === 'success');
    t.is(story.status(kept)?.state, 'pending');
  });
}

test('github: no success stands while its review waits for the limit of requests', async (t) => {
  await using story = await tellStory('github', { '.gatehouse.yml': POLICY });
  const green = await story.open({ 'a.txt': 'a\n' }, { title: 'feat: a' });
  const red = await story.settled(story.open({ 'b.txt': 'b\n' }, { title: 'b' }));
  limitReads(story);
  for (const number of [green, red]) {
    await story.edit(number, { title: 'Not what was judged' });
    await until(() => waits(story, number));
  }
  t.is(story.status(green)?.state, 'pending');
  t.regex(
    story.status(green)?.description ?? '',
    /^Waits until \d\d:\d\d UTC: the rate limit of the forge is used up$/,
  );
  t.is(story.status(red)?.state, 'failure', 'it blocks as it is, and a request less is used');
});

/** Nothing can be read, and 100 requests are left. */
function limitReads({ forge }: Story): void {
  forge.rateLimit.remaining = 100;
  forge.graphql.points.remaining = 100;
}

test('github: a success is withdrawn before a wait, though the forge does not take that at first', async (t) => {
  await using story = await tellStory('github', { '.gatehouse.yml': POLICY });
  const { forge } = story;
  const number = await story.settled(story.open({ 'a.txt': 'a\n' }, { title: 'feat: a' }));
  limitReads(story);
  const path = new RegExp(`/statuses/${forge.pull(REPOSITORY, number).headSha}$`);
  forge.fault({ method: 'POST', path, times: 1, fault: { kind: 'status', status: 502 } });
  await story.edit(number, { title: 'Not what was judged' });
  await until(() => waits(story, number));
  t.is(story.status(number)?.state, 'pending');
});

test('github: a success that somebody else sets over a failure does not stand during a wait', async (t) => {
  await using story = await tellStory('github', { '.gatehouse.yml': POLICY });
  const { forge } = story;
  const number = await story.open({ 'a.txt': 'a\n' }, { title: 'a' });
  t.is(await story.verdict(number), 'failure');
  // Not even the pull request can be read, with the statuses of its head.
  forge.rateLimit.remaining = 100;
  forge.graphql.points.remaining = 0;
  const ours = story.status(number);
  await story.tell({ kind: 'status', status: story.impersonate(number, 'success') });
  await story.settled();
  t.deepEqual(story.status(number), ours);
  // Whoever did so once may do so again, without a webhook.
  story.impersonate(number, 'success');
  await story.edit(number, { title: 'b' });
  await until(() => waits(story, number));
  t.is(story.status(number)?.state, 'pending');
});

test('github: a merged pull request keeps its status while its record waits', async (t) => {
  await using story = await tellStory('github', { '.gatehouse.yml': POLICY });
  const { forge } = story;
  const number = await story.settled(story.open({ 'a.txt': 'a\n' }, { title: 'feat: a' }));
  const { headSha } = forge.pull(REPOSITORY, number);
  t.true(forge.merge(REPOSITORY, number));
  forge.rateLimit.remaining = 100;
  await story.tell({ kind: 'pull-request', number, action: 'closed' });
  await until(() => waits(story, number));
  t.is(forge.statuses(REPOSITORY, headSha).at(-1)?.state, 'success');
});
