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

/** Those into main that are put in the queue one after the other. Returns the commits of their groups. */
function enqueue(scene: Scene, titles: readonly string[]): { readonly number: number; readonly headSha: string }[] {
  return titles.map((title, index) => {
    const number = scene.openSilently({ [`${index}.txt`]: 'a\n' }, { title });
    return { number, headSha: scene.forge.enqueue(scene.repository, number) };
  });
}

async function requestChecks(
  scene: Scene,
  group: { readonly number: number; readonly headSha: string } | undefined,
  other: Partial<Extract<WebhookEvent, { kind: 'merge-group' }>> = {},
) {
  if (group === undefined) {
    throw new Error('the queue is empty');
  }
  await scene.settled(scene.tell({ kind: 'merge-group', action: 'checks_requested', ...group, ...other }));
  return scene.forge.statuses(scene.repository, group.headSha).map(({ context, state, description }) => {
    return { context, state, description };
  });
}

/** Where none was seen yet, nothing is said of what goes wrong. */
async function seeThePolicy(scene: Scene): Promise<void> {
  await scene.settled(scene.open({ 'seen.txt': 'a\n' }, { title: 'feat: seen' }));
}

const states = (statuses: readonly { readonly state: string }[]) => statuses.map(({ state }) => state);

test.serial('github: a group whose webhook was lost has its status after the next resync', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const { forge, repository } = scene;
  const groups = enqueue(scene, ['feat: one', 'two', 'feat: three']);
  forge.dequeue(repository, 2);
  const statuses = () => groups.map(({ headSha }) => states(forge.statuses(repository, headSha)));
  t.is((await requestChecks(scene, groups[0])).at(-1)?.state, 'success');
  const told = forge.statuses(repository, groups[0]?.headSha ?? '').length;
  await scene.resync();
  t.deepEqual(statuses(), [['pending', 'success'], [], ['pending', 'success']]);
  t.is(told, 2);
  const asked = queriesOf(scene);
  await scene.resync();
  t.is(queriesOf(scene), asked, 'none is judged again');
});

test.serial('github: a success that others set for a lost group never stays', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const [group] = enqueue(scene, ['one']);
  const headSha = group?.headSha ?? '';
  const forged = { context: 'Gatehouse/main', state: 'success', author: 'mallory', description: '' };
  scene.forge.setStatus(scene.repository, headSha, forged);
  await scene.resync();
  t.deepEqual(states(scene.forge.statuses(scene.repository, headSha)), ['success', 'pending', 'failure']);
});

test('github: a group of one pull request that passes is a success', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const [group] = enqueue(scene, ['feat: one']);
  t.deepEqual(await requestChecks(scene, group), [
    { context: 'gatehouse/main', state: 'pending', description: 'Reviewing 1 pull request' },
    { context: 'gatehouse/main', state: 'success', description: '1 pull request of this merge group passed' },
  ]);
});

test('github: a group that is destroyed gets no status', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const [group] = enqueue(scene, ['feat: one']);
  t.deepEqual(await requestChecks(scene, group, { action: 'destroyed' }), []);
});

test('github: a group that was dequeued never leaves its success on its commit', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const [group] = enqueue(scene, ['feat: one']);
  await requestChecks(scene, group);
  scene.forge.dequeue(scene.repository, 1);
  const statuses = await requestChecks(scene, group, { action: 'destroyed', reason: 'dequeued' });
  t.deepEqual(states(statuses), ['pending', 'success', 'pending']);
});

test('github: a pull request that fails ahead in the queue fails the group', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const groups = enqueue(scene, ['feat: one', 'two', 'feat: three']);
  const statuses = await requestChecks(scene, groups[2]);
  t.deepEqual(states(statuses), ['pending', 'failure']);
  t.is(statuses.at(-1)?.description, '#2 fails: 1 of 1 rule failed: conventional-title');
  t.deepEqual(states(await requestChecks(scene, groups[0])), ['pending', 'success'], 'it is behind this one');
});

test('github: a pull request that waits for others fails its group', async (t) => {
  const policy = `version: 1\nrules: [{ id: approved, require: { approvals: { from: [bob] } } }]`;
  const scene = gatehouse('github').scene({ '.gatehouse.yml': policy });
  const [group] = enqueue(scene, ['one']);
  const statuses = await requestChecks(scene, group);
  t.deepEqual(statuses.at(-1), {
    context: 'gatehouse/main',
    state: 'failure',
    description: '#1 is not ready: Waiting for 1 approval from bob',
  });
});

test('github: a group whose branch has another form is an error', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const [group, second] = enqueue(scene, ['feat: one', 'feat: two']);
  await seeThePolicy(scene);
  const sha = 'a'.repeat(40);
  const forms = ['refs/heads/main', `refs/heads/gh-readonly-queue/next/pr-1-${sha}`, `refs/tags/x/pr-1-${sha}`, 'a b'];
  for (const headRef of forms) {
    t.deepEqual(states(await requestChecks(scene, group, { headRef })), ['error'], headRef);
  }
  const headRef = `refs/heads/gh-readonly-queue/main/pr-1-${sha}`;
  t.deepEqual(states(await requestChecks(scene, second, { headRef })), ['error'], 'the commit is of #2');
});

test('github: a commit that is not in the queue is an error', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const [group] = enqueue(scene, ['feat: one']);
  await seeThePolicy(scene);
  const { headSha } = scene.forge.pull(scene.repository, 1);
  t.deepEqual(states(await requestChecks(scene, { number: 1, headSha })), ['error']);
  scene.forge.dequeue(scene.repository, 1);
  t.deepEqual(states(await requestChecks(scene, group)), ['error']);
});

