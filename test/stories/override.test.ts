import { forgesOf, type Scene, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

const gatehouse = shareStories(test, FORGES, { own: true });

const POLICY = `version: 1
override: { by: [bob, '@acme/leads'] }
rules:
  - id: titled
    require: { title: '^feat: ' }
`;
const FILES = { '.gatehouse.yml': POLICY };
const RED = { title: 'things' };

const headOf = ({ forge, repository }: Scene, number: number) => forge.pull(repository, number).headSha;
const commandFor = (scene: Scene, number: number, reason = 'hotfix 4711') =>
  `/gatehouse override titled ${headOf(scene, number)} ${reason}`;

/** A pull request that fails. */
async function opened(scene: Scene, details: Parameters<Scene['open']>[1] = RED): Promise<number> {
  scene.forge.createTeam('acme/leads', ['carol']);
  const number = await scene.settled(scene.open({ 'a.txt': 'a\n' }, { ...RED, ...details }));
  return number;
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

  test(`${name}: an override ends with an edit of its comment, also when undone`, async (t) => {
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
  });

  test(`${name}: an override ends when its comment is deleted`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = await opened(scene);
    const comment = await scene.comment(number, 'bob', commandFor(scene, number));
    t.is(await scene.verdict(number), 'success');
    await scene.deleteComment(number, 'alice', comment);
    t.is(await scene.verdict(number), 'failure');
    t.notRegex(scene.comments(number).join(), /🔓/);
  });

  test(`${name}: a command to override is answered once where the policy lets nobody`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': POLICY.replace(/^override.*\n/m, '') });
    const number = await opened(scene);
    await scene.settled(scene.comment(number, 'bob', commandFor(scene, number)));
    await scene.comment(number, 'bob', commandFor(scene, number));
    t.is(await scene.verdict(number), 'failure');
    const answers = scene.comments(number).filter((text) => text.includes('Gatehouse knows two commands'));
    t.is(answers.length, 1);
    t.notRegex(scene.comments(number).join(), /Overrides that do not count|<summary>Override/);
  });

  test(`${name}: an unknown command is answered once, and the answer starts nothing`, async (t) => {
    const scene = gatehouse(name).scene(FILES);
    const number = await opened(scene);
    for (const text of ['/gatehouse', '/gatehouse help', '/gatehouse overide it']) {
      await scene.settled(scene.comment(number, 'dave', text));
    }
    t.is(scene.comments(number).length, 2);
    t.regex(scene.comments(number).at(-1) ?? '', /\/gatehouse recheck/);
    t.false(scene.comments(number).at(-1)?.startsWith('/gatehouse'));
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
