import { type Facts, factsOf } from '../../../src/facts/table.ts';
import type { YesNo } from '../../../src/forges/port/yes-no.ts';
import type { Given } from '../../../src/review/cases/given.ts';
import { neededFacts } from '../../../src/review/policy/needs.ts';
import { compareOutcomes, type Outcome, worstOf } from '../../../src/review/predicates/predicate.ts';
import test from '../../helpers/test.ts';
import { judgedBy, ruleOf } from './judge.ts';

/** Where the forge says of each approval whether it counts. */
function counted(given: Given, answer: YesNo): Facts {
  const facts = factsOf(given);
  const reviews = facts.reviews.reviews.map((review) => ({ ...review, counted: answer }));
  return { ...facts, reviews: { ...facts.reviews, reviews } };
}

for (const group of ['Sally', '@octo/security'] as const) {
  const given: Given = { reviews: [{ author: 'sally' }], teams: { 'octo/security': ['sally'] } };

  test(`approvals: what the forge counts no longer counts for ${group} alone`, (t) => {
    const of = (condition: string, answer: YesNo) => judgedBy(condition, counted(given, answer)).outcome;
    t.is(of(`{ approvals: { count: 1, all_of: ['${group}'] } }`, 'no'), 'unmatched');
    t.is(of('{ approvals: 1 }', 'no'), 'unmatched');
    t.is(of(`{ approvals: { all_of: ['${group}'] } }`, 'no'), 'matched');
    t.is(of(`{ approvals: { from: ['${group}'] } }`, 'no'), 'matched');
    for (const answer of ['yes', 'unknown'] as const) {
      t.is(of(`{ approvals: { count: 1, all_of: ['${group}'] } }`, answer), 'matched', answer);
    }
  });
}

test('approvals: one that counts no longer is no unknown one, whoever may write', (t) => {
  const given: Given = { reviews: [{ author: 'sally', official: null }] };
  t.is(judgedBy('{ approvals: { count: 1, all_of: [sally] } }', counted(given, 'no')).outcome, 'unmatched');
});

test('approvals: where too few approve, those who are unknown are named', (t) => {
  const bob = { author: 'bob', official: null };
  const carol = { author: 'carol' };
  const of = (condition: string, ...reviews: (typeof bob | typeof carol)[]) =>
    judgedBy(condition, factsOf({ reviews }));
  const alone = of('{ approvals: 2 }', bob);
  t.like(alone, { outcome: 'unmatched', awaited: '2 approvals' });
  t.regex(alone.found, /^no approval that counts; whether "bob" can write to the repository could not be read/);
  t.regex(of('{ approvals: 3 }', bob, carol).found, /^1 approval, by "carol"; whether "bob" can write/);
  t.is(of('{ approvals: 1 }', bob, carol).found, '1 approval, by "carol"');
});

test('approvals: of groups alone ask nothing of who may write', (t) => {
  const needs = (value: string) => neededFacts(ruleOf(`require: { approvals: ${value} }`)).writers;
  t.is(needs('{ all_of: [bob] }'), undefined);
  t.deepEqual(needs('{ count: 1, all_of: [bob] }'), ['approvers']);
  const outsider: Given = { reviews: [{ author: 'bob' }, { author: 'dora', official: false }] };
  t.is(judgedBy('{ approvals: { all_of: [bob] } }', factsOf(outsider)).found, 'an approval from each of "bob"');
});

const objection = (author: string, official: boolean | null = true) =>
  ({ author, official, state: 'changes-requested' }) as const;

const ASKED: readonly (readonly [what: string, given: Given, ask: string, found: RegExp])[] = [
  [
    'one may write and one is unknown',
    { reviews: [objection('bob', null), objection('dan')] },
    'ask "dan" to review again.',
    /^1 request for changes, by "dan"; whether "bob" can write to the repository could not be read/,
  ],
  [
    'all are unknown',
    { reviews: [objection('bob', null), objection('eve', null)] },
    'ask "bob", "eve" to review again.',
    /^a request for changes by "bob", "eve"; whether "bob", "eve" can write to the repository could not be read/,
  ],
  [
    'not all reviews are read',
    { reviews_complete: false },
    'then ask the reviewer to review again.',
    /could not be read in full/,
  ],
];

