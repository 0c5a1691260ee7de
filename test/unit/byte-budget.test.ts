import { makeByteBudget } from '../../src/inbox/byte-budget.ts';
import test from '../helpers/test.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const ignore = () => {};

test('a reservation holds nothing until it grows, and all of it until it is released', (t) => {
  const seen: number[] = [];
  const budget = makeByteBudget(100 * KIB, (held) => seen.push(held));
  const [first, second] = [budget.open(), budget.open()];
  t.is(budget.held, 0);
  t.true(first.growTo(60 * KIB));
  t.false(second.growTo(41 * KIB));
  t.true(second.growTo(40 * KIB));
  first.release();
  second.release();
  t.deepEqual(seen, [60 * KIB, 100 * KIB, 40 * KIB, 0]);
  t.is(budget.held, 0);
});

test('a reservation never shrinks, and stays when there is no memory for more', (t) => {
  const budget = makeByteBudget(100 * KIB, ignore);
  const one = budget.open();
  t.true(one.growTo(80 * KIB));
  t.true(one.growTo(10 * KIB));
  t.is(budget.held, 80 * KIB);
  t.false(one.growTo(101 * KIB));
  t.is(budget.held, 80 * KIB);
  one.release();
  t.is(budget.held, 0);
});

test('even a body of one byte takes 16 KiB, so that a flood of them is bounded', (t) => {
  const budget = makeByteBudget(64 * KIB, ignore);
  for (let count = 0; count < 4; count++) {
    t.true(budget.open().growTo(1));
  }
  t.false(budget.open().growTo(1));
});

test('large bodies hold at most half, so that ordinary ones still find room', (t) => {
  const budget = makeByteBudget(8 * MIB, ignore);
  const first = budget.open();
  t.true(first.growTo(4 * MIB));
  const second = budget.open();
  t.true(second.growTo(MIB));
  t.false(second.growTo(2 * MIB));
  t.true(budget.open().growTo(30 * KIB));
  first.release();
  t.true(second.growTo(2 * MIB));
});
