import { exhaustedUntil, rateLimitedUntil, rateLimitOf } from '../../../src/forges/limits/rate-limit.ts';
import test from '../../helpers/test.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const headers = (fields: Record<string, string> = {}) => new Headers(fields);

test('how long a limit lasts follows from the status, the headers and the words of an answer', (t) => {
  const date = 'Fri, 20 Nov 2026 12:05:00 GMT';
  const reset = NOW / 1_000 + 1_800;
  const exhausted = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) };
  const words = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
  for (const [status, fields, text, until] of [
    [429, { 'retry-after': '90' }, '', NOW + 90_000],
    [429, { 'retry-after': date }, '', Date.parse(date)],
    [429, {}, '', NOW + 60_000],
    [429, { 'retry-after': 'soon' }, '', NOW + 60_000],
    // A primary limit of GitHub lasts until its window ends, a secondary one is known by its words or its Retry-After.
    [403, exhausted, '', reset * 1_000],
    [429, exhausted, '', reset * 1_000],
    [403, {}, words, NOW + 60_000],
    [403, { 'retry-after': '30' }, words, NOW + 30_000],
    [403, { 'retry-after': '30' }, '', NOW + 30_000],
    [403, { 'x-ratelimit-remaining': '12' }, 'Forbidden', undefined],
    [200, { 'retry-after': '30' }, 'secondary rate limit', undefined],
    [503, { 'retry-after': '30' }, '', undefined],
  ] as const) {
    t.is(rateLimitedUntil(status, headers(fields), text, NOW), until, `${status} ${JSON.stringify(fields)} ${text}`);
  }
  t.is(exhaustedUntil(headers(exhausted)), reset * 1_000);
  t.is(exhaustedUntil(headers({ ...exhausted, 'x-ratelimit-remaining': '1' })), undefined);
});

test('what is left is a whole number or unknown', (t) => {
  t.is(rateLimitOf(headers({ 'x-ratelimit-remaining': '4999' }))?.remaining, 4_999);
  t.is(rateLimitOf(headers({ 'x-ratelimit-remaining': '-1' })), undefined);
  t.is(rateLimitOf(headers()), undefined);
});
