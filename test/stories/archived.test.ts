import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { FORGES, REPOSITORY, type Story, tellStory } from '../helpers/story.ts';

const TITLES = `version: 1
rules:
  - id: conventional-title
    require: { title: '^feat: ' }
`;
const LAX = TITLES.replace('^feat: ', '');
const DOOR = { door: true, worker: false };
const WORKER = { door: false, worker: true };

async function policyFile(t: ExecutionContext, text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-policy-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const file = join(folder, 'organisation.yml');
  await writeFile(file, text);
  return file;
}

async function resyncs(story: Story, file: string): Promise<void> {
  const started = new Date();
  await using _worker = await story.openDoor({ POLICY_FILE: file }, WORKER);
  await story.resynced(started);
  await story.settled();
}

for (const name of FORGES) {
  test(`${name}: nothing is written to an archived repository, and one request reads it`, async (t) => {
    const file = await policyFile(t, LAX);
    await using story = await tellStory(name, {}, {}, DOOR);
    const { forge } = story;
    const judged = await story.open({ 'a.txt': 'a\n' }, { title: 'things' });
    await resyncs(story, file);
    t.is(story.status(judged)?.state, 'success');

    const silent = story.openSilently({ 'b.txt': 'b\n' }, { title: 'things' });
    forge.archive(REPOSITORY);
    await story.tell({ kind: 'pull-request', number: judged, action: 'labeled' });
    await writeFile(file, TITLES);
    forge.forgetRequests();
    await resyncs(story, file);
    t.is(forge.writes(), 0);
    t.is(story.status(silent), undefined);
    t.is(
      (await story.door.database.query("SELECT FROM gatehouse_jobs.job WHERE name = 'review-dead-letters'")).rowCount,
      0,
    );
    forge.forgetRequests();
    await resyncs(story, file);
    t.deepEqual(
      forge.seen
        .filter(({ path }) => path.includes(`/repos/${REPOSITORY}`))
        .map(({ path }) => path)
        .filter((path) => !path.includes('/hooks/')),
      // GitHub shows it in the overview of all repositories.
      name === 'github' ? [] : [`/repos/${REPOSITORY}/pulls`],
    );

    forge.unarchive(REPOSITORY);
    await resyncs(story, file);
    t.deepEqual([story.status(judged)?.state, story.status(silent)?.state], ['failure', 'failure']);
  });

  test(`${name}: verdicts of an archived repository count again when it is unarchived`, async (t) => {
    const file = await policyFile(t, TITLES);
    await using story = await tellStory(name, {}, { POLICY_FILE: file });
    const { forge } = story;
    const bad = await story.open({ 'a.txt': 'a\n' }, { title: 'things' });
    await story.settled();
    t.is(story.status(bad)?.state, 'failure');
    forge.archive(REPOSITORY);
    await story.tell({ kind: 'pull-request', number: bad, action: 'labeled' });
    await story.settled();
    forge.unarchive(REPOSITORY);
    const from = forge.fork(REPOSITORY, 'twin');
    const good = forge.openPullRequest(REPOSITORY, {
      from,
      head: forge.pull(REPOSITORY, bad).headBranch,
      title: 'feat: x',
    });
    await story.tell({ kind: 'pull-request', number: good, action: 'opened' });
    await story.settled();
    t.is(story.status(good)?.state, 'failure', 'the other pull request with this head still fails');
  });
}
