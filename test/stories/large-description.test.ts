import { TITLED } from '../helpers/policies.ts';
import { ALL_FORGES, resyncNow, type Story, tellStory } from '../helpers/story.ts';
import test from '../helpers/test.ts';

/** A real Gitea takes it, lists it, and sends it with every webhook of the pull request. */
const LARGE = 'x'.repeat(40_000_000);
/** More than four times a limit of 25 KiB, which is not even read, in as many characters as GitHub takes. */
const UNREAD = '\u{1f600}'.repeat(30_000);

/** Does what makes the forge send a webhook that is too large, and waits for the resync that it starts. */
async function untilResynced(story: Story, act: () => Promise<unknown>): Promise<void> {
  const since = new Date();
  await act();
  await story.resynced(since);
  await story.settled();
}

for (const name of ALL_FORGES) {
  test.serial(`${name}: no success outlives a change where pull requests cannot be listed`, async (t) => {
    await using story = await tellStory(name, TITLED);
    const { forge, repository } = story;
    const number = await story.open({ 'a.txt': 'a\n' }, { title: 'feat: a' });
    await story.settled();
    t.is(story.status(number)?.state, 'success');
    forge.edit(repository, number, { title: 'Bad' });
    forge.fault({ path: /\/graphql$/, fault: { kind: 'status', status: 502 } });
    forge.fault({ path: new RegExp(`^/repos/${repository}/pulls$`), fault: { kind: 'status', status: 502 } });
    await resyncNow(story);
    t.is(story.status(number)?.state, 'failure');
  });
}

for (const name of ALL_FORGES) {
  test.serial(`${name}: no pull request stays green because its webhook is too large`, async (t) => {
    await using story = await tellStory(name, TITLED, { WEBHOOK_BODY_LIMIT: '100KiB' });
    const number = await story.open({ 'a.txt': 'a\n' }, { title: 'feat: a' });
    await story.settled();
    t.is(story.status(number)?.state, 'success');
    const change = { title: 'Bad', body: 'x"\n'.repeat(60_000) };
    await untilResynced(story, () => t.throwsAsync(story.edit(number, change), { message: /answered 413/ }));
    t.is(story.status(number)?.state, 'failure');
  });

  for (const closing of ['heard', 'unheard'] as const) {
    test.serial(`${name}: no reopened pull request is green unheard, its closing ${closing}`, async (t) => {
      await using story = await tellStory(name, TITLED, { WEBHOOK_BODY_LIMIT: '25KiB' });
      const number = await story.open({ 'a.txt': 'a\n' }, { title: 'feat: a' });
      await story.settled();
      t.is(story.status(number)?.state, 'success');
      const change = { title: 'Bad', body: UNREAD };
      if (closing === 'heard') {
        await story.close(number);
        await story.settled();
        await t.throwsAsync(story.edit(number, change), { message: /answered 413/ });
      } else {
        await t.throwsAsync(story.edit(number, change), { message: /answered 413/ });
        await t.throwsAsync(story.close(number), { message: /answered 413/ });
        await resyncNow(story);
      }
      await t.throwsAsync(story.reopen(number), { message: /answered 413/ });
      await story.settled();
      t.is(story.status(number)?.state, 'pending');
      await resyncNow(story);
      t.is(story.status(number)?.state, 'failure');
    });
  }

  const fate = name === 'github' ? 'is found by the resync' : 'counts once it is posted under a short one';
  test.serial(`${name}: an override under a description that is too large ${fate}`, async (t) => {
    const policy = `${TITLED['.gatehouse.yml']}override: { by: [bob] }\n`;
    await using story = await tellStory(name, { '.gatehouse.yml': policy }, { WEBHOOK_BODY_LIMIT: '100KiB' });
    const number = await story.open({ 'a.txt': 'a\n' }, { title: 'Bad', body: 'short' });
    await story.settled();
    t.is(story.status(number)?.state, 'failure');
    const body = 'x"\n'.repeat(60_000);
    await untilResynced(story, () => t.throwsAsync(story.edit(number, { body }), { message: /answered 413/ }));
    const command = `/gatehouse override conventional-title ${story.forge.pull(story.repository, number).headSha} because`;
    // GitHub's and Gitea's own: the issue that was commented on carries the description.
    const commented = () => t.throwsAsync(story.comment(number, 'bob', command), { message: /answered 413/ });
    await untilResynced(story, commented);
    if (name !== 'github') {
      // Nothing but the webhook tells what was posted.
      t.is(story.status(number)?.state, 'failure');
      t.regex(story.comments(number).join(), /its webhook has not arrived\. If this stays, post it again/);
      await story.edit(number, { body: 'short' });
      await story.comment(number, 'bob', command);
      await story.settled();
    }
    t.is(story.status(number)?.state, 'success');
  });
}

for (const name of ['gitea', 'forgejo'] as const) {
  test.serial(`${name}: no pull request stays green because its description is too large`, async (t) => {
    await using story = await tellStory(name, TITLED);
    const { forge, repository } = story;
    const number = await story.open({ 'a.txt': 'a\n' }, { title: 'feat: a' });
    const other = await story.open({ 'b.txt': 'b\n' }, { title: 'feat: b' });
    await story.settled();
    // The webhooks of the one are answered 413, that of the other is lost.
    forge.edit(repository, number, { title: 'Bad', body: LARGE });
    forge.edit(repository, other, { title: 'Bad' });
    await resyncNow(story);
    t.is(story.status(other)?.state, 'failure');
    t.is(story.status(number)?.state, 'error');
    forge.edit(repository, number, { body: '' });
    await resyncNow(story);
    t.is(story.status(number)?.state, 'failure');
  });
}
