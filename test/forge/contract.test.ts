import type { ExecutionContext } from 'ava';
import { TRIAGE } from '../../src/facts/triage.ts';
import { ForgeError } from '../../src/forges/port/forge-error.ts';
import { MAX_COMMENT_LENGTH, statusDescription } from '../../src/forges/port/postings.ts';
import { MAIN } from '../helpers/site.ts';
import test from '../helpers/test.ts';
import { eventually, until } from '../helpers/until.ts';
import { submodule, symlink } from '../simulated-forge/git.ts';
import { CHANGED, clientOf, FILES, onForges, openTopic, postInlines, refOf } from './forges.ts';
import { ask, call, inlinesOf, pullOf } from './reading.ts';
import type { TestForge } from './test-forge.ts';

/** What Gatehouse relies on, held against the simulated forges and a real Gitea alike. */
const { all, both } = onForges(test);

const STATUS = { context: 'gatehouse', state: 'pending', description: statusDescription('Looking at it') } as const;
const NOBODY = '1'.repeat(40);
const TWO = { path: 'app.ts', line: 2, body: 'Two' };
const FOUR = { path: 'app.ts', line: 4, body: 'Four' };

async function errorOf(t: ExecutionContext, failing: Promise<unknown>): Promise<ForgeError> {
  return (await t.throwsAsync(failing, { instanceOf: ForgeError })) ?? t.fail();
}

/** In one review. Gitea takes some seconds for hundreds of them, longer than Gatehouse's client waits. */
async function commentAtLines(forge: TestForge, pull: string, sha: string, count: number): Promise<void> {
  const comments = Array.from({ length: count }, (_, index) => ({
    path: 'app.ts',
    new_position: 2,
    body: `Two, ${index}`,
  }));
  await call(forge, 'POST', `${pull}/reviews`, { commit_id: sha, event: 'COMMENT', comments });
}

all('a pull request is read as it is now', async (t, forge) => {
  const { site, client, sha, number, ref, path } = await openTopic(t, forge);
  const { repository } = site;
  const counts = (commentCount: number) => ({
    ...(forge.name === 'gitea' && { commentCount }),
    ...(forge.name !== 'forgejo' && { changedFileCount: 1 }),
  });
  if (forge.kind === 'real') {
    t.is((await call(forge, 'POST', `${path}/tags`, { tag_name: MAIN, target: sha })).status, 201);
  }
  await site.label(number, 'bug', 'ready to go');
  const opened = await client.pullRequest(ref);
  const as = {
    repository,
    number,
    state: 'open',
    title: 'feat: count',
    body: 'Because.',
    author: 'alice',
    draft: 'no',
  };
  t.like(opened, { ...as, labels: ['bug', 'ready to go'], base: { branch: MAIN }, ...counts(0) });
  t.like(opened, { head: { branch: 'topic', sha, repository } });
  t.is(opened?.baseCommit, await client.branchCommit(repository, MAIN));
  t.true(opened?.url.startsWith(`${forge.url}/${repository}/pull`));

  const tip = await site.push(MAIN, { 'other.ts': 'other\n' });
  await client.createComment(ref, 'In the conversation');
  await postInlines(client, ref, sha, [TWO]);
  t.like(await client.pullRequest(ref), { baseCommit: tip, ...counts(2) });
});

all('the newest status of a name counts, and an unknown commit has none', async (t, forge) => {
  const { site, client, sha } = await openTopic(t, forge);
  const { repository } = site;
  const failure = { ...STATUS, state: 'failure', targetUrl: 'https://gatehouse.example.test/' } as const;
  for (const status of [STATUS, { ...STATUS, context: 'another', state: 'error' }, failure] as const) {
    await client.setStatus(repository, sha, status);
  }
  const status = await client.status(repository, sha, 'gatehouse');
  t.like(status, failure);
  t.true(Math.abs(Date.now() - Date.parse(status?.updatedAt ?? '')) < 600_000);
  t.deepEqual(await site.states(sha), ['pending', 'error', 'failure']);
  t.is(await client.status(repository, sha, 'unknown'), undefined);
  // Gitea and Forgejo fail where they should refuse.
  const { kind } = await errorOf(t, client.setStatus(repository, NOBODY, STATUS));
  t.is(kind, forge.name === 'github' ? 'invalid' : 'unavailable');
});

