import { WEBHOOKS } from '../../src/facts/webhooks.ts';
import { eventLabel, installationIn, interpretEvent } from '../../src/forges/interpret-event.ts';
import { type ReviewRequest, requestedReview } from '../../src/forges/port/review-requests.ts';
import { keyOf } from '../../src/jobs/queue/queue.ts';
import { QUEUES } from '../../src/jobs/queues.ts';
import fc from '../helpers/property.ts';
import test from '../helpers/test.ts';

type Payload = Readonly<Record<string, unknown>>;
/** Of an event, or of an action of one: `pull_request opened`. */
type Row = readonly [webhook: string, payload: Payload, asked: object | undefined];

const repository = { full_name: 'acme/widgets' };
const [SHA, BEFORE] = ['a'.repeat(40), 'b'.repeat(64)];
/** What any webhook about pull request 7 has. */
const ABOUT_PULL = { repository, number: 7, pull_request: { number: 7, head: { sha: SHA } } };

const REVIEW = { kind: 'review', repository: 'acme/widgets', number: 7 };
const ofCommit = (fact: string, more: object = {}) => ({
  ...{ kind: 'review-commit', repository: 'acme/widgets', headSha: SHA, facts: [fact] },
  ...more,
});

function target(webhook: string, payload: Payload): ReviewRequest | undefined {
  const [event = '', action] = webhook.split(' ');
  const subject = interpretEvent(event, { repository, ...(action && { action }), ...payload });
  return requestedReview(subject, (context) => context.toLowerCase() === 'gatehouse/main');
}

function compare(rows: readonly Row[]): readonly [asked: readonly Row[], expected: readonly Row[]] {
  return [rows.map(([webhook, payload]) => [webhook, payload, target(webhook, payload)]), rows];
}

const OWN = '<!-- gatehouse:review -->';
const COMMENTED = { type: 'pull_request_review_comment' };
const EVENTS_OF_PULL: readonly Row[] = [
  ...['opened', 'reopened', 'closed', 'edited', 'ready_for_review', 'converted_to_draft'].map(reviewedAfter),
  ...['synchronize', 'synchronized', 'labeled', 'unlabeled', 'label_updated'].map(reviewedAfter),
  ['pull_request opened', { pull_request: { number: 7 } }, REVIEW],
  ['pull_request_sync synchronized', {}, REVIEW],
  ['pull_request_review submitted', {}, REVIEW],
  ['pull_request_review dismissed', {}, REVIEW],
  ['pull_request_approved reviewed', {}, REVIEW],
  ['pull_request_rejected reviewed', {}, REVIEW],
  ['pull_request assigned', {}, ofCommit('triage')],
  ['pull_request review_requested', {}, ofCommit('requestedReviews')],
  ['pull_request review_request_removed', {}, ofCommit('requestedReviews')],
  ['pull_request_review submitted', { review: { state: 'approved', body: OWN } }, REVIEW],
  ['pull_request_review submitted', { review: { state: 'changes_requested', body: OWN } }, REVIEW],
  ['pull_request_review dismissed', { review: { state: 'dismissed', body: OWN } }, REVIEW],
  ['pull_request_review submitted', { review: { body: 'no state at all' } }, REVIEW],
  ['pull_request_approved reviewed', { review: { type: 'pull_request_review_approved', content: OWN } }, REVIEW],
  ['pull_request_rejected reviewed', { review: { type: 'pull_request_review_rejected', content: OWN } }, REVIEW],
  // Gatehouse's own review, and a person's that only comments.
  ['pull_request_review submitted', { review: { state: 'commented' } }, ofCommit('conversations', { by: '' })],
  ['pull_request_review edited', { review: { state: 'commented', body: OWN } }, ofCommit('conversations', { by: '' })],
  ['pull_request_review_thread resolved', { thread: {} }, ofCommit('conversations', { by: '' })],
  ['pull_request_review_thread unresolved', { thread: {} }, ofCommit('conversations', { by: '' })],
  ['pull_request_comment reviewed', { review: COMMENTED }, ofCommit('conversations', { by: '' })],
  ['pull_request_review_comment reviewed', { review: COMMENTED }, ofCommit('conversations', { by: '' })],
  ['pull_request_review_comment deleted', { sender: { login: 'bob' } }, ofCommit('conversations', { by: 'bob' })],
  ['issues opened', {}, undefined],
  ['ping', {}, undefined],
].map(([webhook, payload, asked]) => [webhook, { ...ABOUT_PULL, ...Object(payload) }, asked] as Row);

