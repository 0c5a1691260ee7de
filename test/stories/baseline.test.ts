import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import type { ForgeName } from '../../src/forges/port/forges.ts';
import { countBaselines } from '../../src/jobs/tables/baselines.ts';
import { DOOR, SECRET, WORKER } from '../helpers/door.ts';
import { forgesOf, REPOSITORY, type Story, tellStory, workerComesBy } from '../helpers/story.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';
import type { Changes } from '../simulated-forge/git.ts';

const FORGES = forgesOf(import.meta.url);

const BASELINE = 'acme/.gatehouse';
const SETTING = { POLICY_REPOSITORY: '.gatehouse' };
const TWO_FILES = { 'a.txt': 'a\n', 'b.txt': 'b\n' };

const LOCKED = `version: 1
rules:
  - id: small
    locked: true
    message: Ask security.
    require: { changed_files: '<= 1' }
`;
const LENIENT = LOCKED.replace('<= 1', '<= 9');
const BROKEN = 'version: 2\nrules: []\n';

/** A Gatehouse whose owner has a policy repository with these files. */
async function tellWithBaseline(name: ForgeName, baseline: Changes, own: Changes = {}, roles = DOOR): Promise<Story> {
  const story = await tellStory(name, own, SETTING, roles);
  story.forge.createRepository(BASELINE, baseline);
  return story;
}

/** A worker that starts, resyncs, and is stopped again, when the jobs are done. Returns the states that baselines are in, with their number. */
async function resyncs(story: Story, env: Readonly<Record<string, string>> = SETTING): Promise<string> {
  await workerComesBy(story, { POLICY_REPOSITORY: '', ...env }, [story.repository, BASELINE]);
  return [...(await countBaselines(story.door.database))].filter(([, owners]) => owners > 0).join();
}

async function pushToBaseline(story: Story, files: Changes): Promise<void> {
  story.forge.commit(BASELINE, 'main', files);
  const to = { secret: SECRET, deliveryId: randomUUID() };
  await story.forge.deliver(`${story.door.url}/webhook`, BASELINE, { kind: 'push', branch: 'main' }, to);
}

const failsSmall = (t: ExecutionContext, story: Story, number: number) =>
  t.regex(story.status(number)?.description ?? '', /^1 of \d rules? failed: small(?:@baseline)?$/);

