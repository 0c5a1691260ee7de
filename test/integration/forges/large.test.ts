import type { ExecutionContext } from 'ava';
import { MAX_PATCH_LENGTH } from '../../../src/forges/diff.ts';
import type { ForgeName } from '../../../src/forges/port/forges.ts';
import { statusDescription } from '../../../src/forges/port/postings.ts';
import { CLIENTS, GITEAS } from '../../helpers/forges.ts';
import test from '../../helpers/test.ts';
import type { Changes } from '../../simulated-forge/git.ts';
import { headOf, openPullRequest, SITE, setUp, setUpPull } from './setup.ts';

const manyFiles = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`gen/${index}.txt`, `${index}\n`]));

/** A pull request with these changes, and its files as they are read. */
async function changed(t: ExecutionContext, name: ForgeName, changes: Changes) {
  const { simulated, forge } = await setUp(t, name);
  simulated.commit(SITE, 'topic', changes);
  const ref = { repository: SITE, number: simulated.openPullRequest(SITE, { head: 'topic' }) };
  const sha = headOf(simulated, ref.number);
  return { simulated, forge, ref, sha, ...(await forge.changedFiles(ref, sha)) };
}

test.serial('github: of 3,001 reviews each tells whether its author may write', async (t) => {
  const { simulated, forge, ref } = await setUpPull(t, 'github');
  simulated.addOutsider('mallory');
  for (let index = 0; index < 3_000; index++) {
    simulated.review(SITE, ref.number, 'mallory', 'approved');
  }
  simulated.review(SITE, ref.number, 'Wanda', 'changes-requested');
  const reviews = await forge.reviews(ref);
  t.is(reviews.length, 3_001);
  t.like(reviews.at(0), { author: 'mallory', mayWrite: 'no' });
  t.like(reviews.at(-1), { author: 'Wanda', mayWrite: 'yes' });
  t.is(simulated.count('GET'), 31, 'no request for each of them');
});

for (const name of CLIENTS) {
  test(`${name}: three thousand files are all there`, async (t) => {
    const { simulated, forge, ref, sha, files, complete } = await changed(t, name, manyFiles(3_000));
    t.true(complete);
    t.is(new Set(files.map((file) => file.path)).size, 3_000);
    t.true(files.every((file) => file.diff.kind === 'text' && file.diff.patch.startsWith('@@ -0,0 +1 @@\n+')));
    // GitHub lists 100 at a time, and is asked whether 3,000 are all. The others compute the whole difference for each page: one
    // page, to compare with, and the diff between two looks at the ref.
    t.is(simulated.count('GET'), name === 'github' ? 31 : 4);
    simulated.forgetRequests();
    t.deepEqual(await forge.changedFiles(ref, sha, 3_000), { files, complete });
    t.is(simulated.count('GET'), name === 'github' ? 30 : 3, 'the pull request says how many they are');
  });

  test(`${name}: lists longer than a page are read to their end`, async (t) => {
    const { simulated, forge, ref, head } = await setUpPull(t, name);
    const numbers = Array.from({ length: 120 }, (_, index) => index);
    for (const index of numbers) {
      simulated.comment(SITE, ref.number, index % 2 ? 'gatehouse' : 'alice', String(index));
      simulated.review(SITE, ref.number, `person-${index}`, index === 60 ? 'pending' : 'approved');
      simulated.push(SITE, ref.number, { 'n.txt': `${index}\n` }, { message: `Commit ${index}` });
      openPullRequest(simulated);
      await forge.setStatus(SITE, head(), {
        context: `check-${index}`,
        state: 'success',
        description: statusDescription(''),
      });
    }
    simulated.createTeam(
      'platform/all',
      numbers.map((index) => `person-${index}`),
    );

    t.is((await forge.ownComments(ref)).length, 60);
    t.is((await forge.reviews(ref)).length, 119);
    t.is((await forge.commits(ref)).at(-1)?.message, 'feat: count further');
    t.is((await forge.openPullRequests(SITE))?.pullRequests.length, 121);
    t.is((await forge.teamMembers('platform/all'))?.length, 120);
  });

  test(`${name}: a hundred inline comments are read back`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    const lines = Array.from({ length: 110 }, (_, index) => `line ${index}\n`);
    simulated.commit(SITE, 'topic', { 'long.txt': lines.join('') });
    const ref = { repository: SITE, number: simulated.openPullRequest(SITE, { head: 'topic' }) };
    const comments = lines.map((line, index) => ({ path: 'long.txt', line: index + 1, body: line.trim() }));
    await forge.createInlineComments(ref, simulated.pull(SITE, ref.number).headSha, comments, []);
    t.is((await forge.ownInlineComments(ref, headOf(simulated, ref.number))).comments.length, 110);
  });

  test(`${name}: more commits than GitHub lists at once are all read`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    for (let index = 0; index < 300; index += 1) {
      simulated.push(SITE, ref.number, { 'n.txt': `${index}\n` }, { message: `Commit ${index}` });
    }
    const commits = await forge.commits(ref);
    t.is(commits.length, 301);
    t.is(commits.at(0)?.message, 'feat: count further');
    t.is(commits.at(-1)?.message, 'Commit 299');
  });

  test(`${name}: a file with a diff of 5 MB is too large, and the others are read`, async (t) => {
    const { files } = await changed(t, name, {
      'big.txt': `${'x'.repeat(1_000)}\n`.repeat(5_000),
      'small.txt': 'small\n',
    });
    t.deepEqual(
      files.map(({ path, additions, diff }) => ({ path, additions, kind: diff.kind })),
      [
        { path: 'big.txt', additions: 5_000, kind: 'too-large' },
        { path: 'small.txt', additions: 1, kind: 'text' },
      ],
    );
    t.true(MAX_PATCH_LENGTH < 5_000_000);
  });
}

