import { exhaustedUntil, rateLimitedUntil, rateLimitOf } from '../../../src/forges/limits/rate-limit.ts';
import test from '../../helpers/test.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const headers = (fields: Record<string, string> = {}) => new Headers(fields);

test('429 with seconds, with a date, and without either', (t) => {
  t.is(rateLimitedUntil(429, headers({ 'retry-after': '90' }), '', NOW), NOW + 90_000);
  const date = 'Fri, 20 Nov 2026 12:05:00 GMT';
  t.is(rateLimitedUntil(429, headers({ 'retry-after': date }), '', NOW), Date.parse(date));
  t.is(rateLimitedUntil(429, headers(), '', NOW), NOW + 60_000);
  t.is(rateLimitedUntil(429, headers({ 'retry-after': 'soon' }), '', NOW), NOW + 60_000);
});

test("a primary limit of GitHub's lasts until its window ends", (t) => {
  const reset = NOW / 1_000 + 1_800;
  const exhausted = headers({ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(reset) });
  t.is(rateLimitedUntil(403, exhausted, '', NOW), reset * 1_000);
  t.is(rateLimitedUntil(429, exhausted, '', NOW), reset * 1_000);
  t.is(exhaustedUntil(exhausted), reset * 1_000);
  t.is(exhaustedUntil(headers({ 'x-ratelimit-remaining': '1', 'x-ratelimit-reset': String(reset) })), undefined);
});

test("a secondary limit of GitHub's is known by its words or its Retry-After", (t) => {
  const words = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.';
  t.is(rateLimitedUntil(403, headers(), words, NOW), NOW + 60_000);
  t.is(rateLimitedUntil(403, headers({ 'retry-after': '30' }), words, NOW), NOW + 30_000);
  t.is(rateLimitedUntil(403, headers({ 'retry-after': '30' }), '', NOW), NOW + 30_000);
});

test('other answers are no limits', (t) => {
  t.is(rateLimitedUntil(403, headers({ 'x-ratelimit-remaining': '12' }), 'Forbidden', NOW), undefined);
  t.is(rateLimitedUntil(200, headers({ 'retry-after': '30' }), 'secondary rate limit', NOW), undefined);
  t.is(rateLimitedUntil(503, headers({ 'retry-after': '30' }), '', NOW), undefined);
});

test('what is left is a whole number or unknown', (t) => {
  t.is(rateLimitOf(headers({ 'x-ratelimit-remaining': '4999' }))?.remaining, 4_999);
  t.is(rateLimitOf(headers({ 'x-ratelimit-remaining': '-1' })), undefined);
  t.is(rateLimitOf(headers()), undefined);
});
