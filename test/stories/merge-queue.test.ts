import { randomUUID } from 'node:crypto';
import { SECRET } from '../helpers/door.ts';
import { GITEAS } from '../helpers/forges.ts';
import { TITLED } from '../helpers/policies.ts';
import { signatureOf } from '../helpers/signature.ts';
import { pathsOfReads, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';
import type { Changes } from '../simulated-forge/git.ts';
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

type Titles = readonly [string, ...string[]];

/** Pull requests into main that nobody has reviewed, in the queue one after the other, and the group of the last. */
function queue(titles: Titles, files = TITLED) {
  const scene = gatehouse('github').scene(files);
  return inQueue(
    scene,
    titles.map((title) => scene.openSilently(oneFile(title), { title })),
  );
}

/** The same, with their reviews over. `before`: what happens before they are put in the queue. */
async function reviewedQueue(titles: Titles, files: Changes = TITLED, before: (scene: Scene) => unknown = () => {}) {
  const scene = gatehouse('github').scene(files);
  const numbers: number[] = [];
  for (const title of titles) {
    numbers.push(await scene.settled(scene.open(oneFile(title), { title })));
  }
  await before(scene);
  return inQueue(scene, numbers);
}

const oneFile = (title: string) => ({ [`${title}-${randomUUID()}.txt`]: 'a\n' });

function inQueue(scene: Scene, numbers: readonly number[]) {
  const groups = numbers.map((number) => ({ number, headSha: scene.forge.enqueue(scene.repository, number) }));
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
    /** The numbers of the pull requests that are read meanwhile, each once. */
    async readWhile(act: () => Promise<unknown>) {
      const before = scene.forge.seen.length;
      await act();
      const paths = scene.forge.seen.slice(before).map(({ path }) => path);
      return numbers.filter((number) => paths.some((path) => pathsOfReads(scene.repository, number).test(path)));
    },
  };
}

/** A resync reviews the pull requests as well: whether they still have to be judged for a group depends on which is first. */
const withoutPending = (states: readonly string[]) => states.filter((state) => state !== 'pending');

test.serial('github: a group whose webhook was lost has its status after the next resync', async (t) => {
  const { scene, groups, states, check } = queue(['feat: one', 'two', 'feat: three']);
  scene.forge.dequeue(scene.repository, 2);
  t.deepEqual(await check(groups[0]), ['pending', 'success']);
  await scene.resync();
  t.deepEqual(groups.map(states).map(withoutPending), [['success'], [], ['success']]);
  const asked = queriesOf(scene);
  await scene.resync();
  t.is(queriesOf(scene), asked, 'none is judged again');
});

