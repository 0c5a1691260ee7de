import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import type { ForgeName } from '../../../src/forges/port/forges.ts';
import { statusDescription } from '../../../src/forges/port/postings.ts';
import { CLIENTS } from '../../helpers/forges.ts';
import test from '../../helpers/test.ts';
import { everythingIn, forgeError, openPullRequest, SITE, setUp, setUpPull } from './setup.ts';

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

for (const name of CLIENTS) {
  test(`${name}: a redirect to another host is not followed`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    const { url, asked } = await stranger(t);
    simulated.fault({ fault: { kind: 'redirect', to: url } });

    for (const ask of [() => forge.pullRequest(ref), () => forge.commits(ref), () => forge.createComment(ref, 'x')]) {
      const error = await forgeError(t, ask);
      t.true(error.kind === 'unavailable' || error.kind === 'invalid');
    }
    t.deepEqual(asked, []);
  });

  test(`${name}: a next page on another host is not read`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
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
    const { simulated, forge, ref } = await setUpPull(t, name);
    simulated.fault({ fault: { kind: 'redirect', to: `${simulated.url}/api/v3/loop` } });
    t.is((await forgeError(t, () => forge.pullRequest(ref))).kind, 'unavailable');
    simulated.clearFaults();
    simulated.fault({ fault: { kind: 'redirect', to: 'http://[nowhere' } });
    t.is((await forgeError(t, () => forge.pullRequest(ref))).kind, 'unavailable');
  });

  test(`${name}: no error contains the credential`, async (t) => {
    const failures = (await Promise.all(FAULTS.map((fault) => failuresAt(t, name, fault)))).flat();
    t.is(failures.length, 2 * FAULTS.length);
    for (const { error, token } of failures) {
      t.true(error instanceof Error);
      t.false(everythingIn(error).includes(token));
    }
  });
}

const FAULTS = [
  { kind: 'echo' },
  { kind: 'hang' },
  { kind: 'drop' },
  { kind: 'html' },
  { kind: 'status', status: 500 },
  { kind: 'status', status: 422 },
  { kind: 'secondary-limit', retryAfter: 3_000 },
  { kind: 'redirect', to: 'http://127.0.0.2:1/' },
  'stopped',
] as const;

/** Of a read and a write, at a forge of their own. */
async function failuresAt(t: ExecutionContext, name: ForgeName, fault: (typeof FAULTS)[number]) {
  const { simulated, forge } = await setUp(
    t,
    name,
    fault !== 'stopped' && fault.kind === 'hang' ? { patience: 0.05 } : {},
  );
  const { ref, head } = openPullRequest(simulated);
  const sha = head();
  if (fault === 'stopped') {
    await simulated.stop();
  } else {
    simulated.fault({ fault });
  }
  const status = { context: 'gatehouse', state: 'success', description: statusDescription('') } as const;
  const outcomes = await Promise.allSettled([forge.pullRequest(ref), forge.setStatus(SITE, sha, status)]);
  return outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [{ error: outcome.reason as unknown, token: simulated.token }] : [],
  );
}
