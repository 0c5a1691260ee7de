import { applyRetention } from '../../src/jobs/retention.ts';
import { makeLog } from '../../src/log.ts';
import { DOOR } from '../helpers/door.ts';
import { forgesOf, type Scene, shareStories, tellStory, workerComesBy } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, [...FORGES, 'github'], { env: { ENFORCE: 'false' } });

const POLICY = `version: 1
rules:
  - id: small
    require: { changed_files: '<= 1' }
  - id: titled
    require: { title: '^feat: ' }
`;
const FILES = { '.gatehouse.yml': POLICY };
const TWO_FILES = { 'a.txt': 'a\n', 'b.txt': 'b\n' };

for (const name of FORGES) {
  test(`${name}: without enforcement a failure is a success that names the rules`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = await scene.settled(scene.open(TWO_FILES, { title: 'things' }));
    t.deepEqual(scene.status(number), {
      state: 'success',
      description: 'Not enforced: 2 rules would fail: small, titled',
    });
    t.deepEqual(scene.states(number), ['success'], 'it is never pending');
    t.regex(scene.comments(number).join(), /2 problems to fix\n\n\*\*Not enforced:\*\* the commit status is `success`/);
    t.is(await scene.metric('gatehouse_enforcement_off'), 1);
    t.true((await scene.metric('gatehouse_reviews_total{verdict="failure"}')) > 0, 'the real verdict is counted');
    const recorded = 'SELECT state, enforced FROM gatehouse.audit_verdicts WHERE repository = $1';
    const { rows } = await scene.door.database.query(recorded, [scene.repository]);
    t.deepEqual(rows, [{ state: 'failure', enforced: false }]);
    const posted = 'SELECT state FROM gatehouse.audit_postings WHERE repository = $1';
    t.deepEqual((await scene.door.database.query(posted, [scene.repository])).rows, [{ state: 'success' }]);
  });

  test(`${name}: switching enforcement off and on corrects every open pull request`, async (t) => {
    await using story = await tellStory(name, FILES, {}, DOOR);
    const failing = await story.open(TWO_FILES, { title: 'things' });
    const passing = await story.open({ 'c.txt': 'c\n' }, { title: 'feat: c' });
    const shown = () => [failing, passing].map((number) => story.status(number));
    const FAILS = '2 of 2 rules failed: small, titled';
    const enforced = [
      { state: 'failure', description: FAILS },
      { state: 'success', description: 'All 2 rules that apply are met' },
    ];
    await workerComesBy(story, { ENFORCE: 'true' });
    t.deepEqual(shown(), enforced);
    await workerComesBy(story, { ENFORCE: 'false' });
    t.deepEqual(shown(), [
      { state: 'success', description: 'Not enforced: 2 rules would fail: small, titled' },
      { state: 'success', description: 'Not enforced: All 2 rules that apply are met' },
    ]);
    await workerComesBy(story, { ENFORCE: 'true' });
    t.deepEqual(shown(), enforced);
    t.deepEqual(story.states(failing).slice(-2), ['success', 'failure'], 'the green one is replaced at once');
    t.notRegex(story.comments(failing).join(), /Not enforced/);
    const writes = story.writes();
    await workerComesBy(story, { ENFORCE: 'true' });
    t.is(story.writes(), writes, 'and once');
  });
}

test('github: a green status of a dry run is found whatever its age and branch', async (t) => {
  await using story = await tellStory('github', FILES, {}, DOOR);
  const base = 'release/İstanbul';
  story.forge.commit(story.repository, base, {});
  const numbers = [await story.open(TWO_FILES), await story.open({ ...TWO_FILES, 'c.txt': 'c\n' }, { base })];
  const states = () => numbers.map((number) => story.status(number)?.state);
  await workerComesBy(story, { ENFORCE: 'false' });
  t.deepEqual(states(), ['success', 'success']);
  const old = "now() - interval '400 days'";
  await story.door.database.query(`UPDATE gatehouse.statuses SET posted_at = ${old}`);
  await applyRetentionOf(story);
  await workerComesBy(story, { ENFORCE: 'true' });
  t.deepEqual(states(), ['failure', 'failure']);
});

async function applyRetentionOf({ door: { database } }: Scene): Promise<void> {
  const state = await applyRetention({
    pool: database,
    days: 1,
    log: makeLog('silent'),
    signal: new AbortController().signal,
  });
  if (state !== 'finished') {
    throw new Error('the retention did not finish');
  }
}

for (const when of ['before', 'for the group']) {
  test(`github: without enforcement a group with a failing pull request passes, judged ${when}`, async (t) => {
    const scene = gatehouse('github').scene(FILES);
    const isBefore = when === 'before';
    const opened = { title: 'things' };
    const number = isBefore
      ? await scene.settled(scene.open(TWO_FILES, opened))
      : scene.openSilently(TWO_FILES, opened);
    const headSha = scene.forge.enqueue(scene.repository, number);
    await scene.settled(scene.tell({ kind: 'merge-group', action: 'checks_requested', number, headSha }));
    const description = 'Not enforced: #1 fails: 2 of 2 rules failed: small, titled';
    t.deepEqual([scene.states(headSha), scene.status(headSha)], [['success'], { state: 'success', description }]);
  });
}
