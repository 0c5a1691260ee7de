import fc from '../helpers/property.ts';
import test from '../helpers/test.ts';

test('holds of few numbers', (t) => {
  fc.assert(fc.property(fc.nat(), (number) => number < 5));
  t.pass();
});
