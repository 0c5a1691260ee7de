import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { statusDescription } from '../../../src/forges/port/postings.ts';
import { signatureOf } from '../../helpers/signature.ts';
import test from '../../helpers/test.ts';
import { FORGES, forgeError, openPullRequest, SITE, setUp, setUpPull } from './setup.ts';

const API = { github: '/api/v3', gitea: '/api/v1', forgejo: '/api/v1' } as const;
const SECRET = 'a secret of some length';

for (const name of FORGES) {
  test(`simulated ${name}: requests without a token are rejected`, async (t) => {
    const { simulated } = await setUp(t, name);
    for (const headers of [{}, { authorization: 'token wrong' }, { authorization: 'Bearer a.b.c' }]) {
      const response = await fetch(`${simulated.url}${API[name]}/repos/${SITE}/pulls`, { headers });
      t.is(response.status, 401);
    }
  });

  test(`simulated ${name}: webhooks have the forge’s headers and a valid signature`, async (t) => {
    const { simulated, ref, head } = await setUpPull(t, name);
    const received: { headers: IncomingHttpHeaders; body: string }[] = [];
    const server = createServer(async (request, response) => {
      received.push({ headers: request.headers, body: Buffer.concat(await request.toArray()).toString('utf8') });
      response.end();
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    t.teardown(() => server.close());
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/webhook`;
    const details = { secret: SECRET, hookId: '7', deliveryId: '0b989ba4-242f-11e5-81e1-c7b6966d2516' };
    await simulated.deliver(url, SITE, { kind: 'pull-request', number: ref.number, action: 'synchronize' }, details);
    const review = simulated.review(SITE, ref.number, 'bob', 'approved');
    await simulated.deliver(url, SITE, { kind: 'review', number: ref.number, review }, details);
    simulated.commit(SITE, 'main', { '.gatehouse.yml': 'version: 1\n' });
    await simulated.deliver(url, SITE, { kind: 'push', branch: 'main' }, details);

    const [pushed, reviewed, policy] = received;
    t.is(pushed?.headers['x-hub-signature-256'], signatureOf(pushed?.body ?? '', SECRET));
    t.is(pushed?.headers[`x-${name}-event`], 'pull_request');
    t.is(pushed?.headers[`x-${name}-delivery`], details.deliveryId);
    t.like(JSON.parse(pushed?.body ?? ''), {
      action: name === 'github' ? 'synchronize' : 'synchronized',
      number: ref.number,
      pull_request: { number: ref.number, head: { sha: head() } },
      repository: { full_name: SITE },
      sender: { login: 'alice' },
    });
    t.is(reviewed?.headers[`x-${name}-event`], name === 'github' ? 'pull_request_review' : 'pull_request_approved');
    t.is(policy?.headers[`x-${name}-event`], 'push');
    t.like(JSON.parse(policy?.body ?? ''), {
      ref: 'refs/heads/main',
      after: simulated.head(SITE, 'main'),
      head_commit: { added: ['.gatehouse.yml'], modified: [], removed: [] },
    });
    t.is(pushed?.headers['x-github-hook-id'], name === 'github' ? '7' : undefined);
  });

  test(`simulated ${name}: requests and writes are counted by route`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    await forge.pullRequest(ref);
    await forge.createComment(ref, 'Hello');
    t.is(name === 'github' ? simulated.count('POST', /^\/graphql/) : simulated.count('GET', /\/pulls\/:number$/), 1);
    t.is(simulated.count(), 2);
    t.is(simulated.writes(), 1);
    simulated.forgetRequests();
    t.is(simulated.count(), 0);
  });
}

test('simulated github: what GitHub refuses is refused', async (t) => {
  // Requests that Gatehouse never sends.
  const { simulated, ref, head } = await setUpPull(t, 'github', {}, { checked: false });
  const post = async (path: string, body: object) => {
    const response = await fetch(`${simulated.url}/api/v3/repos/${SITE}${path}`, {
      method: 'POST',
      headers: { authorization: `token ${simulated.token}` },
      body: JSON.stringify(body),
    });
    return response.status;
  };
  t.is(await post(`/statuses/${head()}`, { state: 'success', description: 'x'.repeat(141) }), 422);
  t.is(await post(`/statuses/${head()}`, { state: 'success', description: '\u{1f525}' }), 422);
  t.is(await post(`/statuses/${head()}`, { state: 'success', context: '\u{1f525}' }), 422);
  t.is(await post(`/statuses/${head()}`, { state: 'warning' }), 422);
  t.is(await post(`/statuses/${head()}`, { state: 'success', description: 'x'.repeat(140) }), 201);
  t.is(await post(`/issues/${ref.number}/comments`, { body: 'x'.repeat(65_537) }), 422);
  t.is(await post(`/issues/${ref.number}/comments`, { body: '' }), 422);
  const outside = { path: 'src/app.ts', line: 40, side: 'RIGHT', body: 'x' };
  t.is(await post(`/pulls/${ref.number}/reviews`, { event: 'COMMENT', comments: [outside] }), 422);
  t.is(await post('/issues/99/comments', { body: 'x' }), 404);
});

test('simulated github: a commit takes 1,000 statuses of a context of any case', async (t) => {
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

test('simulated github: a write beyond the content limit is refused for a minute', async (t) => {
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

test('simulated gitea: deleting a comment at a line answers 204 and does nothing', async (t) => {
  const { simulated, forge, ref, head } = await setUpPull(t, 'gitea');
  await forge.createInlineComments(ref, head(), [{ path: 'src/app.ts', line: 2, body: 'Two' }], []);
  const [posted] = (await forge.ownInlineComments(ref, head())).comments;
  const response = await fetch(`${simulated.url}/api/v1/repos/${SITE}/issues/comments/${posted?.id}`, {
    method: 'DELETE',
    headers: { authorization: `token ${simulated.token}` },
  });
  t.is(response.status, 204);
  t.is((await forge.ownInlineComments(ref, head())).comments.length, 1);
});

test('simulated gitea: a page has fifty entries at most', async (t) => {
  const { simulated } = await setUp(t, 'gitea');
  for (let index = 0; index < 60; index += 1) {
    openPullRequest(simulated);
  }
  const response = await fetch(`${simulated.url}/api/v1/repos/${SITE}/pulls?limit=100`, {
    headers: { authorization: `token ${simulated.token}`, 'user-agent': 'gatehouse' },
  });
  const entries: unknown = await response.json();
  t.is(Array.isArray(entries) && entries.length, 50);
  t.is(response.headers.get('x-total-count'), '60');
  t.throws(() => simulated.assertValid(), { message: /query \/limit is over 50/ });
  t.regex(response.headers.get('link') ?? '', /rel="next"/);
});
