import { Redis } from 'ioredis';
import { makePause } from '../../../src/forges/limits/pause.ts';
import { makeOptionalRedis } from '../../../src/forges/optional-redis.ts';
import test from '../../helpers/test.ts';

/** Points to an address without a Redis, and connects only at the first command. */
function unconnected(): Redis {
  const nowhere = { host: '127.0.0.1', port: 1, retryStrategy: () => null };
  return new Redis({ ...nowhere, lazyConnect: true, enableOfflineQueue: false }).on('error', () => {});
}
const never = new Promise<string>(() => {});

test('without Redis there is nothing', async (t) => {
  const shared = makeOptionalRedis(undefined);
  t.is(await shared.run(() => t.fail()), undefined);
});

test('a command that fails gives nothing, is logged once, and Redis is left alone for a moment', async (t) => {
  const warnings: string[] = [];
  const log = { debug: () => {}, warn: (_: object, message: string) => warnings.push(message) };
  const shared = makeOptionalRedis(unconnected(), log);
  t.is(await shared.run(() => Promise.reject(new Error('down'))), undefined);
  t.is(await shared.run(() => t.fail()), undefined);
  t.is(warnings.length, 1);
});

test('a command that hangs is no value either', async (t) => {
  const shared = makeOptionalRedis(unconnected());
  t.is(await shared.run(() => never), undefined);
});

test('with a failing Redis a pause is kept in memory', async (t) => {
  const pause = makePause(makeOptionalRedis(unconnected()), 'https://forge.example.test');
  const until = Date.now() + 60_000;
  t.is(await pause.pauseUntil('token', until), until);
  t.is(await pause.pausedUntil('token'), until);
  t.is(await pause.pausedUntil('another'), undefined);
});
