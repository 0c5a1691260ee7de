import { statusDescription } from '../../../src/forges/port/postings.ts';
import test from '../../helpers/test.ts';
import { forgeError, SITE, setUpPull } from './setup.ts';

/** What the simulated forges refuse and other tests would not miss. */
test('github: what GitHub refuses is refused', async (t) => {
  // Requests that Gatehouse never sends.
  const { simulated, ref, sha } = await setUpPull(t, 'github', {}, { checked: false });
  const statuses = `/statuses/${sha}`;
  const comments = `/issues/${ref.number}/comments`;
  const outside = { path: 'src/app.ts', line: 40, side: 'RIGHT', body: 'x' };
  for (const [path, body, status] of [
    [statuses, { state: 'success', description: 'x'.repeat(141) }, 422],
    [statuses, { state: 'success', description: '\u{1f525}' }, 422],
    [statuses, { state: 'success', context: '\u{1f525}' }, 422],
    [statuses, { state: 'warning' }, 422],
    [statuses, { state: 'success', description: 'x'.repeat(140) }, 201],
    [comments, { body: 'x'.repeat(65_537) }, 422],
    [comments, { body: '' }, 422],
    [`/pulls/${ref.number}/reviews`, { event: 'COMMENT', comments: [outside] }, 422],
    ['/issues/99/comments', { body: 'x' }, 404],
  ] as const) {
    const headers = { authorization: `token ${simulated.token}` };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const response = await fetch(`${simulated.url}/api/v3/repos/${SITE}${path}`, init);
    t.is(response.status, status, JSON.stringify(body).slice(0, 80));
  }
});

test('github: a commit takes 1,000 statuses of a context of any case', async (t) => {
  const { simulated, forge, head } = await setUpPull(t, 'github');
  for (let set = 0; set < 1_000; set += 1) {
    simulated.setStatus(SITE, head(), {
      context: set % 2 === 0 ? 'ci' : 'CI',
      state: 'pending',
      description: '',
      author: 'alice',
    });
  }
  const status = { state: 'success', description: statusDescription('') } as const;
  const refused = await forgeError(t, () => forge.setStatus(SITE, head(), { ...status, context: 'Ci' }));
  t.is(refused.kind, 'invalid');
  t.regex(refused.message, /maximum number of statuses/);
  await t.notThrowsAsync(forge.setStatus(SITE, head(), { ...status, context: 'other' }));
});

test('github: a write beyond the content limit is refused for a minute', async (t) => {
  const { simulated, forge, head } = await setUpPull(t, 'github');
  simulated.contentLimit.perMinute = 2;
  const write = () =>
    forge.setStatus(SITE, head(), { context: 'ci', state: 'success', description: statusDescription('') });
  await write();
  await write();
  const begin = Date.now();
  const refused = await forgeError(t, write);
  t.is(refused.kind, 'rate-limited');
  const { retryAt = 0 } = refused;
  t.true(retryAt > begin && retryAt <= Date.now() + 60_000);
});

test('gitea: a request that Gitea does not describe is found', async (t) => {
  const { simulated } = await setUpPull(t, 'gitea', {}, { checked: true });
  const headers = { authorization: `token ${simulated.token}`, 'user-agent': 'gatehouse' };
  await fetch(`${simulated.url}/api/v1/repos/${SITE}/pulls?limit=100`, { headers });
  t.throws(() => simulated.assertValid(), { message: /query \/limit is over 50/ });
});
