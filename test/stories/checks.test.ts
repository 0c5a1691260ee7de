import { DOOR, openDoor, SECRET } from '../helpers/door.ts';
import { CLIENTS } from '../helpers/forges.ts';
import { forgesOf, shareStories, tellStory, workerComesBy } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import type { WebhookEvent } from '../simulated-forge/webhooks.ts';

/** Forgejo sends no webhook of a status. */
const FORGES = forgesOf(import.meta.url, ['github', 'gitea']);

const gatehouse = shareStories(test, [...FORGES, ...CLIENTS]);

const policy = (checks: string) => ({
  '.gatehouse.yml': `version: 1
rules:
  - id: ci
    require: { checks: ${checks} }
`,
});

for (const name of FORGES) {
  test(`${name}: a hundred checks of one commit cause few reviews`, async (t) => {
    await using story = await tellStory(name, policy("{ name: 'job *' }"), {}, DOOR);
    const { database } = story.door;
    const jobs = async (queue: string, state: string) => {
      const query = 'SELECT FROM gatehouse_jobs.job WHERE name = $1 AND state::text = $2';
      return (await database.query(query, [queue, state])).rowCount ?? 0;
    };
    const number = await story.open({ 'a.txt': 'a\n' });
    await workerComesBy(story);
    const before = await jobs('review', 'completed');
    for (let index = 0; index < 100; index++) {
      const job = { context: `job ${index}`, state: 'success', author: 'jenkins', description: '' };
      await story.tell({ kind: 'status', status: story.forge.setStatus(story.repository, story.head(number), job) });
    }
    t.is(await jobs('review-commit', 'created'), 1);
    await workerComesBy(story);
    t.is(story.status(number, 'gatehouse/main')?.state, 'success');
    // One of the checks, and one of the resync that a worker begins with.
    t.true((await jobs('review', 'completed')) - before <= 2);
  });

  test(`${name}: two Gatehouses that wait for each other stay pending`, async (t) => {
    await using story = await tellStory(name, policy("{ name: '*gatehouse/main' }"));
    const { forge, repository } = story;
    forge.addToken('token-of-other', 'other-gatehouse');
    const settings = {
      FORGE: name,
      FORGE_URL: forge.url,
      FORGE_TOKEN: 'token-of-other',
      STATUS_CONTEXT: 'other-gatehouse/{base}',
    };
    await using other = await openDoor(settings, { door: true, worker: true });
    const number = story.openSilently({ 'a.txt': 'a\n' });
    const { headSha } = forge.pull(repository, number);
    const tellBoth = async (event: WebhookEvent) => {
      await story.tell(event);
      await forge.deliver(`${other.url}/webhook`, repository, event, { secret: SECRET });
      await story.settled();
      await other.settling.settled(repository);
    };
    await tellBoth({ kind: 'pull-request', number, action: 'opened' });
    for (let round = 0; round < 2; round++) {
      for (const status of forge.statuses(repository, headSha)) {
        await tellBoth({ kind: 'status', status });
      }
    }
    const statuses = forge.statuses(repository, headSha);
    t.deepEqual([...new Set(statuses.map(({ context }) => context))].toSorted(), [
      'gatehouse/main',
      'other-gatehouse/main',
    ]);
    t.deepEqual([...new Set(statuses.map(({ state }) => state))], ['pending']);
  });
}

for (const name of CLIENTS) {
  test(`${name}: checks of some names or all cost the same requests`, async (t) => {
    const requests = async (checks: string) => {
      const scene = gatehouse(name).scene(policy(checks));
      const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }));
      return scene.forge.seen
        .filter(({ path }) => path.includes(`/${scene.repository}/`))
        .map(({ method, path }) => `${method} ${path.replace(scene.repository, '').replace(scene.head(number), '')}`)
        .filter((request) => /^(?:GET|.*graphql).*(?:check|statuses)/.test(request));
    };
    const named = await requests('{ name: build }');
    t.is(named.length, 2, named.join());
    t.deepEqual((await requests('{ all: true }')).toSorted(), named.toSorted());
  });
}
