import { WEBHOOKS } from '../../src/facts/webhooks.ts';
import { eventLabel, installationIn, interpretEvent } from '../../src/forges/interpret-event.ts';
import { type ReviewRequest, requestedReview } from '../../src/forges/port/review-requests.ts';
import { keyOf } from '../../src/jobs/queue/queue.ts';
import { QUEUES } from '../../src/jobs/queues.ts';
import { payloads } from '../helpers/payloads.ts';
import fc from '../helpers/property.ts';
import test from '../helpers/test.ts';

const repository = { full_name: 'acme/widgets' };

function target(event: string, payload: Record<string, unknown>) {
  return requestedReview(interpretEvent(event, payload), (context) => context === 'gatehouse/main');
}

const REVIEWED = [
  ['pull_request', 'opened'],
  ['pull_request', 'reopened'],
  ['pull_request', 'synchronize'],
  ['pull_request', 'synchronized'],
  ['pull_request', 'edited'],
  ['pull_request', 'labeled'],
  ['pull_request', 'unlabeled'],
  ['pull_request', 'label_updated'],
  ['pull_request', 'ready_for_review'],
  ['pull_request', 'converted_to_draft'],
  ['pull_request_review', 'submitted'],
  ['pull_request_review', 'dismissed'],
  ['pull_request_sync', 'synchronized'],
  ['pull_request', 'closed'],
  ['pull_request_approved', 'reviewed'],
  ['pull_request_rejected', 'reviewed'],
] as const;

for (const [event, action] of REVIEWED) {
  test(`${event} ${action} asks for a review`, (t) => {
    const payload = { action, repository, number: 7, pull_request: { number: 7 } };
    t.deepEqual(target(event, payload), { kind: 'review', repository: 'acme/widgets', number: 7 });
  });
}

const [SHA, BEFORE] = ['a'.repeat(40), 'b'.repeat(64)];

for (const [event, action] of [
  ['pull_request', 'synchronize'],
  ['pull_request', 'synchronized'],
  ['pull_request_sync', 'synchronized'],
] as const) {
  test(`${event} ${action} tells who pushed`, (t) => {
    const payload = { action, repository, before: BEFORE, pull_request: { number: 7, head: { sha: SHA } } };
    const pushed = (more: object) => interpretEvent(event, { ...payload, ...more }).pushedHead;
    t.deepEqual(pushed({ sender: { login: 'Bob' } }), { sha: SHA, from: BEFORE, by: 'Bob' });
    t.deepEqual(pushed({ before: undefined, sender: { login: 'renovate[bot]' } }), {
      sha: SHA,
      from: undefined,
      by: 'renovate[bot]',
    });
    for (const sender of [undefined, null, {}, { login: 7 }, { login: 'a b' }, { login: `${'x'.repeat(101)}` }]) {
      t.deepEqual(pushed({ before: '../x', sender }), { sha: SHA, from: undefined, by: undefined });
    }
    t.is(pushed({ pull_request: { number: 7, head: { sha: 'main' } } }), undefined);
    const later = { number: 7, head: { sha: 'c'.repeat(40) } };
    t.is(pushed({ after: SHA, pull_request: later })?.sha, SHA);
    t.is(pushed({ after: '../x', pull_request: later })?.sha, later.head.sha);
    const to = (head: object) => pushed({ pull_request: { number: 7, head: { sha: SHA, ...head } } })?.repository;
    t.is(to({ label: 'topic', repo: { full_name: 'bob/app' } }), 'bob/app');
    t.is(to({ label: '', repo: { full_name: 'octo/app' } }), undefined, 'AGit');
    t.is(to({ label: 'topic', repo: null }), undefined);
  });
}

for (const action of ['opened', 'reopened', 'edited', 'closed']) {
  test(`pull_request ${action} does not tell who pushed`, (t) => {
    const payload = { action, repository, sender: { login: 'bob' }, pull_request: { number: 7, head: { sha: SHA } } };
    const shown = action.endsWith('opened') ? { sha: SHA, from: undefined, by: undefined } : undefined;
    t.deepEqual(interpretEvent('pull_request', payload).pushedHead, shown);
  });
}

