import test from '../helpers/test.ts';
import { onBothForges, openTopic } from './forges.ts';
import { ask, call } from './reading.ts';

/** What a Gitea, simulated or real, tells of conversations at lines. */
const both = onBothForges(test);

const AT = { path: 'app.ts', line: 2, body: 'Why?' };

both('a conversation tells who began it and who has resolved it', async (t, forge) => {
  const { site, client, sha, number, ref, pull } = await openTopic(t, forge);
  const read = () => client.conversations(ref, sha);
  t.deepEqual(await read(), { conversations: [], complete: true });

  const comment = await site.commentInline(number, 'bob', AT);
  const { updated_at: before } = await ask<{ updated_at: string }>(forge, pull);
  const { conversations, complete } = await read();
  t.true(complete);
  t.is(conversations.length, 1);
  const open = { author: 'bob', bot: false, path: 'app.ts', line: 2, outdated: 'no', resolved: 'no' } as const;
  t.like(conversations[0], { ...open, resolvedBy: null });

  // Whoever opened it may resolve each.
  await site.resolve(number, 'alice', comment);
  t.like((await read()).conversations[0], { ...open, resolved: 'yes', resolvedBy: 'alice' });
  await site.resolve(number, 'bob', comment, false);
  t.like((await read()).conversations[0], { ...open, resolvedBy: null });
  t.is((await ask<{ updated_at: string }>(forge, pull)).updated_at, before, 'resolving shows in no list');

  const later = await site.push('topic', { 'app.ts': 'one\nzwei\nthree\n' });
  const { conversations: moved } = await client.conversations(ref, later);
  t.like(moved[0], { author: 'bob', line: 2, outdated: 'unknown', resolved: 'no' });
});

both('comments of one review at one line are one conversation, and Gatehouse’s own none', async (t, forge) => {
  const { site, client, sha, number, ref, pull } = await openTopic(t, forge);
  const comments = ['One', 'Two'].map((body) => ({ path: 'app.ts', new_position: 2, body }));
  const other = { path: 'app.ts', new_position: 4, body: 'Three' };
  const review = { event: 'COMMENT', comments: [...comments, other] };
  await call(forge, 'POST', `${pull}/reviews`, review);
  const own = (await client.conversations(ref, sha)).conversations;
  t.is(own.length, 0, 'the token is Gatehouse’s');

  await site.commentInline(number, 'bob', AT);
  await site.commentInline(number, 'bob', AT);
  t.is((await client.conversations(ref, sha)).conversations.length, 2, 'each review begins its own');
});
