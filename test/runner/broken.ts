import test from 'ava';

test('fails in every run', (t) => t.is(1 + 1, 3));
