import type { ExecutionContext } from 'ava';
import { statusDescription } from '../../src/forges/port/postings.ts';
import { signatureOf } from '../helpers/signature.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';
import { clientOf, onBothForges, postInlines, refOf } from './forges.ts';
import { receive } from './receiver.ts';
import type { TestForge } from './test-forge.ts';

/** The webhooks of the documented events, as the simulated Gitea and the real one send them. */
const both = onBothForges(test);

const SECRET = 'a secret of some length';
const FILES = { 'app.ts': 'one\ntwo\n' };

/** An open pull request and a receiver of webhooks, which has those of its opening. */
async function openTopic(t: ExecutionContext, forge: TestForge) {
  const site = await forge.site(FILES);
  const receiver = await receive(t, forge.listenOn);
  await site.hook(receiver.port, SECRET);
  const sha = await site.push('topic', { 'app.ts': 'one\n2\n' });
  const number = await site.open('topic');
  await until(() => ['push/refs/heads/topic', 'pull_request/opened'].every((name) => receiver.names().includes(name)));
  return { site, receiver, sha, number };
}

both('webhooks are signed over their exact bytes', async (t, forge) => {
  const { site, receiver, number } = await openTopic(t, forge);
  const opened = receiver.received.find(({ payload }) => payload.action === 'opened');
  t.is(opened?.headers['x-hub-signature-256'], signatureOf(opened?.body ?? '', SECRET));
  t.regex(opened?.headers['x-gitea-delivery']?.toString() ?? '', /^[0-9a-f-]{36}$/);
  t.is(opened?.headers['x-gitea-hook-installation-target-type'], 'repository');
  t.like(opened?.payload, { number, repository: { full_name: site.repository }, sender: { login: 'alice' } });
});

both('each kind of change has its event and its action', async (t, forge) => {
  const { site, receiver, number } = await openTopic(t, forge);
  const told = async (act: () => Promise<unknown>, ...expected: readonly string[]) => {
    const already = receiver.received.length;
    await act();
    // A push and what it does to the pull request come in either order.
    const names = () => receiver.names().slice(already).toSorted();
    await until(() => names().length >= expected.length);
    t.deepEqual(names(), expected.toSorted());
  };
  await told(() => site.push('topic', { 'app.ts': 'one\n3\n' }), 'push/refs/heads/topic', 'pull_request/synchronized');
  await told(() => site.edit(number, { title: 'feat: another' }), 'pull_request/edited');
  await told(() => site.label(number, 'one', 'two'), 'pull_request/label_updated');
  await told(() => site.unlabel(number, 'one'), 'pull_request/label_updated');
  await told(() => site.clearLabels(number), 'pull_request/label_cleared');
  await told(() => site.requestReview(number, 'bob'), 'pull_request/review_requested');
  await told(() => site.push('release', { 'other.ts': 'other\n' }), 'push/refs/heads/release');
  await told(() => site.retarget(number, 'release'), 'pull_request/edited');
  await told(() => site.review(number, 'bob', 'changes-requested'), 'pull_request_rejected/reviewed');
  await told(() => site.review(number, 'bob', 'approved'), 'pull_request_approved/reviewed');
});

both('a dismissed approval sends no webhook', async (t, forge) => {
  const { site, receiver, number } = await openTopic(t, forge);
  const review = await site.review(number, 'bob', 'approved');
  await until(() => receiver.names().includes('pull_request_approved/reviewed'));
  const already = receiver.received.length;
  await site.dismiss(number, review);
  await site.edit(number, { title: 'feat: afterwards' });
  await until(() => receiver.names().includes('pull_request/edited'));
  t.deepEqual(receiver.names().slice(already), ['pull_request/edited']);
});

both('own comments and statuses come back as webhooks', async (t, forge) => {
  const { site, receiver, sha, number } = await openTopic(t, forge);
  const client = clientOf(t, forge);
  const already = receiver.received.length;
  await client.createComment(refOf(site, number), 'No command');
  await until(() => receiver.received.length > already);
  await client.setStatus(site.repository, sha, {
    context: 'gatehouse',
    state: 'pending',
    description: statusDescription('Looking at it'),
  });
  await until(() => receiver.received.length > already + 1);
  await postInlines(client, refOf(site, number), sha, [{ path: 'app.ts', line: 2, body: 'Two' }]);
  await until(() => receiver.received.length > already + 2);
  t.deepEqual(receiver.names().slice(already), [
    'issue_comment/created',
    'status/gatehouse',
    'pull_request_comment/reviewed',
  ]);
  for (const { payload } of receiver.received.slice(already)) {
    t.is(payload.sender.login, 'gatehouse');
  }
});

both('a commit status has its event, with commit, name and reporter', async (t, forge) => {
  const { site, receiver, sha } = await openTopic(t, forge);
  await site.setStatus('bob', sha, { context: 'ci/web', state: 'success' });
  await until(() => receiver.names().includes('status/ci/web'));
  const payload = receiver.received.find(({ payload: { context } }) => context === 'ci/web')?.payload;
  t.like(payload, { sha, state: 'success', sender: { login: 'bob' }, repository: { full_name: site.repository } });
});

both('a push lists its five newest commits', async (t, forge) => {
  const site = await forge.site(FILES);
  const receiver = await receive(t, forge.listenOn);
  await site.hook(receiver.port, SECRET);
  const tip = await site.push('main', ...Array.from({ length: 7 }, (_, index) => ({ 'app.ts': `${index}\n` })));
  const pushed = () => receiver.received.find(({ payload }) => payload.after === tip);
  await until(() => pushed() !== undefined);
  const { commits = [], total_commits } = pushed()?.payload ?? {};
  t.deepEqual([commits.length, total_commits, commits[0]?.id], [5, 7, tip]);
  t.deepEqual(commits[0]?.modified, ['app.ts']);
});