for (const name of CLIENTS) {
  test(`${name}: a file with thousands of changed lines is read all the same`, async (t) => {
    const lines = Array.from({ length: 3_000 }, (_, index) => `line ${index}\n`).join('');
    const { files } = await changed(t, name, { 'long.txt': lines, 'logo.png': Buffer.from([1, 0]) });
    const [logo, long] = [files.find(({ path }) => path === 'logo.png'), files.find(({ path }) => path === 'long.txt')];
    t.is(logo?.diff.kind, 'binary');
    t.is(long?.additions, 3_000);
    t.true(long?.diff.kind === 'text' && long.diff.patch.endsWith('\n+line 2999'));
  });
}

test('github: a patch that was cut short does not pass for the whole', async (t) => {
  const { simulated, forge, ref } = await setUpPull(t, 'github');
  const file = { filename: 'a.txt', status: 'modified', sha: 'a', additions: 2, deletions: 0, changes: 2 };
  simulated.fault({ fault: { kind: 'json', body: [{ ...file, patch: '@@ -1,2 +1,4 @@\n one\n+two' }] } });
  t.is((await forge.changedFiles(ref, headOf(simulated, ref.number))).files[0]?.diff.kind, 'too-large');
});

test('github: beyond three thousand files the list says that it is not complete', async (t) => {
  const { files, complete } = await changed(t, 'github', manyFiles(3_001));
  t.false(complete);
  t.is(files.length, 3_000);
});

test('github: if the text diff is refused, a file without a patch is too large', async (t) => {
  const moved = { 'README.md': null, 'docs/README.md': 'Hello\n' };
  const { files } = await changed(t, 'github', {
    ...manyFiles(301),
    ...moved,
    'logo.png': Buffer.from([1, 0]),
    'empty.txt': '',
  });
  const kindOf = (path: string) => files.find((file) => file.path === path)?.diff.kind;
  t.is(kindOf('logo.png'), 'too-large');
  t.is(kindOf('empty.txt'), 'text');
  // A rename may hide changes of a binary file, which the list does not tell apart from none.
  t.is(kindOf('docs/README.md'), 'too-large');
});

for (const name of GITEAS) {
  test(`${name}: a diff beyond what may be read leaves every file listed and too large`, async (t) => {
    const { files } = await changed(t, name, {
      'huge.txt': `${'x'.repeat(1_000)}\n`.repeat(17_000),
      'small.txt': 'small\n',
    });
    t.deepEqual(
      files.map(({ path, diff }) => `${path} ${diff.kind}`),
      ['huge.txt too-large', 'small.txt too-large'],
    );
  });
}
