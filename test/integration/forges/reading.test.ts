import { TRIAGE } from '../../../src/facts/triage.ts';
import { CLIENTS } from '../../helpers/forges.ts';
import test from '../../helpers/test.ts';
import { until } from '../../helpers/until.ts';
import { submodule, symlink } from '../../simulated-forge/git.ts';
import { FORGES, forgeError, headOf, openPullRequest, SITE, setUp, setUpPull } from './setup.ts';

const alice = { name: 'alice', email: 'alice@example.test', login: 'alice' };
const bob = { name: 'bob', email: 'bob@example.test', login: 'bob' };

// Gitea is looked at for four seconds.
for (const name of CLIENTS) {
  test(`${name}: no files where the pull request says that it has some are unavailable`, async (t) => {
    const { simulated, forge, ref, head } = await setUpPull(t, name);
    t.is((await forge.changedFiles(ref, head(), 1)).files.length, 1);
    if (name === 'github') {
      t.is((await forgeError(t, () => forge.changedFiles(ref, head(), 2))).kind, 'unavailable', 'fewer than it says');
    }
    simulated.fault({ path: /\/pulls\/1(\.diff|\/files)$/, fault: { kind: 'json', body: [] } });
    t.is((await forgeError(t, () => forge.changedFiles(ref, head(), 1))).kind, 'unavailable');
    t.deepEqual(await forge.changedFiles(ref, head(), 0), { files: [], complete: true });
  });
}

test('gitea: a list of fewer files than the diff has is never believed', async (t) => {
  const { simulated, forge, ref, head } = await setUpPull(t, 'gitea');
  simulated.fault({ path: /\/pulls\/1\/files$/, fault: { kind: 'json', body: [] } });
  t.is((await forgeError(t, () => forge.changedFiles(ref, head()))).kind, 'unavailable');
});

test('github: the files of a head that was pushed meanwhile are not taken for those asked for', async (t) => {
  const { simulated, forge, ref, head } = await setUpPull(t, 'github');
  const other = simulated.commit(SITE, 'other', { 'src/app.ts': 'another\n' });
  simulated.watch({ path: /\/pulls\/1\/files$/, act: () => simulated.pushCommit(SITE, ref.number, other) });
  t.is((await forgeError(t, () => forge.changedFiles(ref, head()))).kind, 'unavailable');
});