function reviewedAfter(action: string): Row {
  return [`pull_request ${action}`, {}, REVIEW];
}

test('a webhook about a pull request asks for its review, or for those that depend on what changed', (t) => {
  t.deepEqual(...compare(EVENTS_OF_PULL));
});

test('without a usable number or head nothing is asked for, and no other number is taken', (t) => {
  const nothing: readonly Row[] = [
    ['pull_request opened', { number: 7, pull_request: { number: 0 } }, undefined],
    ['pull_request opened', { number: 7, pull_request: {} }, undefined],
    ['pull_request review_requested', { pull_request: { number: 7, head: { sha: 'main' } } }, undefined],
    ['pull_request_review_thread resolved', { pull_request: { number: 7, head: { sha: '../x' } } }, undefined],
  ];
  t.deepEqual(...compare(nothing));
  t.is(interpretEvent('issues', { repository, number: 7 }).pullRequest, undefined);
  for (const number of [0, -1, 1.5, 2 ** 31, Number.NaN, '7', null, {}]) {
    t.is(interpretEvent('pull_request', { number, pull_request: { number } }).pullRequest, undefined, `${number}`);
  }
});

for (const webhook of ['pull_request synchronize', 'pull_request synchronized', 'pull_request_sync synchronized']) {
  test(`${webhook} tells who pushed`, (t) => {
    const [event = '', action] = webhook.split(' ');
    const pushed = (more: object) =>
      interpretEvent(event, { ...ABOUT_PULL, action, before: BEFORE, sender: { login: 'Bob' }, ...more }).pushedHead;
    const withHead = (head: object) => pushed({ pull_request: { number: 7, head: { sha: SHA, ...head } } });
    t.deepEqual(pushed({}), { sha: SHA, from: BEFORE, by: 'Bob' });
    t.is(pushed({ sender: { login: 'renovate[bot]' } })?.by, 'renovate[bot]');
    for (const sender of [undefined, null, {}, { login: 7 }, { login: 'a b' }, { login: 'x'.repeat(101) }]) {
      t.deepEqual(pushed({ before: '../x', sender }), { sha: SHA, from: undefined, by: undefined });
    }
    t.is(withHead({ sha: 'main' }), undefined);
    t.is(pushed({ after: 'c'.repeat(40) })?.sha, 'c'.repeat(40), 'the head is of a later push');
    t.is(pushed({ after: '../x' })?.sha, SHA);
    t.is(withHead({ label: 'topic', repo: { full_name: 'bob/app' } })?.repository, 'bob/app');
    t.is(withHead({ label: '', repo: { full_name: 'octo/app' } })?.repository, undefined, 'AGit');
    t.is(withHead({ label: 'topic', repo: null })?.repository, undefined);
  });
}

test('other webhooks of a pull request tell a head at most, and not who pushed it', (t) => {
  const shown = { sha: SHA, from: undefined, by: undefined };
  t.deepEqual(
    ['opened', 'reopened', 'edited', 'closed'].map(
      (action) => interpretEvent('pull_request', { ...ABOUT_PULL, action, sender: { login: 'bob' } }).pushedHead,
    ),
    [shown, shown, undefined, undefined],
  );
});

test('what is not a repository name is not believed', (t) => {
  const names = ['acme', 'acme/widgets/more', 'acme/wid gets', 'acme/\u0000', '../..\n', '', 7, null];
  for (const full_name of [...names, `a/${'b'.repeat(300)}`]) {
    t.is(interpretEvent('pull_request', { repository: { full_name } }).repository, undefined, String(full_name));
  }
});

test('any object at all is interpreted without an exception', (t) => {
  const keys = fc.constantFrom('action', 'number', 'repository', 'pull_request', 'full_name');
  const payload = fc.dictionary(keys, fc.oneof(fc.jsonValue(), fc.dictionary(keys, fc.jsonValue())));
  fc.assert(
    fc.property(fc.string(), payload, (event, object) => {
      const subject = interpretEvent(event, object as Record<string, unknown>);
      t.true(subject.pullRequest === undefined || Number.isSafeInteger(subject.pullRequest));
    }),
  );
  t.pass();
});

test('no event that is acted on is counted as another one', (t) => {
  for (const event of [...WEBHOOKS.map(({ event }) => event), 'push', 'issue_comment', 'merge_group']) {
    t.is(eventLabel(event), event);
  }
  for (const event of ['ping', 'star', 'gollum', 'constructor', 'whatever a sender writes']) {
    t.is(eventLabel(event), 'other');
  }
});