both('commit statuses are read with who set them and with every state', async (t, forge) => {
  const { site, client, sha } = await openTopic(t, forge);
  const states = ['pending', 'success', 'failure', 'error', 'warning', 'skipped'];
  for (const state of states) {
    await site.setStatus('bob', sha, { context: `ci/${state}`, state });
  }
  await site.setStatus('alice', sha, { context: 'ci/success', state: 'failure' });
  await client.setStatus(site.repository, sha, { ...STATUS, state: 'success' });
  const { checks, complete } = await client.checks(site.repository, sha);
  t.true(complete);
  t.deepEqual(
    checks.map(({ name, reporter, state }) => `${name} by ${reporter}: ${state}`).toSorted(),
    [
      ...states.map((state) => `ci/${state} by bob: ${state}`),
      'ci/success by alice: failure',
      'gatehouse by gatehouse: success',
    ].toSorted(),
  );
});

all('only own comments are found and listed, and they can be changed and deleted', async (t, forge) => {
  const { site, client, number, ref } = await openTopic(t, forge);
  const theirs = await site.comment(number, 'bob', 'Please review');
  const first = await client.createComment(ref, 'First');
  const second = await client.createComment(ref, 'x'.repeat(MAX_COMMENT_LENGTH));
  const found = async (id: string) => client.ownComment?.(ref, id);
  t.deepEqual(await client.ownComments(ref), [first, second]);
  t.is(client.ownComment !== undefined, forge.name !== 'github');
  t.deepEqual(await found(second.id), client.ownComment && second);
  t.is(await found(String(theirs)), undefined);

  await client.updateComment(ref, first.id, 'First, revised');
  await client.deleteComment(ref, second.id);
  t.deepEqual(await client.ownComments(ref), [{ id: first.id, body: 'First, revised' }]);
  t.is(await found(second.id), undefined);
  await t.notThrowsAsync(client.deleteComment(ref, second.id));
  t.is((await errorOf(t, client.updateComment(ref, second.id, 'Too late'))).status, 404);
});

both('a link, a submodule and a directory are not files, and hide no other change', async (t, forge) => {
  const changes = { a: symlink('b'), b: submodule(NOBODY), c: null, 'c/d': 'd\n' };
  const { site, client, sha, ref } = await openTopic(t, forge, { a: 'a\n', b: 'b\n', c: 'c\n' }, changes);
  for (const [path, what] of [
    ['a', 'a symbolic link'],
    ['b', 'a submodule'],
    ['c', 'a directory'],
  ] as const) {
    const error = await errorOf(t, client.fileAt(site.repository, path, sha));
    t.deepEqual([error.kind, error.message], ['not-a-file', `${path} is ${what}`]);
  }
  const { files, complete } = await client.changedFiles(ref, sha);
  t.true(complete);
  t.deepEqual(
    files.map(({ path, status }) => `${path} ${status}`),
    ['a modified', 'b modified', 'c removed', 'c/d added'],
  );
});

both('what is read at a commit is of no branch and no tag of its name', async (t, forge) => {
  const { site, client, sha: before } = await openTopic(t, forge);
  const { repository } = site;
  const commit = await site.push('topic', { 'src/b.ts': 'b\n' });
  await site.push(commit, { 'app.ts': 'evil\n', 'src/b.ts': 'evil\n' });
  t.is(await client.fileAt(repository, 'app.ts', commit), CHANGED['app.ts']);
  t.is(await client.fileAt(repository, 'src/b.ts', commit), 'b\n');
  t.is(await client.fileAt(repository, 'src/none.ts', commit), undefined);
  t.is(await client.fileAt(repository, 'src/b.ts/none.ts', commit), undefined);
  const unknown = await errorOf(t, client.fileAt(repository, 'app.ts', NOBODY));
  t.deepEqual([unknown.kind, unknown.status], ['unavailable', 404]);
  t.true(await client.isAncestor(repository, before, commit));
  t.false(await client.isAncestor(repository, commit, before));
  t.is(await client.mergeBase(repository, before, commit), before);
});

