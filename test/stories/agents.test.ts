import { forgesOf, shareStories, tellStory, workerComesBy } from '../helpers/story.ts';
import test from '../helpers/test.ts';

const FORGES = forgesOf(import.meta.url);

/** What is remembered of those who made a change: none of them is a second pair of eyes. */
const gatehouse = shareStories(test, FORGES, { env: { MACHINE_ACCOUNTS: 'coder, *-bot' } });

const APPROVED = `version: 1
override: { by: [bob, review-bot, carol] }
rules:
  - id: approved
    require: { approvals: 1 }
`;
const DOMAINS = { github: 'users.noreply.127.0.0.1', gitea: 'noreply.localhost', forgejo: 'noreply.localhost' };

for (const name of FORGES) {
  test(`${name}: a co-author who is amended away is still one`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    const message = `feat: it\n\nCo-authored-by: Bob <bob@${DOMAINS[name]}>`;
    scene.forge.commit(scene.repository, 'topic', { 'a.txt': 'a\n' }, { author: 'coder', message });
    const number = await scene.settled(scene.open('topic', { author: 'coder' }));
    scene.forge.forcePush(scene.repository, number, { 'a.txt': 'a\n' }, { author: 'coder', message: 'feat: it' });
    await scene.tell({ kind: 'pull-request', number, action: 'synchronize' });
    await scene.review(number, 'bob', 'approved');
    t.is(await scene.verdict(number), 'pending');
    t.regex(scene.comments(number).join(), /`bob`, who made a commit of this pull request that was there before/);
    const command = `/gatehouse override approved ${scene.head(number)} hotfix 4711`;
    await scene.comment(number, 'bob', command);
    await scene.comment(number, 'review-bot', command);
    t.is(await scene.verdict(number), 'pending');
    t.regex(scene.comments(number).join(), /by `bob` was written by someone who made a commit of this pull request/);
    t.regex(scene.comments(number).join(), /by `review-bot` was written by a bot/);
    t.false(scene.states(number).includes('success'));
    await scene.review(number, 'carol', 'approved');
    t.is(await scene.verdict(number), 'success');
  });

  test(`${name}: who made commits for another base branch may approve`, async (t) => {
    const scene = gatehouse(name).scene({ '.gatehouse.yml': APPROVED });
    const { forge, repository } = scene;
    forge.commit(repository, 'release', { 'r.txt': 'r\n' }, { author: 'bob' });
    forge.commit(repository, 'release', { 'r.txt': 'r2\n' }, { author: 'bob' });
    const tip = forge.head(repository, 'release');
    forge.commit(repository, 'topic', { 'a.txt': 'a\n', 'r.txt': 'r2\n' }, { author: 'coder', merging: [tip] });
    const number = await scene.settled(scene.open('topic', { author: 'coder' }));
    await scene.retarget(number, 'release');
    await scene.review(number, 'bob', 'approved');
    t.is(await scene.verdict(number), 'success', 'they were of the wrong base branch alone');
    await scene.retarget(number, 'main');
    t.is(await scene.verdict(number), 'pending');
  });

  test(`${name}: an account that becomes a machine takes its approval back`, async (t) => {
    await using story = await tellStory(name, { '.gatehouse.yml': APPROVED });
    const number = await story.open({ 'a.txt': 'a\n' });
    await story.review(number, 'approver', 'approved');
    t.is(await story.verdict(number), 'success');
    await workerComesBy(story, { MACHINE_ACCOUNTS: 'approver' });
    t.is(story.status(number)?.state, 'pending');
  });
}
