import { CONVENTIONAL_TITLES } from '../helpers/policies.ts';
import { forgesOf, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES);

const APPROVALS = `version: 1
rules:
  - id: reviewed
    require:
      any:
        - approvals: { count: 1, fresh: true }
        - label: review-waived
`;

const FINISHED_ONLY = `version: 1
rules:
  - id: described
    when: { draft: false }
    require: { body: '.' }
`;

const DRAFTS_UNREVIEWED = `version: 1
rules:
  - id: reviewed
    when: { draft: false }
    require: { approvals: 1 }
`;

const READY_ONLY = `version: 1
rules:
  - id: ready
    require: { draft: false }
`;

for (const name of FORGES) {
  test(`${name}: an opened pull request has no status before its verdict`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': CONVENTIONAL_TITLES });
    const number = await scene.open({ 'a.txt': 'a\n' }, { title: 'feat: a' });
    await scene.settled();
    t.deepEqual(scene.states(number), ['success']);
    t.deepEqual(scene.comments(number), [], 'no success is reported where no failure was');
    t.deepEqual(scene.inlines(number), []);
  });

  test(`${name}: an edited title turns a failure to success, in the same comment`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': CONVENTIONAL_TITLES });
    const number = await scene.open({ 'a.txt': 'a\n' }, { title: 'some things' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
    t.regex(scene.comments(number).join(), /❌.*conventional-title/s);

    await scene.edit(number, { title: 'feat: some things' });
    await scene.settled();
    t.deepEqual(scene.states(number), ['failure', 'success']);
    t.is(scene.comments(number).length, 1);
    t.regex(scene.comments(number).join(), /✅/);
  });

  test(`${name}: two pushes in quick succession are one review, of the newest head`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': CONVENTIONAL_TITLES });
    const { forge, repository } = scene;
    const number = scene.openSilently({ 'a.txt': 'a\n' }, { title: 'things' });
    const first = forge.push(repository, number, { 'a.txt': 'b\n' });
    const second = forge.push(repository, number, { 'a.txt': 'c\n' });
    await Promise.all([
      scene.tell({ kind: 'pull-request', number, action: 'opened' }),
      scene.tell({ kind: 'pull-request', number, action: 'synchronize' }),
      scene.tell({ kind: 'pull-request', number, action: 'synchronize' }),
    ]);
    await scene.settled();
    t.deepEqual(scene.states(first), []);
    t.deepEqual(scene.states(second), ['failure']);
    t.is(scene.comments(number).length, 1);
  });

  test(`${name}: a push during a review is what gets reviewed`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': CONVENTIONAL_TITLES });
    const { forge, repository } = scene;
    const number = scene.openSilently({ 'a.txt': 'a\n' }, { title: 'things' });
    const before = forge.head(repository, forge.pull(repository, number).headBranch);
    // On GitHub the files come with the pull request: then it is when it is looked at again.
    const later = name === 'github' ? `^/graphql/repos/${repository}/pulls/${number}$` : `/pulls/${number}.diff$`;
    scene.when(undefined, new RegExp(later), () => {
      forge.push(repository, number, { 'a.txt': 'b\n' });
      forge.edit(repository, number, { title: 'feat: things' });
    });
    await scene.tell({ kind: 'pull-request', number, action: 'opened' });
    await scene.settled();
    t.deepEqual(scene.states(before), [], 'no verdict on what was pushed over');
    t.deepEqual(scene.states(number), ['success']);
    t.deepEqual(scene.comments(number), []);
  });

  test(`${name}: an approval passes the rule until a push, and a label can replace it`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVALS });
    const number = await scene.open({ 'a.txt': 'a\n' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');

    await scene.review(number, 'bob', 'approved');
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');

    await scene.push(number, { 'a.txt': 'b\n' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');

    scene.forge.label(scene.repository, number, 'review-waived');
    await scene.tell({ kind: 'pull-request', number, action: 'labeled' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');

    scene.forge.unlabel(scene.repository, number, 'review-waived');
    await scene.tell({ kind: 'pull-request', number, action: 'unlabeled' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'pending');
    t.is(scene.comments(number).length, 1);
  });

  test(`${name}: a draft never has a success that it would lose once it is ready`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': FINISHED_ONLY });
    const number = await scene.open({ 'a.txt': 'a\n' }, { draft: true });
    await scene.settled();
    t.is(scene.status(number)?.state, 'failure');
    t.regex(scene.comments(number).join(), /\| `described`<br>once this draft is ready for review \|/);
    await scene.edit(number, { body: 'Why' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');

    const waiting = gatehouse(name).scene({ '.gatehouse.yml': DRAFTS_UNREVIEWED });
    const other = await waiting.open({ 'a.txt': 'a\n' }, { draft: true });
    await waiting.settled();
    t.is(waiting.status(other)?.state, 'pending');
    t.regex(waiting.comments(other).join(), /\| 1 approval<br>once this draft is ready for review \|/);
    await waiting.review(other, 'bob', 'approved');
    await waiting.settled();
    t.is(waiting.status(other)?.state, 'success');
    waiting.forge.edit(waiting.repository, other, { draft: false });
    await waiting.tell({ kind: 'pull-request', number: other, action: 'ready_for_review' });
    await waiting.settled();
    t.is(waiting.status(other)?.state, 'success');
  });

  test(`${name}: a rule that only a draft does not meet still blocks it`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': READY_ONLY });
    const number = await scene.open({ 'a.txt': 'a\n' }, { draft: true });
    await scene.settled();
    t.deepEqual(scene.status(number), { state: 'failure', description: '1 of 1 rule failed: ready' });
    t.notRegex(scene.comments(number).join(), /once this draft/);
    scene.forge.edit(scene.repository, number, { draft: false });
    await scene.tell({ kind: 'pull-request', number, action: 'ready_for_review' });
    await scene.settled();
    t.is(scene.status(number)?.state, 'success');
  });

  test(`${name}: a pull request that is closed or gone is left as it was`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': CONVENTIONAL_TITLES });
    const closed = scene.openSilently({ 'a.txt': 'a\n' }, { title: 'things' });
    scene.forge.close(scene.repository, closed);
    await scene.tell({ kind: 'pull-request', number: closed, action: 'edited' });
    await scene.settled();
    t.is(scene.writes(), 0);

    scene.forge.reopen(scene.repository, closed);
    await scene.tell({ kind: 'pull-request', number: closed, action: 'reopened' });
    await scene.settled();
    t.is(scene.status(closed)?.state, 'failure');
  });
}