both.serial('after a push the diff is of the old head for a while', async (t, forge) => {
  const { site, sha: before, number, path, pull } = await openTopic(t, forge);
  const files = () => ask<{ filename: string; contents_url: string }[]>(forge, `${pull}/files`);
  const commits = () => ask<{ sha: string }[]>(forge, `${pull}/commits`);
  const ref = async () =>
    (await ask<{ object: { sha: string } }[]>(forge, `${path}/git/refs/pull/${number}/head`))[0]?.object.sha;
  const diff = async () => (await call(forge, 'GET', `${pull}.diff`)).text();
  await until(async () => (await ref()) === before);

  const held = await site.pushHeld('topic', { 'other.ts': 'more\n' });
  t.is((await pullOf(forge, site, number)).head.sha, held.sha);
  t.not(held.sha, before);
  t.is(await ref(), before);
  t.deepEqual(
    (await files()).map(({ filename }) => filename),
    ['app.ts'],
  );
  t.true((await files()).every((file) => file.contents_url.endsWith(`?ref=${before}`)));
  t.deepEqual(
    (await commits()).map((commit) => commit.sha),
    [before],
  );
  t.false((await diff()).includes('other.ts'));

  await held.release();
  await until(async () => (await ref()) === held.sha);
  t.deepEqual((await files()).map(({ filename }) => filename).toSorted(), ['app.ts', 'other.ts']);
  t.true((await files()).every((file) => file.contents_url.endsWith(`?ref=${held.sha}`)));
  t.deepEqual(
    (await commits()).map((commit) => commit.sha),
    [held.sha, before],
    'newest first',
  );
  t.true((await diff()).includes('other.ts'));
});

both('updated_at moves with a dismissal and not with a status', async (t, forge) => {
  const { site, client, sha, number, ref } = await openTopic(t, forge);
  const updatedAt = async () => (await pullOf(forge, site, number)).updated_at;
  const moved = async (act: () => Promise<unknown>) => {
    await site.nextSecond();
    const before = await updatedAt();
    await act();
    return (await updatedAt()) !== before;
  };
  let review = 0;
  let comment = '';
  const moving: Readonly<Record<string, () => Promise<unknown>>> = {
    title: () => site.edit(number, { title: 'feat: another title' }),
    body: () => site.edit(number, { body: 'A description' }),
    label: () => site.label(number, 'one'),
    'label that goes': () => site.unlabel(number, 'one'),
    approval: async () => {
      review = await site.review(number, 'bob', 'approved');
    },
    dismissal: () => site.dismiss(number, review),
    assignee: () => site.assign(number, 'bob'),
    milestone: () => site.setMilestone(number, 'v2.0'),
    'own comment': async () => {
      comment = (await client.createComment(ref, 'Mine')).id;
    },
    'own comment at a line': () => postInlines(client, ref, sha, [TWO]),
  };
  for (const [what, act] of Object.entries(moving)) {
    t.true(await moved(act), what);
  }
  t.deepEqual(await client.ask(ref, TRIAGE), { assignees: ['bob'], milestone: 'v2.0' });
  const still = async () => {
    await client.setStatus(site.repository, sha, STATUS);
    await client.updateComment(ref, comment, 'Mine, revised');
    await client.deleteComment(ref, comment);
  };
  t.false(await moved(still));
});

both('a review counts until another is requested, and a comment does not count', async (t, forge) => {
  const { site, client, number, ref } = await openTopic(t, forge);
  const said = async () =>
    (await client.reviews(ref)).map(({ author, state, counted }) => `${author} ${state}: ${counted}`);
  const requested = async () => (await client.requestedReviews(ref)).people;
  await site.requestReview(number, 'bob');
  t.deepEqual(await requested(), ['bob']);
  await site.review(number, 'bob', 'changes-requested');
  t.deepEqual(await requested(), []);
  await site.requestReview(number, 'bob');
  t.deepEqual(await said(), ['bob changes-requested: no'], 'the forge itself stops counting it');
  t.is(await client.writeAccess(site.repository)('bob'), 'yes');
  t.deepEqual(await requested(), ['bob']);
  await site.review(number, 'bob', 'commented');
  t.deepEqual(await requested(), []);
  t.deepEqual(await said(), ['bob changes-requested: no', 'bob commented: no'], 'it gives nothing back');
  await site.review(number, 'bob', 'approved');
  t.deepEqual(await said(), ['bob dismissed: no', 'bob commented: no', 'bob approved: yes']);
  await site.requestReview(number, 'bob');
  t.is((await said()).at(-1), 'bob approved: no', 'the forge itself stops counting it');
});

