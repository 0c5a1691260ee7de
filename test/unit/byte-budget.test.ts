import test from 'ava';
import { makeByteBudget } from '../../src/inbox/byte-budget.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const ignore = () => {};

test('bytes are held until they are released', (t) => {
  const seen: number[] = [];
  const budget = makeByteBudget(100, (held) => seen.push(held));
  const first = budget.reserve(60);
  t.truthy(first);
  t.is(budget.reserve(41), undefined);
  const second = budget.reserve(40);
  t.truthy(second);
  first?.release();
  second?.release();
  t.deepEqual(seen, [60, 100, 40, 0]);
  t.is(budget.held, 0);
});

test('large bodies hold at most half, so that ordinary ones still find room', (t) => {
  const budget = makeByteBudget(8 * MIB, ignore);
  t.truthy(budget.reserve(4 * MIB));
  t.is(budget.reserve(2 * MIB), undefined);
  t.truthy(budget.reserve(30 * KIB));
});
