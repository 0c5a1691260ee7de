import test from '../../helpers/test.ts';
import { SITE, setUp } from './setup.ts';

test('github: the webhook of an organisation is listed to its owners alone', async (t) => {
  const { simulated, forge } = await setUp(t, 'github');
  const [organisation = ''] = SITE.split('/');
  simulated.addHook(organisation, { url: 'https://gatehouse.example.com/webhook', secret: 'secret' });
  const listOf = async () => (await forge.inspection.hooks.lists(SITE))[1];
  t.deepEqual(await listOf(), { place: 'owner', kind: 'hidden' });
  simulated.addAdministrator('gatehouse');
  const list = await listOf();
  t.like(list?.kind === 'listed' ? list.hooks[0] : list, { place: 'owner', hasSecret: 'yes' });
});
