import type { ExecutionContext } from 'ava';
import type { ForgeName } from '../../src/forges/port/forges.ts';
import { countBaselines } from '../../src/jobs/tables/baselines.ts';
import { DOOR, SECRET, WORKER } from '../helpers/door.ts';
import { makeSimulatedSite, type SimulatedSite } from '../helpers/simulated-site.ts';
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
async function tellWithBaseline(name: ForgeName, files: Changes) {
  const story = await tellStory(name, {}, SETTING, DOOR);
  story.forge.createRepository(BASELINE, files);
  return story;
}

/** What people do in the policy repository, with its webhooks. */
function baselineOf({ forge, door }: Story): SimulatedSite {
  const site = makeSimulatedSite(forge, BASELINE);
  site.sendTo(`${door.url}/webhook`, SECRET);
  return site;
}

/** A worker that starts, resyncs, and is stopped again, when the jobs are done. Returns the states that baselines are in, with their number. */
async function resyncs(story: Story, env: Readonly<Record<string, string>> = SETTING): Promise<string> {
  await workerComesBy(story, { POLICY_REPOSITORY: '', ...env }, [story.repository, BASELINE]);
  return [...(await countBaselines(story.door.database))].filter(([, owners]) => owners > 0).join();
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
      "SELECT rules->>'baselineCommit' AS commit, length(rules->>'baselineDigest') AS digest FROM gatehouse.reviews",
    );
    t.deepEqual(rows, [{ commit: tip, digest: 64 }]);
  });

  test(`${name}: a broken or lost baseline leaves the last good one, until POLICY_REPOSITORY is unset`, async (t) => {
    await using story = await tellWithBaseline(name, { '.gatehouse.yml': LOCKED });
    const first = await story.open(TWO_FILES);
    t.is(await resyncs(story), 'in-force,1');
    failsSmall(t, story, first);
    await baselineOf(story).push('main', { '.gatehouse.yml': BROKEN });
    t.is(await resyncs(story), 'broken,1');
    const second = await story.open(TWO_FILES);
    await resyncs(story);
    failsSmall(t, story, second);
    story.forge.deleteRepository(BASELINE);
    t.is(await resyncs(story), 'missing,1');
    const number = await story.open(TWO_FILES);
    await resyncs(story);
    failsSmall(t, story, number);
    t.is(await resyncs(story, {}), '', 'the operator has unset POLICY_REPOSITORY');
    t.not(story.status(number)?.state, 'failure');
  });

  test(`${name}: a pull request that breaks or removes the baseline fails`, async (t) => {
    await using story = await tellWithBaseline(name, { '.gatehouse.yml': LOCKED });
    const baseline = baselineOf(story);
    const proposed = [
      { '.gatehouse.yml': BROKEN },
      { '.gatehouse.yml': null },
      TWO_FILES,
      { '.gatehouse.yml': LENIENT },
    ];
    const numbers: number[] = [];
    for (const files of proposed) {
      numbers.push(await baseline.open(files));
    }
    await resyncs(story);
    const [breaking, removing, large, changing] = numbers.map((number) => baseline.status(number));
    const fault = { state: 'failure', description: '.gatehouse.yml as proposed has 1 fault' };
    t.deepEqual([breaking, removing], [fault, fault]);
    t.deepEqual(
      large,
      { state: 'failure', description: '1 of 1 rule failed: small' },
      'it is judged by its own baseline',
    );
    t.is(changing?.state, 'success');

    story.forge.commit(BASELINE, 'main', { '.gatehouse.yml': BROKEN });
    await resyncs(story);
    const fixing = await baseline.open({ '.gatehouse.yml': LENIENT });
    await resyncs(story);
    t.is(baseline.status(fixing)?.state, 'success', 'what fixes it can be merged');
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
  // One review after the other: of several at once, each may use up what another needs to end.
  await using _worker = await story.openDoor({ ...SETTING, WORKER_CONCURRENCY: '1' }, WORKER);
  // All are withdrawn at once; those for which there are requests are judged then.
  await until(() => !states().has('success') && states().has('failure'));
  t.deepEqual([...states()].toSorted(), ['failure', 'pending']);
});
