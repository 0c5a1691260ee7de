import type { ExecutionContext } from 'ava';
import type { Overviews } from '../../../src/forges/port/many-repositories.ts';
import test from '../../helpers/test.ts';
import { forgeError, openPullRequest, SITE, setUp } from './setup.ts';

async function setUpOverviews(t: ExecutionContext) {
  const { simulated, forge } = await setUp(t, 'github');
  const { overviews } = forge;
  if (overviews === undefined) {
    throw new Error('the client has no overviews');
  }
  return { simulated, forge, overviews };
}

const namesIn = async (overviews: Overviews, names: readonly string[]) => [...(await overviews.read(names)).keys()];

test('an overview says of many repositories what reading each says', async (t) => {
  const { simulated, forge, overviews } = await setUpOverviews(t);
  const { ref } = openPullRequest(simulated);
  simulated.commit(SITE, 'release', { 'a.txt': 'a\n' });
  simulated.commit(SITE, 'second', { 'b.txt': 'b\n' });
  simulated.openPullRequest(SITE, { head: 'second', base: 'release' });
  simulated.createRepository('platform/empty');
  simulated.deleteBranch(SITE, 'release');
  await forge.self();
  simulated.forgetRequests();

  const read = await overviews.read([SITE, 'platform/empty']);
  t.is(simulated.count(), 1);
  const listed = (await forge.openPullRequests(SITE))?.pullRequests ?? [];
  t.is(listed[0]?.number, ref.number);
  t.deepEqual(
    read.get(SITE)?.pullRequests,
    listed.map(({ repository, number, archived, updatedAt, base, head: { sha } }) => ({
      repository,
      number,
      archived,
      updatedAt,
      base,
      head: { sha },
    })),
  );
  t.deepEqual(
    [...(read.get(SITE)?.baseCommits ?? [])],
    [
      ['main', simulated.head(SITE, 'main')],
      ['release', null],
    ],
  );
  t.deepEqual(read.get('platform/empty')?.pullRequests, []);
});

test('an overview leaves out what is gone or was renamed', async (t) => {
  const { simulated, overviews } = await setUpOverviews(t);
  for (const name of ['platform/gone', 'platform/old']) {
    simulated.createRepository(name);
  }
  simulated.deleteRepository('platform/gone');
  simulated.rename('platform/old', 'platform/new');
  t.deepEqual(await namesIn(overviews, [SITE, 'platform/gone', 'platform/old', 'nobody/nothing']), [SITE]);
});

test('no number of open pull requests keeps a repository out of an overview', async (t) => {
  const { simulated, forge, overviews } = await setUpOverviews(t);
  await forge.self();
  const opened = Array.from({ length: 131 }, () => openPullRequest(simulated).ref.number);
  simulated.forgetRequests();
  const read = await overviews.read([SITE]);
  t.deepEqual(
    read.get(SITE)?.pullRequests.map(({ number }) => number),
    opened,
  );
  t.is(simulated.count(), 3, 'thirty with the overview, the others in two pages');
});

test('a repository whose further pages cannot be read is left out of an overview', async (t) => {
  const { simulated, overviews } = await setUpOverviews(t);
  for (let index = 0; index < 31; index++) {
    openPullRequest(simulated);
  }
  simulated.createRepository('platform/other');
  const path = /^\/graphql$/;
  const breakNext = () => simulated.fault({ path, fault: { kind: 'html' } });
  simulated.watch({ path, act: () => simulated.watch({ path, act: breakNext }) });
  t.deepEqual(await namesIn(overviews, [SITE, 'platform/other']), ['platform/other']);
});

test('an overview says which merge groups there are, with their statuses', async (t) => {
  const { simulated, overviews } = await setUpOverviews(t);
  const { ref } = openPullRequest(simulated);
  const tip = simulated.head(SITE, 'main');
  const headSha = simulated.enqueue(SITE, ref.number);
  simulated.setStatus(SITE, headSha, {
    context: 'gatehouse/main',
    state: 'success',
    author: 'gatehouse',
    description: '',
  });
  const read = (await overviews.read([SITE])).get(SITE);
  const headRef = `gh-readonly-queue/main/pr-${ref.number}-${tip}`;
  t.deepEqual(read?.mergeGroups, [{ branch: 'main', headSha, headRef, isGone: false }]);
  t.deepEqual(
    read?.statuses.get(headSha)?.map(({ own, state }) => ({ own, state })),
    [{ own: true, state: 'success' }],
  );
});

test('without the permission for merge queues, an overview shows the rest', async (t) => {
  const { simulated, overviews } = await setUpOverviews(t);
  const path = ['r0', 'pullRequests', 'nodes', 0, 'mergeQueueEntry'];
  const node = { number: 1, updatedAt: '', headRefOid: '', baseRefName: 'main', baseRef: null, mergeQueueEntry: null };
  const pullRequests = { nodes: [node], pageInfo: { hasNextPage: false, endCursor: null } };
  const body = {
    data: { r0: { nameWithOwner: SITE, isArchived: false, pullRequests } },
    errors: [{ type: 'FORBIDDEN', message: 'Resource not accessible by integration', path }],
  };
  simulated.fault({ path: /^\/graphql$/, times: 1, fault: { kind: 'json', body } });
  const read = (await overviews.read([SITE])).get(SITE);
  t.deepEqual([read?.pullRequests.length, read?.mergeGroups], [1, []]);
});

test('an overview that shows only a part is not used', async (t) => {
  const { simulated, overviews } = await setUpOverviews(t);
  const pullRequests = { nodes: [], pageInfo: { hasNextPage: false } };
  const whole = { nameWithOwner: SITE, isArchived: false, pullRequests };
  for (const [r0, error, kind] of [
    [null, { message: 'Something went wrong', path: ['r0'] }, 'unavailable'],
    [whole, { type: 'FORBIDDEN', message: 'Not accessible', path: ['r0', 'pullRequests'] }, 'unavailable'],
    [undefined, { type: 'RATE_LIMITED', message: 'API rate limit exceeded' }, 'rate-limited'],
  ] as const) {
    const body = { data: r0 === undefined ? null : { r0 }, errors: [error] };
    simulated.fault({ path: /^\/graphql$/, times: 1, fault: { kind: 'json', body } });
    t.is((await forgeError(t, () => overviews.read([SITE]))).kind, kind);
  }
  const hidden = { data: { r0: null }, errors: [{ type: 'FORBIDDEN', message: 'SAML', path: ['r0'] }] };
  simulated.fault({ path: /^\/graphql$/, times: 1, fault: { kind: 'json', body: hidden } });
  t.deepEqual(await namesIn(overviews, [SITE]), []);
});

test('names of repositories never become part of a query', async (t) => {
  const { simulated, overviews } = await setUpOverviews(t);
  simulated.forgetRequests();
  t.deepEqual(await namesIn(overviews, ['platform/a") { id } x: repository(owner: "platform", name: "site']), []);
  t.is(simulated.count('POST', /graphql/), 1);
});
