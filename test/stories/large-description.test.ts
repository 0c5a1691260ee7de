import { CLIENTS, GITEAS } from '../helpers/forges.ts';
import { TITLED } from '../helpers/policies.ts';
import { type Scene, type Story, shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const gatehouse = shareStories(test, CLIENTS, { env: { WEBHOOK_BODY_LIMIT: '25KiB' } });

/** A real Gitea takes it, lists it, and sends it with every webhook of the pull request. */
const LARGE = 'x'.repeat(40_000_000);
/** More than four times the limit, which is not even read, in as many characters as GitHub takes. */
const UNREAD = '\u{1f600}'.repeat(30_000);
/** Over the limit, and read: its signature is checked, and it starts a resync. */
const READ = 'x"\n'.repeat(8_000);

/** Does what makes the forge send a webhook that is too large, and waits for the resync that it starts. */
async function untilResynced(story: Story, scene: Scene, act: () => Promise<unknown>): Promise<void> {
  const since = new Date();
  await act();
  await story.resynced(since);
  await scene.settled();
}

for (const name of CLIENTS) {
  test.serial(`${name}: no success outlives a change where pull requests cannot be listed`, async (t) => {
    const scene = gatehouse(name).scene(TITLED);
    const { forge, repository } = scene;
    const number = await scene.open({ 'a.txt': 'a\n' }, { title: 'feat: a' });
    t.is(await scene.verdict(number), 'success');
    forge.edit(repository, number, { title: 'Bad' });
    let fails = true;
    const listed = new RegExp(`/graphql$|^/repos/${repository}/pulls$`);
    const path = Object.assign(/^/, { test: (asked: string) => fails && listed.test(asked) });
    forge.fault({ path, fault: { kind: 'status', status: 502 } });
    await scene.resync();
    fails = false;
    t.is(scene.status(number)?.state, 'failure');
  });

  for (const closing of ['heard', 'unheard'] as const) {
    test.serial(`${name}: no reopened pull request is green unheard, its closing ${closing}`, async (t) => {
      const scene = gatehouse(name).scene(TITLED);
      const number = await scene.open({ 'a.txt': 'a\n' }, { title: 'feat: a' });
      t.is(await scene.verdict(number), 'success');
      const change = { title: 'Bad', body: UNREAD };
      if (closing === 'heard') {
        await scene.settled(scene.close(number));
        await t.throwsAsync(scene.edit(number, change), { message: /answered 413/ });
      } else {
        await t.throwsAsync(scene.edit(number, change), { message: /answered 413/ });
        await t.throwsAsync(scene.close(number), { message: /answered 413/ });
        await scene.resync();
      }
      await t.throwsAsync(scene.reopen(number), { message: /answered 413/ });
      t.is(await scene.verdict(number), 'pending');
      await scene.resync();
      t.is(scene.status(number)?.state, 'failure');
    });
  }

  const fate = name === 'github' ? 'is found by the resync' : 'counts once it is posted under a short one';
  test.serial(`${name}: an override under a description that is too large ${fate}`, async (t) => {
    const policy = `${TITLED['.gatehouse.yml']}override: { by: [bob] }\n`;
    const scene = gatehouse(name).scene({ '.gatehouse.yml': policy });
    const number = await scene.open({ 'a.txt': 'a\n' }, { title: 'Bad', body: 'short' });
    t.is(await scene.verdict(number), 'failure');
    await untilResynced(gatehouse(name), scene, () =>
      t.throwsAsync(scene.edit(number, { body: READ }), { message: /answered 413/ }),
    );
    const command = `/gatehouse override conventional-title ${scene.forge.pull(scene.repository, number).headSha} because`;
    // GitHub's and Gitea's own: the issue that was commented on carries the description.
    const commented = () => t.throwsAsync(scene.comment(number, 'bob', command), { message: /answered 413/ });
    await untilResynced(gatehouse(name), scene, commented);
    if (name !== 'github') {
      // Nothing but the webhook tells what was posted.
      t.is(scene.status(number)?.state, 'failure');
      t.regex(scene.comments(number).join(), /its webhook has not arrived\. If this stays, post it again/);
      await scene.edit(number, { body: 'short' });
      await scene.settled(scene.comment(number, 'bob', command));
    }
    t.is(scene.status(number)?.state, 'success');
  });
}

for (const name of GITEAS) {
  test.serial(`${name}: no pull request stays green because its description is too large`, async (t) => {
    const scene = gatehouse(name).scene(TITLED);
    const { forge, repository } = scene;
    const number = await scene.open({ 'a.txt': 'a\n' }, { title: 'feat: a' });
    const other = await scene.settled(scene.open({ 'b.txt': 'b\n' }, { title: 'feat: b' }));
    // The webhooks of the one are answered 413, that of the other is lost.
    forge.edit(repository, number, { title: 'Bad', body: LARGE });
    forge.edit(repository, other, { title: 'Bad' });
    await scene.resync();
    t.is(scene.status(other)?.state, 'failure');
    t.is(scene.status(number)?.state, 'error');
    forge.edit(repository, number, { body: '' });
    await scene.resync();
    t.is(scene.status(number)?.state, 'failure');
  });
}