for (const [what, given, ask, found] of ASKED) {
  test(`changes_requested: who is asked where ${what}`, (t) => {
    const result = judgedBy('{ changes_requested: true }', factsOf(given));
    t.true(result.toAvoid.endsWith(ask), result.toAvoid);
    t.regex(result.found, found);
  });
}

test('changes_requested: whoever objects is asked where a team is unread', (t) => {
  t.like(judgedBy("{ changes_requested: { from: ['@octo/security'] } }", factsOf({ reviews: [objection('bob')] })), {
    outcome: 'undecided',
    toAvoid: 'Address the review, then ask "bob" to review again.',
  });
});

/** Of bob, who has resolved it, the permission is unknown. */
const BY_BOB = { by: 'carol', resolved_by: 'Bob' };
const RESOLVED: Given = { reviews: [{ author: 'bob', official: null }], threads: [BY_BOB] };

const PERMISSION = /whether "Bob" can write to the repository could not be read/;
const TEAM_UNREAD = /the members of "octo\/security" could not be read$/;
const UNTOLD = /the forge does not tell whether they count, or are resolved$/;
const outdated = (is: boolean | null): Given => ({ threads: [{ ...BY_BOB, outdated: is }] });

const UNSURE: readonly (readonly [why: string, condition: string, given: Given, outcome: Outcome, found: RegExp])[] = [
  ['nothing else is', '', {}, 'awaited', PERMISSION],
  ['so are the members of a team', ", from: ['@octo/security']", {}, 'undecided', TEAM_UNREAD],
  ['so is whether it is outdated', ', outdated: ignore', outdated(null), 'undecided', UNTOLD],
  ['another may be open', '', { threads: [BY_BOB, { by: 'dan', resolved: null }] }, 'undecided', PERMISSION],
  ['so are commits', '', { commits_complete: false }, 'undecided', /^no unresolved/],
  ['it is outdated', ', outdated: ignore', outdated(true), 'matched', /counts$/],
];

for (const [why, condition, given, outcome, found] of UNSURE) {
  test(`threads: where a resolver is unknown, and ${why}`, (t) => {
    const facts = factsOf({ ...RESOLVED, ...given });
    const result = judgedBy(`{ threads: { resolved_by: others${condition} } }`, facts);
    t.is(result.outcome, outcome);
    t.regex(result.found, found);
    t.is(result.awaited.startsWith('Gatehouse to see whether "Bob" can write'), outcome === 'awaited');
  });
}

test('threads: the author, and who made a commit, are not among those who are unknown', (t) => {
  for (const resolved_by of ['alice', 'dan']) {
    const commits = [{ message: 'a', author: 'dan', committer: 'dan' }];
    const facts = factsOf({ commits, threads: [{ by: 'carol', resolved_by }] });
    const unasked: Facts = { ...facts, writers: { answers: new Map() } };
    t.is(judgedBy('{ threads: { resolved_by: others } }', unasked).outcome, 'unmatched', resolved_by);
  }
  const facts = factsOf({ threads: [{ by: 'carol', resolved_by: 'bob' }] });
  const unasked: Facts = { ...facts, writers: { answers: new Map() } };
  const { outcome, found } = judgedBy('{ threads: { resolved_by: others } }', unasked);
  t.is(outcome, 'awaited');
  t.regex(found, /whether "bob" can write/, 'who was not asked about is unknown');
});

test('of several that are all needed, the worst outcome counts', (t) => {
  const all: readonly Outcome[] = ['matched', 'awaited', 'undecided', 'unmatched'];
  t.deepEqual(all.toSorted(compareOutcomes), all.toReversed());
  for (const [index, worst] of all.entries()) {
    t.is(worstOf(all.slice(0, index + 1)), worst);
  }
});

test('fork: what comes from no repository, as a push to refs/for, comes from a fork', (t) => {
  const { pullRequest, ...facts } = factsOf({});
  const pushed = { ...facts, pullRequest: { ...pullRequest, head: { ...pullRequest.head, repository: null } } };
  t.is(judgedBy('{ fork: false }', pushed).outcome, 'unmatched');
  t.is(judgedBy('{ fork: true }', pushed).outcome, 'matched');
});
