import { ALL_FORGES, forgesOf, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, ALL_FORGES, { own: true });

const POLICY = `version: 1
override: { by: [bob, '@acme/leads'] }
rules:
  - id: titled
    require: { title: '^feat: ' }
`;
const FILES = { '.gatehouse.yml': POLICY };

const commandFor = (scene: Scene, number: number, reason = 'hotfix 4711') =>
  `/gatehouse override titled ${scene.head(number)} ${reason}`;

/** A pull request that fails. */
async function opened(scene: Scene): Promise<number> {
  scene.forge.createTeam('acme/leads', ['carol']);
  return scene.settled(scene.open({ 'a.txt': 'a\n' }, { title: 'things' }));
}

for (const name of FORGES) {
  test(`${name}: an override lets one head through, and shows who and why`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = await opened(scene);
    t.is(scene.status(number)?.state, 'failure');
    const line =
      /\n```\n(\/gatehouse override titled [0-9a-f]{40} )\n```\n/.exec(scene.comments(number).join())?.[1] ?? '';
    t.is(line.trim(), commandFor(scene, number, '').trim());

    await scene.settled(scene.comment(number, 'carol', `${line}hotfix 4711\r\n\r\nSee the chat.`));
    t.deepEqual(scene.status(number), { state: 'success', description: '1 rule overridden: hotfix 4711' });
    t.regex(scene.comments(number).join(), /\| 🔓 \| `titled` \| `carol`: `hotfix 4711` \|/);

    await scene.push(number, { 'a.txt': 'b\n' });
    t.is(await scene.verdict(number), 'failure');
    t.false(scene.states(number).includes('success'));
    t.regex(
      scene.comments(number).join(),
      /The override of `titled` by `carol` names the commit `[0-9a-f]{10}`, which is not/,
    );
  });

  test(`${name}: an override ends with an edit of its comment, also when undone, and with its deletion`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = await opened(scene);
    const text = commandFor(scene, number);
    const comment = await scene.comment(number, 'bob', text);
    t.is(await scene.verdict(number), 'success');

    // In the second of the posting, mostly: Gitea and Forgejo show the same times as before.
    await scene.editComment(number, 'alice', comment, `${text}!`);
    t.is(await scene.verdict(number), 'failure');
    t.regex(scene.comments(number).join(), /The override of `titled` by `bob` was edited\./);
    await scene.editComment(number, 'alice', comment, text);
    t.is(await scene.verdict(number), 'failure');

    const again = await scene.comment(number, 'bob', text);
    t.is(await scene.verdict(number), 'success');
    await scene.deleteComment(number, 'alice', again);
    t.is(await scene.verdict(number), 'failure');
    t.notRegex(scene.comments(number).join(), /🔓/);
  });

  test(`${name}: what Gatehouse cannot do is answered once, and the answer starts nothing`, async (t) => {
    const withoutOverride = POLICY.replace(/^override.*\n/m, '');
    for (const [policy, said, answer] of [
      [POLICY, ['/gatehouse', '/gatehouse help', '/gatehouse overide it'], /\/gatehouse recheck/],
      [withoutOverride, [`/gatehouse override titled ${'a'.repeat(40)} why`, '/gatehouse help'], /knows two commands/],
    ] as const) {
      const scene = gatehouse(name).scene({ '.gatehouse.yml': policy });
      const number = await opened(scene);
      for (const text of said) {
        await scene.settled(scene.comment(number, 'dave', text));
      }
      const [comment = '', answered = '', ...more] = scene.comments(number);
      t.deepEqual([scene.states(number), more], [['failure'], []]);
      t.regex(answered, answer);
      t.false(answered.startsWith('/gatehouse'));
      t.notRegex(comment, /Overrides that do not count/);
    }
  });

  test(`${name}: nothing is answered where no policy applies, or no comment is wanted`, async (t) => {
    for (const files of [{ 'README.md': 'Hello\n' }, { '.gatehouse.yml': `${POLICY}comments: off\n` }]) {
      const scene = gatehouse(name).scene(files);
      const number = await opened(scene);
      await scene.settled(scene.comment(number, 'dave', '/gatehouse help'));
      t.deepEqual(scene.comments(number), []);
    }
  });

  test(`${name}: a recheck judges again, for the author and writers, once a minute`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const { forge, repository } = scene;
    const number = await opened(scene);
    const reviewed = async () =>
      (
        await scene.door.database.query<{ at: Date }>(
          'SELECT reviewed_at AS at FROM gatehouse.reviews WHERE repository = $1 AND pull_request = $2',
          [repository, number],
        )
      ).rows[0]?.at.getTime();
    forge.addOutsider('mallory');
    const first = await reviewed();
    await scene.settled(scene.comment(number, 'mallory', '/gatehouse recheck'));
    t.is(await reviewed(), first, 'not for somebody who may not write');
    // No webhook tells of it.
    forge.edit(repository, number, { title: 'feat: things' });
    await scene.comment(number, 'alice', '/gatehouse recheck');
    t.is(await scene.verdict(number), 'success');
    const second = await reviewed();
    t.not(second, first);
    const setRechecked = (to: string) =>
      scene.door.database.query(
        `UPDATE gatehouse.reviews SET rechecked_at = ${to} WHERE repository = $1 AND pull_request = $2`,
        [repository, number],
      );
    // So that the minute is not over, however long this test takes.
    await setRechecked("rechecked_at + interval '1 hour'");
    await scene.settled(scene.comment(number, 'bob', '/gatehouse recheck'));
    t.is(await reviewed(), second, 'not twice in a minute');
    await setRechecked("now() - interval '61 seconds'");
    await scene.settled(scene.comment(number, 'bob', '/gatehouse recheck'));
    t.not(await reviewed(), second, 'again after a minute');
    t.is(scene.comments(number).length, 1);
  });
}

// Serial: one resync at a time.
for (const name of FORGES) {
  test.serial(`${name}: a resync finds that the comment of an override is gone`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const { forge, repository } = scene;
    const counted = () => scene.metric('gatehouse_overrides_total');
    const number = await opened(scene);
    const before = await counted();
    const comment = await scene.comment(number, 'bob', commandFor(scene, number));
    t.is(await scene.verdict(number), 'success');
    t.is(await counted(), before + 1);

    await scene.edit(number, { body: 'Judged again' });
    t.is(await scene.verdict(number), 'success');
    t.is(await counted(), before + 1, 'each override once');

    forge.deleteComment(repository, number, comment);
    await scene.resync();
    t.is(scene.status(number)?.state, 'failure');
  });
}

for (const name of ALL_FORGES) {
  const found = name === 'github' ? 'is found by the next review' : 'never counts';
  test.serial(`${name}: an override whose webhook was lost ${found}`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
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
  const scene = gatehouse('gitea').scene(FILES);
  const { forge, repository } = scene;
  const number = await opened(scene);
  const comment = await scene.comment(number, 'bob', 'Thanks!');
  await scene.settled(scene.editComment(number, 'alice', comment, commandFor(scene, number)));
  editedAtOnce(scene, number, comment);
  forge.fault({ path: new RegExp(`^/repos/${repository}`), fault: { kind: 'status', status: 404 } });
  await scene.resync();
  forge.clearFaults();
  await scene.edit(number, { body: 'Judged again' });
  t.is(await scene.verdict(number), 'failure');
  t.regex(scene.comments(number).join(), /by `bob` was edited\./);
});

test.serial('gitea: a webhook for another pull request does not hide the edit of a comment', async (t) => {
  const scene = gatehouse('gitea').scene(FILES);
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
