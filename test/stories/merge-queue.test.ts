import { randomUUID } from 'node:crypto';
import { SECRET } from '../helpers/door.ts';
import { GITEAS } from '../helpers/forges.ts';
import { TITLED } from '../helpers/policies.ts';
import { signatureOf } from '../helpers/signature.ts';
import { pathsOfReads, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import type { WebhookEvent } from '../simulated-forge/webhooks.ts';

/** Its own, for a resync finds every group without a status. The tests of that are serial: they come first. */
const gatehouse = shareStories(test, ['github', ...GITEAS], { own: true });

/** The path of a query of a merge queue. */
const mergeQueueOf = (repository: string) => new RegExp(`^/graphql/repos/${repository}/merge-queue$`);

function queriesOf({ forge, repository }: Scene): number {
  return forge.seen.filter(({ path }) => mergeQueueOf(repository).test(path)).length;
}

interface Group {
  readonly number: number;
  readonly headSha: string;
}

/** Pull requests into main that are put in the queue one after the other, and the group of the last. */
function queue(titles: readonly [string, ...string[]], files = TITLED) {
  const scene = gatehouse('github').scene(files);
  const enqueue = (title: string) => {
    const number = scene.openSilently({ [`${title}-${randomUUID()}.txt`]: 'a\n' }, { title });
    return { number, headSha: scene.forge.enqueue(scene.repository, number) };
  };
  const groups = titles.map(enqueue);
  const last = groups.at(-1) ?? { number: 0, headSha: '' };
  const statuses = ({ headSha } = last) => scene.forge.statuses(scene.repository, headSha);
  const states = (group?: Group) => statuses(group).map(({ state }) => state);
  return {
    ...{ scene, groups, last, states },
    shown: () => statuses().map(({ context, state, description }) => ({ context, state, description })),
    /** The states of a group's commit after a webhook that requests its checks. */
    async check(group: Group = last, other: Partial<Extract<WebhookEvent, { kind: 'merge-group' }>> = {}) {
      await scene.settled(scene.tell({ kind: 'merge-group', action: 'checks_requested', ...group, ...other }));
      return states(group);
    },
  };
}

test.serial('github: a group whose webhook was lost has its status after the next resync', async (t) => {
  const { scene, groups, states, check } = queue(['feat: one', 'two', 'feat: three']);
  scene.forge.dequeue(scene.repository, 2);
  t.deepEqual(await check(groups[0]), ['pending', 'success']);
  await scene.resync();
  t.deepEqual(groups.map(states), [['pending', 'success'], [], ['pending', 'success']]);
  const asked = queriesOf(scene);
  await scene.resync();
  t.is(queriesOf(scene), asked, 'none is judged again');
});

test.serial('github: a success that others set for a lost group never stays', async (t) => {
  const { scene, last, states } = queue(['one']);
  const forged = { context: 'Gatehouse/Main', state: 'success', author: 'mallory', description: '' };
  scene.forge.setStatus(scene.repository, last.headSha, forged);
  await scene.resync();
  t.deepEqual(states(), ['success', 'pending', 'failure']);
});

test('github: a group of one pull request that passes is a success until it is dequeued', async (t) => {
  const { scene, check, shown } = queue(['feat: one']);
  await check();
  t.deepEqual(shown(), [
    { context: 'gatehouse/main', state: 'pending', description: 'Reviewing 1 pull request' },
    { context: 'gatehouse/main', state: 'success', description: '1 pull request of this merge group passed' },
  ]);
  scene.forge.dequeue(scene.repository, 1);
  t.deepEqual(await check(), ['pending', 'success'], 'what has left the queue keeps its verdict');
  t.deepEqual(await check(undefined, { action: 'destroyed', reason: 'dequeued' }), ['pending', 'success', 'pending']);
});

test('github: a group that is destroyed gets no status', async (t) => {
  const { check } = queue(['feat: one']);
  t.deepEqual(await check(undefined, { action: 'destroyed' }), []);
});

test('github: a pull request that fails ahead in the queue fails the group', async (t) => {
  const { groups, check, shown } = queue(['feat: one', 'two', 'feat: three']);
  t.deepEqual(await check(), ['pending', 'failure']);
  t.is(shown().at(-1)?.description, '#2 fails: 1 of 1 rule failed: conventional-title');
  t.deepEqual(await check(groups[0]), ['pending', 'success'], 'it is behind this one');
});

test('github: a pull request that waits for others fails its group', async (t) => {
  const policy = `version: 1\nrules: [{ id: approved, require: { approvals: { from: [bob] } } }]`;
  const { check, shown } = queue(['one'], { '.gatehouse.yml': policy });
  await check();
  const description = '#1 is not ready: Waiting for 1 approval from bob';
  t.deepEqual(shown().at(-1), { context: 'gatehouse/main', state: 'failure', description });
});

test('github: a group of which it is not certain what it merges is an error', async (t) => {
  const { scene, groups, last, check } = queue(['feat: one', 'feat: two', 'feat: three']);
  const { forge, repository } = scene;
  const [first = last, second = last] = groups;
  // Where no policy was seen yet, nothing is said of what goes wrong.
  await scene.settled(scene.open({ 'seen.txt': 'a\n' }, { title: 'feat: seen' }));
  const sha = 'a'.repeat(40);
  const forms = ['refs/heads/main', `refs/heads/gh-readonly-queue/next/pr-1-${sha}`, `refs/tags/x/pr-1-${sha}`, 'a b'];
  for (const headRef of forms) {
    t.deepEqual(await check(first, { headRef }), ['error'], headRef);
  }
  const headRef = `refs/heads/gh-readonly-queue/main/pr-1-${sha}`;
  t.deepEqual(await check(second, { headRef }), ['error'], 'the commit is of #2');
  t.deepEqual(await check({ number: 1, headSha: scene.head(1) }), ['error'], 'a commit that is not in the queue');
  forge.dequeue(repository, 3);
  t.deepEqual(await check(), ['error'], 'it is in the queue no more');
  forge.commit(repository, 'next', {});
  forge.retarget(repository, 1, 'next');
  t.is((await check(second)).at(-1), 'error', '#1 is for another branch');
  forge.retarget(repository, 1, 'main');
  t.is((await check(second)).at(-1), 'success');
  forge.close(repository, 1);
  t.is((await check(second)).at(-1), 'error', '#1 is closed');
});

test('github: no success for a group whose pull request changed meanwhile', async (t) => {
  const { scene, check } = queue(['feat: one', 'feat: two']);
  const { forge, repository } = scene;
  scene.when(undefined, pathsOfReads(repository, 2), () => forge.edit(repository, 1, { title: 'one' }));
  t.deepEqual(await check(), ['pending', 'failure']);
});

test('github: no success of a group is the last status that its commit takes', async (t) => {
  const { scene, last, check } = queue(['feat: one']);
  for (let index = 0; index < 999; index++) {
    scene.impersonate(last.headSha, 'failure');
  }
  const states = await check();
  t.is(states.at(-1), 'error');
  t.false(states.includes('success'));
});

test('github: a status forged for a group never stands after its webhook', async (t) => {
  const { scene, last, check, states } = queue(['one']);
  t.deepEqual(await check(), ['pending', 'failure']);
  await scene.settled(scene.tell({ kind: 'status', status: scene.impersonate(last.headSha, 'success') }));
  t.deepEqual(states(), ['pending', 'failure', 'success', 'failure']);
});

test('github: a group of a repository that is gone is never tried again', async (t) => {
  const { scene, check } = queue(['feat: one']);
  scene.forge.deleteRepository(scene.repository);
  t.deepEqual(await check(), []);
  t.deepEqual([queriesOf(scene), scene.writes()], [1, 0]);
});

test('github: a queue that cannot be read is read again, and then an error', async (t) => {
  const { scene, groups, last, check, shown } = queue(['feat: one', 'feat: two']);
  const { forge, repository } = scene;
  const body = { data: null, errors: [{ type: 'FORBIDDEN', message: 'Resource not accessible by integration' }] };
  const broken = { method: 'POST', path: mergeQueueOf(repository), fault: { kind: 'json', body } } as const;
  forge.fault({ ...broken, times: 2 });
  t.deepEqual(await check(groups[0]), ['pending', 'success']);
  t.is(queriesOf(scene), 3, 'three attempts');

  forge.fault(broken);
  await check();
  const description = 'Could not be reviewed: the forge gave no usable answer';
  t.deepEqual(shown(), [{ context: 'gatehouse/main', state: 'error', description }]);
  t.is(queriesOf(scene), 3 + 6, 'six attempts');
  const letters = (await scene.deadLetters()) as readonly { readonly headSha: string }[];
  t.deepEqual(
    letters.map(({ headSha }) => headSha),
    [last.headSha],
  );
});

test('github: a merge queue of more than 100 pull requests is read to its end', async (t) => {
  const { check, shown } = queue(['one', ...Array.from({ length: 100 }, () => 'feat: one')]);
  await check();
  t.is(shown().at(-1)?.description, '#1 fails: 1 of 1 rule failed: conventional-title');
});

for (const name of GITEAS) {
  test(`${name}: the event of a merge group is ignored`, async (t) => {
    const scene = gatehouse(name).scene(TITLED);
    const number = scene.openSilently({ 'a.txt': 'a\n' }, { title: 'feat: one' });
    const headSha = scene.head(number);
    const head_ref = `refs/heads/gh-readonly-queue/main/pr-1-${headSha}`;
    const body = JSON.stringify({
      action: 'checks_requested',
      merge_group: { head_sha: headSha, head_ref, base_ref: 'refs/heads/main' },
      repository: { full_name: scene.repository },
    });
    const headers = {
      'content-type': 'application/json',
      'x-hub-signature-256': signatureOf(body, SECRET),
      'x-gitea-event': 'merge_group',
      'x-gitea-delivery': randomUUID(),
    };
    t.is((await fetch(`${scene.door.url}/webhook`, { method: 'POST', headers, body })).status, 200);
    await scene.settled();
    t.deepEqual(scene.states(number), []);
    t.is(scene.writes(), 0);
  });
}
