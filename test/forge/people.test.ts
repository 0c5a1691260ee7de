import test from '../helpers/test.ts';
import { eventually } from '../helpers/until.ts';
import { onBothForges, openTopic } from './forges.ts';
import { shareGatehouse } from './gatehouse.ts';
import { ask, call } from './reading.ts';

/** What a Gitea, simulated or real, tells of people: what they said, whose an address is, and who may write. */
const both = onBothForges(test);
const gatehouseOf = shareGatehouse(test);

const POLICY = `version: 1
override: { by: bob }
rules:
  - id: titled
    require: { title: '^feat: ' }
`;

both('a comment that is edited into a command within its second is none', async (t, forge) => {
  const gatehouse = await gatehouseOf(forge);
  const site = await gatehouse.site({ '.gatehouse.yml': POLICY });
  const sha = await site.push('topic', { 'app.ts': 'one\n' });
  const number = await site.open('topic', { title: 'things' });
  await site.expect(t, sha, 'failure');
  const comment = await site.comment(number, 'bob', 'Thanks!');
  await site.editComment(number, 'alice', comment, `/gatehouse override titled ${sha} hotfix 4711`);
  await eventually('the edit is known', async () =>
    /The override of `titled` by `bob` was edited\./.test((await site.comments(number)).join()),
  );
  t.false((await site.states(sha)).includes('success'));
});

both('comments are read with what shows that they may be edited', async (t, forge) => {
  const { site, client, number, ref } = await openTopic(t, forge);
  const id = await site.comment(number, 'bob', 'one');
  const [comment] = await client.comments(ref);
  t.like(comment, { id: String(id), author: 'bob', bot: false, body: 'one', edited: 'no-by-seconds' });
  await eventually('the next second', async () => Date.now() > Date.parse(comment?.createdAt ?? '') + 1_500);
  await site.editComment(number, 'alice', id, 'two');
  t.like((await client.comments(ref))[0], { author: 'bob', body: 'two', edited: 'yes' });
});

both('who may write is known without being an administrator', async (t, forge) => {
  const { site, client, number, path } = await openTopic(t, forge);
  await site.comment(number, 'bob', 'one');
  await site.comment(number, 'mallory', 'two');
  const { permissions } = await ask<{ permissions: object }>(forge, path);
  t.deepEqual(permissions, { admin: false, push: true, pull: true }, 'the account may write, and no more');
  const asked = async (login: string) => (await call(forge, 'GET', `${path}/collaborators/${login}/permission`)).status;
  t.deepEqual([await asked('bob'), await asked('gatehouse')], [403, 200]);
  const told = ['alice', 'Bob', 'mallory', 'nobody'].map(client.writeAccess(site.repository));
  t.deepEqual(await Promise.all(told), ['yes', 'yes', 'no', 'no']);
});

both('an address is known to be an account’s that may write, or the one that hides it', async (t, forge) => {
  const { site, client, number } = await openTopic(t, forge);
  await site.review(number, 'bob', 'approved');
  const addresses = ['bob@example.test', 'bob@noreply.localhost', 'bob@elsewhere.test'];
  const named = addresses.map((address) => ({ address, sha: '' }));
  const accounts = await client.accounts(site.repository, named);
  t.deepEqual([...accounts.values()], ['bob', 'bob', null]);
});
