import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import test from '../helpers/test.ts';
import { eventually } from '../helpers/until.ts';
import { clientOf, onBothForges, refOf } from './forges.ts';
import { ownGatehouse } from './gatehouse.ts';

/** What people have made larger than Gatehouse stores or reads, on a Gitea, simulated or real. */
const both = onBothForges(test);

const TITLED = `version: 1
rules:
  - id: titled
    require: { title: '^feat: ' }
`;
/**
 * Small, so that small texts are over it: with a description of 40 MB, which it takes, Gitea 1.26.0 needs gigabytes of
 * memory. A body up to four times the limit has its signature checked, and starts a resync; a larger one is not read.
 */
const SMALL_LIMIT = { WEBHOOK_BODY_LIMIT: '1MiB' };
const LARGE = [
  { title: 'whose webhook is too large', bytes: 2_000_000, isRead: true },
  { title: 'whose webhook is not read', bytes: 5_000_000, isRead: false },
] as const;
/** Answers have six bytes for each. */
const ESCAPED = '<';
/** A comment of it, or so many reviews, are more than is kept of an answer. */
const LONG_COMMENT = ESCAPED.repeat(5_700_000);
const LONG_REVIEW = ESCAPED.repeat(500_000);
const LONG_REVIEWS = 12;

for (const { title, bytes, isRead } of LARGE) {
  both.serial(`no success outlives a description ${title}`, async (t, forge) => {
    const gatehouse = await ownGatehouse(t, forge, SMALL_LIMIT);
    const site = await gatehouse.site({ '.gatehouse.yml': TITLED });
    const head = await site.push('large', { 'a.txt': 'a\n' });
    const otherHead = await site.push('other', { 'b.txt': 'b\n' });
    const number = await site.open('large');
    const other = await site.open('other');
    await site.expect(t, head, 'success');
    await site.expect(t, otherHead, 'success');
    await site.edit(number, { body: 'x'.repeat(bytes) }).catch(unlessRefused);
    // In a request of its own: Gitea sends a webhook for each, and the first without the other.
    await site.edit(number, { title: 'Bad' }).catch(unlessRefused);
    await eventually('both webhooks were refused', async () => (await gatehouse.refused('too_large')) === 2);
    if (isRead) {
      await site.expect(t, head, 'failure');
    }
    // It hides no other one, whose webhook is lost.
    await site.loseWebhooks(true);
    await site.edit(other, { title: 'Bad' });
    if (!isRead) {
      t.is((await site.status(head))?.state, 'success', 'nothing but a resync tells of it');
    }
    await gatehouse.resync(t);
    await site.expect(t, head, 'failure');
    await site.expect(t, otherHead, 'failure');
  });
}

both.serial('no override ends because somebody else writes a long comment', async (t, forge) => {
  const gatehouse = await ownGatehouse(t, forge, {});
  const site = await gatehouse.site({ '.gatehouse.yml': `${TITLED}override: { by: [bob] }\n` });
  const head = await site.push('topic', { 'a.txt': 'a\n' });
  const number = await site.open('topic', { title: 'Bad' });
  await site.expect(t, head, 'failure');
  await site.comment(number, 'mallory', LONG_COMMENT).catch(unlessRefused);
  await site.comment(number, 'bob', `/gatehouse override titled ${head} hotfix`);
  await site.expect(t, head, 'success');
  const comments = await clientOf(t, forge).comments(refOf(site, number));
  t.true(comments.some(({ author }) => author === 'mallory'));
});

both.serial('no approval is hidden by long reviews of strangers', async (t, forge) => {
  const gatehouse = await ownGatehouse(t, forge, {});
  const site = await gatehouse.site({
    '.gatehouse.yml': 'version: 1\nrules:\n  - id: approved\n    require: { approvals: 1 }\n',
  });
  const head = await site.push('topic', { 'a.txt': 'a\n' });
  const number = await site.open('topic');
  await site.expect(t, head, 'waiting');
  for (let written = 0; written < LONG_REVIEWS; written += 1) {
    await site.review(number, 'mallory', 'commented', LONG_REVIEW);
  }
  await site.review(number, 'bob', 'approved');
  await site.expect(t, head, 'success');
  t.is((await clientOf(t, forge).reviews(refOf(site, number))).length, LONG_REVIEWS + 1);
});

both.serial('no success outlives a change where pull requests cannot be listed', async (t, forge) => {
  const front = await startFront(t, forge.url);
  const gatehouse = await ownGatehouse(t, forge, { FORGE_URL: front.url });
  const site = await gatehouse.site({ '.gatehouse.yml': TITLED });
  const head = await site.push('topic', { 'a.txt': 'a\n' });
  const number = await site.open('topic');
  await site.expect(t, head, 'success');
  await gatehouse.settled(site);
  await site.loseWebhooks(true);
  await site.edit(number, { title: 'Bad' });
  front.fail(`/api/v1/repos/${site.repository}/pulls`);
  await gatehouse.resync(t);
  await site.expect(t, head, 'failure');
  t.true(front.failed() > 0);
});

/** Stands before a forge. What it is told to fail is answered as by a proxy whose server takes too long. */
async function startFront(t: ExecutionContext, target: string) {
  const { hostname, port: targetPort } = new URL(target);
  let failing: string | undefined;
  let failed = 0;
  const server = createServer((received, answer) => {
    const { method, url: path = '', headers } = received;
    if (path.split('?')[0] === failing) {
      failed += 1;
      answer.writeHead(504).end();
      return;
    }
    const passedOn = request({ hostname, port: targetPort, method, path, headers }, (come) => {
      answer.writeHead(come.statusCode ?? 502, come.headers);
      come.pipe(answer);
    });
    passedOn.on('error', () => answer.destroy());
    received.pipe(passedOn);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${port}`,
    /** Requests of this path fail from now on. */
    fail(path: string) {
      failing = path;
    },
    failed: () => failed,
  };
}

/** A simulated forge tells how its webhook was answered. */
function unlessRefused(error: Error): void {
  if (!error.message.includes('answered 413')) {
    throw error;
  }
}
