import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { statusDescription } from '../../../src/forges/port/postings.ts';
import test from '../../helpers/test.ts';
import { everythingIn, FORGES, forgeError, openPullRequest, SITE, setUp } from './setup.ts';

/** A host that must never be asked, and what it was asked nevertheless. */
async function stranger(t: ExecutionContext): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    response.end('[]');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/repos/x`, asked };
}

for (const name of FORGES) {
  test(`${name}: a redirect to another host is not followed`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    const { ref } = openPullRequest(simulated);
    const { url, asked } = await stranger(t);
    simulated.fault({ fault: { kind: 'redirect', to: url } });

    for (const ask of [() => forge.pullRequest(ref), () => forge.commits(ref), () => forge.createComment(ref, 'x')]) {
      const error = await forgeError(t, ask);
      t.true(error.kind === 'unavailable' || error.kind === 'invalid');
    }
    t.deepEqual(asked, []);
  });

  test(`${name}: a next page on another host is not read`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    const { ref } = openPullRequest(simulated);
    const { url, asked } = await stranger(t);
    simulated.fault({ path: /\/commits/, times: 1, fault: { kind: 'link', to: url } });

    if (name === 'github') {
      const error = await forgeError(t, () => forge.commits(ref));
      t.is(error.kind, 'unavailable');
      t.regex(error.message, /another host/);
    } else {
      // Links are not followed at all; pages are counted.
      await t.notThrowsAsync(() => forge.commits(ref));
    }
    t.deepEqual(asked, []);
  });

  test(`${name}: endless redirects are an error`, async (t) => {
    const { simulated, forge } = await setUp(t, name);
    const { ref } = openPullRequest(simulated);
    simulated.fault({ fault: { kind: 'redirect', to: `${simulated.url}/api/v3/loop` } });
    t.is((await forgeError(t, () => forge.pullRequest(ref))).kind, 'unavailable');
    simulated.clearFaults();
    simulated.fault({ fault: { kind: 'redirect', to: 'http://[nowhere' } });
    t.is((await forgeError(t, () => forge.pullRequest(ref))).kind, 'unavailable');
  });

  test(`${name}: no error contains the credential`, async (t) => {
    const { simulated, another } = await setUp(t, name);
    const { ref, head } = openPullRequest(simulated);
    const forge = another({ patience: 0.15 });
    const errors: unknown[] = [];
    for (const fault of [
      { kind: 'echo' },
      { kind: 'hang' },
      { kind: 'drop' },
      { kind: 'html' },
      { kind: 'status', status: 500 },
      { kind: 'status', status: 422 },
      { kind: 'secondary-limit', retryAfter: 3_000 },
      { kind: 'redirect', to: 'http://127.0.0.2:1/' },
    ] as const) {
      simulated.clearFaults();
      simulated.fault({ fault });
      const status = { context: 'gatehouse', state: 'success', description: statusDescription('') } as const;
      errors.push(await forge.pullRequest(ref).catch((error: unknown) => error));
      errors.push(await forge.setStatus(SITE, head(), status).catch((error: unknown) => error));
    }
    await simulated.stop();
    errors.push(
      await another()
        .changedFiles(ref, head())
        .catch((error: unknown) => error),
    );

    t.true(errors.every((error) => error instanceof Error));
    t.false(errors.map(everythingIn).join('\n').includes(simulated.token));
  });
}
