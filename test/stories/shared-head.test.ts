import type { ForgeName } from '../../src/forges/port/forges.ts';
import { CLIENTS } from '../helpers/forges.ts';
import { TITLES } from '../helpers/policies.ts';
import { type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const gatehouse = shareStories(test, CLIENTS);
/** All base branches share one status. */
const oneStatus = shareStories(test, CLIENTS, { env: { STATUS_CONTEXT: 'Review' } });

const LAX = TITLES.replace('^feat: ', '');
const FILES = { '.gatehouse.yml': TITLES };

/** A repository with a pull request that Gatehouse has reviewed. */
async function reviewed(name: ForgeName, title: string): Promise<{ readonly scene: Scene; readonly number: number }> {
  const scene = gatehouse(name).scene(FILES);
  const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }, { title }));
  return { scene, number };
}

/** A second pull request with the same head commit, from a fork. */
async function openTwin(scene: Scene, number: number, details: { title: string; base?: string }): Promise<number> {
  const { forge, repository } = scene;
  const fork = forge.fork(repository, `twin-${number}`);
  const twin = forge.openPullRequest(repository, {
    ...details,
    from: fork,
    head: forge.pull(repository, number).headBranch,
  });
  await scene.judge(twin);
  return twin;
}

for (const name of CLIENTS) {
  test(`${name}: two pull requests with one head show the worse verdict`, async (t) => {
    const { scene, number: bad } = await reviewed(name, 'things');
    const good = await openTwin(scene, bad, { title: 'feat: things' });
    t.deepEqual(scene.status(good), {
      state: 'failure',
      description: `#${bad}: 1 of 1 rule failed: conventional-title (#${good} has this commit too)`,
    });
    const { headRepository } = scene.forge.pull(scene.repository, good);
    t.deepEqual(scene.forge.statuses(headRepository.fullName), [], 'nothing is written to the fork');
    await scene.edit(bad, { title: 'feat: other things' });
    t.is(await scene.verdict(good), 'success');
    t.regex(scene.status(good)?.description ?? '', new RegExp(`#${good} has this commit too`));
    await scene.edit(good, { title: 'things' });
    t.is(await scene.verdict(bad), 'failure');
  });

  test(`${name}: a stranger's twin of a green commit is named, and closing it is enough`, async (t) => {
    const { scene, number: good } = await reviewed(name, 'feat: things');
    const twin = await openTwin(scene, good, { title: 'nonsense' });
    t.deepEqual(scene.states(good), ['success', 'pending', 'failure'], 'it is pending at once');
    t.regex(scene.status(good)?.description ?? '', new RegExp(`^#${twin}: .*#${good} has this commit too`));
    await scene.settled(scene.close(twin));
    t.deepEqual(scene.status(good), { state: 'success', description: 'The rule that applies is met' });
  });

  test(`${name}: a success that another open pull request has earned is not withdrawn`, async (t) => {
    const { scene, number: first } = await reviewed(name, 'feat: things');
    const twin = await openTwin(scene, first, { title: 'feat: the same' });
    await scene.settled(scene.close(first));
    t.deepEqual(scene.status(twin), { state: 'success', description: 'The rule that applies is met' });
    await scene.settled(scene.close(twin));
    t.is(scene.status(twin)?.state, 'pending');
    t.regex(scene.status(twin)?.description ?? '', /^No open pull request has this commit/);
    const writes = scene.writes();
    await scene.settled(scene.edit(twin, { title: 'things' }));
    t.is(scene.writes(), writes, 'a closed one is left as it was');
  });

  test(`${name}: a head that was pushed over never leaves its success to the next one`, async (t) => {
    const { scene, number } = await reviewed(name, 'feat: things');
    const [old, push] = [scene.head(number), (text: string) => scene.settled(scene.push(number, { 'a.txt': text }))];
    await push('b\n');
    t.deepEqual([scene.states(old), scene.status(number)?.state], [['success', 'pending'], 'success']);
    await scene.settled(scene.edit(number, { title: 'things' }));
    const red = await push('c\n');
    await push('d\n');
    t.deepEqual(scene.states(red), ['failure'], 'what never was green costs no write');
    t.deepEqual(scene.states(old), ['success', 'pending'], 'only the last head could stand green');
    await scene.edit(number, { title: 'feat: things' });
    scene.forge.pushCommit(scene.repository, number, old);
    await scene.judge(number);
    t.is(scene.states(old).at(-1), 'success', 'a force-push back to it');
  });

  test(`${name}: a push leaves the success of the old head to a twin that has earned it`, async (t) => {
    const { scene, number: first } = await reviewed(name, 'feat: things');
    const twin = await openTwin(scene, first, { title: 'feat: the same' });
    await scene.settled(scene.push(first, { 'a.txt': 'b\n' }));
    t.deepEqual(scene.status(twin), { state: 'success', description: 'The rule that applies is met' });
  });

  test(`${name}: a pull request reopened with other words is pending at once`, async (t) => {
    const { scene, number } = await reviewed(name, 'feat: things');
    await scene.settled(scene.close(number));
    scene.forge.edit(scene.repository, number, { title: 'things' });
    scene.forge.reopen(scene.repository, number);
    await scene.settled(scene.tell({ kind: 'pull-request', number, action: 'reopened' }));
    t.deepEqual(scene.states(number), ['success', 'pending', 'failure']);
    await scene.settled(scene.tell({ kind: 'pull-request', number, action: 'reopened' }));
    t.is(scene.states(number).length, 3, 'a status of this very verdict is left to stand');
  });

  test(`${name}: branches that differ by case never leave a closed pull request green`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    scene.forge.commit(scene.repository, 'Main', { 'b.txt': 'b\n' });
    const lower = await scene.settled(scene.open({ 'a.txt': 'a\n' }, { title: 'feat: things' }));
    const upper = await openTwin(scene, lower, { title: 'feat: things', base: 'Main' });
    // GitHub has one status for both.
    const contexts = name === 'github' ? [undefined] : ['gatehouse/main', 'gatehouse/Main'];
    const states = () => contexts.map((context) => scene.status(lower, context)?.state).join();
    const isOne = contexts.length === 1;
    t.is(states(), isOne ? 'success' : 'success,success');
    await scene.settled(scene.close(upper));
    t.is(states(), isOne ? 'success' : 'success,pending');
    await scene.settled(scene.close(lower));
    t.is(states(), isOne ? 'pending' : 'pending,pending');
  });

  test(`${name}: a retargeted pull request leaves the old branch's status to the others`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    scene.forge.commit(scene.repository, 'lax', { '.gatehouse.yml': LAX });
    const bad = await scene.settled(scene.open({ 'a.txt': 'a\n' }, { title: 'things' }));
    const good = await openTwin(scene, bad, { title: 'feat: things' });
    await scene.settled(scene.retarget(bad, 'lax'));
    t.is(scene.status(bad, 'gatehouse/lax')?.state, 'success');
    t.deepEqual(scene.status(good, 'gatehouse/main'), {
      state: 'success',
      description: 'The rule that applies is met',
    });
    await scene.settled(scene.retarget(bad, 'main'));
    t.is(scene.status(good, 'gatehouse/main')?.state, 'failure');
    t.is(scene.status(bad, 'gatehouse/lax')?.state, 'pending', 'no open pull request into lax is left');
  });

  for (const tables of [['statuses'], ['statuses', 'reviews']]) {
    test(`${name}: no success outlives a closed pull request lost from ${tables.join(' and ')}`, async (t) => {
      const { scene, number } = await reviewed(name, 'feat: things');
      for (const table of tables) {
        const statement = `DELETE FROM gatehouse.${table} WHERE repository = $1 AND head_sha = $2`;
        t.is((await scene.door.database.query(statement, [scene.repository, scene.head(number)])).rowCount, 1);
      }
      await scene.settled(scene.close(number));
      t.deepEqual(scene.states(number), ['success', 'pending']);
    });
  }

  test.serial(
    `${name}: no success outlives a closed pull request lost from statuses, nor a forge that cannot be asked then`,
    async (t) => {
      const { scene, number } = await reviewed(name, 'feat: things');
      const head = scene.head(number);
      await scene.door.database.query('DELETE FROM gatehouse.statuses WHERE head_sha = $1', [head]);
      const path = new RegExp(`/repos/${scene.repository}/(?:commits|statuses)/${head}`);
      scene.forge.fault({ method: 'GET', path, times: 2, fault: { kind: 'status', status: 502 } });
      await scene.settled(scene.close(number));
      scene.forge.clearFaults();
      await scene.resync();
      t.is(scene.status(number)?.state, 'pending');
    },
  );

  for (const what of ['head', 'base']) {
    test(`${name}: a success never stays because another ${what} was merged unseen`, async (t) => {
      const { scene, number } = await reviewed(name, 'feat: things');
      const { forge, repository } = scene;
      const old = scene.head(number);
      if (what === 'head') {
        forge.push(repository, number, { 'a.txt': 'b\n' });
      } else {
        forge.commit(repository, 'next', FILES);
        forge.retarget(repository, number, 'next');
      }
      t.true(forge.merge(repository, number));
      await scene.settled(scene.tell({ kind: 'pull-request', number, action: 'closed' }));
      t.is(scene.status(old, 'gatehouse/main')?.state, 'pending');
    });
  }

  test.serial(`${name}: a success is withdrawn though the webhook of the closing was lost`, async (t) => {
    const { scene, number } = await reviewed(name, 'feat: things');
    scene.forge.close(scene.repository, number);
    await scene.resync();
    t.is(scene.status(number)?.state, 'pending');
  });

  test.serial(`${name}: an unwritable old head never stops a review, nor stays green`, async (t) => {
    const { scene, number } = await reviewed(name, 'feat: things');
    const old = scene.head(number);
    let isWritable = false;
    const path = Object.assign(/^/, { test: (asked: string) => !isWritable && asked.endsWith(`/statuses/${old}`) });
    scene.forge.fault({ method: 'POST', path, fault: { kind: 'status', status: 500 } });
    await scene.push(number, { 'a.txt': 'b\n' });
    t.is(await scene.verdict(number), 'success');
    t.is(scene.states(old).at(-1), 'success');
    isWritable = true;
    await scene.resync();
    t.is(scene.states(old).at(-1), 'pending');
  });

  test(`${name}: no branch without a policy is open by another branch's success`, async (t) => {
    const scene = oneStatus(name).scene(FILES);
    scene.forge.commit(scene.repository, 'free', { '.gatehouse.yml': null });
    const judged = await scene.open({ 'a.txt': 'a\n' }, { title: 'feat: things' });
    t.is(await scene.verdict(judged, 'Review'), 'success');
    const free = await openTwin(scene, judged, { title: 'things', base: 'free' });
    t.deepEqual(scene.status(free, 'Review'), {
      state: 'error',
      description: `No policy judges #${free}, which has this commit too: close it, or give its branch one`,
    });
    await scene.settled(scene.close(free));
    t.is(scene.status(judged, 'Review')?.state, 'success');
    await scene.settled(scene.close(judged));
    t.is(scene.status(judged, 'Review')?.state, 'pending');
  });

  test(`${name}: branches that differ by case are judged each by its own rules`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    scene.forge.commit(scene.repository, 'Main', { '.gatehouse.yml': LAX });
    const strict = await scene.settled(scene.open({ 'a.txt': 'a\n' }, { title: 'things' }));
    const lax = await openTwin(scene, strict, { title: 'things', base: 'Main' });
    t.is(scene.status(strict, 'gatehouse/main')?.state, 'failure');
    // GitHub has one status for both.
    const shown = () => scene.status(lax, name === 'github' ? undefined : 'gatehouse/Main')?.state;
    t.is(shown(), name === 'github' ? 'failure' : 'success');
    await scene.settled(scene.retarget(lax, 'main'));
    t.is(scene.status(strict, 'gatehouse/main')?.state, 'failure');
    t.is(shown(), name === 'github' ? 'failure' : 'pending');
  });
}
