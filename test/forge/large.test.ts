import test from '../helpers/test.ts';
import { eventually } from '../helpers/until.ts';
import { onBothForges } from './forges.ts';
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

/** A simulated forge tells how its webhook was answered. */
function unlessRefused(error: Error): void {
  if (!error.message.includes('answered 413')) {
    throw error;
  }
}