both('whoever opened a pull request can withdraw any request, and the history says who', async (t, forge) => {
  const { site, client, number, ref } = await openTopic(t, forge);
  await site.requestReview(number, 'gatehouse', 'bob');
  await site.nextSecond();
  const { updated_at: before } = await pullOf(forge, site, number);
  await site.withdrawReviewRequest(number, 'gatehouse', 'alice');
  t.not((await pullOf(forge, site, number)).updated_at, before);
  await site.requestReview(number, 'bob');
  await site.review(number, 'bob', 'commented');
  t.deepEqual(await client.requestedReviews(ref), {
    people: [],
    teams: [],
    history: [
      { kind: 'requested', reviewer: 'gatehouse', by: 'bob' },
      { kind: 'withdrawn', reviewer: 'gatehouse', by: 'alice' },
      { kind: 'requested', reviewer: 'bob', by: 'alice' },
      { kind: 'reviewed', reviewer: 'bob', by: 'bob' },
    ],
  });
});

all('hidden members of an organisation are shown to its members alone', async (t, forge) => {
  const client = clientOf(t, forge);
  const asked = ['Alice', 'bob', 'mallory', 'nobody-at-all', ...(forge.name === 'github' ? ['renovate[bot]'] : [])];
  const open = await forge.organisation({ bob: 'hidden' });
  const members = forge.name === 'github' ? [] : ['Alice'];
  t.deepEqual(await client.organisationMembers(open, asked), { members, complete: false });
  if (forge.name === 'gitea') {
    const answer = await call(forge, 'GET', `/orgs/${open}/members/bob`);
    t.is(answer.status, 303);
    t.regex(answer.headers.get('location') ?? '', /\/public_members\/bob$/);
  }
  const own = await forge.organisation({ bob: 'hidden', gatehouse: 'hidden' });
  t.deepEqual(await client.organisationMembers(own, asked), { members: ['Alice', 'bob'], complete: true });
  t.deepEqual(await client.organisationMembers('no-such-organisation', asked), { members: [], complete: false });
});

both('in an organisation it is known who may write as far as teams are shown', async (t, forge) => {
  const { repository, join } = await forge.organisationRepository({
    writers: { access: 'write', members: ['reader'] },
    triagers: { access: 'triage', members: ['mallory'] },
    readers: { access: 'read', members: ['bob'] },
  });
  const client = clientOf(t, forge);
  const answers = async () => {
    const access = client.writeAccess(repository);
    return Promise.all(
      ['alice', 'bob', 'mallory', 'reader', 'nobody'].map(async (login) => `${login}: ${await access(login)}`),
    );
  };
  const hidden = async () => (await client.inspection.hiddenTeams(repository)).toSorted();
  const teams = await ask<{ id: number; name: string; permission: string; units_map: Record<string, string> }[]>(
    forge,
    `/repos/${repository}/teams`,
  );
  t.deepEqual(teams.map(({ name, permission, units_map }) => [name, permission, units_map['repo.code']]).toSorted(), [
    ['Owners', 'owner', 'owner'],
    ['readers', 'none', 'read'],
    ['triagers', 'none', undefined],
    ['writers', 'none', 'write'],
  ]);
  const membersOf = async (team: string) => {
    const id = teams.find(({ name }) => name === team)?.id;
    return (await call(forge, 'GET', `/teams/${id}/members`)).status;
  };

  t.is(await membersOf('writers'), 404, 'to whoever is in no team');
  t.deepEqual(await answers(), ['alice: yes', 'bob: unknown', 'mallory: unknown', 'reader: unknown', 'nobody: no']);
  t.deepEqual(await hidden(), ['readers', 'triagers', 'writers']);
  await join('readers');
  await join('triagers');
  t.is(await membersOf('writers'), 403, 'to members of other teams');
  t.deepEqual(await answers(), ['alice: yes', 'bob: unknown', 'mallory: unknown', 'reader: yes', 'nobody: no']);
  await join('writers');
  t.deepEqual(await answers(), ['alice: yes', 'bob: unknown', 'mallory: no', 'reader: yes', 'nobody: no']);
  t.deepEqual(await hidden(), []);
});

