import { DOOR } from '../helpers/door.ts';
import { CLIENTS } from '../helpers/forges.ts';
import { TITLES } from '../helpers/policies.ts';
import { REPOSITORY, type Story, tellStory, workerComesBy } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const STRICT = TITLES.replace('^feat: ', '^never');
const FILES = { '.gatehouse.yml': TITLES };
const DAY_MS = 24 * 60 * 60_000;
const REPOSITORIES = 30;

/** A worker that starts, resyncs, and is stopped when the jobs of these repositories are done. Returns what it asked of repositories. */
async function resyncs(story: Story, ...repositories: readonly string[]): Promise<readonly string[]> {
  story.forge.forgetRequests();
  await workerComesBy(story, {}, repositories);
  return story.forge.seen.filter(({ path }) => path.startsWith('/repos/acme/')).map(({ path }) => path);
}

/** Many repositories of which nobody sends a webhook any more, three with a pull request that has its verdict. */
async function quietRepositories(story: Story) {
  const { forge, door } = story;
  const scenes = [story, ...Array.from({ length: REPOSITORIES - 1 }, () => story.scene(FILES))];
  const busy = scenes.slice(0, 3);
  const numbers = busy.map((scene) => scene.openSilently({ 'a.txt': 'a\n' }, { title: 'feat: a' }));
  // Of the last, each pull request is judged by the policy of a repository from which no delivery came.
  forge.createRepository('acme/common', FILES);
  const extending = { '.gatehouse.yml': 'version: 1\nextends: acme/common@main\nrules: []\n' };
  forge.commit(busy[2]?.repository ?? '', 'main', extending);
  forge.age(DAY_MS);
  const names = scenes.map(({ repository }) => repository);
  await door.database.query('INSERT INTO gatehouse.repositories (name) SELECT unnest($1::text[])', [names]);
  await resyncs(story, ...names);
  // A verdict has no comment, so that nothing has changed since.
  const states = () => busy.map((scene, index) => scene.status(numbers[index] ?? 0)?.state);
  const [first, second, third] = busy.map(({ repository }, index) => ({ repository, number: numbers[index] ?? 0 }));
  if (first === undefined || second === undefined || third === undefined) {
    throw new Error('there are too few repositories');
  }
  return { names, states, first, second, third };
}

for (const name of CLIENTS) {
  test(`${name}: a resync asks little of quiet repositories, and finds each change`, async (t) => {
    await using story = await tellStory(name, FILES, {}, DOOR);
    const { forge } = story;
    const { names, states, first, second } = await quietRepositories(story);
    t.deepEqual(states(), ['success', 'success', 'success']);
    const asked = await resyncs(story, ...names);
    const looks = asked.filter((path) => path.endsWith('/pulls'));
    t.is(looks.length, name === 'github' ? 0 : 1, 'every one has its turn, but for this it takes two days');
    t.true(asked.length < 6, asked.join('\n'));
    t.is(forge.count('POST', /^\/graphql$/), name === 'github' ? 1 : 0);

    forge.edit(first.repository, first.number, { title: 'things' });
    forge.commit(second.repository, 'main', { '.gatehouse.yml': STRICT });
    forge.commit('acme/common', 'main', { '.gatehouse.yml': STRICT });
    const opened = names.at(-1) ?? '';
    forge.commit(opened, 'topic', { 'b.txt': 'b\n' });
    const number = forge.openPullRequest(opened, { head: 'topic', title: 'feat: b' });
    await resyncs(story, ...names);
    t.deepEqual(states(), ['failure', 'failure', 'failure']);
    t.is(forge.statuses(opened, forge.pull(opened, number).headSha).at(-1)?.state, 'success');

    forge.merge(first.repository, first.number);
    await resyncs(story, ...names);
    const { rows } = await story.door.database.query('SELECT FROM gatehouse.reviews WHERE repository = $1', [
      first.repository,
    ]);
    t.is(rows.length, 0);
  });
}

test("github: one owner's rate limit does not keep the others' pull requests waiting", async (t) => {
  const asApp = ({ app }: Story['forge']) => {
    app.install('acme');
    app.install('other');
    const credentials = { FORGE_TOKEN: '', GITHUB_APP_ID: app.id, GITHUB_APP_PRIVATE_KEY: app.privateKey };
    return { ...credentials, POLICY_REPOSITORY: '.gatehouse' };
  };
  await using story = await tellStory('github', FILES, asApp, DOOR);
  const { forge, door } = story;
  const limited = story.openSilently({ 'a.txt': 'a\n' }, { title: 'feat: a' });
  forge.createRepository('other/site', FILES);
  forge.commit('other/site', 'topic', { 'a.txt': 'a\n' });
  const number = forge.openPullRequest('other/site', { head: 'topic', title: 'feat: a' });
  const stateOf = () => forge.statuses('other/site', forge.pull('other/site', number).headSha).at(-1)?.state;
  await door.database.query("INSERT INTO gatehouse.repositories (name) VALUES ($1), ('other/site')", [REPOSITORY]);
  // The first that is asked for: its policy repository. The installation has no requests left after that.
  forge.fault({ path: /^\/repos\/acme\/\.gatehouse$/, times: 1, fault: { kind: 'too-many', retryAfter: 600 } });
  await resyncs(story, 'other/site');
  t.is(stateOf(), 'success');
  t.is(story.status(limited), undefined);
  const { rows } = await door.database.query('SELECT name FROM gatehouse.repositories WHERE due');
  t.deepEqual(rows, [{ name: REPOSITORY }]);
});
