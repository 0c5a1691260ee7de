import test from 'ava';
import fc from '../helpers/property.ts';

test('holds of few numbers', (t) => {
  fc.assert(fc.property(fc.nat(), (number) => number < 5));
  t.pass();
});