test('a pull request without a usable number is not one of another number', (t) => {
  t.is(target('pull_request', { action: 'opened', repository, number: 7, pull_request: { number: 0 } }), undefined);
  t.is(target('pull_request', { action: 'opened', repository, number: 7, pull_request: {} }), undefined);
});

for (const [event, action] of [
  ['pull_request', 'assigned'],
  ['pull_request_review_thread', 'resolved'],
  ['issues', 'opened'],
  ['ping', undefined],
] as const) {
  test(`${event} ${action ?? ''} asks for none`, (t) => {
    t.is(target(event, { action, repository, number: 7, pull_request: { number: 7 } }), undefined);
  });
}

for (const action of ['review_requested', 'review_request_removed']) {
  test(`pull_request ${action} asks for a review of those at its head that wait for it`, (t) => {
    const headSha = 'a'.repeat(40);
    const payload = { action, repository, number: 7, pull_request: { number: 7, head: { sha: headSha } } };
    t.deepEqual(target('pull_request', payload), {
      kind: 'review-commit',
      repository: 'acme/widgets',
      headSha,
      facts: ['requestedReviews'],
    });
    t.is(target('pull_request', { ...payload, pull_request: { number: 7, head: { sha: 'main' } } }), undefined);
  });
}

/** The webhooks of Gatehouse's own review, and of a person's that only comments. */
for (const [event, action, review] of [
  ['pull_request_review', 'submitted', { state: 'commented', body: '' }],
  ['pull_request_review', 'edited', { state: 'commented', body: 'Please <!-- gatehouse:finding 00 -->' }],
  ['pull_request_comment', 'reviewed', { type: 'pull_request_review_comment', content: '' }],
  ['pull_request_review_comment', 'reviewed', { type: 'pull_request_review_comment', content: '' }],
] as const) {
  test(`${event} ${action}: a review that only comments starts nothing`, (t) => {
    t.is(target(event, { action, repository, number: 7, pull_request: { number: 7 }, review }), undefined);
  });
}

for (const [event, more] of [
  ['pull_request_review', { action: 'submitted', review: { state: 'commented' } }],
  ['pull_request_review_thread', { action: 'resolved', thread: {} }],
  ['pull_request_review_thread', { action: 'unresolved', thread: {} }],
  ['pull_request_comment', { action: 'reviewed', review: { type: 'pull_request_review_comment' } }],
  ['pull_request_review_comment', { action: 'deleted', comment: {} }],
] as const) {
  test(`${event} ${more.action} asks for reviews that depend on conversations`, (t) => {
    const headSha = 'a'.repeat(40);
    const payload = { ...more, repository, pull_request: { number: 7, head: { sha: headSha } } };
    const asked = {
      kind: 'review-commit',
      repository: 'acme/widgets',
      headSha,
      facts: ['conversations'],
    } as const;
    t.deepEqual(target(event, { ...payload, sender: { login: 'bob' } }), { ...asked, by: 'bob' });
    t.deepEqual(target(event, { ...payload, sender: { login: '' } }), { ...asked, by: '' });
    t.is(target(event, { ...payload, pull_request: { number: 7, head: { sha: '../x' } } }), undefined);
  });
}

for (const [event, action, review] of [
  ['pull_request_review', 'submitted', { state: 'approved', body: '<!-- gatehouse:review -->' }],
  ['pull_request_review', 'submitted', { state: 'changes_requested', body: '<!-- gatehouse:review -->' }],
  ['pull_request_review', 'dismissed', { state: 'dismissed', body: '<!-- gatehouse:review -->' }],
  ['pull_request_review', 'submitted', { body: 'no state at all' }],
  ['pull_request_approved', 'reviewed', { type: 'pull_request_review_approved', content: '<!-- gatehouse:review -->' }],
  ['pull_request_rejected', 'reviewed', { type: 'pull_request_review_rejected', content: '<!-- gatehouse:review -->' }],
] as const) {
  test(`${event} ${action} as ${JSON.stringify(review)} asks for a review`, (t) => {
    const payload = { action, repository, number: 7, pull_request: { number: 7 }, review };
    t.deepEqual(target(event, payload), { kind: 'review', repository: 'acme/widgets', number: 7 });
  });
}

test("the number of an issue is not taken for a pull request's", (t) => {
  t.is(interpretEvent('issues', { repository, number: 7 }).pullRequest, undefined);
});

