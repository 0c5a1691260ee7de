import { openDoor, SECRET } from '../helpers/door.ts';
import { tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';

const POLICY = { '.gatehouse.yml': "version: 1\nrules:\n  - id: title\n    require: { title: '^feat: ' }\n" };
const OTHER = 'globex/widgets';
const OTHER_TOKEN = 'token-of-the-other';
const OTHER_LOGIN = 'gatehouse-of-globex';

test('two installations, each with its database and owners, share a forge', async (t) => {
  await using story = await tellStory('github', POLICY);
  const { forge, door, repository } = story;
  forge.createRepository(OTHER, POLICY);
  forge.addToken(OTHER_TOKEN, OTHER_LOGIN);
  // A new database is filled with what the account may write to.
  forge.addOutsider(`${OTHER_LOGIN} of acme`);
  const waiting = story.openSilently({ 'c.txt': 'c\n' }, { title: 'feat: three' });
  await using other = await openDoor(
    { FORGE_URL: forge.url, FORGE_TOKEN: OTHER_TOKEN, FORGE: 'github' },
    { door: true, worker: true },
  );
  await until(
    async () =>
      (await other.database.query("SELECT FROM gatehouse.progress WHERE task = 'list-repositories'")).rows.length > 0,
  );
  forge.forgetRequests();

  const number = await story.open({ 'a.txt': 'a\n' }, { title: 'feat: one' });
  forge.commit(OTHER, 'topic', { 'b.txt': 'b\n' });
  const second = forge.openPullRequest(OTHER, { head: 'topic', title: 'something' });
  const event = { kind: 'pull-request', number: second, action: 'opened' } as const;
  await forge.deliver(`${other.url}/webhook`, OTHER, event, { secret: SECRET });
  await story.settled();
  const status = () => forge.statuses(OTHER, forge.pull(OTHER, second).headSha).at(-1)?.state;
  await until(() => status() === 'failure');

  t.is(story.status(number)?.state, 'success');
  t.is(story.status(waiting), undefined, 'the other one has nothing to do with it');
  t.deepEqual([...new Set((await door.deliveries()).map((row) => row.repository))], [repository]);
  t.deepEqual([...new Set((await other.deliveries()).map((row) => row.repository))], [OTHER]);
  const tokens = (name: string) =>
    new Set(forge.seen.filter(({ path }) => path.includes(name)).map(({ headers }) => headers['authorization']));
  t.is(tokens(`/${repository}/`).size, 1);
  t.is(tokens(`/${OTHER}/`).size, 1);
  t.notDeepEqual(tokens(`/${repository}/`), tokens(`/${OTHER}/`));
});
