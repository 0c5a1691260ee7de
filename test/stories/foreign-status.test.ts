import { CLIENTS } from '../helpers/forges.ts';
import { TITLED } from '../helpers/policies.ts';
import { pathsOfReads, type Scene, type Story, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const gatehouse = shareStories(test, CLIENTS);

/** Mallory, who may write to the repository, sets a status under Gatehouse's name. */
function forge(scene: Scene, number: number, state: string, context = 'gatehouse/main') {
  const { headSha } = scene.forge.pull(scene.repository, number);
  return scene.forge.setStatus(scene.repository, headSha, { context, state, author: 'mallory', description: '' });
}

async function countedFor(story: Story, by: string): Promise<number> {
  const metrics = await (await fetch(story.door.metricsUrl)).text();
  return Number(new RegExp(`^gatehouse_foreign_statuses_total\\{by="${by}"\\} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0);
}

// Forgejo sends no webhook of a status.
for (const name of ['github', 'gitea'] as const) {
  test.serial(`${name}: a success that somebody forged never stands after its webhook`, async (t) => {
    const scene = gatehouse(name).scene(TITLED);
    const number = await scene.open({ 'a.txt': 'a\n' }, { title: 'No type' });
    t.is(await scene.verdict(number), 'failure');
    const before = await countedFor(gatehouse(name), 'mallory');
    for (const context of ['gatehouse/main', ...(name === 'github' ? ['Gatehouse/Main'] : [])]) {
      await scene.tell({ kind: 'status', status: forge(scene, number, 'success', context) });
      t.is(await scene.verdict(number), 'failure', context);
    }
    t.is((await countedFor(gatehouse(name), 'mallory')) - before, name === 'github' ? 2 : 1);
  });

  test.serial(`${name}: no forged status during the first review stands after it`, async (t) => {
    const scene = gatehouse(name).scene(TITLED);
    const number = scene.openSilently({ 'a.txt': 'a\n' }, { title: 'No type' });
    let forged = false;
    scene.when('POST', new RegExp(`^/repos/${scene.repository}/issues/${number}/comments$`), async () => {
      forged = true;
      await scene.tell({ kind: 'status', status: forge(scene, number, 'success') });
    });
    await scene.settled(scene.tell({ kind: 'pull-request', number, action: 'opened' }));
    t.true(forged);
    t.is(scene.status(number)?.state, 'failure');
  });

  test.serial(`${name}: the own status, and one of another commit, start no review`, async (t) => {
    const scene = gatehouse(name).scene(TITLED);
    const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }, { title: 'No type' }));
    const reads = () => scene.forge.seen.filter(({ path }) => pathsOfReads(scene.repository, number).test(path)).length;
    const before = reads();
    const { headSha } = scene.forge.pull(scene.repository, number);
    for (const status of scene.forge.statuses(scene.repository, headSha)) {
      await scene.tell({ kind: 'status', status });
    }
    const elsewhere = { context: 'gatehouse/main', state: 'success', author: 'mallory', description: '' };
    const sha = scene.forge.head(scene.repository, 'main');
    await scene.tell({ kind: 'status', status: scene.forge.setStatus(scene.repository, sha, elsewhere) });
    await scene.settled();
    t.is(reads(), before);
  });
}

for (const name of CLIENTS) {
  test.serial(`${name}: a forged success whose webhook was lost never outlives a resync`, async (t) => {
    const scene = gatehouse(name).scene(TITLED);
    const number = await scene.open({ 'a.txt': 'a\n' }, { title: 'No type' });
    const other = await scene.settled(scene.open({ 'b.txt': 'b\n' }, { title: 'feat: b' }));
    await scene.resync();
    const before = await countedFor(gatehouse(name), 'mallory');
    forge(scene, number, 'success');
    // What happens in the repository has Gitea look at it; Forgejo, which sends no such webhook, is looked at anyway.
    if (name === 'gitea') {
      scene.forge.edit(scene.repository, other, { body: 'b' });
    }
    await scene.resync();
    t.is(scene.status(number)?.state, 'failure');
    t.is((await countedFor(gatehouse(name), 'mallory')) - before, 1);
  });
}

test('github: a forged success never outlives a resync among many pull requests', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const numbers: number[] = [];
  for (let index = 0; index < 31; index++) {
    numbers.push(await scene.open({ [`${index}.txt`]: 'a\n' }, { title: 'No type' }));
  }
  await scene.settled();
  const [first = 0] = numbers;
  forge(scene, first, 'success');
  await scene.resync();
  t.is(scene.status(first)?.state, 'failure');
});
