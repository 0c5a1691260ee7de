import type { ExecutionContext } from 'ava';
import { makeForge } from '../../src/forges/make-forge.ts';
import { ForgeError } from '../../src/forges/port/forge-error.ts';
import type { ChangeList } from '../../src/forges/port/many-repositories.ts';
import { PATIENCE } from '../helpers/patience.ts';
import { MAIN, type Site } from '../helpers/site.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';
import { clientOf, onBothForges } from './forges.ts';
import { call } from './reading.ts';
import type { HookedSite, TestForge } from './test-forge.ts';

/** What the resync relies on instead of reading every repository, held against the simulated Gitea and the real one alike. */
const both = onBothForges(test);

const FILES = { 'app.ts': 'one\n' };
const CHANGED = { 'app.ts': 'two\n' };

function listOf(t: ExecutionContext, forge: TestForge): ChangeList {
  const { changeList } = clientOf(t, forge);
  if (changeList === undefined) {
    throw new Error('the client has no list of changes');
  }
  return changeList;
}

/** When a second began in which nothing of these has happened yet. */
async function freshSecond(...sites: readonly HookedSite[]): Promise<Date> {
  await Promise.all(sites.map((site) => site.nextSecond()));
  return new Date(Math.floor(Date.now() / 1_000) * 1_000);
}

async function openTopic(site: Site): Promise<number> {
  await site.push('topic', CHANGED);
  return site.open('topic');
}

both('the list of changes shows whatever happens to a pull request, and every push', async (t, forge) => {
  const [site, idle] = [await forge.site(FILES), await forge.site(FILES)];
  const changes = listOf(t, forge);
  const number = await openTopic(site);
  await openTopic(idle);
  const namesSince = async (since: Date) => (await changes.changedSince(since)).repositories.map(({ name }) => name);
  let review = 0;
  const acts: Readonly<Record<string, () => Promise<unknown>>> = {
    'a push to the base branch': () => site.push(MAIN, { 'other.ts': 'other\n' }),
    'a push to the head': () => site.push('topic', { 'app.ts': 'three\n' }),
    'a force-push': () => site.forcePush('topic', { 'app.ts': 'four\n' }),
    'a title': () => site.edit(number, { title: 'feat: another title' }),
    'a label': () => site.label(number, 'one'),
    'an approval': async () => {
      review = await site.review(number, 'bob', 'approved');
    },
    'a dismissal': () => site.dismiss(number, review),
    'a close': () => site.close(number),
    'a reopening': () => site.reopen(number),
    'a merge': () => until(() => site.mergeByButton(number)),
    'another pull request': async () => {
      await site.push('second', { 'second.ts': 'second\n' });
      await site.open('second');
    },
    'a deleted branch': () => site.deleteBranch('second'),
  };
  for (const [what, act] of Object.entries(acts)) {
    const since = await freshSecond(site, idle);
    await act();
    await until(async () => (await namesSince(since)).includes(site.repository));
    t.log(what);
  }
  // Gitea follows a push some time after it has answered.
  await until(async () => !(await namesSince(await freshSecond(idle))).includes(idle.repository));
  t.pass();
});

both('the list of changes shows a pull request that is pushed to from a fork', async (t, forge) => {
  const site = await forge.site(FILES);
  const changes = listOf(t, forge);
  const since = await freshSecond(site);
  await site.openFromFork(CHANGED);
  const { repositories } = await changes.changedSince(since);
  t.true(repositories.some(({ name }) => name === site.repository));
});

both('a private repository is listed, and a renamed one keeps its id', async (t, forge) => {
  const site = await forge.site(FILES);
  const changes = listOf(t, forge);
  const idOf = async (name: string) => (await changes.all()).repositories.find((one) => one.name === name)?.id;
  await site.setPrivate(true);
  const id = await idOf(site.repository);
  t.truthy(id);
  const since = await freshSecond(site);
  const number = await openTopic(site);
  const before = site.repository;
  await site.rename(`renamed-${Date.now()}`);
  await site.edit(number, { title: 'feat: after the rename' });
  t.is(await idOf(before), undefined);
  const listed = (await changes.changedSince(since)).repositories.filter((one) => one.id === id);
  t.deepEqual(
    listed.map(({ name }) => name),
    [site.repository],
  );
});

both('the repositories that the account may write to are listed', async (t, forge) => {
  const site = await forge.site(FILES);
  const { names, more } = await clientOf(t, forge).writableRepositories(10_000);
  t.false(more);
  t.true(names.includes(site.repository));
  for (const name of names) {
    const found = await call(forge, 'GET', `/repos/${name}`);
    // Other tests delete theirs meanwhile.
    if (found.status === 200) {
      const { permissions } = (await found.json()) as { permissions: { push: boolean } };
      t.true(permissions.push, name);
    }
  }
});

both('the lists say what time it is, count what they have, and have pages', async (t, forge) => {
  const site = await forge.site(FILES);
  const before = Math.floor(Date.now() / 1_000) * 1_000;
  const { asOf } = await listOf(t, forge).changedSince(new Date());
  t.true(asOf.getTime() >= before && asOf.getTime() <= Date.now());

  await openTopic(site);
  await site.push('second', { 'second.ts': 'second\n' });
  await site.open('second');
  const search = '/repos/issues/search?type=pulls&state=all&since=2000-01-01T00:00:00Z&limit=1';
  const page = await call(forge, 'GET', `${search}&page=2`);
  t.true(Number(page.headers.get('x-total-count')) >= 2);
  t.is(((await page.json()) as unknown[]).length, 1);
  const repositories = await call(forge, 'GET', '/repos/search?sort=updated&order=desc&limit=1&page=1');
  t.true(Number(repositories.headers.get('x-total-count')) >= 1);
});

both('a token without the scope of issues cannot read the list of changes', async (t, forge) => {
  const credentials = { kind: 'token', token: forge.readingToken } as const;
  const client = makeForge({ forge: 'gitea', url: forge.url, credentials }, { patience: PATIENCE });
  t.teardown(() => client.close());
  const error = await t.throwsAsync(async () => client.changeList?.changedSince(new Date()), {
    instanceOf: ForgeError,
  });
  t.deepEqual([error?.kind, error?.status], ['refused', 403]);
});
