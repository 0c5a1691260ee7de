import { WORKER } from '../helpers/door.ts';
import { ALL_FORGES, type Story, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const POLICY = `version: 1
override: { by: bob }
rules:
  - id: titled
    require: { title: '^feat: ' }
`;

for (const name of ALL_FORGES) {
  test.serial(`${name}: a resync finds that the comment of an override is gone`, async (t) => {
    await using story = await tellStory(name, { '.gatehouse.yml': POLICY });
    const { forge, repository, door } = story;
    const counted = async () => {
      const page = await (await fetch(door.metricsUrl)).text();
      return Number(/^gatehouse_overrides_total (\d+)$/m.exec(page)?.[1]);
    };
    const number = await story.open({ 'a.txt': 'a\n' }, { title: 'things' });
    await story.settled();
    const command = `/gatehouse override titled ${forge.pull(repository, number).headSha} hotfix`;
    const comment = await story.comment(number, 'bob', command);
    await story.settled();
    t.is(story.status(number)?.state, 'success');
    t.is(await counted(), 1);

    await story.edit(number, { body: 'Judged again' });
    await story.settled();
    t.is(story.status(number)?.state, 'success');
    t.is(await counted(), 1, 'each override once');

    forge.deleteComment(repository, number, comment);
    const since = new Date();
    await using _another = await story.openDoor({ REDIS_URL: door.redisUrl }, WORKER);
    await story.resynced(since);
    await story.settled();
    t.is(story.status(number)?.state, 'failure');
  });

  const found = name === 'github' ? 'is found by the next review' : 'never counts';
  test.serial(`${name}: an override whose webhook was lost ${found}`, async (t) => {
    await using story = await tellStory(name, { '.gatehouse.yml': POLICY });
    const { forge, repository } = story;
    const number = await story.open({ 'a.txt': 'a\n' }, { title: 'things' });
    await story.settled();
    const command = `/gatehouse override titled ${forge.pull(repository, number).headSha} hotfix`;
    const { id } = forge.comment(repository, number, 'bob', command);
    // However long ago: whoever edited it may have chosen that no webhook arrives.
    const comment = forge.pull(repository, number).comments.find((candidate) => candidate.id === id);
    Object.assign(comment ?? {}, { at: new Date(Date.now() - 3_600_000).toISOString() });
    await story.edit(number, { body: 'Judged again' });
    await story.settled();
    t.is(story.status(number)?.state, name === 'github' ? 'success' : 'failure');
    if (name !== 'github') {
      t.regex(story.comments(number).join(), /its webhook has not arrived\. If this stays, post it again/);
      await story.comment(number, 'bob', command);
      await story.settled();
      t.is(story.status(number)?.state, 'success');
    }
  });
}

test.serial('gitea: the edit of a comment is still known after its repository was hidden', async (t) => {
  await using story = await tellStory('gitea', { '.gatehouse.yml': POLICY });
  const { forge, repository, door } = story;
  const number = await story.open({ 'a.txt': 'a\n' }, { title: 'things' });
  await story.settled();
  const comment = await story.comment(number, 'bob', 'Thanks!');
  await story.editComment(
    number,
    'alice',
    comment,
    `/gatehouse override titled ${forge.pull(repository, number).headSha} hotfix`,
  );
  await story.settled();
  editedAtOnce(story, number, comment);
  forge.fault({ path: new RegExp(`^/repos/${repository}`), fault: { kind: 'status', status: 404 } });
  const since = new Date();
  {
    await using _another = await story.openDoor({ REDIS_URL: door.redisUrl }, WORKER);
    await story.resynced(since);
    await story.settled();
  }
  forge.clearFaults();
  await story.edit(number, { body: 'Judged again' });
  await story.settled();
  t.is(story.status(number)?.state, 'failure');
  t.regex(story.comments(number).join(), /by `bob` was edited\./);
});

test.serial('gitea: a webhook for another pull request does not hide the edit of a comment', async (t) => {
  await using story = await tellStory('gitea', { '.gatehouse.yml': POLICY });
  const { forge, repository } = story;
  const number = await story.open({ 'a.txt': 'a\n' }, { title: 'things' });
  const other = await story.open({ 'b.txt': 'b\n' });
  await story.settled();
  const comment = forge.comment(repository, number, 'bob', 'Thanks!');
  const command = `/gatehouse override titled ${forge.pull(repository, number).headSha} hotfix`;
  // Whoever knows the webhook's secret can send it before the comment is posted: ids are consecutive.
  await story.tell({ kind: 'comment', number: other, comment: { ...comment, body: command }, action: 'created' });
  await story.settled();
  await story.tell({ kind: 'comment', number, comment, action: 'created' });
  await story.editComment(number, 'alice', comment.id, command);
  await story.settled();
  editedAtOnce(story, number, comment.id);
  await story.edit(number, { body: 'Judged again' });
  await story.settled();
  t.is(story.status(number)?.state, 'failure');
  t.regex(story.comments(number).join(), /by `bob` was edited\./);
});

/** As Gitea shows a comment that was edited in the second of its posting. */
function editedAtOnce({ forge, repository }: Story, number: number, id: number): void {
  const comment = forge.pull(repository, number).comments.find((candidate) => candidate.id === id);
  Object.assign(comment ?? {}, { editedAt: comment?.at });
}
