import test from 'ava';
import { makeByteBudget } from '../../src/inbox/byte-budget.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const ignore = () => {};

test('bytes are held until they are released', (t) => {
  const seen: number[] = [];
  const budget = makeByteBudget(100 * KIB, (held) => seen.push(held));
  const first = budget.reserve(60 * KIB);
  t.truthy(first);
  t.is(budget.reserve(41 * KIB), undefined);
  const second = budget.reserve(40 * KIB);
  t.truthy(second);
  first?.release();
  second?.release();
  t.deepEqual(seen, [60 * KIB, 100 * KIB, 40 * KIB, 0]);
  t.is(budget.held, 0);
});

test('a reservation grows while there is room, and keeps what it has when there is none', (t) => {
  const budget = makeByteBudget(100 * KIB, ignore);
  const one = budget.reserve(20 * KIB);
  t.true(one?.growTo(80 * KIB));
  t.true(one?.growTo(10 * KIB), 'it never shrinks');
  t.is(budget.held, 80 * KIB);
  t.false(one?.growTo(101 * KIB));
  t.is(budget.held, 80 * KIB);
  one?.release();
  t.is(budget.held, 0);
});

test('even an empty body takes some room, so that a flood of them is bounded', (t) => {
  const budget = makeByteBudget(64 * KIB, ignore);
  for (let count = 0; count < 4; count++) {
    t.truthy(budget.reserve(0));
  }
  t.is(budget.reserve(0), undefined);
});

test('large bodies hold at most half, however they came to be large, so that ordinary ones still find room', (t) => {
  const budget = makeByteBudget(8 * MIB, ignore);
  const first = budget.reserve(30 * KIB);
  t.true(first?.growTo(4 * MIB));
  const second = budget.reserve(30 * KIB);
  t.true(second?.growTo(MIB));
  t.false(second?.growTo(2 * MIB));
  t.truthy(budget.reserve(30 * KIB));
  first?.release();
  t.true(second?.growTo(2 * MIB));
});