test('github: a group that has left the queue keeps its verdict', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const [group] = enqueue(scene, ['feat: one']);
  await requestChecks(scene, group);
  scene.forge.dequeue(scene.repository, 1);
  t.deepEqual(states(await requestChecks(scene, group)), ['pending', 'success']);
});

test('github: a group with a closed or retargeted pull request is an error', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const groups = enqueue(scene, ['feat: one', 'feat: two']);
  scene.forge.commit(scene.repository, 'next', {});
  scene.forge.retarget(scene.repository, 1, 'next');
  t.is((await requestChecks(scene, groups[1])).at(-1)?.state, 'error');
  scene.forge.retarget(scene.repository, 1, 'main');
  scene.forge.close(scene.repository, 1);
  t.is((await requestChecks(scene, groups[1])).at(-1)?.state, 'error');
});

test('github: no success for a group whose pull request changed meanwhile', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const groups = enqueue(scene, ['feat: one', 'feat: two']);
  scene.when(undefined, pathsOfReads(scene.repository, 2), () => {
    scene.forge.edit(scene.repository, 1, { title: 'one' });
  });
  t.deepEqual(states(await requestChecks(scene, groups[1])), ['pending', 'failure']);
});

test('github: no success of a group is the last status that its commit takes', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const [group] = enqueue(scene, ['feat: one']);
  const status = { context: 'gatehouse/main', state: 'failure', author: 'mallory', description: '' };
  for (let index = 0; index < 999; index++) {
    scene.forge.setStatus(scene.repository, group?.headSha ?? '', status);
  }
  const statuses = await requestChecks(scene, group);
  t.is(statuses.at(-1)?.state, 'error');
  t.false(states(statuses).includes('success'));
});

test('github: a status forged for a group never stands after its webhook', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const [group] = enqueue(scene, ['one']);
  const headSha = group?.headSha ?? '';
  t.is((await requestChecks(scene, group)).at(-1)?.state, 'failure');
  const forged = { context: 'gatehouse/main', state: 'success', author: 'mallory', description: '' };
  await scene.settled(scene.tell({ kind: 'status', status: scene.forge.setStatus(scene.repository, headSha, forged) }));
  t.deepEqual(states(scene.forge.statuses(scene.repository, headSha)), ['pending', 'failure', 'success', 'failure']);
});

test('github: a group of a repository that is gone is never tried again', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const [group] = enqueue(scene, ['feat: one']);
  scene.forge.deleteRepository(scene.repository);
  t.deepEqual(await requestChecks(scene, group), []);
  t.is(queriesOf(scene), 1);
  t.is(scene.writes(), 0);
});

test('github: a queue that cannot be read is read again, and then an error', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const { forge, repository } = scene;
  const groups = enqueue(scene, ['feat: one', 'feat: two']);
  const body = { data: null, errors: [{ type: 'FORBIDDEN', message: 'Resource not accessible by integration' }] };
  const broken = { method: 'POST', path: mergeQueueOf(repository), fault: { kind: 'json', body } } as const;
  forge.fault({ ...broken, times: 2 });
  t.deepEqual(states(await requestChecks(scene, groups[0])), ['pending', 'success']);
  t.is(queriesOf(scene), 3, 'three attempts');

  forge.fault(broken);
  t.deepEqual(await requestChecks(scene, groups[1]), [
    {
      context: 'gatehouse/main',
      state: 'error',
      description: 'Could not be reviewed: the forge gave no usable answer',
    },
  ]);
  t.is(queriesOf(scene), 3 + 6, 'six attempts');
  const { rows } = await scene.door.database.query(
    "SELECT data->>'headSha' AS sha FROM gatehouse_jobs.job WHERE name = 'review-dead-letters' AND data->>'repository' = $1",
    [repository],
  );
  t.deepEqual(rows, [{ sha: groups[1]?.headSha }]);
});

test('github: a merge queue of more than 100 pull requests is read to its end', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const titles = Array.from({ length: 101 }, () => 'feat: one');
  const groups = enqueue(scene, titles);
  scene.forge.edit(scene.repository, 1, { title: 'one' });
  const last = await requestChecks(scene, groups.at(-1));
  t.is(last.at(-1)?.description, '#1 fails: 1 of 1 rule failed: conventional-title');
});

for (const name of GITEAS) {
  test(`${name}: the event of a merge group is ignored`, async (t) => {
    const scene = gatehouse(name).scene(TITLED);
    const number = scene.openSilently({ 'a.txt': 'a\n' }, { title: 'feat: one' });
    const { headSha } = scene.forge.pull(scene.repository, number);
    const base_ref = 'refs/heads/main';
    const head_ref = `refs/heads/gh-readonly-queue/main/pr-1-${headSha}`;
    const body = JSON.stringify({
      action: 'checks_requested',
      merge_group: { head_sha: headSha, head_ref, base_ref },
      repository: { full_name: scene.repository },
    });
    const { status } = await fetch(`${scene.door.url}/webhook`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-hub-signature-256': signatureOf(body, SECRET),
        'x-gitea-event': 'merge_group',
        'x-gitea-delivery': randomUUID(),
      },
      body,
    });
    t.is(status, 200);
    await scene.settled();
    t.deepEqual(scene.states(number), []);
    t.is(scene.writes(), 0);
  });
}
