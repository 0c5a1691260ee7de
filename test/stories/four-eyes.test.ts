import { forgesOf, onlyCarolCounts, shareStories, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { nextSecond } from '../helpers/until.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, [...FORGES, 'github', 'gitea']);

const APPROVED = `version: 1
rules:
  - id: approved
    require: { approvals: 1 }
`;
const SIGNED_OFF = `version: 1
rules:
  - id: signed-off
    require: { commits: { every: { signed_off: true } } }
`;
const VERIFIED = `version: 1
rules:
  - id: verified
    require: { commits: { every: { verified: true } } }
`;
const SIGNED_BY = `version: 1
rules:
  - id: signed
    require: { commits: { every: { signed_by: Alice } } }
`;
const VERIFIED_AND_APPROVED = `${VERIFIED}  - id: approved
    require: { approvals: 1 }
`;
const NO_CHANGES_REQUESTED = `version: 1
rules:
  - id: no-changes-requested
    forbid: { changes_requested: true }
`;
const ALL_ANSWERED = `version: 1
rules:
  - id: all-answered
    forbid: { reviews_requested: true }
`;
const FRESH = `version: 1
rules:
  - id: approved
    require: { approvals: { fresh: true } }
`;
const signed = (name: string) => `feat: it\n\nSigned-off-by: ${name} <${name}@example.test>`;

for (const name of FORGES) {
  test(`${name}: an approval by a committer of the pull request does not count`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    const number = await scene.open({ 'a.txt': 'a\n' });
    scene.forge.push(scene.repository, number, { 'a.txt': 'b\n' }, { author: 'bob' });
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
    t.regex(scene.comments(number).join(), /`bob`, who committed to this pull request/);

    await scene.review(number, 'carol', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: no commits where there must be some never lets an approval count`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': VERIFIED_AND_APPROVED });
    const number = scene.openSilently({ 'a.txt': 'a\n' });
    scene.forge.push(scene.repository, number, { 'a.txt': 'b\n' }, { author: 'bob' });
    const path = new RegExp(`/repos/${scene.repository}/pulls/${number}/commits$`);
    scene.forge.fault({ path, times: 1, fault: { kind: 'json', body: [] } });
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.false(scene.states(number).includes('success'));
    t.is(scene.status(number)?.state, 'failure', 'it was read again');
    t.regex(scene.comments(number).join(), /`bob`, who committed to this pull request/);
  });

  test(`${name}: a pull request that brings nothing in has no commits, and is judged`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': VERIFIED_AND_APPROVED, 'a.txt': 'a\n' });
    const number = scene.openSilently({ 'a.txt': 'b\n' });
    const main = scene.forge.head(scene.repository, 'main');
    scene.forge.commit(scene.repository, 'main', { 'c.txt': 'c\n' });
    scene.forge.pushCommit(scene.repository, number, main);
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: updating the branch from base makes nobody a committer`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED, 'a.txt': 'a\n' });
    const number = scene.openSilently({ 'b.txt': 'b\n' });
    scene.forge.commit(scene.repository, 'main', { 'c.txt': 'c\n', 'a.txt': null });
    scene.forge.updateBranch(scene.repository, number, 'bob');
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: a merge from base with own changes makes its author a committer`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    const number = scene.openSilently({ 'b.txt': 'b\n' });
    scene.forge.commit(scene.repository, 'main', { 'c.txt': 'c\n' });
    scene.forge.updateBranch(scene.repository, number, 'bob', { 'b.txt': 'changed in the merge\n' });
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
  });

  test(`${name}: a merge that drops what base changed makes its author a committer`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED, 'c.txt': 'old\n' });
    const number = scene.openSilently({ 'b.txt': 'b\n' });
    scene.forge.commit(scene.repository, 'main', { 'c.txt': 'new\n' });
    scene.forge.updateBranch(scene.repository, number, 'bob', { 'c.txt': 'old\n' });
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
  });

  test(`${name}: an approval by somebody who may not write never counts`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    scene.forge.addOutsider('reader');
    const number = await scene.open({ 'a.txt': 'a\n' });
    await scene.review(number, 'reader', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
    t.regex(scene.comments(number).join(), /`reader`, who may not write to the repository/);
  });

  test(`${name}: a commit by an e-mail address of no account is named`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    const number = scene.openSilently({ 'a.txt': 'a\n' });
    scene.forge.push(scene.repository, number, { 'a.txt': 'b\n' }, { author: 'nobody@elsewhere.test' });
    await scene.tell({ kind: 'pull-request', number, action: 'opened' });
    await scene.settled();
    t.regex(scene.comments(number).join(), /no account is known for the e-mail address of .*nobody@elsewhere\.test/);
  });

  test(`${name}: a fresh approval does not survive a change of base`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': FRESH });
    scene.forge.commit(scene.repository, 'release', { 'r.txt': 'r\n' });
    const number = await scene.open({ 'a.txt': 'a\n' });
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number, 'gatehouse/main')?.state, 'success');

    scene.forge.retarget(scene.repository, number, 'release');
    await scene.tell({ kind: 'pull-request', number, action: 'edited' });
    await scene.settled();
    t.is(scene.status(number, 'gatehouse/release')?.state, 'pending');
    t.regex(scene.comments(number).join(), /`bob`, given before the last force-push or change of base/);

    await nextSecond();
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number, 'gatehouse/release')?.state, 'success');
  });

  test(`${name}: a fresh approval does not survive a force-push that keeps the patch`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': FRESH });
    const number = await scene.open({ 'a.txt': 'a\n' });
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');

    const head = scene.forge.forcePush(scene.repository, number, { 'a.txt': 'a\n' }, { message: 'feat: the same' });
    t.is(scene.forge.pull(scene.repository, number).reviews[0]?.sha === head, name === 'github');
    await scene.tell({ kind: 'pull-request', number, action: 'synchronize' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
    t.regex(scene.comments(number).join(), /`bob`, given (?:before the last force-push|for an earlier commit)/);

    await nextSecond();
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: a fresh approval is undecided where the timeline cannot be read`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': FRESH });
    const path = new RegExp(`^/repos/${scene.repository}/issues/.*/timeline`);
    scene.forge.fault({ method: 'GET', path, fault: { kind: 'status', status: 403 } });
    const number = await scene.open({ 'a.txt': 'a\n' });
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'error');
    t.regex(scene.comments(number).join(), /force-pushes and changes of base could not be read/);
  });

  test(`${name}: a commit without a verified signature fails the rule`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': VERIFIED });
    const { forge, repository } = scene;
    forge.commit(repository, 'topic', { 'a.txt': 'a\n' }, { verified: true });
    const number = forge.openPullRequest(repository, { head: 'topic' });
    await scene.tell({ kind: 'pull-request', number, action: 'opened' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');

    forge.commit(repository, 'main', { 'c.txt': 'c\n' });
    forge.updateBranch(repository, number, 'alice');
    await scene.tell({ kind: 'pull-request', number, action: 'synchronize' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure', 'a merge needs a signature too');
  });

  test(`${name}: only the named account’s verified signature is ever green`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': SIGNED_BY });
    const { forge, repository } = scene;
    const judged = async (branch: string, details: { verified: boolean; signer?: string }) => {
      forge.commit(repository, branch, { 'a.txt': `${branch}\n` }, { author: 'alice', ...details });
      const number = forge.openPullRequest(repository, { head: branch });
      await scene.tell({ kind: 'pull-request', number, action: 'opened' });
      await scene.settled();
      return scene.status(number)?.state;
    };
    t.is(await judged('hers', { verified: true, signer: 'alice' }), 'success');
    t.is(await judged('not-verified', { verified: false, signer: 'alice' }), 'failure');
    t.is(await judged('of-another', { verified: true, signer: 'mallory' }), 'failure');
    t.is(await judged('of-the-forge', { verified: true }), 'failure', 'the forge signs for whoever asks it to');
  });

  test(`${name}: a request for changes counts until its author ends it`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': NO_CHANGES_REQUESTED });
    const { forge, repository } = scene;
    forge.addOutsider('reader');
    const number = await scene.open({ 'a.txt': 'a\n' });
    await scene.review(number, 'reader', 'changes-requested');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success', 'a reader decides nothing');

    await scene.review(number, 'bob', 'changes-requested');
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
    t.regex(scene.status(number)?.description ?? '', /another review by "?bob/);
    forge.requestReview(repository, number, 'bob');
    await scene.push(number, { 'a.txt': 'b\n' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending', 'asking for another review does not end it');

    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: a requested review is waited for, of a person and of a team`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': ALL_ANSWERED });
    const { forge, repository } = scene;
    forge.createTeam('acme/answering', ['carol']);
    const number = scene.openSilently({ 'a.txt': 'a\n' });
    forge.requestReview(repository, number, 'bob');
    forge.requestReview(repository, number, 'acme/answering');
    await scene.tell({ kind: 'pull-request', number, action: 'opened' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
    t.regex(scene.status(number)?.description ?? '', /bob.*@acme\/answering/);

    await onlyCarolCounts(t, scene, number);
  });

  test(`${name}: a review requested after the success ends it, until withdrawn`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': ALL_ANSWERED });
    const { forge, repository } = scene;
    const number = await scene.open({ 'a.txt': 'a\n' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');

    forge.requestReview(repository, number, 'bob');
    await scene.tell({ kind: 'pull-request', number, action: 'review_requested' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');

    forge.withdrawReviewRequest(repository, number, 'bob');
    await scene.tell({ kind: 'pull-request', number, action: 'review_request_removed' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: who made the change cannot withdraw a request that is not theirs`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': ALL_ANSWERED });
    const { forge, repository } = scene;
    const number = scene.openSilently({ 'a.txt': 'a\n' });
    forge.requestReview(repository, number, 'bob', 'carol');
    await scene.tell({ kind: 'pull-request', number, action: 'opened' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
    const withdrawn = async (by: string) => {
      forge.withdrawReviewRequest(repository, number, 'bob', by);
      await scene.tell({ kind: 'pull-request', number, action: 'review_request_removed' });
      await scene.settled();
    };
    await withdrawn('alice');
    t.is(scene.status(number)?.state, 'pending');
    t.regex(scene.comments(number).join(), /reviews requested of `bob`; what `alice` withdrew still counts/);

    forge.requestReview(repository, number, 'bob', 'alice');
    await withdrawn('alice');
    t.is(scene.status(number)?.state, 'pending', 'nor by requesting it once more');

    forge.requestReview(repository, number, 'bob', 'alice');
    await withdrawn('carol');
    t.is(scene.status(number)?.state, 'success');
    t.is(scene.states(number).filter((state) => state === 'success').length, 1);
  });

  test(`${name}: a request that the author withdrew ends with the review`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': ALL_ANSWERED, CODEOWNERS: 'a.txt @bob\n' });
    const { forge, repository } = scene;
    const number = scene.openSilently({ 'a.txt': 'a\n' });
    // As CODEOWNERS does, in the author's name.
    forge.requestReview(repository, number, 'bob', 'alice');
    forge.withdrawReviewRequest(repository, number, 'bob', 'alice');
    await scene.tell({ kind: 'pull-request', number, action: 'opened' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: before requested reviews are read it is stored that they are asked for`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': ALL_ANSWERED });
    let stored: readonly unknown[] | undefined;
    scene.when('GET', new RegExp(`/repos/${scene.repository}/pulls/[0-9]+/(requested_reviewers|reviews)`), async () => {
      const query = 'SELECT asks FROM gatehouse.reviews WHERE repository = $1';
      stored = (await scene.door.database.query(query, [scene.repository])).rows;
    });
    await scene.open({ 'a.txt': 'a\n' });
    await scene.settled();
    // Else a review that is requested after this would change nothing.
    t.deepEqual(stored, [{ asks: ['requestedReviews'] }]);
  });

  test(`${name}: a requested review asks the forge nothing if no rule looks at it`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    const { forge, repository } = scene;
    const number = await scene.open({ 'a.txt': 'a\n' });
    await scene.settled();
    const asked = () => forge.seen.filter(({ path }) => path.includes(repository)).length;
    const before = asked();
    forge.requestReview(repository, number, 'bob');
    await scene.tell({ kind: 'pull-request', number, action: 'review_requested' });
    await scene.settled();
    t.is(asked(), before);
  });

  test(`${name}: a merge with own changes needs a sign-off, an update does not`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': SIGNED_OFF });
    const { forge, repository } = scene;
    const [clean, changing] = ['clean', 'changing'].map((head) => {
      forge.commit(repository, head, { [`${head}.txt`]: 'b\n' }, { message: signed('alice') });
      return forge.openPullRequest(repository, { head });
    });
    forge.commit(repository, 'main', { 'c.txt': 'c\n' });
    forge.updateBranch(repository, clean ?? 0, 'alice');
    forge.updateBranch(repository, changing ?? 0, 'alice', { 'changing.txt': 'changed in the merge\n' });
    for (const number of [clean ?? 0, changing ?? 0]) {
      await scene.tell({ kind: 'pull-request', number, action: 'opened' });
    }
    await scene.settled();
    t.is(scene.status(clean ?? 0)?.state, 'success');
    t.is(scene.status(changing ?? 0)?.state, 'failure');
  });
}

for (const [hidden, state] of [
  [99, 'pending'],
  [320, 'error'],
] as const) {
  test(`gitea: a withdrawal behind ${hidden} pending comments at lines is not missed`, async (t) => {
    const scene = gatehouse('gitea').scene({ '.gatehouse.yml': ALL_ANSWERED });
    const { forge, repository } = scene;
    const number = scene.openSilently({ 'a.txt': 'a\n' });
    forge.requestReview(repository, number, 'bob', 'carol');
    for (let index = 0; index < hidden; index++) {
      // Nobody else sees it in the list of reviews.
      forge.commentInline(repository, number, 'alice', { path: 'a.txt', line: 1, body: 'Hm.', state: 'pending' });
    }
    forge.withdrawReviewRequest(repository, number, 'bob', 'alice');
    await scene.tell({ kind: 'pull-request', number, action: 'opened' });
    await scene.settled();
    t.is(scene.status(number)?.state, state);
  });
}

test('gitea: a request and its withdrawal behind a review of 320 comments are found', async (t) => {
  const scene = gatehouse('gitea').scene({ '.gatehouse.yml': ALL_ANSWERED });
  const { forge, repository } = scene;
  const number = scene.openSilently({ 'a.txt': 'a\n' });
  const at = { path: 'a.txt', line: 1, body: 'Hm.' };
  const first = forge.commentInline(repository, number, 'alice', at);
  for (let index = 1; index < 320; index++) {
    forge.commentInline(repository, number, 'alice', { ...at, replyTo: first });
  }
  forge.requestReview(repository, number, 'bob', 'carol');
  forge.withdrawReviewRequest(repository, number, 'bob', 'alice');
  await scene.tell({ kind: 'pull-request', number, action: 'opened' });
  await scene.settled();
  t.is(scene.status(number)?.state, 'pending');
});

test('github: the author cannot withdraw the request of a team, GitHub itself can', async (t) => {
  const scene = gatehouse('github').scene({ '.gatehouse.yml': ALL_ANSWERED, CODEOWNERS: '* @acme/security\n' });
  const { forge, repository } = scene;
  forge.createTeam('acme/security', ['carol']);
  const judged = async (happens: (number: number) => void) => {
    const number = scene.openSilently({ [`${forge.seen.length}.txt`]: 'a\n' });
    happens(number);
    await scene.tell({ kind: 'pull-request', number, action: 'opened' });
    await scene.settled();
    return number;
  };
  const withdrawn = await judged((number) => {
    forge.requestReview(repository, number, 'acme/security');
    forge.withdrawReviewRequest(repository, number, 'acme/security');
  });
  t.is(scene.status(withdrawn)?.state, 'pending');
  t.regex(scene.status(withdrawn)?.description ?? '', /@acme\/security/);

  // Where GitHub assigns the review of a team to a member, all of it happens in one second.
  const replaced = (by: string) =>
    judged((number) => {
      forge.requestReview(repository, number, 'acme/security', by);
      forge.withdrawReviewRequest(repository, number, 'acme/security');
      forge.requestReview(repository, number, 'carol');
      for (const event of forge.pull(repository, number).events) {
        Object.assign(event, { at: '2026-01-01T00:00:00Z' });
      }
    });
  t.regex(scene.status(await replaced('dan'))?.description ?? '', /@acme\/security/, 'the author did it');
  const assigned = await replaced('alice');
  t.regex(scene.status(assigned)?.description ?? '', /carol/);
  t.notRegex(scene.status(assigned)?.description ?? '', /@acme\/security/);
  await scene.review(assigned, 'carol', 'approved');
  await scene.settled();
  t.is(scene.status(assigned)?.state, 'success');
});

test('github: an approval by a bot counts only where the policy names it', async (t) => {
  const unnamed = gatehouse('github').scene({ '.gatehouse.yml': APPROVED });
  const first = await unnamed.open({ 'a.txt': 'a\n' });
  await unnamed.review(first, 'helper[bot]', 'approved');
  await unnamed.settled();
  t.is(unnamed.status(first)?.state, 'pending');

  const named = gatehouse('github').scene({
    '.gatehouse.yml': APPROVED.replace('approvals: 1', "approvals: { from: 'helper[bot]' }"),
  });
  const second = await named.open({ 'a.txt': 'a\n' });
  await named.review(second, 'helper[bot]', 'approved');
  await named.settled();
  t.is(named.status(second)?.state, 'success');
});

/** On an Enterprise Server, which has no account for itself. `elsewhere`: as its administrator has set it. */
const SERVER = { here: 'noreply@127.0.0.1', elsewhere: 'noreply@mail.acme.test' };
const OWN = `version: 1
override: { by: [bob] }
rules:
  - id: approved
    require: { approvals: { fresh: true, unknown_authors: undecided } }
  - id: own-commits
    require: { contributors: { author: true, only: true } }
  - id: titled
    require: { title: '^feat: ' }
`;

for (const [where, committer] of Object.entries(SERVER)) {
  test(`github: a commit made in the browser is its author's alone (${where})`, async (t) => {
    const scene = gatehouse('github').scene({ '.gatehouse.yml': OWN });
    const { forge, repository } = scene;
    forge.commit(repository, 'topic', { 'a.txt': 'a\n' }, { committer });
    const number = await scene.open('topic', { title: 'things' });
    await scene.review(number, 'bob', 'approved');
    await scene.comment(number, 'bob', `/gatehouse override titled ${scene.head(number)} hotfix`);
    await scene.settled();
    t.deepEqual(scene.status(number), { state: 'success', description: '1 rule overridden: hotfix' });
  });
}

test('github: commits in the browser that REST lists are their authors’ alone', async (t) => {
  const scene = gatehouse('github').scene({ '.gatehouse.yml': OWN });
  const { forge, repository } = scene;
  for (let line = 0; line < 41; line++) {
    forge.commit(repository, 'topic', { 'a.txt': `${line}\n` }, { committer: SERVER.here });
  }
  const number = await scene.open('topic');
  await scene.review(number, 'bob', 'approved');
  await scene.settled();
  t.is(scene.status(number)?.state, 'success');
});

for (const name of FORGES) {
  test(`${name}: where the forge does not tell its own address, FORGE_COMMITTER does`, async (t) => {
    const files = { '.gatehouse.yml': OWN };
    await using story = await tellStory(name, files, { FORGE_COMMITTER: SERVER.elsewhere.toUpperCase() });
    // More than GraphQL lists.
    for (let line = 0; line < 41; line++) {
      story.forge.commit(story.repository, 'topic', { 'a.txt': `${line}\n` }, { committer: SERVER.elsewhere });
    }
    const number = await story.open('topic');
    await story.review(number, 'bob', 'approved');
    await story.settled();
    t.is(story.status(number)?.state, 'success');
  });
}

test('github: the committer of another server is somebody without an account', async (t) => {
  const scene = gatehouse('github').scene({ '.gatehouse.yml': OWN });
  const { forge, repository } = scene;
  forge.commit(repository, 'topic', { 'a.txt': 'a\n' }, { committer: 'github@acme.test' });
  const number = await scene.open('topic');
  await scene.review(number, 'bob', 'approved');
  await scene.settled();
  t.is(scene.status(number)?.state, 'error');
});
