import { CLIENTS } from '../helpers/forges.ts';
import { TWO_RULES } from '../helpers/policies.ts';
import { pathsOfReads, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

/** What others set, edit or delete under Gatehouse's name never stays. */
const gatehouse = shareStories(test, CLIENTS);

const FILES = { '.gatehouse.yml': TWO_RULES };
const CHANGE = { 'a.ts': 'one\n' };
const GOOD = { title: 'feat: things' };
const BAD = { title: 'things' };

const FORGED = 'gatehouse_foreign_statuses_total{by="mallory"}';

// Forgejo sends no webhook of a status.
for (const name of ['github', 'gitea'] as const) {
  test.serial(`${name}: a success that somebody forged never stands after its webhook`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = await scene.settled(scene.open(CHANGE, BAD));
    const before = await scene.metric(FORGED);
    await scene.tell({ kind: 'status', status: scene.impersonate(number, 'success') });
    t.is(await scene.verdict(number), 'failure');
    t.is(await scene.metric(FORGED), before + 1);
  });

  test.serial(`${name}: no forged status during the first review stands after it`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = scene.openSilently(CHANGE, BAD);
    let forged = false;
    scene.when('POST', new RegExp(`^/repos/${scene.repository}/issues/${number}/comments$`), async () => {
      forged = true;
      await scene.tell({ kind: 'status', status: scene.impersonate(number, 'success') });
    });
    t.is(await scene.judge(number), 'failure');
    t.true(forged);
  });

  test.serial(`${name}: the own status, and one of another commit, start no review`, async (t) => {
    const ofChecks = `${TWO_RULES}  - id: ci\n    require: { checks: { name: ci } }\n`;
    for (const policy of [TWO_RULES, ofChecks]) {
      const scene = gatehouse(name).scene({ '.gatehouse.yml': policy });
      const number = await scene.settled(scene.open(CHANGE, BAD));
      const paths = pathsOfReads(scene.repository, number);
      const reads = () => scene.forge.seen.filter(({ path }) => paths.test(path)).length;
      const before = reads();
      for (const status of [
        ...scene.forge.statuses(scene.repository, scene.head(number)),
        scene.impersonate(scene.forge.head(scene.repository, 'main'), 'success'),
      ]) {
        await scene.settled(scene.tell({ kind: 'status', status }));
      }
      t.is(reads(), before);
    }
  });
}

test.serial('github: a success forged under the name in another case never stands after its webhook', async (t) => {
  const scene = gatehouse('github').scene(FILES);
  const number = await scene.settled(scene.open(CHANGE, BAD));
  await scene.setStatus('bob', scene.head(number), { context: 'Gatehouse/Main', state: 'success' });
  t.is(await scene.verdict(number), 'failure');
});

for (const name of CLIENTS) {
  test.serial(`${name}: a forged success whose webhook was lost never outlives a resync`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = await scene.settled(scene.open(CHANGE, BAD));
    await scene.resync();
    const before = await scene.metric(FORGED);
    scene.impersonate(number, 'success');
    await scene.resync();
    t.is(scene.status(number)?.state, 'failure');
    t.is(await scene.metric(FORGED), before + 1);
  });

  test(`${name}: somebody else's success on a new head is pending at once`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = scene.openSilently(CHANGE, BAD);
    scene.impersonate(number, 'success');
    await scene.judge(number);
    t.deepEqual(scene.states(number), ['success', 'pending', 'failure']);
  });

  test(`${name}: a success over ours is replaced before the review judges`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = await scene.settled(scene.open(CHANGE, BAD));
    scene.impersonate(number, 'success');
    await scene.settled(scene.edit(number, GOOD));
    t.deepEqual(scene.states(number), ['failure', 'success', 'failure', 'success']);
  });

  test(`${name}: a failure over our success is replaced, whatever is remembered`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = await scene.settled(scene.open(CHANGE, GOOD));
    const ours = scene.status(number);
    scene.impersonate(number, 'failure');
    await scene.judge(number);
    t.deepEqual(scene.status(number), ours);
    t.is(scene.forge.statuses(scene.repository, scene.head(number)).at(-1)?.author, 'gatehouse');
  });

  test(`${name}: a head pushed again with a success from before is pending at once`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = await scene.settled(scene.open(CHANGE, GOOD));
    const first = scene.head(number);
    await scene.push(number, { 'a.ts': 'two\n' });
    await scene.settled(scene.edit(number, BAD));
    scene.forge.pushCommit(scene.repository, number, first);
    await scene.judge(number);
    t.deepEqual(scene.states(first), ['success', 'pending', 'failure']);
  });

  test(`${name}: a status that is remembered wrongly is corrected`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = await scene.settled(scene.open(CHANGE, BAD));
    const failure = scene.status(number);
    await scene.edit(number, GOOD);
    t.is(await scene.verdict(number), 'success');
    // As after a write that came too late: a success is shown, and the failure is remembered.
    await scene.door.database.query(
      "UPDATE gatehouse.statuses SET state = 'failure', description = $2 WHERE repository = $1",
      [scene.repository, failure?.description],
    );
    await scene.settled(scene.edit(number, BAD));
    t.deepEqual(scene.status(number), failure);
  });

  test(`${name}: comments that people delete or edit come back with the next verdict`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = await scene.settled(scene.open({ 'a.ts': 'debugger\n' }, BAD));
    const shown = () => ({ comments: scene.comments(number), inlines: scene.inlines(number) });
    const before = shown();
    t.deepEqual([before.comments.length, before.inlines.length], [1, 1]);
    const recheck = async () => {
      await scene.door.database.query('UPDATE gatehouse.reviews SET rechecked_at = NULL');
      await scene.settled(scene.comment(number, 'alice', '/gatehouse recheck'));
    };
    const pull = scene.forge.pull(scene.repository, number);
    pull.comments.splice(0);
    pull.inlineComments.splice(0);
    await recheck();
    t.deepEqual(shown(), before);

    for (const comment of pull.comments) {
      comment.body = comment.body.replace('conventional-title', 'nothing at all');
    }
    await recheck();
    t.deepEqual(shown(), before);
  });
}

test('github: a forged success never outlives a resync among many pull requests', async (t) => {
  const scene = gatehouse('github').scene(FILES);
  const first = await scene.open(CHANGE, BAD);
  for (let index = 0; index < 30; index++) {
    await scene.open({ [`${index}.txt`]: 'a\n' }, BAD);
  }
  await scene.settled();
  scene.impersonate(first, 'success');
  await scene.resync();
  t.is(scene.status(first)?.state, 'failure');
});
