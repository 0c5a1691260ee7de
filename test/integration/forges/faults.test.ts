import type { Forge } from '../../../src/forges/port/forge.ts';
import { statusDescription } from '../../../src/forges/port/postings.ts';
import type { PullRequestRef } from '../../../src/forges/port/pull-request.ts';
import { CLIENTS } from '../../helpers/forges.ts';
import test from '../../helpers/test.ts';
import { forgeError, SITE, setUpPull } from './setup.ts';

const ONE_PULL = /\/pulls\/1$/;
const COMMENTS = /\/issues\/1\/comments$/;

/** Every way to ask, for faults that must look alike in all of them. */
function everyMethod(forge: Forge, ref: PullRequestRef, sha: string): Record<string, () => Promise<unknown>> {
  const status = { context: 'gatehouse', state: 'success', description: statusDescription('') } as const;
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
    setStatus: () => forge.setStatus(SITE, sha, status),
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

for (const name of CLIENTS) {
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

  test(`${name}: a request is not retried when the credentials are refused`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    simulated.fault({ fault: { kind: 'status', status: 401 } });
    const error = await forgeError(t, () => forge.reviews(ref));
    t.is(error.kind, 'refused');
    t.is(error.status, 401);
    t.is(simulated.seen.length, 1);
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

  test(`${name}: a connection cut in the middle of a body is not an empty answer`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    simulated.fault({ fault: { kind: 'drop' } });
    t.is((await forgeError(t, () => forge.pullRequest(ref))).kind, 'unavailable');
    t.is((await forgeError(t, () => forge.reviews(ref))).kind, 'unavailable');
  });

  test(`${name}: a request to a hung forge times out`, async (t) => {
    const { simulated, forge } = await setUpPull(t, name, { patience: 0.05 });
    simulated.fault({ path: /\/pulls$/, fault: { kind: 'hang' } });
    const error = await forgeError(t, () => forge.openPullRequests(SITE));
    t.is(error.kind, 'unavailable');
    t.regex(error.message, /did not answer in full within 500 ms/);
    t.is(simulated.seen.length, 1);
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

  test(`${name}: an answer of another shape says where it makes no sense`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    simulated.fault({ path: ONE_PULL, fault: { kind: 'link', to: 'http://127.0.0.1/' } });
    const error = await forgeError(t, () => forge.pullRequest(ref));
    t.is(error.kind, 'unavailable');
    t.regex(error.message, /unexpected answer from the forge: .*expected object, received array/);
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

  test(`${name}: the forge’s error message is reported, without secrets`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    simulated.fault({ fault: { kind: 'echo' } });
    const error = await forgeError(t, () => forge.pullRequest(ref));
    t.regex(error.message, /Bad credentials/);
    t.false(error.message.includes(simulated.token));
  });

  test(`${name}: a forge that is not there is unavailable`, async (t) => {
    const { simulated, forge, ref } = await setUpPull(t, name);
    await simulated.stop();
    const error = await forgeError(t, () => forge.pullRequest(ref));
    t.is(error.kind, 'unavailable');
    t.is(error.status, undefined);
  });
}
