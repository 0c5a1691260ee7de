import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import test from 'ava';
import { makeFolder, startSetup } from '../helpers/setup.ts';
import { signatureOf } from '../helpers/signature.ts';
import { MAIN } from '../helpers/site.ts';
import { until } from '../helpers/until.ts';
import { onBothForges } from './forges.ts';
import { receive } from './receiver.ts';

interface Listed {
  readonly id: number;
  readonly events: readonly string[];
}

/** What `gatehouse setup` does on the real Gitea, and on the simulated one in the same way. */
const both = onBothForges(test);

both('setup creates a webhook that is signed, repairs it, and keeps the rest', async (t, forge) => {
  const site = await forge.site();
  const receiver = await receive(t, forge.listenOn);
  const folder = await makeFolder(t);
  const url = `http://${forge.hostName}:${receiver.port}/webhook`;
  const args = ['--yes', '--forge', 'gitea', '--forge-url', forge.url, '--url', url, '--repository', site.repository];
  const env = { FORGE_TOKEN: forge.token, SETUP_TOKEN: forge.ownerToken };
  const run = async (...more: readonly string[]) => {
    const started = startSetup(folder, [...args, ...more], env);
    return { result: await started.finished, output: started.output() };
  };
  const secretOf = async () => parseEnv(await readFile(join(folder, '.env'), 'utf8'))['WEBHOOK_SECRET'] ?? '';
  const api = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${forge.url}/api/v1/repos/${site.repository}${path}`, {
      method,
      headers: { authorization: `token ${forge.ownerToken}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return method === 'GET' ? ((await answer.json()) as readonly Listed[]) : [];
  };
  // A comment of Gatehouse's own account: both forges send a webhook for it.
  const number = await site.push('topic', { 'a.txt': '1\n' }).then(() => site.open('topic'));
  const comment = async () => {
    const already = receiver.received.length;
    await api('POST', `/issues/${number}/comments`, { body: 'Hello' });
    await until(() => receiver.received.slice(already).some(({ payload }) => payload.action === 'created'));
    return receiver.received.slice(already).find(({ payload }) => payload.action === 'created');
  };

  const created = await run();
  t.is(created.result, 0, created.output);
  const secret = await secretOf();
  const told = await comment();
  t.is(told?.headers['x-hub-signature-256'], signatureOf(told?.body ?? '', secret));

  const again = await run();
  t.regex(again.output, /The webhook of \S+ is right/);
  const [hook = t.fail()] = await api('GET', '/hooks');
  await api('PATCH', `/hooks/${hook.id}`, { active: true, events: ['push', 'wiki'], branch_filter: 'main' });
  const repaired = await run();
  t.regex(repaired.output, /The webhook of \S+ was repaired/);
  const [now = t.fail(), ...more] = await api('GET', '/hooks');
  t.like(now, { id: hook.id, active: true, branch_filter: 'main', config: { url, content_type: 'json' } });
  t.true(now.events.includes('wiki') && now.events.includes('pull_request_sync'), String(now.events));
  t.deepEqual(more, []);
  const later = await comment();
  t.is(later?.headers['x-hub-signature-256'], signatureOf(later?.body ?? '', secret), 'the secret has stayed');

  await api('DELETE', `/hooks/${hook.id}`);
  await api('POST', '/hooks', {
    type: 'gitea',
    active: true,
    events: ['push'],
    config: { url, content_type: 'json', secret: 'wrong' },
  });
  t.is((await run('--set-secret')).result, 0);
  t.is((await api('GET', '/hooks')).length, 1);
  const last = await comment();
  t.is(
    last?.headers['x-hub-signature-256'],
    signatureOf(last?.body ?? '', secret),
    'it is set, although an edit cannot',
  );
});

both('setup adds the one check to a protection, and removes none', async (t, forge) => {
  const site = await forge.site();
  await site.protect(MAIN, 'ci/build');
  const folder = await makeFolder(t);
  const args = ['--yes', '--forge', 'gitea', '--forge-url', forge.url, '--url', 'https://gatehouse.example.com'];
  const env = { FORGE_TOKEN: forge.token, SETUP_TOKEN: forge.ownerToken };
  const read = async () => {
    const answer = await fetch(`${forge.url}/api/v1/repos/${site.repository}/branch_protections`, {
      headers: { authorization: `token ${forge.ownerToken}` },
    });
    const [rule] = (await answer.json()) as readonly Readonly<Record<string, unknown>>[];
    const { updated_at: _, ...rest } = rule ?? {};
    return rest;
  };
  const before = await read();
  for (const branch of [MAIN, MAIN]) {
    const run = startSetup(folder, [...args, '--repository', site.repository, '--protect', branch], env);
    t.is(await run.finished, 0, run.output());
    t.deepEqual(await read(), { ...before, status_check_contexts: ['ci/build', 'gatehouse/main'] });
  }
});

both('setup finds the protection of a branch behind 60 others', async (t, forge) => {
  const site = await forge.site();
  for (let count = 0; count < 60; count += 1) {
    await site.protect(`release-${count}`, 'ci/build');
  }
  await site.protect(MAIN, 'ci/build');
  const folder = await makeFolder(t);
  const args = ['--yes', '--forge', 'gitea', '--forge-url', forge.url, '--url', 'https://gatehouse.example.com'];
  const env = { FORGE_TOKEN: forge.token, SETUP_TOKEN: forge.ownerToken };
  const run = startSetup(folder, [...args, '--repository', site.repository, '--protect', MAIN], env);
  t.is(await run.finished, 0, run.output());
  const answer = await fetch(`${forge.url}/api/v1/repos/${site.repository}/branch_protections`, {
    headers: { authorization: `token ${forge.ownerToken}` },
  });
  const rules = (await answer.json()) as readonly { readonly status_check_contexts: readonly string[] }[];
  t.is(rules.length, 61);
  t.deepEqual(
    rules.map((rule) => rule.status_check_contexts).filter((contexts) => contexts.includes('gatehouse/main')),
    [['ci/build', 'gatehouse/main']],
  );
});