test('a push to a branch asks about the pull requests into it, whatever it lists', (t) => {
  const commit = { added: [], modified: ['README.md'] };
  for (const commits of [[commit], Array.from({ length: 5 }, () => commit), [], undefined, 'nonsense']) {
    for (const branch of ['main', 'release/1.x', 'größe', '主分支']) {
      const asked = { kind: 'review-repository', repository: 'acme/widgets', branch };
      t.deepEqual<unknown, unknown>(target('push', { ref: `refs/heads/${branch}`, commits }), asked);
    }
  }
});

test('a push of a tag, of a deleted branch, or of nonsense asks for nothing', (t) => {
  const refs = [undefined, 7, '', 'main', 'refs/tags/v1', `refs/heads/${'x'.repeat(256)}`];
  for (const ref of [...refs, ...['', 'a b', 'a\n', '\ud800'].map((name) => `refs/heads/${name}`)]) {
    t.is(target('push', { ref }), undefined, `${ref}`);
  }
  t.is(target('push', { ref: 'refs/heads/main', deleted: true }), undefined);
});

test('a push names its repository by id; without a valid one it is no merge', (t) => {
  const push = { ref: 'refs/heads/main', before: 'a'.repeat(40), after: 'b'.repeat(40), sender: { login: 'alice' } };
  const of = (id: unknown) => target('push', { ...push, repository: { ...repository, id, default_branch: 'main' } });
  t.like(of(7), { kind: 'push', repositoryId: '7', after: push.after, by: 'alice', isDefault: true });
  for (const id of [undefined, null, '7', 1.5, 2 ** 60, {}]) {
    t.deepEqual(of(id), { kind: 'review-repository', repository: 'acme/widgets', branch: 'main' });
  }
});

test('a merge group that requests checks asks for its review', (t) => {
  const sha = 'a1'.repeat(20);
  const headRef = `gh-readonly-queue/main/pr-1-${sha}`;
  const group = { base_ref: 'refs/heads/main', head_sha: sha, head_ref: `refs/heads/${headRef}` };
  const of = (changes: object, action = 'checks_requested', reason?: string) =>
    target(`merge_group ${action}`, { reason, merge_group: { ...group, ...changes } });
  const wanted = { kind: 'review-merge-group', repository: 'acme/widgets', branch: 'main', headSha: sha } as const;
  t.deepEqual(of({}), { ...wanted, headRef, isGone: false });
  for (const head_ref of [undefined, 7, 'refs/tags/x', 'refs/heads/a\u0000']) {
    t.deepEqual(of({ head_ref }), { ...wanted, headRef: '', isGone: false });
  }
  for (const reason of ['dequeued', 'invalidated', undefined]) {
    t.deepEqual(of({}, 'destroyed', reason), { ...wanted, headRef, isGone: true });
  }
  t.is(of({}, 'destroyed', 'merged'), undefined);
  for (const base_ref of [undefined, 7, 'main', 'refs/tags/main', 'refs/heads/']) {
    t.is(of({ base_ref }), undefined);
  }
  for (const head_sha of [undefined, 7, '', sha.slice(1), sha.toUpperCase(), `${sha}\n`]) {
    t.is(of({ head_sha }), undefined);
  }
  t.is(target('merge_group checks_requested', { merge_group: [group] }), undefined);
});

test('a repository is resynced, but not a fork that only pushes come from', (t) => {
  const of = (event: string, payload: Payload) => interpretEvent(event, payload).resynced;
  const fork = { full_name: 'stranger/widgets', fork: true };
  t.deepEqual(of('push', { repository }), ['acme/widgets']);
  t.deepEqual(of('push', { repository: fork }), []);
  const opened = { repository: fork, action: 'opened', pull_request: { number: 1 } };
  t.deepEqual(of('pull_request', opened), ['stranger/widgets']);
  t.deepEqual(of('push', {}), []);
});