for (const full_name of [
  'acme',
  'acme/widgets/more',
  'acme/wid gets',
  'acme/\u0000',
  '../..\n',
  '',
  7,
  null,
  `a/${'b'.repeat(300)}`,
]) {
  test(`a repository called ${JSON.stringify(full_name)?.slice(0, 30)} is not believed`, (t) => {
    t.is(interpretEvent('pull_request', { repository: { full_name } }).repository, undefined);
  });
}

for (const number of [0, -1, 1.5, 2 ** 31, Number.NaN, '7', null, {}]) {
  test(`a pull request numbered ${String(number)} (${typeof number}) is not believed`, (t) => {
    t.is(interpretEvent('pull_request', { number, pull_request: { number } }).pullRequest, undefined);
  });
}

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
  const examples = payloads().map(({ event, body }) => ({ event, payload: JSON.parse(body.toString()) }));
  const actedOn = new Set(examples.flatMap(({ event, payload }) => (target(event, payload) ? [event] : [])));
  t.true(actedOn.size > 5, [...actedOn].join());
  for (const event of [...actedOn, ...WEBHOOKS.map(({ event }) => event)]) {
    t.is(eventLabel(event), event);
  }
  for (const event of ['ping', 'star', 'gollum', 'constructor', 'whatever a sender writes']) {
    t.is(eventLabel(event), 'other');
  }
});

test('every example of an opened pull request names the pull request that it opens', (t) => {
  let seen = 0;
  for (const { event, body } of payloads()) {
    const payload = JSON.parse(body.toString());
    if (event !== 'pull_request' || payload.action !== 'opened') {
      continue;
    }
    seen += 1;
    t.deepEqual(target(event, payload), {
      kind: 'review',
      repository: payload.repository.full_name,
      number: payload.number,
    });
  }
  t.true(seen > 0);
});

test('a push to a branch asks about the pull requests into it, whatever it lists', (t) => {
  const commit = { added: [], modified: ['README.md'] };
  for (const commits of [[commit], Array.from({ length: 5 }, () => commit), [], undefined, 'nonsense']) {
    for (const branch of ['main', 'release/1.x', 'größe', '主分支']) {
      t.deepEqual(target('push', { repository, ref: `refs/heads/${branch}`, commits }), {
        kind: 'review-repository',
        repository: 'acme/widgets',
        branch,
      });
    }
  }
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
    target('merge_group', { action, reason, repository, merge_group: { ...group, ...changes } });
  const wanted = { repository: 'acme/widgets', branch: 'main', headSha: sha, isGone: false };
  t.deepEqual(of({}), { kind: 'review-merge-group', ...wanted, headRef });
  for (const head_ref of [undefined, 7, 'refs/tags/x', 'refs/heads/a\u0000']) {
    t.deepEqual(of({ head_ref }), { kind: 'review-merge-group', ...wanted, headRef: '' });
  }
  for (const reason of ['dequeued', 'invalidated', undefined]) {
    t.deepEqual(of({}, 'destroyed', reason), { kind: 'review-merge-group', ...wanted, headRef, isGone: true });
  }
  t.is(of({}, 'destroyed', 'merged'), undefined);
  for (const base_ref of [undefined, 7, 'main', 'refs/tags/main', 'refs/heads/']) {
    t.is(of({ base_ref }), undefined);
  }
  for (const head_sha of [undefined, 7, '', sha.slice(1), sha.toUpperCase(), `${sha}\n`]) {
    t.is(of({ head_sha }), undefined);
  }
  t.is(target('merge_group', { action: 'checks_requested', repository, merge_group: [group] }), undefined);
});

test('a push of a tag, of a deleted branch, or of nonsense asks for nothing', (t) => {
  t.is(target('push', { repository, ref: 'refs/tags/v1' }), undefined);
  t.is(target('push', { repository, ref: 'refs/heads/main', deleted: true }), undefined);
  for (const ref of [
    undefined,
    7,
    '',
    'main',
    'refs/heads/',
    'refs/heads/a b',
    'refs/heads/a\n',
    'refs/heads/\ud800',
  ]) {
    t.is(target('push', { repository, ref }), undefined);
  }
  t.is(target('push', { repository, ref: `refs/heads/${'x'.repeat(256)}` }), undefined);
});