test.serial('github: a success that others set for a lost group never stays', async (t) => {
  const { scene, last, states } = queue(['one']);
  const forged = { context: 'Gatehouse/Main', state: 'success', author: 'mallory', description: '' };
  scene.forge.setStatus(scene.repository, last.headSha, forged);
  await scene.resync();
  t.deepEqual(withoutPending(states()), ['success', 'failure']);
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

test('github: the verdicts that are stored are shown, and nothing is judged again', async (t) => {
  const { scene, groups, check, states, shown, readWhile } = await reviewedQueue(['feat: one', 'two', 'feat: three']);
  t.deepEqual(await readWhile(check), []);
  const description = '#2 fails: 1 of 1 rule failed: conventional-title';
  t.deepEqual(shown(), [{ context: 'gatehouse/main', state: 'failure', description }]);
  // Each group that is merged moves the branch.
  scene.forge.commit(scene.repository, 'main', { 'merged.txt': 'a\n' });
  t.deepEqual(await readWhile(() => check(groups[0])), []);
  t.deepEqual(states(groups[0]), ['success']);
});

test('github: only the pull requests without a stored verdict are judged for a group', async (t) => {
  const scene = gatehouse('github').scene(TITLED);
  const reviewed = await scene.settled(scene.open(oneFile('one'), { title: 'feat: one' }));
  const unseen = scene.openSilently(oneFile('two'), { title: 'two' });
  const { check, states, readWhile } = inQueue(scene, [reviewed, unseen]);
  t.deepEqual(await readWhile(check), [unseen]);
  t.deepEqual(states(), ['pending', 'failure']);
});

const NO_DEBUGGER = `version: 1\nrules: [{ id: no-debugger, forbid: { added_lines: debugger } }]\n`;

test('github: a head that has moved since its verdict is judged again', async (t) => {
  const push = ({ forge, repository }: Scene) => forge.push(repository, 1, { 'a.js': 'debugger\n' });
  const { check, states, readWhile } = await reviewedQueue(['one'], { '.gatehouse.yml': NO_DEBUGGER }, push);
  t.deepEqual(await readWhile(check), [1]);
  t.deepEqual(states(), ['pending', 'failure']);
});

test('github: a verdict by other rules than those of the branch now is judged again', async (t) => {
  const { scene, check, states, readWhile } = await reviewedQueue(['feat: one']);
  const policy = TITLED['.gatehouse.yml'].replace('feat', 'fix');
  scene.forge.commit(scene.repository, 'main', { '.gatehouse.yml': policy });
  t.deepEqual(await readWhile(check), [1]);
  t.deepEqual(states(), ['pending', 'failure']);
});

test('github: of whom no policy asked anything is judged again once there is one', async (t) => {
  const { scene, check, states, readWhile } = await reviewedQueue(['one'], { 'README.md': 'hello\n' });
  t.deepEqual(await readWhile(check), []);
  t.deepEqual(states(), []);
  scene.forge.commit(scene.repository, 'main', TITLED);
  t.deepEqual(await readWhile(check), [1]);
  t.deepEqual(states(), ['pending', 'failure']);
});

test('github: a base branch that has changed since its verdict is looked at again', async (t) => {
  const { scene, check, shown } = await reviewedQueue(['feat: one']);
  scene.forge.commit(scene.repository, 'next', {});
  scene.forge.retarget(scene.repository, 1, 'next');
  t.deepEqual(await check(undefined, { base: 'main' }), ['pending', 'error']);
  t.is(shown().at(-1)?.description, '#1 goes into next, not into main');
});

/** What keeps the success that is stored from counting; the title has changed since without a webhook. */
const NOT_COUNTED = {
  'the review was given up or is outdated': 'UPDATE gatehouse.reviews SET rules = NULL',
  'it is not there yet': 'UPDATE gatehouse.reviews SET verdict = NULL',
  'it is not in the record': "UPDATE gatehouse.reviews SET verdict = 'pending'",
  'it is of another base': "UPDATE gatehouse.reviews SET base_branch = 'next'",
  'it is of another head': "UPDATE gatehouse.reviews SET head_sha = 'a'",
  'the pull request was closed': 'UPDATE gatehouse.reviews SET open = false',
};

for (const [why, statement] of Object.entries(NOT_COUNTED)) {
  test(`github: a stored verdict does not count where ${why}`, async (t) => {
    const { scene, check } = await reviewedQueue(['feat: one']);
    scene.forge.edit(scene.repository, 1, { title: 'one' });
    t.deepEqual(await check(), ['success'], 'it counts otherwise');
    await scene.door.database.query(`${statement} WHERE repository = $1`, [scene.repository]);
    t.deepEqual(await check(), ['success', 'pending', 'failure']);
  });
}

test('github: a success that may have ended without a webhook is judged again for its group', async (t) => {
  const policy = 'version: 1\nrules: [{ id: approved, require: { approvals: 1 } }]';
  const scene = gatehouse('github').scene({ '.gatehouse.yml': policy });
  const number = await scene.settled(scene.open(oneFile('one')));
  await scene.review(number, 'eve', 'approved');
  t.is(await scene.verdict(number), 'success');
  const { check, readWhile } = inQueue(scene, [number]);
  t.deepEqual(await readWhile(check), [], 'it was judged just now');
  const longAgo = "UPDATE gatehouse.reviews SET reviewed_at = now() - interval '16 minutes' WHERE repository = $1";
  await scene.door.database.query(longAgo, [scene.repository]);
  scene.forge.addOutsider('eve');
  t.is((await check()).at(-1), 'failure');
  scene.forge.removeOutsider('eve');
});

test('github: what could not be judged is judged again for its group', async (t) => {
  const policy = 'version: 1\nrules: [{ id: built, require: { checks: { name: build } } }]';
  const scene = gatehouse('github').scene({ '.gatehouse.yml': policy });
  const { forge, repository } = scene;
  const number = scene.openSilently(oneFile('one'));
  const build = { context: 'build', state: 'success', author: 'ci', description: '' };
  forge.setStatus(repository, scene.head(number), build);
  const path = new RegExp(`^/repos/${repository}/commits/${scene.head(number)}/status`);
  forge.fault({ method: 'GET', path, times: 1, fault: { kind: 'status', status: 403 } });
  t.is(await scene.judge(number), 'error');
  t.deepEqual(await inQueue(scene, [number]).check(), ['pending', 'success']);
});

for (const [kind, by] of [
  ['review', 'number'],
  ['command', 'number'],
  ['review-commit', 'headSha'],
  ['push', 'after'],
] as const) {
  test(`github: a stored verdict does not count while a job waits that may change it: ${kind}`, async (t) => {
    const { scene, last, states } = await reviewedQueue(['feat: one']);
    const { forge, repository, door } = scene;
    forge.edit(repository, 1, { title: 'one' });
    const data = { repository, [by]: by === 'number' ? 1 : scene.head(1) };
    const { rows } = await door.database.query<{ id: string }>(
      `INSERT INTO gatehouse_jobs.job (name, singleton_key, policy, data, start_after)
       VALUES ($1, $2, 'stately', $3, now() + interval '1 hour') RETURNING id`,
      [kind, `${repository} waits`, data],
    );
    await scene.tell({ kind: 'merge-group', action: 'checks_requested', ...last });
    await until(() => states().some((state) => state !== 'pending'));
    await door.database.query('DELETE FROM gatehouse_jobs.job WHERE id = $1', [rows[0]?.id]);
    await scene.settled();
    t.deepEqual(states(), ['pending', 'failure']);
  });
}

test('github: no success for a group where a stored verdict changed while another was judged', async (t) => {
  const { scene, groups, check } = await reviewedQueue(['feat: one', 'feat: two']);
  const { repository, door } = scene;
  const outdated = 'UPDATE gatehouse.reviews SET rules = NULL WHERE repository = $1 AND pull_request = 2';
  await door.database.query(outdated, [repository]);
  scene.when(undefined, pathsOfReads(repository, 2), async () => {
    await scene.edit(1, { title: 'one' });
    await until(() => scene.status(1)?.state === 'failure');
  });
  t.deepEqual(await check(), ['pending', 'failure']);
  t.deepEqual(await check(groups[0]), ['failure']);
});

test('github: what is not certain at the first look is looked at once more', async (t) => {
  const { scene, groups, check } = queue(['feat: one', 'feat: two']);
  const { forge, repository } = scene;
  const path = mergeQueueOf(repository);
  const entries = { nodes: [], pageInfo: { hasNextPage: false, endCursor: null } };
  const body = { data: { repository: { mergeQueue: { entries } } } };
  forge.fault({ method: 'POST', path, times: 1, fault: { kind: 'json', body } });
  t.deepEqual(await check(groups[0]), ['pending', 'success'], 'the entry was not there yet');
  t.is(queriesOf(scene), 2);

  forge.commit(repository, 'next', {});
  forge.retarget(repository, 2, 'next');
  scene.when('POST', path, () => scene.when('POST', path, () => forge.retarget(repository, 2, 'main')));
  t.deepEqual(await check(undefined, { base: 'main' }), ['pending', 'success'], '#2 was for another branch');
  t.is(queriesOf(scene), 2 + 2);
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
