import { forgesOf, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, [...FORGES, 'github'], { own: true });
const CHANGE = { 'app.ts': 'one\n' };
const POLICY = { '.gatehouse.yml': "version: 1\nrules: [{ id: t, require: { title: '^feat' } }]\n" };

/** All that is read of a repository's files, and of its pull requests with them. */
function failReads({ forge, repository }: Scene, status = 500) {
  const reads = { fail: true };
  const read = new RegExp(`^/repos/${repository}/(?:contents|git|raw)/|^/graphql/repos/${repository}/pulls/\\d+/facts`);
  const path = Object.assign(/^/, { test: (asked: string) => reads.fail && read.test(asked) });
  forge.fault({ path, fault: { kind: 'status', status } });
  return reads;
}

for (const name of FORGES) {
  for (const status of [403, 500]) {
    test.serial(`${name}: without a policy nobody hears of files that answer ${status}`, async (t) => {
      const scene = gatehouse(name).scene({ 'README.md': 'hello\n' });
      const number = scene.openSilently(CHANGE);
      const reads = failReads(scene, status);
      await scene.judge(number);
      t.deepEqual(scene.states(number), []);

      reads.fail = false;
      await scene.resync();
      t.deepEqual(scene.states(number), [], 'after the forge has healed, either');
      t.deepEqual(scene.comments(number), []);
      const { rows } = await scene.door.database.query('SELECT verdict FROM gatehouse.reviews WHERE repository = $1', [
        scene.repository,
      ]);
      t.deepEqual(rows, [{ verdict: 'none' }]);
    });
  }

  for (const [files, opened, heard] of [
    [{ 'README.md': 'hello\n' }, POLICY, []],
    [POLICY, CHANGE, ['error']],
  ] as const) {
    const seen = heard.length > 0 ? 'a policy was seen once' : 'a policy is only proposed';
    test(`${name}: where ${seen}, a pull request hears ${heard.join() || 'nothing'} of files that cannot be read`, async (t) => {
      const scene = gatehouse(name).scene(files);
      const first = await scene.open(opened, { title: 'feat: first' });
      t.is(await scene.verdict(first), 'success');
      const number = scene.openSilently({ 'b.txt': 'b\n' });
      failReads(scene);
      await scene.judge(number);
      t.deepEqual(scene.states(number), heard);
    });
  }

  test(`${name}: a success from before the database was lost never stays while files cannot be read`, async (t) => {
    const scene = gatehouse(name).scene(POLICY);
    const number = await scene.open(CHANGE, { title: 'feat: first' });
    t.is(await scene.verdict(number), 'success');
    for (const [table, column] of [
      ['repositories', 'name'],
      ['reviews', 'repository'],
      ['statuses', 'repository'],
    ]) {
      const statement = `DELETE FROM gatehouse.${table} WHERE ${column} = $1`;
      t.is((await scene.door.database.query(statement, [scene.repository])).rowCount, 1, table);
    }
    failReads(scene);
    await scene.tell({ kind: 'pull-request', number, action: 'edited' });
    t.is(await scene.verdict(number), 'error');
  });

  test(`${name}: a success that somebody else set never stays on what cannot be read`, async (t) => {
    const scene = gatehouse(name).scene(POLICY);
    const number = scene.openSilently(CHANGE);
    failReads(scene);
    scene.impersonate(number, 'success');
    t.is(await scene.judge(number), 'error');
  });
}

test('github: a merge group without a policy hears nothing of a queue, whether it can be read or not', async (t) => {
  const scene = gatehouse('github').scene({ 'README.md': 'hello\n' });
  const number = scene.openSilently(CHANGE);
  const headSha = scene.forge.enqueue(scene.repository, number);
  const path = new RegExp(`^/graphql/repos/${scene.repository}/merge-queue$`);
  scene.forge.fault({ path, times: 6, fault: { kind: 'status', status: 502 } });
  for (const queue of ['unreadable', 'readable', 'empty']) {
    if (queue === 'empty') {
      scene.forge.dequeue(scene.repository, number);
    }
    await scene.settled(scene.tell({ kind: 'merge-group', action: 'checks_requested', number, headSha }));
    t.deepEqual(scene.states(headSha), [], queue);
  }
});

for (const name of new Set([...FORGES, 'github'] as const)) {
  test(`${name}: no comment stays of a policy that was there for a moment`, async (t) => {
    const scene = gatehouse(name).scene({ 'README.md': 'hello\n' });
    const number = await scene.settled(scene.open(CHANGE, { title: 'Bad' }));
    const warning = "version: 1\nrules: [{ id: t, level: warn, require: { title: '^feat' } }]\n";
    let said = 0;
    scene.when('POST', new RegExp(`^/repos/${scene.repository}/issues/\\d+/comments$`), () => {
      said += 1;
      scene.forge.commit(scene.repository, 'main', { '.gatehouse.yml': null });
    });
    await scene.settled(scene.push('main', { '.gatehouse.yml': warning }));
    await scene.settled(scene.tell({ kind: 'push', branch: 'main' }));
    t.is(said, 1);
    t.deepEqual(scene.comments(number), []);
  });
}