for (const name of FORGES) {
  test(`${name}: a baseline judges a repository, whatever its own policy says`, async (t) => {
    await using story = await tellWithBaseline(name, {});
    const tip = story.forge.commit(BASELINE, 'main', { '.gatehouse.yml': LOCKED });
    const number = await story.open(TWO_FILES);
    await resyncs(story);
    failsSmall(t, story, number);
    story.forge.commit(REPOSITORY, 'main', {
      '.gatehouse.yml': `version: 1\ncomments: off\nrules: [{ id: small, level: info, require: { draft: false } }]\n`,
    });
    await story.tell({ kind: 'push', branch: 'main' });
    await resyncs(story);
    failsSmall(t, story, number);
    t.regex(story.comments(number).join(), /`small`/, 'shown, though the repository wants no comments');
    const { rows } = await story.door.database.query(
      "SELECT judged_by->>'baselineCommit' AS commit, length(judged_by->>'baselineDigest') AS digest FROM gatehouse.reviews",
    );
    t.deepEqual(rows, [{ commit: tip, digest: 64 }]);
  });

  test(`${name}: a locked rule is overridden only by those whom the baseline names`, async (t) => {
    const baseline = { '.gatehouse.yml': LOCKED.replace('rules:', 'override: { by: carol }\nrules:') };
    const own = { '.gatehouse.yml': 'version: 1\noverride: { by: bob }\ncomments: off\nrules: []\n' };
    await using story = await tellWithBaseline(name, baseline, own);
    const number = await story.open(TWO_FILES);
    const command = `/gatehouse override small ${story.head(number)} hotfix 4711`;
    await story.comment(number, 'bob', command);
    await resyncs(story);
    failsSmall(t, story, number);
    t.regex(story.comments(number).join(), /by `bob` was not written by one of those who may override it: `carol`\./);
    await story.comment(number, 'carol', command);
    await resyncs(story);
    t.is(story.status(number)?.description, '1 rule overridden: hotfix 4711');
    t.regex(
      story.comments(number).join(),
      /Overridden[\s\S]*`small` \| `carol`: `hotfix 4711`/,
      'though comments are off',
    );
  });

  test(`${name}: a broken, lost or unreadable baseline leaves the last good one`, async (t) => {
    await using story = await tellWithBaseline(name, { '.gatehouse.yml': LOCKED });
    const { forge } = story;
    const number = await story.open(TWO_FILES);
    t.is(await resyncs(story), 'in-force,1');
    failsSmall(t, story, number);

    await pushToBaseline(story, { '.gatehouse.yml': BROKEN });
    t.is(await resyncs(story), 'broken,1');
    const second = await story.open(TWO_FILES);
    await resyncs(story);
    failsSmall(t, story, second);

    forge.fault({ method: 'GET', path: /^\/repos\/acme\/\.gatehouse$/, fault: { kind: 'status', status: 403 } });
    t.is(await resyncs(story), 'unreadable,1');

    forge.deleteRepository(BASELINE);
    forge.clearFaults();
    t.is(await resyncs(story), 'missing,1');
    const third = await story.open(TWO_FILES);
    await resyncs(story);
    failsSmall(t, story, third);

    t.is(await resyncs(story, {}), '', 'the operator has unset POLICY_REPOSITORY');
    t.not(story.status(third)?.state, 'failure');
  });

  test(`${name}: a pull request that breaks or removes the baseline fails`, async (t) => {
    await using story = await tellWithBaseline(name, { '.gatehouse.yml': LOCKED });
    const { forge } = story;
    const openThere = async (files: Changes) => {
      const head = `topic-${randomUUID()}`;
      forge.commit(BASELINE, head, files);
      const number = forge.openPullRequest(BASELINE, { head });
      const to = { secret: SECRET, deliveryId: randomUUID() };
      await forge.deliver(
        `${story.door.url}/webhook`,
        BASELINE,
        { kind: 'pull-request', number, action: 'opened' },
        to,
      );
      return () => forge.statuses(BASELINE, forge.pull(BASELINE, number).headSha).at(-1);
    };
    const breaking = await openThere({ '.gatehouse.yml': BROKEN });
    const removing = await openThere({ '.gatehouse.yml': null });
    const changing = await openThere({ '.gatehouse.yml': LENIENT });
    const large = await openThere(TWO_FILES);
    await resyncs(story);
    t.like(breaking(), { state: 'failure', description: '.gatehouse.yml as proposed has 1 fault' });
    t.like(removing(), { state: 'failure', description: '.gatehouse.yml as proposed has 1 fault' });
    t.is(changing()?.state, 'success');
    t.like(large(), { state: 'failure', description: '1 of 1 rule failed: small' }, 'it is judged by its own baseline');

    forge.commit(BASELINE, 'main', { '.gatehouse.yml': BROKEN });
    await resyncs(story);
    const fixing = await openThere({ '.gatehouse.yml': LENIENT });
    await resyncs(story);
    t.is(fixing()?.state, 'success', 'what fixes it can be merged');
  });

  test(`${name}: a private baseline shows only id and message in public`, async (t) => {
    const policy = LOCKED.replace("require: { changed_files: '<= 1' }", "forbid: { files: 'vault-[0-9]/**' }");
    await using story = await tellWithBaseline(name, { '.gatehouse.yml': policy });
    const { forge } = story;
    const number = await story.open({ 'vault-1/a': 'a\n' });
    await resyncs(story);
    t.regex(story.comments(number).join(), /vault-\[0-9\]/);
    forge.setPrivate(BASELINE, true);
    await resyncs(story);
    const shown = [story.status(number)?.description, ...story.comments(number)].join('\n');
    t.regex(shown, /small/);
    t.regex(shown, /Ask security/);
    t.notRegex(shown, /vault/);
    t.is(story.status(number)?.state, 'failure');
    forge.setPrivate(REPOSITORY, true);
    await story.edit(number, { title: 'feat: another' });
    await resyncs(story);
    t.regex(story.comments(number).join(), /vault-\[0-9\]/, 'who reads this one may read the other');
  });

  test(`${name}: a private extended policy shows no conditions in public`, async (t) => {
    const policy = LOCKED.replace('    locked: true\n', '');
    const own = { '.gatehouse.yml': 'version: 1\nextends: acme/policies@main\nrules: []\n' };
    await using story = await tellStory(name, own, {}, DOOR);
    const { forge } = story;
    forge.createRepository('acme/policies', { '.gatehouse.yml': policy });
    forge.setPrivate('acme/policies', true);
    const number = await story.open(TWO_FILES);
    await resyncs(story, {});
    const shown = [story.status(number)?.description, ...story.comments(number)].join('\n');
    t.regex(shown, /Ask security/);
    t.notRegex(shown, /<= 1|changed files/);
    forge.commit('acme/policies', 'main', { '.gatehouse.yml': 'version: 1\nrules: [{ id: hunter2, requires: x }]\n' });
    await story.edit(number, { title: 'feat: another' });
    await resyncs(story, {});
    t.is(story.status(number)?.state, 'error');
    t.notRegex([story.status(number)?.description, ...story.comments(number)].join('\n'), /hunter2|requires/);
  });
}

