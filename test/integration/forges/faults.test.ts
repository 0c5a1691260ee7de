import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import type { Forge } from '../../../src/forges/port/forge.ts';
import type { ForgeError } from '../../../src/forges/port/forge-error.ts';
import type { ForgeName } from '../../../src/forges/port/forges.ts';
import { statusDescription } from '../../../src/forges/port/postings.ts';
import type { PullRequestRef } from '../../../src/forges/port/pull-request.ts';
import { CLIENTS } from '../../helpers/forges.ts';
import test from '../../helpers/test.ts';
import type { Fault } from '../../simulated-forge/faults.ts';
import { everythingIn, forgeError, SITE, setUpPull } from './setup.ts';

const COMMENTS = /\/issues\/1\/comments$/;
const STATUS = { context: 'gatehouse', state: 'success', description: statusDescription('') } as const;

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

/** Every way to ask, for faults that must look alike in all of them. */
function everyMethod(forge: Forge, ref: PullRequestRef, sha: string): Record<string, () => Promise<unknown>> {
  return {
    self: () => forge.self(),
    pullRequest: () => forge.pullRequest(ref),
    changedFiles: () => forge.changedFiles(ref, sha),
    commits: () => forge.commits(ref),
    reviews: () => forge.reviews(ref),
    lastForcePushOrRetarget: () => forge.lastForcePushOrRetarget(ref),
    teamMembers: () => forge.teamMembers('platform/security'),
    fileAt: () => forge.fileAt(SITE, 'README.md', 'main'),
    openPullRequests: () => forge.openPullRequests(SITE),
    status: () => forge.status(SITE, sha, 'gatehouse'),
    setStatus: () => forge.setStatus(SITE, sha, STATUS),
    ownComments: () => forge.ownComments(ref),
    createComment: () => forge.createComment(ref, 'Hello'),
    updateComment: () => forge.updateComment(ref, '1', 'Hello'),
    deleteComment: () => forge.deleteComment(ref, '1'),
    ownInlineComments: () => forge.ownInlineComments(ref, sha),
    createInlineComments: () => forge.createInlineComments(ref, sha, [{ path: 'src/app.ts', line: 2, body: 'x' }], []),
    withdrawInlineComments: () =>
      forge.withdrawInlineComments(ref, ['1'], 'Resolved here.', [
        { id: '1', pending: false, commentIds: ['1'], answered: false },
      ]),
  };
}

interface Outcome extends Pick<ForgeError, 'kind'> {
  readonly status?: number;
  readonly message?: RegExp;
  /** How often the forge is asked. */
  readonly asked?: number;
}

/** What becomes of a read. */
const READS: readonly (readonly [what: string, fault: Fault['fault'] | 'stopped', outcome: Outcome])[] = [
  ['credentials that are refused', { kind: 'status', status: 401 }, { kind: 'refused', status: 401, asked: 1 }],
  ['a connection that is cut in the middle of a body', { kind: 'drop' }, { kind: 'unavailable' }],
  [
    'a hung forge',
    { kind: 'hang' },
    { kind: 'unavailable', message: /did not answer in full within 2000 ms/, asked: 1 },
  ],
  [
    'an answer of another shape',
    { kind: 'json', body: {} },
    { kind: 'unavailable', message: /unexpected answer from the forge: .*expected array, received object/ },
  ],
  ['endless redirects', { kind: 'redirect', to: '/api/v3/loop' }, { kind: 'unavailable' }],
  ['a redirect to no address', { kind: 'redirect', to: 'http://[nowhere' }, { kind: 'unavailable' }],
  ['an error with a message', { kind: 'echo' }, { kind: 'refused', status: 401, message: /Bad credentials/ }],
  ['a forge that is not there', 'stopped', { kind: 'unavailable' }],
];

for (const name of CLIENTS) {
  for (const [what, fault, { kind, status, message = /^/, asked }] of READS) {
    test(`${name}: ${what} is an error that says so, without secrets`, async (t) => {
      const isHung = fault !== 'stopped' && fault.kind === 'hang';
      const { simulated, forge } = await setUpPull(t, name, isHung ? { patience: 0.2 } : {});
      if (fault === 'stopped') {
        await simulated.stop();
      } else {
        simulated.fault({ fault });
      }
      const error = await forgeError(t, () => forge.openPullRequests(SITE));
      t.is(error.kind, kind);
      t.is(error.status, status);
      t.regex(error.message, message);
      t.false(error.message.includes(simulated.token));
      t.is(simulated.seen.length, asked ?? simulated.seen.length);
    });
  }

  test(`${name}: a forge that answers 500 is unavailable, whatever was asked`, async (t) => {
    const { simulated, forge, ref, head } = await setUpPull(t, name);
    simulated.fault({ fault: { kind: 'status', status: 500 } });
    const asked = Object.entries(everyMethod(forge, ref, head())).map(async ([method, ask]) => {
      const error = await forgeError(t, ask);
      t.is(error.kind, 'unavailable', method);
      t.is(error.status, 500, method);
    });
    await Promise.all(asked);
  });

  test(`${name}: a read is retried after a temporary fault`, async (t) => {
    const { simulated, forge } = await setUpPull(t, name);
    for (const fault of [
      { kind: 'status', status: 502 },
      { kind: 'drop' },
      { kind: 'too-many', retryAfter: 0 },
    ] as const) {
      simulated.fault({ path: /\/pulls$/, times: 1, fault });
      t.is((await forge.openPullRequests(SITE))?.pullRequests.length, 1, fault.kind);
    }
    t.is(simulated.count('GET', /pulls$/), 6);
  });

  test(`${name}: a page for people instead of JSON is unavailable, not a pull request`, async (t) => {
    const { simulated, forge, ref, head } = await setUpPull(t, name);
    simulated.fault({ fault: { kind: 'html' } });
    const { setStatus, updateComment, deleteComment, ...reading } = everyMethod(forge, ref, head());
    // These read nothing of the answer; that their request was taken is all they need.
    t.truthy(setStatus && updateComment && deleteComment);
    for (const [method, ask] of Object.entries(reading)) {
      if (method !== 'createInlineComments' && method !== 'withdrawInlineComments') {
        t.is((await forgeError(t, ask)).kind, 'unavailable', method);
      }
    }
  });

  test(`${name}: a comment whose answer was lost is not posted a second time`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    simulated.fault({ method: 'POST', path: COMMENTS, afterwards: true, fault: { kind: 'drop' } });
    const error = await forgeError(t, () => forge.createComment(ref, 'Once'));
    t.is(error.kind, 'unavailable');
    t.is(simulated.pull(SITE, 1).comments.length, 1);
    t.is(simulated.count('POST'), 1);
  });

  test(`${name}: a change that may be repeated is repeated once`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    const { id } = await forge.createComment(ref, 'Before');
    simulated.fault({ method: 'PATCH', times: 1, afterwards: true, fault: { kind: 'drop' } });
    await forge.updateComment(ref, id, 'After');
    t.deepEqual(await forge.ownComments(ref), [{ id, body: 'After' }]);
    t.is(simulated.count('PATCH'), 2);
  });

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
  const isHung = fault !== 'stopped' && fault.kind === 'hang';
  const { simulated, forge, ref, sha } = await setUpPull(t, name, isHung ? { patience: 0.2 } : {});
  if (fault === 'stopped') {
    await simulated.stop();
  } else {
    simulated.fault({ fault });
  }
  const outcomes = await Promise.allSettled([forge.pullRequest(ref), forge.setStatus(SITE, sha, STATUS)]);
  return outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [{ error: outcome.reason as unknown, token: simulated.token }] : [],
  );
}
