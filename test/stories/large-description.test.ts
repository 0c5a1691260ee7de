import { CLIENTS, GITEAS } from '../helpers/forges.ts';
import { TITLED } from '../helpers/policies.ts';
import { shareStories } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const gatehouse = shareStories(test, CLIENTS, { env: { WEBHOOK_BODY_LIMIT: '25KiB' } });

/** A real Gitea takes it, lists it, and sends it with every webhook of the pull request. */
const LARGE = 'x'.repeat(40_000_000);
/** More than four times the limit, which is not even read, in as many characters as GitHub takes. */
const UNREAD = '\u{1f600}'.repeat(30_000);
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
