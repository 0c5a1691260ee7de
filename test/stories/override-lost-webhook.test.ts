import type { ForgeName } from '../../src/forges/port/forges.ts';
import { ALL_FORGES, forgesOf, resyncNow, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, ALL_FORGES);

const POLICY = `version: 1
override: { by: bob }
rules:
  - id: titled
    require: { title: '^feat: ' }
`;

const tell = (name: ForgeName) => gatehouse(name).scene({ '.gatehouse.yml': POLICY });
const commandFor = (scene: Scene, number: number) => `/gatehouse override titled ${scene.head(number)} hotfix`;

/** A pull request that fails. */
async function opened(scene: Scene): Promise<number> {
  const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }, { title: 'things' }));
  return number;
}

// Serial: one resync at a time.
for (const name of FORGES) {
  test.serial(`${name}: a resync finds that the comment of an override is gone`, async (t) => {
    const scene = tell(name);
    const { forge, repository, door } = scene;
    const counted = async () => {
      const page = await (await fetch(door.metricsUrl)).text();
      return Number(/^gatehouse_overrides_total (\d+)$/m.exec(page)?.[1]);
    };
    const number = await opened(scene);
    const before = await counted();
    const comment = await scene.comment(number, 'bob', commandFor(scene, number));
    t.is(await scene.verdict(number), 'success');
    t.is(await counted(), before + 1);

    await scene.edit(number, { body: 'Judged again' });
    t.is(await scene.verdict(number), 'success');
    t.is(await counted(), before + 1, 'each override once');

    forge.deleteComment(repository, number, comment);
    await resyncNow(gatehouse(name));
    t.is(await scene.verdict(number), 'failure');
  });
}

for (const name of ALL_FORGES) {
  const found = name === 'github' ? 'is found by the next review' : 'never counts';
  test.serial(`${name}: an override whose webhook was lost ${found}`, async (t) => {
    const scene = tell(name);
    const { forge, repository } = scene;
    const number = await opened(scene);
    const command = commandFor(scene, number);
    const { id } = forge.comment(repository, number, 'bob', command);
    // However long ago: whoever edited it may have chosen that no webhook arrives.
    const comment = forge.pull(repository, number).comments.find((candidate) => candidate.id === id);
    Object.assign(comment ?? {}, { at: new Date(Date.now() - 3_600_000).toISOString() });
    await scene.edit(number, { body: 'Judged again' });
    t.is(await scene.verdict(number), name === 'github' ? 'success' : 'failure');
    if (name !== 'github') {
      t.regex(scene.comments(number).join(), /its webhook has not arrived\. If this stays, post it again/);
      await scene.comment(number, 'bob', command);
      t.is(await scene.verdict(number), 'success');
    }
  });
}

test.serial('gitea: the edit of a comment is still known after its repository was hidden', async (t) => {
  const scene = tell('gitea');
  const { forge, repository } = scene;
  const number = await opened(scene);
  const comment = await scene.comment(number, 'bob', 'Thanks!');
  await scene.settled(scene.editComment(number, 'alice', comment, commandFor(scene, number)));
  editedAtOnce(scene, number, comment);
  forge.fault({ path: new RegExp(`^/repos/${repository}`), fault: { kind: 'status', status: 404 } });
  await resyncNow(gatehouse('gitea'));
  await scene.settled();
  forge.clearFaults();
  await scene.edit(number, { body: 'Judged again' });
  t.is(await scene.verdict(number), 'failure');
  t.regex(scene.comments(number).join(), /by `bob` was edited\./);
});

test.serial('gitea: a webhook for another pull request does not hide the edit of a comment', async (t) => {
  const scene = tell('gitea');
  const { forge, repository } = scene;
  const number = await opened(scene);
  const other = await scene.settled(scene.open({ 'b.txt': 'b\n' }));
  const comment = forge.comment(repository, number, 'bob', 'Thanks!');
  const command = commandFor(scene, number);
  // Whoever knows the webhook's secret can send it before the comment is posted: ids are consecutive.
  await scene.tell({ kind: 'comment', number: other, comment: { ...comment, body: command }, action: 'created' });
  await scene.settled();
  await scene.tell({ kind: 'comment', number, comment, action: 'created' });
  await scene.settled(scene.editComment(number, 'alice', comment.id, command));
  editedAtOnce(scene, number, comment.id);
  await scene.edit(number, { body: 'Judged again' });
  t.is(await scene.verdict(number), 'failure');
  t.regex(scene.comments(number).join(), /by `bob` was edited\./);
});

/** As Gitea shows a comment that was edited in the second of its posting. */
function editedAtOnce({ forge, repository }: Scene, number: number, id: number): void {
  const comment = forge.pull(repository, number).comments.find((candidate) => candidate.id === id);
  Object.assign(comment ?? {}, { editedAt: comment?.at });
}
