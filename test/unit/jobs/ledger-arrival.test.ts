import test from 'ava';
import { arrivalOf } from '../../../src/jobs/ledger/arrival.ts';

const at = (seconds: number) => new Date(1_000_000_000_000 + seconds * 1_000);
const LINE = ['a', 'b', 'c'].map((sha, index, all) => ({
  sha,
  parents: [all[index - 1] ?? 'known'],
  committer: 'alice',
  message: '',
  byForge: false,
}));
const push = (after: string, delivered: number, received = delivered) => ({
  id: '1',
  isInLedger: false,
  before: 'known',
  after,
  pusher: 'mallory',
  deliveredAt: at(delivered),
  receivedAt: at(received),
});

function arrival(sha: string, merged: number, pushes: readonly ReturnType<typeof push>[], known = 0) {
  const found = arrivalOf({ commits: LINE, knownAt: at(known), pushes }, sha, { mergedAt: at(merged).toISOString() });
  return found && { seconds: (Date.parse(found.at) - at(0).getTime()) / 1_000, isPushed: found.isPushed };
}

test('a merge came when the forge says, and its webhook later', (t) => {
  t.deepEqual(arrival('b', 100, []), { seconds: 100, isPushed: false });
  t.deepEqual(arrival('b', 100, [push('b', 101)]), { seconds: 100, isPushed: false });
});

test('a commit that was pushed before it was called merged came with the push', (t) => {
  t.deepEqual(arrival('b', 100, [push('b', 20)]), { seconds: 20, isPushed: true });
  t.deepEqual(arrival('b', 100, [push('c', 30)]), { seconds: 30, isPushed: true }, 'together with others');
  t.deepEqual(arrival('b', 100, [push('a', 20)]), { seconds: 100, isPushed: false }, 'that was one before it');
  t.deepEqual(arrival('b', 100, [push('b', 20, 500)]), { seconds: 20, isPushed: true }, 'the worker was late');
});

test('a commit that the branch was seen without after its merge came again', (t) => {
  t.is(arrival('b', 100, [], 161), undefined);
  t.deepEqual(arrival('b', 100, [], 160), { seconds: 100, isPushed: false }, 'clocks may differ');
  t.deepEqual(arrival('b', 100, [push('b', 40)], 50), { seconds: 100, isPushed: false }, 'what was pushed before');
});
