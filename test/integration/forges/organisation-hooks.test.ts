import test from 'ava';
import { SITE, setUp } from './setup.ts';

test('github: the deliveries of an organisation’s webhook are read', async (t) => {
  const { simulated, forge } = await setUp(t, 'github');
  simulated.addAdministrator('gatehouse');
  const [organisation = ''] = SITE.split('/');
  const { id } = simulated.addHook(organisation, { url: 'https://gatehouse.example.com/webhook', secret: 'secret' });
  const delivery = { guid: 'of-the-organisation', event: 'push', statusCode: 502, deliveredAt: '2026-01-01T00:00:00Z' };
  simulated.addDelivery({ ...delivery, hook: `${organisation}#${id}` });
  simulated.addDelivery({ ...delivery, guid: 'of-another', hook: `${SITE}#${id}` });

  const { hooks: reader } = forge.inspection;
  const [, list] = await reader.lists(SITE);
  const [hook] = list?.kind === 'listed' ? list.hooks : [];
  if (hook === undefined) {
    t.fail(JSON.stringify(list));
    return;
  }
  t.like(hook, { place: 'owner', id: String(id), hasSecret: true });
  t.deepEqual(await reader.answers?.(SITE, hook), [
    { deliveryId: delivery.guid, status: delivery.statusCode, at: delivery.deliveredAt },
  ]);

  const outsider = await setUp(t, 'github');
  t.is(await outsider.forge.inspection.hooks.answers?.(SITE, hook), undefined);
});
