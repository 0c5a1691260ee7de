import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { makeFolder, requireStatus, startSetup } from '../helpers/setup.ts';
import { signatureOf } from '../helpers/signature.ts';
import { MAIN } from '../helpers/site.ts';
import test from '../helpers/test.ts';
import { until } from '../helpers/until.ts';
import { clientOf, onBothForges } from './forges.ts';
import { receive } from './receiver.ts';

/** What `gatehouse setup` does on the real Gitea, and on the simulated one in the same way. */
const both = onBothForges(test);

both('setup creates a webhook that is signed, and replaces it', async (t, forge) => {
  const site = await forge.site();
  const receiver = await receive(t, forge.listenOn);
  const url = `http://${forge.hostName}:${receiver.port}/webhook`;
  const args = ['--forge', 'gitea', '--forge-url', forge.url, '--url', url, '--repository', site.repository];
  /** In a folder of its own. Returns the secret that it wrote. */
  const run = async () => {
    const folder = await makeFolder(t);
    const started = startSetup(folder, args, { FORGE_TOKEN: forge.token, SETUP_TOKEN: forge.ownerToken });
    t.is(await started.finished, 0, started.output());
    return parseEnv(await readFile(join(folder, '.env'), 'utf8'))['WEBHOOK_SECRET'] ?? '';
  };
  const api = (path: string, init: RequestInit = {}) =>
    fetch(`${forge.url}/api/v1/repos/${site.repository}${path}`, {
      headers: { authorization: `token ${forge.ownerToken}`, 'content-type': 'application/json' },
      ...init,
    });
  // A comment of Gatehouse's own account: both forges send a webhook for it.
  const number = await site.push('topic', { 'a.txt': '1\n' }).then(() => site.open('topic'));
  const comment = async () => {
    const already = receiver.received.length;
    await api(`/issues/${number}/comments`, { method: 'POST', body: JSON.stringify({ body: 'Hello' }) });
    await until(() => receiver.received.slice(already).some(({ payload }) => payload.action === 'created'));
    return receiver.received.slice(already).find(({ payload }) => payload.action === 'created');
  };

  const secret = await run();
  const told = await comment();
  t.is(told?.headers['x-hub-signature-256'], signatureOf(told?.body ?? '', secret));

  const config = { url, content_type: 'json', secret: 'wrong' };
  const another = { type: 'gitea', active: true, events: ['push'], config };
  t.is((await api('/hooks', { method: 'POST', body: JSON.stringify(another) })).status, 201);
  const later = await run();
  t.not(later, secret);
  const hooks = (await (await api('/hooks')).json()) as readonly { readonly events: readonly string[] }[];
  t.is(hooks.length, 1);
  t.true(hooks[0]?.events.includes('pull_request_sync'), String(hooks[0]?.events));
  const last = await comment();
  t.is(last?.headers['x-hub-signature-256'], signatureOf(last?.body ?? '', later));
});

both('the command that setup prints requires the status', async (t, forge) => {
  const site = await forge.site();
  const folder = await makeFolder(t);
  const args = ['--forge', 'gitea', '--forge-url', forge.url, '--url', 'https://gatehouse.example.com'];
  const env = { FORGE_TOKEN: forge.token, SETUP_TOKEN: forge.ownerToken };
  const run = startSetup(folder, [...args, '--repository', site.repository], env);
  t.is(await run.finished, 0, run.output());
  await requireStatus(run.output(), forge.ownerToken);
  const protection = await clientOf(t, forge).inspection.protection(site.repository, MAIN);
  t.deepEqual(
    protection?.required.map(({ context }) => context),
    ['gatehouse/main'],
  );
  const sha = await site.push(MAIN, { 'b.txt': '1\n' });
  t.regex(sha, /^[0-9a-f]{40,}$/, 'pushes are allowed as before');
});