test('repositories that an App was given, or that can be seen again, are looked at', (t) => {
  const listed = [{ full_name: 'acme/widgets' }, { full_name: 'acme/gadgets' }, { full_name: 'not a name' }, null];
  const names = ['acme/widgets', 'acme/gadgets'];
  const rows = [
    ['installation created', { repositories: listed }, names],
    ['installation unsuspend', { repositories: listed }, names],
    ['installation new_permissions_accepted', { repositories: listed }, names],
    ['installation_repositories added', { repositories_added: listed }, names],
    ['installation deleted', { repositories: listed }, undefined],
    ['installation suspend', { repositories: listed }, undefined],
    ['installation_repositories removed', { repositories_removed: listed }, undefined],
    // Then they are listed.
    ['installation unsuspend', {}, []],
    ['repository transferred', { repository }, ['acme/widgets']],
    ['repository publicized', { repository }, ['acme/widgets']],
    ['repository unarchived', { repository }, ['acme/widgets']],
    ['public', { repository }, ['acme/widgets']],
    ['ping', { repository }, ['acme/widgets']],
    ['repository deleted', { repository }, undefined],
    ['ping', { zen: 'of an organisation' }, undefined],
  ] as const;
  for (const [webhook, payload, expected] of rows) {
    const [event = '', action] = webhook.split(' ');
    const { resynced, appeared } = interpretEvent(event, { action, ...payload });
    t.deepEqual(appeared ? resynced : undefined, expected, webhook);
  }
});

const NO_NAMES = [undefined, null, {}, { login: 7 }, { login: 'a b' }, { login: 'x'.repeat(200) }];
const NO_COMMITS = [undefined, 7, '', 'main', 'A'.repeat(40), `${SHA}a`];
/** What is not stored in a job, which PostgreSQL may not be able to. */
const NO_CONTEXTS = ['gatehouse/\0', 'gatehouse/\ud800', `gatehouse/${'x'.repeat(501)}`, 7, null];
const OWN_NAME = { context: 'gatehouse/main', by: 'mallory' };

test('a status, check run or check suite requests the reviews at its valid commit', (t) => {
  const ofStatus = (payload: object, asked: object | undefined): Row => ['status', { sha: SHA, ...payload }, asked];
  const rows: readonly Row[] = [
    ofStatus({ context: 'ci/web', state: 'pending' }, ofCommit('checks')),
    ofStatus({}, ofCommit('checks')),
    ofStatus({ context: 'gatehouse/main', sender: { login: 'mallory' } }, ofCommit('checks', { ownName: OWN_NAME })),
    ...NO_NAMES.map((sender) =>
      ofStatus({ context: 'gatehouse/main', sender }, ofCommit('checks', { ownName: { ...OWN_NAME, by: '' } })),
    ),
    ...['check_run created', 'check_run completed'].map(
      (webhook): Row => [webhook, { check_run: { head_sha: SHA, pull_requests: [] } }, ofCommit('checks')],
    ),
    ...['completed', 'requested', 'rerequested'].map(
      (action): Row => [`check_suite ${action}`, { check_suite: { head_sha: SHA } }, ofCommit('checks')],
    ),
    ...NO_COMMITS.flatMap((sha): readonly Row[] => [
      ofStatus({ sha, context: 'ci' }, undefined),
      ['check_run completed', { check_run: { head_sha: sha } }, undefined],
      ['check_suite completed', { check_suite: { head_sha: sha } }, undefined],
    ]),
    ofStatus({ repository: undefined, context: 'ci' }, undefined),
    ['check_run rerequested', { check_run: { head_sha: SHA } }, undefined],
  ];
  t.deepEqual(...compare(rows));
  for (const context of NO_CONTEXTS) {
    const subject = interpretEvent('status', { repository, sha: SHA, context, sender: { login: 'mallory' } });
    t.deepEqual<unknown, unknown>(
      requestedReview(subject, () => true),
      ofCommit('checks'),
    );
  }
});

const keyOfEach = (requests: readonly (ReviewRequest | undefined)[]) =>
  new Set(requests.map((request) => request && keyOf(QUEUES, request.kind, request)));

test('a status under the own name never keeps back another', (t) => {
  const of = (login: string, context = 'gatehouse/main') =>
    target('status', { sha: SHA, context, sender: { login } }) ?? t.fail();
  const another = target('status', { sha: SHA, context: 'ci' });
  const different = [of('mallory'), of('mallory', 'Gatehouse/Main'), of('gatehouse[bot]'), another];
  t.is(keyOfEach(different).size, 4);
  t.is(keyOfEach([of('mallory'), of('Mallory')]).size, 1);
});