both('a stranger who opens a pull request chooses its labels and assignees', async (t, forge) => {
  const site = await forge.site(FILES);
  const client = clientOf(t, forge);
  const number = await site.openFromFork(CHANGED, { labels: ['waived'], assignees: ['bob'] });
  const ref = refOf(site, number);
  t.deepEqual((await client.pullRequest(ref))?.labels, ['waived'], 'docs/rules.md says so');
  t.deepEqual((await client.ask(ref, TRIAGE)).assignees, ['bob']);
});

both('the timeline is read past pages that show less than they hold', async (t, forge) => {
  const { site, client, sha, number, ref, path, pull } = await openTopic(t, forge);
  const opened = (await client.lastForcePushOrRetarget(ref)) ?? '';
  await client.createComment(ref, 'Hm.');
  await commentAtLines(forge, pull, sha, 120);
  await site.push('release', { 'other.ts': 'released\n' });
  await site.retarget(number, 'release');
  const retargeted = (await client.lastForcePushOrRetarget(ref)) ?? '';
  t.true(retargeted > opened);
  const timeline = `${path}/issues/${number}/timeline`;
  const page = await call(forge, 'GET', `${timeline}?page=1&limit=50`);
  t.is(page.headers.get('x-total-count'), '1', 'the total of a page is only its own');
  t.is(await ask<unknown[] | null>(forge, `${timeline}?page=2&limit=50`), null, 'a page of comments at lines');

  await until(() => Date.now() > Date.parse(retargeted) + 1_000);
  await site.push('topic', { 'more.ts': 'more\n' });
  await site.forcePush('topic', CHANGED);
  await until(async () => ((await client.lastForcePushOrRetarget(ref)) ?? '') > retargeted);
  t.pass();
});

both('a change of base behind a long hidden part of the timeline is not missed', async (t, forge) => {
  const { site, client, sha, number, ref, pull } = await openTopic(t, forge);
  await site.review(number, 'bob', 'approved');
  await commentAtLines(forge, pull, sha, 320);
  await site.push('release', { 'other.ts': 'released\n' });
  await site.retarget(number, 'release');
  t.is((await errorOf(t, client.lastForcePushOrRetarget(ref))).kind, 'invalid');
});

both('a comment at a line never moves', async (t, forge) => {
  const { site, client, sha, number, ref } = await openTopic(t, forge);
  await postInlines(client, ref, sha, [TWO, FOUR]);
  const head = await site.push('topic', { 'app.ts': 'zero\none\n2\nthree\nfour\n' });
  t.deepEqual(await inlinesOf(site, number), ['app.ts:2', 'app.ts:4']);
  const { comments, reviews } = await client.ownInlineComments(ref, head);
  const two = comments.find(({ body }) => body === 'Two');
  await client.withdrawInlineComments(ref, [two?.id ?? ''], 'Fixed.', reviews);
  t.deepEqual(await inlinesOf(site, number), ['app.ts:4']);
});

both('a comment past the end of a file is a 500', async (t, forge) => {
  const { client, sha, ref, pull } = await openTopic(t, forge);
  const reviews = `${pull}/reviews`;
  const answer = await call(forge, 'POST', reviews, {
    commit_id: sha,
    event: 'COMMENT',
    comments: [
      { path: 'app.ts', new_position: 2, body: 'In' },
      { path: 'app.ts', new_position: 200, body: 'Past' },
    ],
  });
  t.is(answer.status, 500);
  t.is(((await answer.json()) as { message: string }).message, '');
  t.deepEqual(
    (await ask<{ state: string }[]>(forge, reviews)).map(({ state }) => state),
    ['PENDING'],
  );
  await postInlines(client, ref, sha, [FOUR]);
  t.deepEqual(
    (await client.ownInlineComments(ref, sha)).comments.map(({ body }) => body),
    ['Four'],
  );
});

all('a renamed repository is found by its old name, with its new one', async (t, forge) => {
  const { site, client, sha, ref, path, pull } = await openTopic(t, forge);
  const old = site.repository;
  await site.rename(`${old.split('/')[1]}-renamed`);
  const { repository } = site;
  t.is((await client.pullRequest(ref))?.repository, repository);
  const listed = await client.openPullRequests(old);
  t.deepEqual([listed?.repository, listed?.pullRequests.length], [repository, 1]);
  // Gitea answers 301 to a write, which does not say whether to send it again: the next attempt reads the new name.
  if (forge.name === 'gitea') {
    t.is((await call(forge, 'GET', pull)).status, 301);
    t.is((await call(forge, 'POST', `${path}/statuses/${sha}`, STATUS)).status, 301);
    t.is((await errorOf(t, client.setStatus(old, sha, STATUS))).kind, 'unavailable');
  } else {
    await client.setStatus(old, sha, STATUS);
  }
  await client.setStatus(repository, sha, STATUS);
  t.is((await client.status(repository, sha, 'gatehouse'))?.state, 'pending');
});

