import test from '../helpers/test.ts';

test('fails in every run', (t) => t.is(1 + 1, 3));