test('a repository is resynced, but not a fork that only pushes come from', (t) => {
  const of = (event: string, payload: object) => interpretEvent(event, { ...payload }).resynced;
  const repository = { full_name: 'acme/widgets' };
  const fork = { full_name: 'stranger/widgets', fork: true };
  t.deepEqual(of('push', { repository }), ['acme/widgets']);
  t.deepEqual(of('push', { repository: fork }), []);
  const opened = { repository: fork, action: 'opened', pull_request: { number: 1 } };
  t.deepEqual(of('pull_request', opened), ['stranger/widgets']);
  t.deepEqual(of('push', {}), []);
});

test('repositories that an App was given, or that can be seen again, are looked at', (t) => {
  const of = (event: string, payload: object) => {
    const { resynced, appeared } = interpretEvent(event, { ...payload });
    return appeared ? resynced : undefined;
  };
  const listed = [{ full_name: 'acme/widgets' }, { full_name: 'acme/gadgets' }, { full_name: 'not a name' }, null];
  const names = ['acme/widgets', 'acme/gadgets'];
  for (const action of ['created', 'unsuspend', 'new_permissions_accepted']) {
    t.deepEqual(of('installation', { action, repositories: listed }), names);
  }
  t.deepEqual(of('installation_repositories', { action: 'added', repositories_added: listed }), names);
  for (const action of ['deleted', 'suspend']) {
    t.is(of('installation', { action, repositories: listed }), undefined);
  }
  t.is(of('installation_repositories', { action: 'removed', repositories_removed: listed }), undefined);
  t.deepEqual(of('installation', { action: 'unsuspend' }), [], 'then they are listed');
  for (const [event, action] of [
    ['repository', 'transferred'],
    ['repository', 'publicized'],
    ['repository', 'unarchived'],
    ['public', undefined],
    ['ping', undefined],
  ] as const) {
    t.deepEqual(of(event, { action, repository }), ['acme/widgets']);
  }
  t.is(of('repository', { action: 'deleted', repository }), undefined);
  t.is(of('ping', { zen: 'of an organisation' }), undefined);
});

test('a status, check run or check suite requests the reviews at its commit', (t) => {
  const wanted = {
    kind: 'review-commit',
    repository: repository.full_name,
    headSha: SHA,
    facts: ['checks'],
  } as const;
  t.deepEqual(target('status', { repository, sha: SHA, context: 'ci/web', state: 'pending' }), wanted);
  t.deepEqual(target('status', { repository, sha: SHA }), wanted);
  for (const action of ['created', 'completed']) {
    t.deepEqual(target('check_run', { repository, action, check_run: { head_sha: SHA, pull_requests: [] } }), wanted);
  }
  for (const action of ['completed', 'requested', 'rerequested']) {
    t.deepEqual(target('check_suite', { repository, action, check_suite: { head_sha: SHA } }), wanted);
  }
});

test('a status under the own name says who set it, and never keeps back another', (t) => {
  const of = (sender: unknown, context = 'gatehouse/main') =>
    requestedReview(interpretEvent('status', { repository, sha: SHA, context, sender }), () => true) ?? t.fail();
  const wanted = {
    kind: 'review-commit',
    repository: repository.full_name,
    headSha: SHA,
    facts: ['checks'],
  } as const;
  const context = 'gatehouse/main';
  t.deepEqual(of({ login: 'mallory' }), { ...wanted, ownName: { context, by: 'mallory' } });
  for (const sender of [undefined, null, {}, { login: 7 }, { login: 'a b' }, { login: 'x'.repeat(200) }]) {
    t.deepEqual(of(sender), { ...wanted, ownName: { context, by: '' } });
  }
  const mallory = { login: 'mallory' };
  const keyOfEach = (requests: readonly ReviewRequest[]) =>
    new Set(requests.map((request) => keyOf(QUEUES, request.kind, request)));
  t.is(keyOfEach([of(mallory), of(mallory, 'Gatehouse/Main'), of({ login: 'gatehouse[bot]' }), wanted]).size, 4);
  t.is(keyOfEach([of(mallory), of({ login: 'Mallory' })]).size, 1);
});