both('a deleted head branch closes the pull request', async (t, forge) => {
  const { site, sha, number } = await openTopic(t, forge);
  await site.deleteBranch('topic');
  await until(async () => (await pullOf(forge, site, number)).state === 'closed');
  const { head } = await pullOf(forge, site, number);
  t.deepEqual([head.sha, head.label, head.ref], [sha, 'topic', `refs/pull/${number}/head`]);
});

all('a pull request from a fork names the fork, until it is deleted', async (t, forge) => {
  const site = await forge.site(FILES);
  const client = clientOf(t, forge);
  const number = await site.openFromFork(CHANGED);
  const ref = refOf(site, number);
  const { sha = '', repository } = (await client.pullRequest(ref))?.head ?? {};
  t.is(repository?.split('/')[0], 'mallory');
  await site.deleteFork();
  const pull = await client.pullRequest(ref);
  t.like(pull?.head, { branch: 'topic', sha, repository: null });
  t.is(await client.fileAt(site.repository, 'app.ts', sha), CHANGED['app.ts']);
  t.is((await client.changedFiles(ref, sha)).files.length, 1);
  if (forge.name === 'gitea') {
    t.is(pull?.state, 'closed');
    t.is((await call(forge, 'GET', `/repos/${site.repository}/pulls/${number}.diff`)).status, 200);
  }
});

both('a stranger who pushes to refs/for is never from the repository itself', async (t, forge) => {
  const site = await forge.site(FILES);
  const client = clientOf(t, forge);
  const number = await site.pushForReview(CHANGED);
  const { head } = await pullOf(forge, site, number);
  t.deepEqual([head.label, head.ref], ['', `refs/pull/${number}/head`]);
  const pull = await client.pullRequest(refOf(site, number));
  t.like(pull, { author: 'mallory', state: 'open', head: { branch: head.ref, sha: head.sha, repository: null } });
  const listed = await client.openPullRequests(site.repository);
  t.deepEqual(
    listed?.pullRequests.map((one) => one.head.repository),
    [null],
  );
  const { files } = await client.changedFiles(refOf(site, number), head.sha, pull?.changedFileCount);
  t.deepEqual(
    files.map(({ path }) => path),
    Object.keys(CHANGED),
  );
  t.is((await client.commits(refOf(site, number))).at(-1)?.sha, head.sha);
});

both('a list of commits is empty once the base has the head, and not before', async (t, forge) => {
  const { site, client, sha, ref } = await openTopic(t, forge);
  t.deepEqual(
    (await client.commits(ref)).map((commit) => commit.sha),
    [sha],
  );
  const tip = await site.merge(MAIN, sha, CHANGED);
  await eventually('the list is empty', async () => (await client.commits(ref)).length === 0);
  t.true(await client.isAncestor(site.repository, sha, tip));
  t.is((await client.pullRequest(ref))?.state, 'open');
});

/** Undefined where the next attempt must read it again. */
async function orUnavailable<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof ForgeError && error.kind === 'unavailable') {
      return undefined;
    }
    throw error;
  }
}

both('files that the base branch has by now are not counted, and not missed', async (t, forge) => {
  const { site, client, sha: first, ref } = await openTopic(t, forge);
  const sha = await site.push('topic', { 'other.ts': 'other\n' });
  const paths = async () => {
    const count = (await client.pullRequest(ref))?.changedFileCount;
    return (await client.changedFiles(ref, sha, count)).files.map(({ path }) => path);
  };
  t.deepEqual(await paths(), ['app.ts', 'other.ts']);
  await site.merge(MAIN, first, CHANGED);
  await eventually('one file is left', async () => (await paths()).join() === 'other.ts');
  await site.merge(MAIN, sha, { ...CHANGED, 'other.ts': 'other\n' });
  // The count follows after the list. Until then nobody can tell it from an empty answer.
  await eventually('no file is left', async () => (await orUnavailable(paths))?.length === 0);
});
