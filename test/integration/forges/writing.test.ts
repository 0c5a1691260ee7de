import type { Forge } from '../../../src/forges/port/forge.ts';
import type { PostedInlineComment } from '../../../src/forges/port/postings.ts';
import type { PullRequestRef } from '../../../src/forges/port/pull-request.ts';
import test from '../../helpers/test.ts';
import { FORGES, forgeError, SITE, setUpPull } from './setup.ts';

const TWO_AND_FOUR = [
  { path: 'src/app.ts', line: 2, body: 'Two' },
  { path: 'src/app.ts', line: 4, body: 'Four' },
];

/** Gitea and Forgejo return the comments of a review in no order. */
function inOrder(comments: readonly PostedInlineComment[]): readonly PostedInlineComment[] {
  return comments.toSorted((one, other) => (one.line ?? 0) - (other.line ?? 0));
}

async function withdraw(forge: Forge, ref: PullRequestRef, head: string, ids: readonly string[]): Promise<void> {
  const { reviews } = await forge.ownInlineComments(ref, head);
  await forge.withdrawInlineComments(ref, ids, 'Resolved here.', reviews);
}

for (const name of FORGES) {
  test(`${name}: inline comments are posted as one review`, async (t) => {
    const { simulated, forge, ref, head } = await setUpPull(t, name);
    simulated.commentInline(SITE, ref.number, 'bob', { path: 'src/app.ts', line: 2, body: 'Not mine' });
    const reviewsBefore = simulated.pull(SITE, ref.number).reviews.length;
    await forge.createInlineComments(ref, head(), [], []);
    t.is(simulated.writes(), 0, 'none need no review');
    await forge.createInlineComments(ref, head(), TWO_AND_FOUR, []);

    const posted = inOrder((await forge.ownInlineComments(ref, head())).comments);
    t.deepEqual(
      posted.map(({ path, line, body }) => ({ path, line, body })),
      TWO_AND_FOUR,
    );
    t.is(simulated.pull(SITE, ref.number).reviews.length, reviewsBefore + 1);
  });

  test(`${name}: a withdrawn inline comment is no longer listed, and others stay`, async (t) => {
    const { simulated, forge, ref, head } = await setUpPull(t, name);
    await forge.createInlineComments(ref, head(), TWO_AND_FOUR, []);
    const [two, four] = inOrder((await forge.ownInlineComments(ref, head())).comments);
    await withdraw(forge, ref, head(), [two?.id ?? '']);

    t.deepEqual((await forge.ownInlineComments(ref, head())).comments, four ? [four] : []);
    const left = simulated.pull(SITE, ref.number).inlineComments;
    t.is(left.length, name === 'gitea' ? 2 : 1);
    t.true(name !== 'gitea' || left[0]?.body.startsWith('Resolved here.'));
  });

  test(`${name}: once all comments of a review are withdrawn, none is left on the forge`, async (t) => {
    const { simulated, forge, ref, head } = await setUpPull(t, name);
    await forge.createInlineComments(ref, head(), TWO_AND_FOUR, []);
    for (const { id } of (await forge.ownInlineComments(ref, head())).comments) {
      await withdraw(forge, ref, head(), [id]);
    }
    t.deepEqual((await forge.ownInlineComments(ref, head())).comments, []);
    t.is(simulated.pull(SITE, ref.number).inlineComments.length, 0);
    await t.notThrowsAsync(() => withdraw(forge, ref, head(), ['4242']));
  });

  test(`${name}: a reply to an inline comment is kept`, async (t) => {
    const { simulated, forge, ref, head } = await setUpPull(t, name);
    await forge.createInlineComments(ref, head(), [{ path: 'src/app.ts', line: 2, body: 'Two' }], []);
    const { inlineComments } = simulated.pull(SITE, ref.number);
    const [posted] = inlineComments;
    t.truthy(posted);
    if (posted !== undefined) {
      inlineComments.push({ ...posted, id: 1, author: 'alice', body: 'On purpose!' });
      await withdraw(forge, ref, head(), [String(posted.id)]);
    }
    t.deepEqual((await forge.ownInlineComments(ref, head())).comments, []);
    const bodies = simulated.pull(SITE, ref.number).inlineComments.map(({ body }) => body.split('\n')[0]);
    t.deepEqual(bodies, name === 'gitea' ? ['Resolved here.', 'On purpose!'] : ['On purpose!']);
  });
}

test('gitea: if deleting a comment works, none is struck out', async (t) => {
  const { simulated, forge, ref, head } = await setUpPull(t, 'gitea', {}, { keepsInlineComments: false });
  await forge.createInlineComments(ref, head(), TWO_AND_FOUR, []);
  const [two] = inOrder((await forge.ownInlineComments(ref, head())).comments);
  await withdraw(forge, ref, head(), [two?.id ?? '']);
  t.deepEqual(
    simulated.pull(SITE, ref.number).inlineComments.map(({ body }) => body),
    ['Four'],
  );
  t.is(simulated.count('PATCH'), 0);
});

test('gitea: inline comments that were posted, and answered by an error, are posted once', async (t) => {
  const { simulated, forge, ref, head } = await setUpPull(t, 'gitea');
  const fault = { kind: 'status', status: 500 } as const;
  simulated.fault({ method: 'POST', path: /\/reviews$/, afterwards: true, times: 1, fault });
  await forge.createInlineComments(ref, head(), TWO_AND_FOUR, []);
  t.deepEqual(
    simulated.pull(SITE, ref.number).inlineComments.map(({ body }) => body),
    ['Two', 'Four'],
  );
});

test('github: a line outside the diff rejects the whole review', async (t) => {
  const { forge, ref, head } = await setUpPull(t, 'github');
  const error = await forgeError(t, () =>
    forge.createInlineComments(
      ref,
      head(),
      [
        { path: 'src/app.ts', line: 2, body: 'In' },
        { path: 'README.md', line: 1, body: 'Out' },
      ],
      [],
    ),
  );
  t.is(error.kind, 'invalid');
  t.is(error.status, 422);
  t.regex(error.message, /must be part of the diff/);
  t.deepEqual((await forge.ownInlineComments(ref, head())).comments, []);
});

test('github: an inline comment whose line left the change has no line', async (t) => {
  const { simulated, forge, ref, head } = await setUpPull(t, 'github');
  await forge.createInlineComments(ref, head(), [{ path: 'src/app.ts', line: 2, body: 'Two' }], []);
  simulated.push(SITE, ref.number, { 'src/app.ts': 'one\ntwo\nthree\n' });
  t.is((await forge.ownInlineComments(ref, head())).comments[0]?.line, null);
});

for (const name of ['gitea', 'forgejo'] as const) {
  test(`${name}: comments of an interrupted review are not submitted with the next`, async (t) => {
    const { simulated, forge, ref, head } = await setUpPull(t, name);
    const pending = simulated.review(SITE, ref.number, 'gatehouse', 'pending');
    simulated.pull(SITE, ref.number).inlineComments.push({
      id: 1,
      author: 'gatehouse',
      body: 'Half-posted',
      at: pending.at,
      review: pending.id,
      path: 'src/app.ts',
      line: 2,
      text: '2',
      sha: head(),
    });

    const before = await forge.ownInlineComments(ref, head());
    t.deepEqual(before.comments, []);
    await forge.createInlineComments(ref, head(), [{ path: 'src/app.ts', line: 4, body: 'Four' }], before.reviews);
    t.deepEqual(
      (await forge.ownInlineComments(ref, head())).comments.map(({ body }) => body),
      ['Four'],
    );
  });
}