const PULL_REQUESTS = 10;

test("github: one owner's rate limit does not hold up the resync of the others", async (t) => {
  const asApp = ({ app }: Story['forge']) => {
    app.install('acme');
    app.install('other');
    return { FORGE_TOKEN: '', GITHUB_APP_ID: app.id, GITHUB_APP_PRIVATE_KEY: app.privateKey, ...SETTING };
  };
  const own = { '.gatehouse.yml': "version: 1\nrules:\n  - id: title\n    require: { title: '^feat: ' }\n" };
  await using story = await tellStory('github', own, asApp, DOOR);
  const { forge, door } = story;
  story.openSilently({ 'a.txt': 'a\n' }, { title: 'feat: a' });
  forge.createRepository('other/site', own);
  forge.commit('other/site', 'topic', { 'a.txt': 'a\n' });
  const number = forge.openPullRequest('other/site', { head: 'topic', title: 'feat: a' });
  await door.database.query("INSERT INTO gatehouse.repositories (name) VALUES ($1), ('other/site')", [REPOSITORY]);
  // What the installation of acme has left is used up for ten minutes.
  forge.fault({ path: /^\/repos\/acme\/[^/]+(?:$|\/(?!installation))/, fault: { kind: 'too-many', retryAfter: 600 } });
  await using _worker = await story.openDoor({ REDIS_URL: door.redisUrl }, WORKER);
  const { headSha } = forge.pull('other/site', number);
  await until(() => forge.statuses('other/site', headSha).at(-1)?.state === 'success');
  t.is(forge.statuses('other/site', headSha).at(-1)?.state, 'success');
});

test('github: a changed baseline leaves no success standing that waits for requests', async (t) => {
  await using story = await tellWithBaseline('github', { '.gatehouse.yml': LENIENT });
  const { forge } = story;
  const numbers: number[] = [];
  for (let index = 0; index < PULL_REQUESTS; index++) {
    numbers.push(await story.open({ [`${index}.txt`]: 'a\n', 'b.txt': 'b\n' }));
  }
  await resyncs(story);
  const states = () => new Set(numbers.map((number) => story.status(number)?.state));
  t.deepEqual([...states()], ['success']);

  forge.commit(BASELINE, 'main', { '.gatehouse.yml': LOCKED });
  // Some reviews, and what is kept for statuses.
  forge.rateLimit.remaining = 100 + 5 * PULL_REQUESTS;
  forge.graphql.points.remaining = 100;
  await using _worker = await story.openDoor(SETTING, WORKER);
  // All are withdrawn at once; those for which there are requests are judged then.
  await until(() => !states().has('success') && states().has('failure'));
  t.deepEqual([...states()].toSorted(), ['failure', 'pending']);
});
