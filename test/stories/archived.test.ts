import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExecutionContext } from 'ava';
import { DOOR } from '../helpers/door.ts';
import { CLIENTS } from '../helpers/forges.ts';
import { TITLES } from '../helpers/policies.ts';
import { REPOSITORY, shareStories, tellStory, workerComesBy } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const gatehouse = shareStories(test, CLIENTS);

const LAX = TITLES.replace('^feat: ', '');

async function policyFile(t: ExecutionContext, text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-policy-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const file = join(folder, 'organisation.yml');
  await writeFile(file, text);
  return file;
}

for (const name of CLIENTS) {
  test(`${name}: nothing is written to an archived repository, and little is read`, async (t) => {
    const file = await policyFile(t, LAX);
    await using story = await tellStory(name, {}, {}, DOOR);
    const { forge } = story;
    const judged = await story.open({ 'a.txt': 'a\n' }, { title: 'things' });
    await workerComesBy(story, { POLICY_FILE: file });
    t.is(story.status(judged)?.state, 'success');

    const silent = story.openSilently({ 'b.txt': 'b\n' }, { title: 'things' });
    forge.archive(REPOSITORY);
    await story.tell({ kind: 'pull-request', number: judged, action: 'labeled' });
    await writeFile(file, TITLES);
    forge.forgetRequests();
    await workerComesBy(story, { POLICY_FILE: file });
    t.is(forge.writes(), 0);
    t.is(story.status(silent), undefined);
    t.deepEqual(await story.deadLetters(), []);
    forge.forgetRequests();
    await workerComesBy(story, { POLICY_FILE: file });
    t.deepEqual(
      forge.seen
        .filter(({ path }) => path.includes(`/repos/${REPOSITORY}`))
        .map(({ path }) => path)
        .filter((path) => !path.includes('/hooks/')),
      // GitHub shows it in the overview of all repositories.
      name === 'github' ? [] : [`/repos/${REPOSITORY}/pulls`],
    );

    forge.unarchive(REPOSITORY);
    await workerComesBy(story, { POLICY_FILE: file });
    t.deepEqual([story.status(judged)?.state, story.status(silent)?.state], ['failure', 'failure']);
  });

  test(`${name}: verdicts of an archived repository count again when it is unarchived`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': TITLES });
    const { forge, repository } = scene;
    const bad = await scene.open({ 'a.txt': 'a\n' }, { title: 'things' });
    t.is(await scene.verdict(bad), 'failure');
    forge.archive(repository);
    await scene.settled(scene.tell({ kind: 'pull-request', number: bad, action: 'labeled' }));
    forge.unarchive(repository);
    const from = forge.fork(repository, 'twin');
    const head = forge.pull(repository, bad).headBranch;
    const good = forge.openPullRequest(repository, { from, head, title: 'feat: x' });
    t.is(await scene.judge(good), 'failure', 'the other pull request with this head still fails');
  });
}
