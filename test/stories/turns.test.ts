import { CONVENTIONAL_TITLES } from '../helpers/policies.ts';
import { ALL_FORGES, pathsOfReads, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

/** What changes without being told is found when it is the pull request's turn, and counted. */
const gatehouse = shareStories(test, ALL_FORGES, { own: true });

const APPROVED = {
  '.gatehouse.yml':
    'version: 1\nrules: [{ id: reviewed, require: { approvals: 1 } }, { id: calm, forbid: { changes_requested: true } }]\n',
};
const FILES = { 'a.txt': 'a\n' };

const STALE = ['success', 'verdict', 'status'] as const;

async function staleCounts(scene: Scene) {
  const counts = STALE.map(async (why) => [why, await scene.metric(`gatehouse_stale_verdicts_total{why="${why}"}`)]);
  return Object.fromEntries(await Promise.all(counts)) as Record<(typeof STALE)[number], number>;
}

/** A pull request that passes because bob, who may write, has approved it. */
async function approvedScene(name: (typeof ALL_FORGES)[number]) {
  const scene = gatehouse(name).scene(APPROVED);
  const number = await scene.settled(scene.open(FILES));
  // Somebody else in each scene: what becomes of others is found in their turn, too.
  const eve = `eve-of-${scene.repository.split('/')[1]}`;
  await scene.settled(scene.review(number, eve, 'approved'));
  await calm(scene);
  return { scene, number, eve };
}

/** What has just changed, as by Gatehouse's own comment, is reviewed in the next resync anyway. */
async function calm(scene: Scene): Promise<void> {
  scene.forge.age(60_000);
  await scene.resync();
}

for (const name of ALL_FORGES) {
  test.serial(`${name}: a success that has ended untold is found in its turn, and counted`, async (t) => {
    const { scene, number, eve } = await approvedScene(name);
    t.is(scene.status(number)?.state, 'success');
    const before = await staleCounts(scene);
    await scene.resync();
    t.deepEqual(await staleCounts(scene), before, 'nothing has changed');
    scene.forge.addOutsider(eve);
    await scene.resync();
    t.is(scene.status(number)?.state, 'pending');
    t.deepEqual(await staleCounts(scene), { ...before, success: before.success + 1 });
    await calm(scene);
    scene.forge.removeOutsider(eve);
    await scene.resync();
    t.is(scene.status(number)?.state, 'success');
    const after = { ...before, success: before.success + 1, verdict: before.verdict + 1 };
    t.deepEqual(await staleCounts(scene), after);
  });

  test.serial(`${name}: a turn never comments, for a review that begins meanwhile would do so too`, async (t) => {
    const { scene, number, eve } = await approvedScene(name);
    const turns: unknown[] = [];
    const active =
      "SELECT FROM gatehouse_jobs.job WHERE name = 'turn' AND state = 'active' AND data->>'repository' = $1";
    scene.when('PATCH', new RegExp(`^/repos/${scene.repository}/issues/comments/`), async () => {
      turns.push((await scene.door.database.query(active, [scene.repository])).rowCount);
    });
    scene.forge.addOutsider(eve);
    await scene.resync();
    t.is(scene.status(number)?.state, 'pending');
    t.deepEqual(turns, [0]);
  });

  test.serial(`${name}: a status that somebody replaced untold is found in its turn, and counted`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': CONVENTIONAL_TITLES });
    const number = await scene.settled(scene.open(FILES, { title: 'things' }));
    await calm(scene);
    const before = await staleCounts(scene);
    scene.impersonate(number, 'success');
    await scene.resync();
    t.is(scene.status(number)?.state, 'failure');
    t.deepEqual(await staleCounts(scene), { ...before, status: before.status + 1 });
  });

  test.serial(`${name}: what a webhook has told is not counted`, async (t) => {
    const { scene, number } = await approvedScene(name);
    const before = await staleCounts(scene);
    await scene.review(number, 'bob', 'changes-requested');
    await scene.resync();
    await scene.edit(number, { title: 'feat: other' });
    await scene.resync();
    t.deepEqual(await staleCounts(scene), before);
  });

  test.serial(`${name}: what a job is about to find is not counted`, async (t) => {
    const { scene, number, eve } = await approvedScene(name);
    const before = await staleCounts(scene);
    const data = { repository: scene.repository, branch: 'main' };
    const { rows } = await scene.door.database.query<{ id: string }>(
      `INSERT INTO gatehouse_jobs.job (name, singleton_key, policy, data, start_after)
       VALUES ('review-repository', 'waits', 'stately', $1, now() + interval '1 hour') RETURNING id`,
      [data],
    );
    scene.forge.addOutsider(eve);
    await gatehouse(name).resyncAll();
    await until(() => scene.status(number)?.state === 'pending');
    await scene.door.database.query('DELETE FROM gatehouse_jobs.job WHERE id = $1', [rows[0]?.id]);
    await scene.settled();
    t.deepEqual(await staleCounts(scene), before);
  });

  test.serial(
    `${name}: a turn never stores that a pull request has changed: what it did not judge would be hidden`,
    async (t) => {
      const { scene, number } = await approvedScene(name);
      const stored = async () => {
        const query = 'SELECT pull_request_updated_at AS time FROM gatehouse.reviews WHERE repository = $1';
        return (await scene.door.database.query<{ time: Date | null }>(query, [scene.repository])).rows[0]?.time;
      };
      const before = await stored();
      const reads = pathsOfReads(scene.repository, number);
      const times: unknown[] = [];
      // The turn reads it, and then the review that it requests.
      scene.when(undefined, reads, () => scene.when(undefined, reads, async () => times.push(await stored())));
      scene.forge.review(scene.repository, number, 'bob', 'changes-requested');
      scene.forge.age(60_000);
      await scene.door.database.query(
        "INSERT INTO gatehouse_jobs.job (name, singleton_key, policy, data) VALUES ('turn', $1, 'stately', $2)",
        [`${scene.repository}#${number}`, { repository: scene.repository, number }],
      );
      t.is(await scene.verdict(number), 'pending');
      t.deepEqual(times, [before]);
    },
  );

  test.serial(`${name}: a turn that fails is followed by a review, which says so`, async (t) => {
    const { scene, number } = await approvedScene(name);
    const path = new RegExp(`/repos/${scene.repository}/(?:pulls/${number}(?:/facts)?$|pulls/${number}/)`);
    scene.forge.fault({ path, fault: { kind: 'status', status: 403 } });
    await scene.resync();
    t.is(scene.status(number)?.state, 'error');
    scene.forge.clearFaults();
  });
}

// The last one: the limit holds for an hour.
test.serial('github: a turn that would have to wait for a limit takes no success away', async (t) => {
  const { scene, number } = await approvedScene('github');
  const states = scene.states(number);
  const path = new RegExp(`^/graphql/repos/${scene.repository}/pulls/${number}/facts$`);
  let limited = 0;
  // From this answer on nothing may be read, and statuses can still be set.
  scene.when(undefined, path, async () => {
    limited += 1;
    scene.forge.rateLimit.remaining = 100;
    scene.forge.graphql.points.remaining = 100;
  });
  await scene.resync();
  t.true(limited > 0);
  t.deepEqual(scene.states(number), states);
});