test('the installation of an App is read with the account that has it', (t) => {
  t.deepEqual(installationIn({ repository, installation: { id: 7 } }), { owner: 'acme', id: 7 });
  const account = { login: 'octo-org' };
  t.deepEqual(installationIn({ action: 'created', installation: { id: 8, account } }), { owner: 'octo-org', id: 8 });
  for (const payload of [
    { repository },
    { installation: { id: 7 } },
    { repository, installation: { id: 0 } },
    { repository, installation: { id: '7' } },
    { repository: { full_name: '../widgets/x' }, installation: { id: 7 } },
    { installation: { id: 7, account: { login: 'a/b' } } },
    { action: 'deleted', installation: { id: 7, account } },
  ]) {
    t.is(installationIn(payload), undefined, JSON.stringify(payload));
  }
});

const COMMENT = { id: 4711, body: '/gatehouse recheck', user: { login: 'bob' } };
const ON_PULL_REQUEST = { number: 7, pull_request: { url: 'https://forge.test' } };
const OVERRIDE = { ...COMMENT, body: '/gatehouse override a b c' };
const editedFrom = (from: string) => ({ action: 'edited', changes: { body: { from } } });

function commented(payload: Payload): ReviewRequest | undefined {
  return target('issue_comment created', { issue: ON_PULL_REQUEST, comment: COMMENT, ...payload });
}

test('a comment with a command on a pull request asks for what it says', (t) => {
  const request = commented({});
  t.like(request, { kind: 'command', repository: 'acme/widgets', number: 7, command: 'recheck', change: 'posted' });
  t.like(request, { commentId: '4711', author: 'bob' });
  const onIssue = { action: 'created', repository, issue: { number: 7 }, comment: COMMENT };
  t.is(interpretEvent('issue_comment', { ...onIssue, issue: ON_PULL_REQUEST }).pullRequest, 7);
  t.is(interpretEvent('issue_comment', onIssue).pullRequest, undefined);
});

for (const [what, change, payload] of [
  ['a command to override', 'posted', { comment: OVERRIDE }],
  ['one that was deleted', 'deleted', { action: 'deleted', comment: OVERRIDE }],
  [
    'one that was edited',
    'edited',
    { ...editedFrom(OVERRIDE.body), comment: { ...OVERRIDE, body: `${OVERRIDE.body}d` } },
  ],
  ['one that is text now', 'edited', { ...editedFrom(OVERRIDE.body), comment: { ...COMMENT, body: 'Thanks' } }],
  ['text that is one now', 'edited', { ...editedFrom('Thanks'), comment: OVERRIDE }],
  ['one that is another command now', 'edited', editedFrom(OVERRIDE.body)],
] as const) {
  test(`${what} asks to look at the overrides`, (t) => {
    t.like(commented(payload), { command: 'override', change });
  });
}

for (const [what, payload] of [
  ['ordinary text', { comment: { ...COMMENT, body: 'Thanks, /gatehouse recheck' } }],
  ['a comment of Gatehouse', { comment: { ...COMMENT, body: '<!-- gatehouse:commands -->\n/gatehouse recheck' } }],
  ['an edit into another command than an override', editedFrom('x')],
  ['a deleted recheck', { action: 'deleted' }],
  ['a comment on an issue', { issue: { number: 7 } }],
  ['an unknown action', { action: 'pinned' }],
  ['a comment without an author', { comment: { ...COMMENT, user: null } }],
  ['an author with slashes', { comment: { ...COMMENT, user: { login: '../bob' } } }],
  ['an id that is none', { comment: { ...COMMENT, id: '4711' } }],
  ['an action of another kind', { action: ['created'] }],
] as const) {
  test(`${what} asks for nothing`, (t) => {
    t.is(commented(payload), undefined);
  });
}

test('commands wait for each other only where they say the same', (t) => {
  const distinct = (...comments: readonly object[]) =>
    keyOfEach(comments.map((comment) => commented({ comment: { ...COMMENT, ...comment } }) ?? t.fail())).size;
  const [bob, mallory] = [{ user: { login: 'bob' } }, { user: { login: 'mallory' } }];
  t.is(distinct({ id: 1 }, { id: 2 }), 1);
  t.is(distinct(bob, mallory), 2, 'somebody else may not keep back a recheck');
  const unknown = { body: '/gatehouse help' };
  t.is(distinct({ ...unknown, ...bob }, { ...unknown, ...mallory }), 1, 'all are answered once');
  t.is(distinct(OVERRIDE, { ...OVERRIDE, id: 2 }), 2);
  const edited = commented({ action: 'edited', comment: OVERRIDE }) ?? t.fail();
  t.is(keyOfEach([commented({ comment: OVERRIDE }), edited]).size, 2);
});