test('a context that PostgreSQL cannot store is never part of a job', (t) => {
  const wanted = {
    kind: 'review-commit',
    repository: repository.full_name,
    headSha: SHA,
    facts: ['checks'],
  } as const;
  for (const context of ['gatehouse/\0', 'gatehouse/\ud800', `gatehouse/${'x'.repeat(501)}`, 7, null]) {
    const event = interpretEvent('status', { repository, sha: SHA, context, sender: { login: 'mallory' } });
    t.deepEqual(
      requestedReview(event, () => true),
      wanted,
    );
  }
});

test('a status or check run without a valid commit requests nothing', (t) => {
  for (const sha of [undefined, 7, '', 'main', 'A'.repeat(40), `${SHA}a`]) {
    t.is(target('status', { repository, sha, context: 'ci' }), undefined);
    t.is(target('check_run', { repository, action: 'completed', check_run: { head_sha: sha } }), undefined);
    t.is(target('check_suite', { repository, action: 'completed', check_suite: { head_sha: sha } }), undefined);
  }
  t.is(target('status', { sha: SHA, context: 'ci' }), undefined);
  t.is(target('check_run', { repository, action: 'rerequested', check_run: { head_sha: SHA } }), undefined);
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

function commented(payload: Record<string, unknown>) {
  return target('issue_comment', {
    action: 'created',
    repository,
    issue: ON_PULL_REQUEST,
    comment: COMMENT,
    ...payload,
  });
}

test('a comment with a command on a pull request asks for what it says', (t) => {
  const request = commented({});
  t.like(request, { kind: 'command', repository: 'acme/widgets', number: 7, command: 'recheck', change: 'posted' });
  t.like(request, { commentId: '4711', author: 'bob' });
});

test('a comment on a pull request names its number, one on an issue names none', (t) => {
  const payload = { action: 'created', repository, issue: ON_PULL_REQUEST, comment: COMMENT };
  t.is(interpretEvent('issue_comment', payload).pullRequest, 7);
  t.is(interpretEvent('issue_comment', { ...payload, issue: { number: 7 } }).pullRequest, undefined);
});

for (const [what, action, body, before, change] of [
  ['a command to override', 'created', '/gatehouse override a b c', undefined, 'posted'],
  ['one that was deleted', 'deleted', '/gatehouse override a b c', undefined, 'deleted'],
  ['one that was edited', 'edited', '/gatehouse override a b d', '/gatehouse override a b c', 'edited'],
  ['one that is text now', 'edited', 'Thanks', '/gatehouse override a b c', 'edited'],
  ['text that is one now', 'edited', '/gatehouse override a b c', 'Thanks', 'edited'],
  ['one that is another command now', 'edited', '/gatehouse recheck', '/gatehouse override a b c', 'edited'],
] as const) {
  test(`${what} asks to look at the overrides`, (t) => {
    const changes = before === undefined ? {} : { changes: { body: { from: before } } };
    t.like(commented({ action, comment: { ...COMMENT, body }, ...changes }), { command: 'override', change });
  });
}

for (const [what, payload] of [
  ['ordinary text', { comment: { ...COMMENT, body: 'Thanks, /gatehouse recheck' } }],
  ['a comment of Gatehouse', { comment: { ...COMMENT, body: '<!-- gatehouse:commands -->\n/gatehouse recheck' } }],
  ['an edit into another command than an override', { action: 'edited', changes: { body: { from: 'x' } } }],
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
  const key = (payload: Record<string, unknown>) => {
    const request = commented(payload) ?? t.fail();
    return keyOf(QUEUES, request.kind, request);
  };
  const by = (login: string) => ({ comment: { ...COMMENT, user: { login } } });
  const override = { ...COMMENT, body: '/gatehouse override a b c' };
  t.is(key({ comment: { ...COMMENT, id: 1 } }), key({ comment: { ...COMMENT, id: 2 } }));
  t.not(key(by('bob')), key(by('mallory')), 'somebody else may not keep back a recheck');
  const unknown = (login: string) => ({ comment: { ...COMMENT, body: '/gatehouse help', user: { login } } });
  t.is(key(unknown('bob')), key(unknown('mallory')), 'all are answered once');
  t.not(key({ comment: override }), key({ comment: { ...override, id: 2 } }));
  t.not(key({ comment: override }), key({ action: 'edited', comment: override }));
});
