import { makeLongStringFilter } from '../../src/common/long-strings.ts';
import fc from '../helpers/property.ts';
import test from '../helpers/test.ts';

/** In chunks of so many bytes, so that escapes and characters are cut. */
function filtered(text: string, maxStringBytes: number, chunkBytes: number): string {
  const filter = makeLongStringFilter(maxStringBytes);
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += chunkBytes) {
    filter.write(bytes.subarray(from, from + chunkBytes));
  }
  return filter.kept().toString();
}

const written = (text: string) => Buffer.byteLength(JSON.stringify(text)) - 2;

/** What the filter must do, on values instead of bytes. */
function withoutLong(value: unknown, most: number): unknown {
  if (typeof value === 'string') {
    return written(value) > most ? '' : value;
  }
  if (Array.isArray(value)) {
    return value.map((item) => withoutLong(item, most));
  }
  return typeof value === 'object' && value !== null
    ? Object.fromEntries(
        Object.entries(value).map(([key, item]) => [written(key) > most ? '' : key, withoutLong(item, most)]),
      )
    : value;
}

test('a long string never changes what is beside it, however the text is cut', (t) => {
  fc.assert(
    fc.property(fc.json(), fc.nat(20), fc.integer({ min: 1, max: 9 }), fc.boolean(), (text, most, size, spaced) => {
      const value: unknown = JSON.parse(text);
      const given = JSON.stringify(value, null, spaced ? 2 : undefined);
      t.deepEqual(JSON.parse(filtered(given, most, size)), withoutLong(value, most));
    }),
  );
});

test('a text inside a string never becomes a member', (t) => {
  const body = `"number":9,{[\\"}]\u00e9\ud83d\ude00`.repeat(20);
  const payload = {
    number: 7,
    pull_request: { body, number: 7, user: { number: 3 } },
    repository: { full_name: 'a/b' },
  };
  const expected = { ...payload, pull_request: { ...payload.pull_request, body: '' } };
  const text = JSON.stringify(payload);
  const escaped = text.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  for (const given of [text, escaped]) {
    for (const size of [1, 2, 3, 7, 1_000_000]) {
      t.deepEqual(JSON.parse(filtered(given, 100, size)), expected);
      t.is(filtered(given, 1_000_000, size), given);
    }
  }
});

test('a string of exactly the limit is kept, counted as it is written', (t) => {
  t.is(filtered('["12345","123456","\\u0061","\\u0061b"]', 6, 2), '["12345","123456","\\u0061",""]');
});

test('long strings are never held, whatever their number', (t) => {
  const filter = makeLongStringFilter(10);
  const chunk = Buffer.from(`"${'\\"x'.repeat(10_000)}",`);
  for (let count = 0; count < 1_000; count += 1) {
    filter.write(chunk);
    t.true(filter.keptBytes <= 3 * (count + 1));
  }
});
