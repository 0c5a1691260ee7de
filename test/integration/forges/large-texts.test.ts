import { CLIENTS, GITEAS } from '../../helpers/forges.ts';
import ava from '../../helpers/test.ts';
import { forgeError, openPullRequest, SITE, setUp, setUpPull } from './setup.ts';

// Serial: the forge writes its answers in this process, and a connection waits only 5 seconds for it.
const test = ava.serial;

/** GitHub takes 65,536 characters, of four bytes each; Gitea and Forgejo tens of megabytes. */
const longText = (name: string, bytes: number) =>
  name === 'github' ? '\u{1f600}'.repeat(Math.min(bytes / 4, 65_536)) : 'x"'.repeat(bytes / 2);

for (const name of CLIENTS) {
  test(`${name}: no description is too long for a list of pull requests`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    for (let index = 0; index < 75; index += 1) {
      const { ref: other } = openPullRequest(simulated);
      simulated.edit(SITE, other.number, { body: longText(name, 262_144) });
    }
    simulated.edit(SITE, ref.number, { body: longText(name, 17_000_000) });
    const listed = (await forge.openPullRequests(SITE))?.pullRequests ?? [];
    t.is(new Set(listed.map(({ number }) => number)).size, 76);
    t.is(listed.length, 76);
  });

  test(`${name}: no review is too long for the list of reviews`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    simulated.review(SITE, ref.number, 'bob', 'approved');
    for (let index = 0; index < 105; index += 1) {
      simulated.review(SITE, ref.number, 'mallory', 'commented', longText(name, 262_144));
    }
    const reviews = await forge.reviews(ref);
    t.is(reviews.length, 106);
    t.like(
      reviews.find(({ author }) => author === 'bob'),
      { state: 'approved' },
    );
  });

  test(`${name}: messages of commits that are too much in all are not kept`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    const message = `feat: ${'x'.repeat(400_000)}`;
    for (let index = 0; index < 45; index += 1) {
      simulated.push(SITE, ref.number, { 'n.txt': `${index}\n` }, { message });
    }
    t.is((await forgeError(t, () => forge.commits(ref))).kind, 'too-large');
  });

  test(`${name}: no comment is too long for the list of comments`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    const command = '/gatehouse override titled 4f2a hotfix';
    simulated.comment(SITE, ref.number, 'mallory', `/gatehouse override ${longText(name, 17_000_000)}`);
    simulated.comment(SITE, ref.number, 'bob', command);
    for (let index = 0; index < 105; index += 1) {
      simulated.comment(SITE, ref.number, 'mallory', longText(name, 262_144));
    }
    const comments = await forge.comments(ref);
    t.is(comments.length, 107);
    t.deepEqual(
      comments.map(({ body }) => body).filter((body) => body !== ''),
      [command],
    );
  });
}

test('github: no comments of strangers keep Gatehouse from its own', async (t) => {
  const { simulated, forge, ref } = await setUpPull(t, 'github');
  simulated.comment(SITE, ref.number, 'gatehouse', 'Ours');
  for (let index = 0; index < 140; index += 1) {
    simulated.comment(SITE, ref.number, 'mallory', longText('github', 262_144));
  }
  t.deepEqual(
    (await forge.ownComments(ref)).map(({ body }) => body),
    ['Ours'],
  );
});

for (const name of GITEAS) {
  test(`${name}: no description is too long to know what a merge was`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    t.true(simulated.merge(SITE, ref.number));
    simulated.edit(SITE, ref.number, { body: longText(name, 24_000_000) });
    const merge = await forge.merged.of(ref);
    const commit = simulated.head(SITE, 'main');
    t.is(merge?.mergeCommit, commit);
    t.is(await forge.merged.broughtBy({ id: '1', name: SITE }, 'main', commit), ref.number);
  });

  test(`${name}: no pull request is hidden by one that is too large to be read`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    const opened = Array.from({ length: 75 }, () => openPullRequest(simulated).ref.number);
    const huge = opened[33] ?? 0;
    // No single string of it is long.
    const names = Array.from({ length: 17_000 }, (_, index) => `${index}${'x'.repeat(2_000)}`);
    simulated.label(SITE, huge, ...names);
    const listed = (await forge.openPullRequests(SITE))?.pullRequests ?? [];
    t.deepEqual(
      listed.map(({ number }) => number),
      opened.filter((number) => number !== huge),
    );
  });
}