for (const name of FORGES) {
  test(`${name}: edits, pushes, drafts and a merge are seen at the next read`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    t.is((await forge.pullRequest(ref))?.draft, 'no');
    simulated.edit(SITE, ref.number, { title: 'fix: count', draft: true });
    const sha = simulated.push(SITE, ref.number, { 'src/more.ts': 'more\n' });
    const after = await forge.pullRequest(ref);
    t.deepEqual([after?.draft, after?.title.slice(-10), after?.head.sha], ['yes', 'fix: count', sha]);
    simulated.merge(SITE, ref.number);
    t.is((await forge.pullRequest(ref))?.state, 'merged');
  });

  test(`${name}: assignees and the milestone are read as they are now`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    const triage = () => forge.ask(ref, TRIAGE);
    t.deepEqual(await triage(), { assignees: [], milestone: null });
    simulated.assign(SITE, ref.number, 'bob', 'carol');
    simulated.setMilestone(SITE, ref.number, 'v2.0');
    t.deepEqual(await triage(), { assignees: ['bob', 'carol'], milestone: 'v2.0' });
    simulated.renameMilestone(SITE, ref.number, 'later');
    t.is((await triage()).milestone, 'later');
    simulated.renameMilestone(SITE, ref.number, null);
    simulated.assign(SITE, ref.number);
    t.deepEqual(await triage(), { assignees: [], milestone: null });
  });

  test(`${name}: a missing pull request, repository, file or team is undefined`, async (t) => {
    const { forge } = await setUp(t, name);
    t.is(await forge.pullRequest({ repository: SITE, number: 99 }), undefined);
    t.is(await forge.pullRequest({ repository: 'platform/nowhere', number: 1 }), undefined);
    t.is(await forge.fileAt(SITE, '.gatehouse.yml', 'main'), undefined);
    t.is(await forge.fileAt(SITE, 'README.md', 'no-such-branch'), undefined);
    t.is(await forge.teamMembers('platform/nobody'), undefined);
    t.is(await forge.status(SITE, '0'.repeat(40), 'gatehouse'), undefined);
    t.is(await forge.openPullRequests('platform/nowhere'), undefined);
  });

  test(`${name}: a repository has ids, its present name, default branch, visibility and topics`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    const { id, ownerId } = (await forge.repository(SITE)) ?? {};
    t.regex(`${id} ${ownerId}`, /^\d+ \d+$/);
    const seen = { id, ownerId, name: SITE, defaultBranch: 'main', visibility: 'public', topics: [] as string[] };
    const reads = async (more: Partial<typeof seen>) =>
      t.deepEqual<unknown, unknown>(await forge.repository(SITE), Object.assign(seen, more));
    await reads({});
    simulated.setTopics(SITE, 'web', 'tier-1');
    await reads({ topics: ['web', 'tier-1'] });
    simulated.setTopics(SITE, 'tier-1', 'web');
    simulated.setPrivate(SITE, true);
    await reads({ topics: ['tier-1', 'web'], visibility: 'private' });
    simulated.rename(SITE, 'platform/other');
    await reads({ name: 'platform/other' });
    t.is(await forge.repository('platform/nowhere'), undefined);
  });

  test(`${name}: what belongs to a pull request that is not there is an error`, async (t) => {
    const { forge } = await setUp(t, name);
    const ref = { repository: SITE, number: 99 };
    const sha = '0'.repeat(40);
    const changedFiles = (of: typeof ref) => forge.changedFiles(of, sha);
    const inlineComments = (of: typeof ref) => forge.ownInlineComments(of, sha);
    for (const ask of [
      changedFiles,
      forge.commits,
      forge.reviews,
      forge.lastForcePushOrRetarget,
      forge.ownComments,
      inlineComments,
    ]) {
      const error = await forgeError(t, () => ask(ref));
      t.is(error.kind, 'invalid');
      t.is(error.status, 404);
    }
  });

  test(`${name}: no name steps out of its place in a URL`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    for (const repository of ['site', '../user', 'platform/..', 'a/b/c', 'platform/', '/site', './.']) {
      const error = await forgeError(t, () => forge.pullRequest({ repository, number: 1 }));
      t.regex(error.message, /expected owner\/name/);
    }
    for (const team of ['security', '../security', 'platform/..', 'a/b/c', '/']) {
      t.is(await forge.teamMembers(team), undefined);
    }
    for (const path of ['../../../user', 'docs/./x', '/README.md', '..', '']) {
      t.is(await forge.fileAt(SITE, path, 'main'), undefined);
    }
    t.is(simulated.seen.length, 0);

    await forge.fileAt(SITE, 'a?b#c%2e%2e/d', 'main?x=1&y#z');
    await forge.teamMembers('platform/a?b#c');
    t.true(
      simulated.seen.every(({ route }) => /^\/(?:repos\/:owner\/:repo\/contents|orgs\/:org\/teams)\//.test(route)),
    );
  });

  test(`${name}: a count of no files is not believed where the forge lists some`, async (t) => {
    const { simulated, forge, ref, head } = await setUpPull(t, name);
    simulated.fault({ path: /\/pulls\/1\.diff$/, fault: { kind: 'json', body: '' } });
    t.is((await forge.changedFiles(ref, head(), 0)).files.length, 1);
  });

  test(`${name}: every kind of change comes with its difference`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    simulated.commit(SITE, 'main', {
      'old name.md': 'a\nb\nc\nd\n',
      'gone.txt': 'bye\n',
      'logo.png': Buffer.from([1, 0, 2]),
      'crlf.txt': 'one\r\ntwo\r\n',
    });
    simulated.commit(SITE, 'topic', {
      'src/app.ts': 'one\n2\nthree\nno newline at the end',
      'old name.md': null,
      'docs/new name.md': 'a\nb\nc\nD\n',
      'gone.txt': null,
      'logo.png': Buffer.from([1, 0, 3]),
      'empty.txt': '',
      'crlf.txt': 'one\r\n2\r\n',
      'tricky.sql': '-- a comment\n++ not a header\n',
    });
    const number = simulated.openPullRequest(SITE, { head: 'topic' });

    const { files, complete } = await forge.changedFiles({ repository: SITE, number }, headOf(simulated, number));
    t.true(complete);
    const text = (patch: string) => ({ kind: 'text', patch });
    const noNewline = '+no newline at the end\n\\ No newline at end of file';
    t.deepEqual<unknown, unknown>(
      files.map(({ path, status, additions, deletions, diff }) => [`${status} ${path}`, additions, deletions, diff]),
      [
        ['modified crlf.txt', 1, 1, text('@@ -1,2 +1,2 @@\n one\r\n-two\r\n+2\r')],
        ['renamed docs/new name.md', 1, 1, text('@@ -1,4 +1,4 @@\n a\n b\n c\n-d\n+D')],
        ['added empty.txt', 0, 0, text('')],
        ['removed gone.txt', 0, 1, text('@@ -1 +0,0 @@\n-bye')],
        ['modified logo.png', 0, 0, { kind: 'binary' }],
        ['modified src/app.ts', 2, 1, text(`@@ -1,3 +1,4 @@\n one\n-two\n+2\n three\n${noNewline}`)],
        ['added tricky.sql', 2, 0, text('@@ -0,0 +1,2 @@\n+-- a comment\n+++ not a header')],
      ],
    );
    t.is(files[1]?.previousPath, 'old name.md');
  });

  test(`${name}: commits come oldest first, with their messages and parents`, async (t) => {
    const { simulated, forge, ref, head } = await setUpPull(t, name);
    const fork = simulated.head(SITE, 'main');
    const first = head();
    const main = simulated.commit(SITE, 'main', { 'other.txt': 'x\n' });
    const merge = simulated.push(SITE, ref.number, {}, { message: 'Merge main', merging: [main] });
    const last = simulated.push(
      SITE,
      ref.number,
      { 'z.txt': 'z\n' },
      { message: 'fixup! feat\n\nbody', author: 'bob' },
    );

    // Gitea and Forgejo verify signatures only when asked to.
    const [byAlice, byBob] = [alice, bob].map((person) => ({ ...person, bot: name === 'github' ? 'no' : 'unknown' }));
    const about = { verified: name === 'github' ? 'no' : 'unknown', signer: undefined } as const;
    t.deepEqual(await forge.commits(ref), [
      { sha: first, message: 'feat: count further', author: byAlice, committer: byAlice, parents: [fork], ...about },
      { sha: merge, message: 'Merge main', author: byAlice, committer: byAlice, parents: [first, main], ...about },
      { sha: last, message: 'fixup! feat\n\nbody', author: byBob, committer: byBob, parents: [merge], ...about },
    ]);
    simulated.push(SITE, ref.number, { 'z.txt': 'x\n' }, { author: 'nobody@elsewhere.test' });
    t.like((await forge.commits(ref)).at(-1), { author: { email: 'nobody@elsewhere.test', login: null } });
  });

  test(`${name}: whose signatures commits have is read only where it is asked for`, async (t) => {
    const { simulated, forge, ref, head } = await setUpPull(t, name);
    const signedBy = (signer?: string, verified = true) => {
      const signed = { verified, ...(signer === undefined ? {} : { signer }) };
      return simulated.push(SITE, ref.number, { 'z.txt': `${signer}\n` }, signed);
    };
    const shas = [
      head(),
      signedBy('eve', false),
      signedBy('bob'),
      signedBy(),
      signedBy('ghost'),
      ...Array.from({ length: 105 }, (_, n) => signedBy(`user-${n}`)),
    ];
    const signers = async (ask?: { signatures: boolean; signers: boolean }) =>
      new Map((await forge.commits(ref, ask)).map(({ sha, signer }) => [sha, signer]));
    const read = await signers({ signatures: true, signers: true });
    t.deepEqual(
      [...read.values()],
      [
        undefined,
        undefined,
        'bob',
        ...(name === 'github' ? [null, null] : ['The forge', 'ghost']),
        ...Array.from({ length: 105 }, (_, n) => `user-${n}`),
      ],
    );
    t.deepEqual([...read.keys()], shas);
    t.deepEqual([...new Set((await signers()).values())], [undefined]);
  });

  test(`${name}: a tree has every file of a commit, over all pages`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    const files = Object.fromEntries(Array.from({ length: 45 }, (_, index) => [`many/${index}.txt`, `${index}\n`]));
    const sha = simulated.commit(SITE, 'many', files);
    const tree = await forge.tree(SITE, sha);
    t.is([...(tree?.keys() ?? [])].filter((path) => path.startsWith('many/')).length, 45);
    t.regex(tree?.get('many/7.txt') ?? '', /^100644 [0-9a-f]{40}$/);
    t.is(await forge.tree(SITE, '0'.repeat(40)), undefined);
  });

  test(`${name}: the merge base of two commits is their best common ancestor, if they have one`, async (t) => {
    const { simulated, forge, ref, head } = await setUpPull(t, name);
    const either = async (one: string, other: string, base: string | undefined, why?: string) => {
      t.is(await forge.mergeBase(SITE, one, other), base, why);
      t.is(await forge.mergeBase(SITE, other, one), base, why);
    };
    const fork = simulated.head(SITE, 'main');
    const main = simulated.commit(SITE, 'main', { 'other.txt': 'x\n' });
    await either(main, head(), fork);
    t.deepEqual(await Promise.all([forge.isAncestor(SITE, fork, main), forge.isAncestor(SITE, main, main)]), [
      true,
      true,
    ]);
    simulated.createRepository('platform/other');
    const unrelated = simulated.head('platform/other', 'main');
    for (const none of [unrelated, head()]) {
      t.false(await forge.isAncestor(SITE, none, main));
    }
    t.false(await forge.isAncestor(SITE, main, fork));
    t.is(await forge.mergeBase(SITE, unrelated, main), undefined);
    simulated.push(SITE, ref.number, {}, { merging: [main] });
    await either(main, head(), main);
    const next = simulated.commit(SITE, 'main', { 'other.txt': 'y\n' });
    await either(next, head(), main, 'after an update from base there are two places to begin at');

    const [one = '', other = ''] = ['one', 'other'].map((branch) =>
      simulated.commit(SITE, branch, { [branch]: 'x\n' }),
    );
    const first = simulated.commit(SITE, 'one', {}, { merging: [other] });
    const second = simulated.commit(SITE, 'other', {}, { merging: [one] });
    await either(first, second, undefined, 'merged crosswise');
    t.is(await forge.mergeBase(SITE, first, other), other);
  });

  test(`${name}: reviews come oldest first, with the commit they were given for`, async (t) => {
    const { simulated, forge, ref, head } = await setUpPull(t, name);
    const first = head();
    simulated.review(SITE, ref.number, 'bob', 'changes-requested');
    const approval = simulated.review(SITE, ref.number, 'carol', 'approved');
    simulated.dismiss(SITE, ref.number, approval.id);
    simulated.review(SITE, ref.number, 'dave', 'pending');
    const second = simulated.push(SITE, ref.number, { 'z.txt': 'z\n' });
    simulated.review(SITE, ref.number, 'bob', 'approved');
    simulated.review(SITE, ref.number, 'erin', 'commented', 'Hm.');

    const reviews = await forge.reviews(ref);

    t.deepEqual(
      reviews.map(({ author, state, sha }) => [author, state, sha]),
      [
        // Gitea dismisses it when its author gives another.
        ['bob', name === 'github' ? 'changes-requested' : 'dismissed', first],
        ['carol', 'dismissed', first],
        ['bob', 'approved', second],
        ['erin', 'commented', second],
      ],
    );
    t.true(
      reviews.every(({ submittedAt }) => new Date(submittedAt).toISOString() === submittedAt || name === 'github'),
    );
    t.true(reviews.every(({ submittedAt }) => Math.abs(Date.now() - Date.parse(submittedAt)) < 600_000));
  });

  test(`${name}: comments are read with who wrote them, and whether they were edited`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    const isGitHub = name === 'github';
    const text = '/gatehouse override titled';
    const posted = (author: string) => simulated.comment(SITE, ref.number, author, text).id;
    const [first, ...others] = ['bob', isGitHub ? 'renovate[bot]' : 'gitea-actions', 'ghost', 'carol'].map(posted);
    const edit = (id: number | undefined, editedAt: string) =>
      Object.assign(simulated.pull(SITE, ref.number).comments.find((one) => one.id === id) ?? {}, { editedAt });
    edit(first, new Date(Date.now() + 60_000).toISOString());
    const inItsSecond = others.at(-1);
    edit(inItsSecond, simulated.pull(SITE, ref.number).comments.at(-1)?.at ?? '');
    t.deepEqual(
      (await forge.comments(ref)).map(({ author, bot, body, edited }) => [author, bot, body, edited]),
      [
        ['bob', false, text, 'yes'],
        [isGitHub ? 'renovate' : 'gitea-actions', true, text, isGitHub ? 'no' : 'no-by-seconds'],
        [null, !isGitHub, text, isGitHub ? 'no' : 'no-by-seconds'],
        ['carol', false, text, isGitHub ? 'yes' : 'no-by-seconds'],
      ],
    );
    simulated.deleteComment(SITE, ref.number, first ?? 0);
    t.is((await forge.comments(ref)).length, 3);
  });

  test(`${name}: repositories that may be written to are listed, and no archived ones`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    const names = [
      'platform/archived',
      ...Array.from({ length: 120 }, (_, index) => `acme/number-${index}`),
      'elsewhere/a',
    ];
    for (const repository of names) {
      simulated.createRepository(repository);
    }
    simulated.archive('platform/archived');
    simulated.addOutsider('gatehouse of elsewhere');
    const { names: listed, more } = await forge.writableRepositories(1_000);
    t.false(more);
    t.deepEqual([...listed].sort(), [SITE, ...names.slice(1, -1)].sort());
    const some = await forge.writableRepositories(60);
    t.true(some.more);
    t.true(some.names.length > 50 && some.names.length <= 60, String(some.names.length));
  });

  test(`${name}: who may write is known of those who review, and of now`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    simulated.addOutsider('mallory');
    simulated.review(SITE, ref.number, 'bob', 'approved');
    simulated.review(SITE, ref.number, 'mallory', 'approved');
    const told = (await forge.reviews(ref)).map(({ author, mayWrite, counted }) => [author, mayWrite, counted]);
    const expected = {
      github: [
        ['bob', 'yes', 'unknown'],
        ['mallory', 'no', 'unknown'],
      ],
      gitea: [
        ['bob', 'unknown', 'yes'],
        ['mallory', 'unknown', 'no'],
      ],
    };
    t.deepEqual(told, name === 'github' ? expected.github : expected.gitea);
    const writes = async () => {
      const access = forge.writeAccess(SITE);
      return [await access('Bob'), await access('mallory')];
    };
    t.deepEqual(await writes(), ['yes', 'no']);
    simulated.addOutsider('bob');
    simulated.removeOutsider('mallory');
    t.deepEqual(await writes(), ['no', 'yes']);
  });

  test(`${name}: the last force-push or change of base is found`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    const { submittedAt } = await reviewed();
    const before = await forge.lastForcePushOrRetarget(ref);
    t.true(before === undefined || before < submittedAt, 'an approval right after the opening is fresh');

    for (let count = 0; count < 120; count += 1) {
      const { id, at, author } = simulated.comment(SITE, ref.number, 'bob', 'Hm.');
      const line = { path: 'src/app.ts', line: 1, text: '', review: 0, sha: '' };
      simulated.pull(SITE, ref.number).inlineComments.push({ id, at, author, body: 'Hm.', ...line });
    }
    simulated.commit(SITE, 'release', { 'r.txt': 'r\n' });
    simulated.retarget(SITE, ref.number, 'release');
    const retargeted = (await forge.lastForcePushOrRetarget(ref)) ?? '';
    t.is(new Date(retargeted).toISOString(), retargeted);
    t.true(Date.parse(retargeted) >= Date.parse(submittedAt));

    await until(() => Date.now() > Date.parse(retargeted) + 1_000);
    simulated.push(SITE, ref.number, { 'more.txt': 'more\n' });
    t.is(await forge.lastForcePushOrRetarget(ref), retargeted, 'a push that only adds commits is no force-push');
    simulated.forcePush(SITE, ref.number, { 'src/app.ts': 'one\n' });
    t.true(((await forge.lastForcePushOrRetarget(ref)) ?? '') > retargeted);

    async function reviewed() {
      simulated.review(SITE, ref.number, 'bob', 'approved');
      const [review] = await forge.reviews(ref);
      return review ?? t.fail();
    }
  });

  test(`${name}: a team's members are known by its organisation and name`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    simulated.createTeam('platform/security', ['alice', 'bob']);
    simulated.createTeam('platform/security-leads', ['carol']);
    simulated.createTeam('other/security', ['mallory']);
    t.deepEqual(await forge.teamMembers('platform/security'), ['alice', 'bob']);
    simulated.fault({ path: /teams/, fault: { kind: 'status', status: 403 } });
    t.is(await forge.teamMembers('platform/security'), undefined, 'it may not be seen');
  });

  test(`${name}: a file is read at a branch and at a commit`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    const before = simulated.head(SITE, 'main');
    const text = `# Ünïcode 🏠\n${'long line '.repeat(50)}\n`;
    simulated.commit(SITE, 'main', { '.github/gatehouse.yml': text, 'a b/c#d?.md': 'odd\n' });

    t.is(await forge.fileAt(SITE, '.github/gatehouse.yml', 'main'), text);
    t.is(await forge.fileAt(SITE, '.github/gatehouse.yml', before), undefined);
    t.is(await forge.fileAt(SITE, 'README.md', before), 'Hello\n');
    t.is(await forge.fileAt(SITE, 'a b/c#d?.md', 'main'), 'odd\n');
  });

  test(`${name}: no file of an unknown commit counts as absent`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    const unknown = await forgeError(t, () => forge.fileAt(SITE, 'README.md', '1'.repeat(40)));
    t.deepEqual([unknown.kind, unknown.status], ['unavailable', 404]);

    const commit = simulated.commit(SITE, 'main', { 'folder/a.txt': 'a\n' });
    const reads = { path: /\/(?:contents|git\/trees)\//, fault: { kind: 'status', status: 404 } } as const;
    simulated.fault(reads);
    t.is((await forgeError(t, () => forge.fileAt(SITE, 'folder/a.txt', commit))).kind, 'unavailable');
    simulated.clearFaults();
    for (const path of ['b.txt', 'folder/b.txt', 'README.md/b.txt', 'none/b.txt']) {
      t.is(await forge.fileAt(SITE, path, commit), undefined, path);
    }
    t.is(await forge.fileAt(SITE, 'folder/a.txt', commit), 'a\n');
  });

  test(`${name}: a directory, a submodule and a link to nothing are not files`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    simulated.commit(SITE, 'main', {
      'folder/a.txt': 'a\n',
      module: submodule('1'.repeat(40)),
      'folder/broken': symlink('nowhere'),
      'folder/link': symlink('../README.md'),
    });
    for (const [path, what] of [
      ['folder', 'a directory'],
      ['module', 'a submodule'],
      ['folder/broken', 'a symbolic link'],
    ] as const) {
      const error = await forgeError(t, () => forge.fileAt(SITE, path, 'main'));
      t.deepEqual([error.kind, error.message], ['not-a-file', `${path} is ${what}`]);
    }
    const link = forge.fileAt(SITE, 'folder/link', 'main');
    // GitHub itself reads a link to a file of the repository.
    await (name === 'github'
      ? t.is(await link, 'Hello\n')
      : t.throwsAsync(link, { message: 'folder/link is a symbolic link' }));
  });

  test(`${name}: a policy may have a megabyte, CODEOWNERS three, and neither is cut short`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    const text = `\ufeff# \u00fc\n${'/a/ @bob\n'.repeat(300_000)}`;
    const read = (path: string, contents: string) =>
      forge.fileAt(SITE, path, simulated.commit(SITE, 'main', { [path]: contents }));
    t.true((await read('CODEOWNERS', text)) === text);
    t.true((await read('docs/CODEOWNERS', text)) === text);
    for (const [path, length] of [
      ['.gatehouse.yml', 1_100_000],
      ['CODEOWNERS', 3_200_000],
    ] as const) {
      const error = await forgeError(t, () => read(path, 'x'.repeat(length)));
      t.is(error.kind, 'too-large');
      t.regex(error.message, /larger than/);
    }
  });

  test(`${name}: open pull requests are listed without the closed ones`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    const first = openPullRequest(simulated);
    const second = openPullRequest(simulated);
    const third = openPullRequest(simulated);
    simulated.close(SITE, second.ref.number);

    const open = (await forge.openPullRequests(SITE))?.pullRequests ?? [];
    t.deepEqual(
      open.map((pull) => pull.number),
      [first.ref.number, third.ref.number],
    );
    t.like(await forge.pullRequest(first.ref), open[0] ?? {});
  });
}

for (const name of ['github', 'gitea'] as const) {
  test(`${name}: no name of a field makes an answer unreadable`, async (t) => {
    const { simulated, forge, ref, head } = await setUpPull(t, name);
    // Without GraphQL, whose fields have known names.
    simulated.fault({ path: /^\/graphql/, fault: { kind: 'status', status: 404 } });
    const by = '"other":{"toString":"x","valueOf":"x","toJSON":"x","constructor":"x","__proto__":"x"},"title":';
    simulated.fault({ path: /^\/repos\/.*\/pulls\/1$/, fault: { kind: 'replace', text: '"title":', by } });
    t.is((await forge.pullRequest(ref))?.head.sha, head());
  });
}
