import { TRIAGE } from '../../src/facts/triage.ts';
import { ForgeError } from '../../src/forges/port/forge-error.ts';
import { statusDescription } from '../../src/forges/port/postings.ts';
import { MAIN, type Site } from '../helpers/site.ts';
import test from '../helpers/test.ts';
import { eventually, until } from '../helpers/until.ts';
import { submodule, symlink } from '../simulated-forge/git.ts';
import { clientOf, onBothForges, postInlines, refOf } from './forges.ts';
import { ask, call, inlinesOf, pullOf } from './reading.ts';
import type { TestForge } from './test-forge.ts';

/** What Gatehouse relies on, held against the simulated Gitea and the real one alike. */
const both = onBothForges(test);

const STATUS = { context: 'gatehouse', state: 'pending', description: statusDescription('Looking at it') } as const;
const FILES = { 'app.ts': 'one\ntwo\nthree\n' };
const CHANGED = { 'app.ts': 'one\n2\nthree\nfour\n' };

async function openTopic(site: Site) {
  const sha = await site.push('topic', CHANGED);
  const number = await site.open('topic');
  return { sha, number, ref: refOf(site, number), path: `/repos/${site.repository}` };
}

async function branched(site: Site, name: string): Promise<string> {
  await site.push(name, { 'other.ts': 'other\n' });
  return name;
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

both('the status with the highest id is the newest one', async (t, forge) => {
  const site = await forge.site(FILES);
  const client = clientOf(t, forge);
  const { sha, path } = await openTopic(site);
  for (const state of ['pending', 'failure', 'success'] as const) {
    await client.setStatus(site.repository, sha, { ...STATUS, state });
  }
  await client.setStatus(site.repository, sha, { ...STATUS, context: 'another', state: 'error' });

  const own = (
    await ask<{ id: number; context: string; status: string }[]>(forge, `${path}/statuses/${sha}?sort=highestindex`)
  ).filter(({ context }) => context === 'gatehouse');
  t.deepEqual(
    own.map(({ status }) => status),
    ['pending', 'failure', 'success'],
  );
  t.deepEqual(
    own.map(({ id }) => id),
    own.map(({ id }) => id).toSorted((one, other) => one - other),
  );
  const combined = await ask<{ statuses: { context: string; status: string }[] }>(
    forge,
    `${path}/commits/${sha}/status`,
  );
  t.deepEqual(combined.statuses.map(({ context, status }) => `${context} ${status}`).toSorted(), [
    'another error',
    'gatehouse success',
  ]);
  t.is((await client.status(site.repository, sha, 'gatehouse'))?.state, 'success');
  t.is(await client.status(site.repository, sha, 'unknown'), undefined);
});

both('commit statuses are read with who set them and with every state', async (t, forge) => {
  const site = await forge.site(FILES);
  const client = clientOf(t, forge);
  const { sha } = await openTopic(site);
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

both('a pull request names the tip of its base branch, and counts files and comments', async (t, forge) => {
  const site = await forge.site(FILES);
  const client = clientOf(t, forge);
  const begin = await client.branchCommit(site.repository, MAIN);
  const { sha, ref, path } = await openTopic(site);
  if (forge.kind === 'real') {
    t.is((await call(forge, 'POST', `${path}/tags`, { tag_name: MAIN, target: sha })).status, 201);
  }
  const opened = await client.pullRequest(ref);
  t.like(opened, { baseCommit: begin, changedFileCount: 1, commentCount: 0 });

  const tip = await site.push(MAIN, { 'other.ts': 'other\n' });
  await client.createComment(ref, 'In the conversation');
  await postInlines(client, ref, sha, [{ path: 'app.ts', line: 2, body: 'At a line' }]);
  t.like(await client.pullRequest(ref), { baseCommit: tip, changedFileCount: 1, commentCount: 2 });
});

both('a comment of ours is found by its id, and nobody else’s is', async (t, forge) => {
  const site = await forge.site();
  const client = clientOf(t, forge);
  const number = await site.open({ 'app.ts': 'one\n' });
  const ref = refOf(site, number);
  const theirs = await site.comment(number, 'bob', 'Theirs');
  const ours = await client.createComment(ref, 'Ours');
  t.deepEqual(await client.ownComment?.(ref, ours.id), ours);
  t.is(await client.ownComment?.(ref, String(theirs)), undefined);
  await client.deleteComment(ref, ours.id);
  t.is(await client.ownComment?.(ref, ours.id), undefined);
});

both('a link, a submodule and a directory are not files', async (t, forge) => {
  const site = await forge.site({ a: 'a\n', b: 'b\n', c: 'c\n' });
  const client = clientOf(t, forge);
  const sha = await site.push('topic', { a: symlink('b'), b: submodule('1'.repeat(40)), c: null, 'c/d': 'd\n' });
  for (const [path, what] of [
    ['a', 'a symbolic link'],
    ['b', 'a submodule'],
    ['c', 'a directory'],
  ] as const) {
    const error = await t.throwsAsync(client.fileAt(site.repository, path, sha), { instanceOf: ForgeError });
    t.deepEqual([error?.kind, error?.message], ['not-a-file', `${path} is ${what}`]);
  }
});

both('what is read at a commit is of no branch and no tag of its name', async (t, forge) => {
  const site = await forge.site(FILES);
  const { repository } = site;
  const client = clientOf(t, forge);
  const before = await site.head(await site.open(await branched(site, 'before')));
  const commit = await site.push('before', { 'src/b.ts': 'b\n' });
  await site.push(commit, { 'app.ts': 'evil\n', 'src/b.ts': 'evil\n' });
  t.is(await client.fileAt(repository, 'app.ts', commit), 'one\ntwo\nthree\n');
  t.is(await client.fileAt(repository, 'src/b.ts', commit), 'b\n');
  t.is(await client.fileAt(repository, 'src/none.ts', commit), undefined);
  t.is(await client.fileAt(repository, 'src/b.ts/none.ts', commit), undefined);
  const unknown = await t.throwsAsync(client.fileAt(repository, 'app.ts', '1'.repeat(40)), { instanceOf: ForgeError });
  t.deepEqual([unknown.kind, unknown.status], ['unavailable', 404]);
  t.true(await client.isAncestor(repository, before, commit));
  t.false(await client.isAncestor(repository, commit, before));
  t.is(await client.mergeBase(repository, before, commit), before);
});

both('a change of a file into a link hides no other file', async (t, forge) => {
  const site = await forge.site({ a: 'a\n', b: 'b\n', c: 'c\n' });
  const client = clientOf(t, forge);
  const sha = await site.push('topic', { a: symlink('b'), b: submodule('1'.repeat(40)), c: null, 'c/d': 'd\n' });
  const number = await site.open('topic');
  const { files, complete } = await client.changedFiles(refOf(site, number), sha);
  t.true(complete);
  t.deepEqual(
    files.map(({ path, status }) => `${path} ${status}`),
    ['a modified', 'b modified', 'c removed', 'c/d added'],
  );
});

both('a status on an unknown commit is a 500', async (t, forge) => {
  const site = await forge.site(FILES);
  const client = clientOf(t, forge);
  const { sha, path } = await openTopic(site);
  const nobody = '0'.repeat(39).concat('1');
  t.is((await call(forge, 'POST', `${path}/statuses/${nobody}`, STATUS)).status, 500);
  const error = await t.throwsAsync(client.setStatus(site.repository, nobody, STATUS), { instanceOf: ForgeError });
  t.is(error?.kind, 'unavailable');
  t.is((await call(forge, 'POST', `${path}/statuses/${sha}`, { context: 'x', state: 'nonsense' })).status, 201);
});

both.serial('after a push the diff is of the old head for a while', async (t, forge) => {
  const site = await forge.site(FILES);
  const { sha: before, number, path } = await openTopic(site);
  const pull = `${path}/pulls/${number}`;
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
  const site = await forge.site(FILES);
  const client = clientOf(t, forge);
  const { sha, number, ref } = await openTopic(site);
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
    'own comment at a line': () => postInlines(client, ref, sha, [{ path: 'app.ts', line: 2, body: 'Two' }]),
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

both('a review counts for the forge or not, and can be dismissed', async (t, forge) => {
  const site = await forge.site(FILES);
  const client = clientOf(t, forge);
  const { sha, number, ref } = await openTopic(site);
  const id = await site.review(number, 'bob', 'approved');
  await site.review(number, 'mallory', 'approved');
  t.deepEqual(
    (await client.reviews(ref)).map(({ author, state, counted, ...review }) => [
      author,
      state,
      counted,
      review.sha === sha,
    ]),
    [
      ['bob', 'approved', 'yes', true],
      ['mallory', 'approved', 'no', true],
    ],
  );
  await site.dismiss(number, id);
  t.is((await client.reviews(ref))[0]?.state, 'dismissed');
});

both('a request for changes stays in force when another review is requested', async (t, forge) => {
  const site = await forge.site(FILES);
  const client = clientOf(t, forge);
  const { number, ref } = await openTopic(site);
  const counted = async () => (await client.reviews(ref)).map(({ author, state, counted: c }) => [author, state, c]);
  const requested = async () => (await client.requestedReviews(ref)).people;
  await site.requestReview(number, 'bob');
  t.deepEqual(await requested(), ['bob']);
  await site.review(number, 'bob', 'changes-requested');
  t.deepEqual(await requested(), []);
  await site.requestReview(number, 'bob');
  t.deepEqual(await counted(), [['bob', 'changes-requested', 'no']], 'the forge itself stops counting it');
  t.is(await client.writeAccess(site.repository)('bob'), 'yes');
  t.deepEqual(await requested(), ['bob']);
  await site.review(number, 'bob', 'approved');
  t.deepEqual((await counted()).at(-1), ['bob', 'approved', 'yes']);
  await site.requestReview(number, 'bob');
  t.deepEqual((await counted()).at(-1), ['bob', 'approved', 'no'], 'the forge itself stops counting it');
});

both('a comment ends a requested review, and gives nothing back', async (t, forge) => {
  const site = await forge.site(FILES);
  const client = clientOf(t, forge);
  const { number, ref } = await openTopic(site);
  const said = async () =>
    (await client.reviews(ref)).map(({ author, state, counted }) => `${author} ${state}: ${counted}`);
  await site.review(number, 'bob', 'changes-requested');
  t.deepEqual(await said(), ['bob changes-requested: yes']);
  await site.requestReview(number, 'bob');
  await site.review(number, 'bob', 'commented');
  t.deepEqual((await client.requestedReviews(ref)).people, []);
  t.deepEqual(await said(), ['bob changes-requested: no', 'bob commented: no']);
  await site.review(number, 'bob', 'approved');
  t.deepEqual(await said(), ['bob dismissed: no', 'bob commented: no', 'bob approved: yes']);
});

both('whoever opened a pull request can withdraw any request, and the history says who', async (t, forge) => {
  const site = await forge.site(FILES);
  const client = clientOf(t, forge);
  const { number, ref } = await openTopic(site);
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

both('hidden members of an organisation are shown to its members alone', async (t, forge) => {
  const client = clientOf(t, forge);
  const asked = ['Alice', 'bob', 'mallory', 'nobody-at-all'];
  const open = await forge.organisation({ bob: 'hidden' });
  t.deepEqual(await client.organisationMembers(open, asked), { members: ['Alice'], complete: false });
  const answer = await call(forge, 'GET', `/orgs/${open}/members/bob`);
  t.is(answer.status, 303);
  t.regex(answer.headers.get('location') ?? '', /\/public_members\/bob$/);

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
  const site = await forge.site(FILES);
  const client = clientOf(t, forge);
  const { sha, number, ref, path } = await openTopic(site);
  const opened = (await client.lastForcePushOrRetarget(ref)) ?? '';
  await client.createComment(ref, 'Hm.');
  await commentAtLines(forge, `${path}/pulls/${number}`, sha, 120);
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

both('a change of base removes the earlier pushes from the timeline', async (t, forge) => {
  const site = await forge.site(FILES);
  const { number, path } = await openTopic(site);
  const types = async () =>
    (await ask<{ type: string }[]>(forge, `${path}/issues/${number}/timeline`)).map(({ type }) => type);
  await site.review(number, 'bob', 'approved');
  t.deepEqual(await types(), ['pull_push', 'review']);
  await site.push('release', { 'other.ts': 'released\n' });
  await site.retarget(number, 'release');
  t.deepEqual(await types(), ['review', 'change_target_branch', 'pull_push']);
});

both('a change of base behind a long hidden part of the timeline is not missed', async (t, forge) => {
  const site = await forge.site(FILES);
  const client = clientOf(t, forge);
  const { sha, number, ref, path } = await openTopic(site);
  await site.review(number, 'bob', 'approved');
  await commentAtLines(forge, `${path}/pulls/${number}`, sha, 320);
  await site.push('release', { 'other.ts': 'released\n' });
  await site.retarget(number, 'release');
  const error = await t.throwsAsync(client.lastForcePushOrRetarget(ref), { instanceOf: ForgeError });
  t.is(error?.kind, 'invalid');
});

both('a comment at a line never moves', async (t, forge) => {
  const site = await forge.site(FILES);
  const client = clientOf(t, forge);
  const { sha, number, ref } = await openTopic(site);
  await postInlines(client, ref, sha, [
    { path: 'app.ts', line: 2, body: 'Two' },
    { path: 'app.ts', line: 4, body: 'Four' },
  ]);
  const head = await site.push('topic', { 'app.ts': 'zero\none\n2\nthree\nfour\n' });
  t.deepEqual(await inlinesOf(site, number), ['app.ts:2', 'app.ts:4']);
  const { comments, reviews } = await client.ownInlineComments(ref, head);
  const two = comments.find(({ body }) => body === 'Two');
  await client.withdrawInlineComments(ref, [two?.id ?? ''], 'Fixed.', reviews);
  t.deepEqual(await inlinesOf(site, number), ['app.ts:4']);
});

both('a comment past the end of a file is a 500', async (t, forge) => {
  const site = await forge.site(FILES);
  const client = clientOf(t, forge);
  const { sha, number, ref, path } = await openTopic(site);
  const reviews = `${path}/pulls/${number}/reviews`;
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
  await postInlines(client, ref, sha, [{ path: 'app.ts', line: 4, body: 'Four' }]);
  t.deepEqual(
    (await client.ownInlineComments(ref, sha)).comments.map(({ body }) => body),
    ['Four'],
  );
});

both('a renamed repository redirects reads and writes with 301', async (t, forge) => {
  const site = await forge.site(FILES);
  const client = clientOf(t, forge);
  const { sha, ref, path } = await openTopic(site);
  const renamed = `${site.repository.split('/')[1]}-renamed`;
  await site.rename(renamed);
  t.is((await call(forge, 'GET', `${path}/pulls/${ref.number}`)).status, 301);
  t.is((await call(forge, 'POST', `${path}/statuses/${sha}`, STATUS)).status, 301);
  t.is((await client.pullRequest(ref))?.repository, `alice/${renamed}`);
});

both('a deleted head branch closes the pull request', async (t, forge) => {
  const site = await forge.site(FILES);
  const { sha, number } = await openTopic(site);
  await site.deleteBranch('topic');
  await until(async () => (await pullOf(forge, site, number)).state === 'closed');
  const { head } = await pullOf(forge, site, number);
  t.deepEqual([head.sha, head.label, head.ref], [sha, 'topic', `refs/pull/${number}/head`]);
});

both('a deleted fork closes its pull request', async (t, forge) => {
  const site = await forge.site(FILES);
  const client = clientOf(t, forge);
  const number = await site.openFromFork(CHANGED);
  t.is((await client.pullRequest(refOf(site, number)))?.head.repository?.split('/')[0], 'mallory');
  await site.deleteFork();
  const pull = await client.pullRequest(refOf(site, number));
  t.is(pull?.state, 'closed');
  t.is(pull?.head.repository, null);
  t.is((await call(forge, 'GET', `/repos/${site.repository}/pulls/${number}.diff`)).status, 200);
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
  const site = await forge.site(FILES);
  const client = clientOf(t, forge);
  const { sha, ref } = await openTopic(site);
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
  const site = await forge.site(FILES);
  const client = clientOf(t, forge);
  const { sha: first, ref } = await openTopic(site);
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

both('the scopes that a token lacks are found, and those of docs/connect-gitea.md suffice', async (t, forge) => {
  const access = (token: string) => clientOf(t, { ...forge, token }).checkAccess();
  t.deepEqual(await access(forge.token), { kind: 'granted' });
  t.deepEqual(await access(forge.readingToken), {
    kind: 'missing-scope',
    scopes: ['write:repository', 'write:issue'],
  });
  t.is((await access('0'.repeat(40))).kind, 'not-accepted');
});
