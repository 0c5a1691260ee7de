import test, { type ExecutionContext } from 'ava';
import { makeGitHubClient } from '../../../src/forges/github/client.ts';
import { makeGitHub } from '../../../src/forges/github/github.ts';
import {
  KEPT_FOR_STATUSES,
  MAX_WRITES_AT_ONCE,
  makePause,
  makeWriteBudget,
  type WriteBudget,
} from '../../../src/forges/limits/waits.ts';
import { makeOptionalRedis } from '../../../src/forges/optional-redis.ts';
import { ForgeError } from '../../../src/forges/port/forge-error.ts';
import { makeForgeFetch } from '../../../src/forges/transport/forge-fetch.ts';
import { makeNetwork } from '../../../src/forges/transport/network.ts';
import { PATIENCE } from '../../helpers/patience.ts';
import { openPullRequest, SITE, setUp, startRedis } from './setup.ts';

const redisServer = await startRedis();
test.after.always(() => redisServer.stop());

const STATUS = { context: 'gatehouse', state: 'pending', description: '' } as const;

async function openWith(t: ExecutionContext, writeBudget: WriteBudget) {
  const { simulated } = await setUp(t, 'github');
  const { ref, head } = openPullRequest(simulated);
  const optionalRedis = makeOptionalRedis(undefined);
  const network = makeNetwork(optionalRedis);
  const pause = makePause(optionalRedis, '');
  const deps = { forge: 'github', origin: simulated.url, network, pause, hooks: {}, writeBudget } as const;
  const client = makeGitHubClient({
    baseUrl: `${simulated.url}/api/v3`,
    credentials: { kind: 'token', token: simulated.token },
    fetchFor: (scope) => makeForgeFetch(deps, scope),
  });
  const forge = makeGitHub(client, network.close);
  t.teardown(() => forge.close());
  return { simulated, forge, ref, head };
}

test('writes go out at once until the budget is used up, then the job waits', async (t) => {
  const time = Date.now();
  // A clock that stands still: nothing is waited for.
  const budget = makeWriteBudget(makeOptionalRedis(undefined), '', () => time);
  const { simulated, forge, ref, head } = await openWith(t, budget);
  for (let write = 0; write < MAX_WRITES_AT_ONCE; write += 1) {
    await forge.setStatus(SITE, head(), STATUS);
  }
  t.is(simulated.statuses(SITE).length, MAX_WRITES_AT_ONCE);
  t.is((await forge.pullRequest(ref))?.number, ref.number, 'reads need no budget');
  simulated.fault({ method: 'GET', fault: { kind: 'secondary-limit', retryAfter: 600 } });
  const error = await t.throwsAsync(() => forge.commits(ref), { instanceOf: ForgeError });
  t.is(error?.kind, 'rate-limited');
});

test('a status never waits for comments', async (t) => {
  const kinds: string[] = [];
  const { forge, ref, head } = await openWith(t, {
    async take(_scope, kind) {
      kinds.push(kind);
      return undefined;
    },
  });
  const { id } = await forge.createComment(ref, 'Hello');
  await forge.setStatus(SITE, head(), STATUS);
  await forge.updateComment(ref, id, 'Hello again');
  t.deepEqual(kinds, ['other', 'status', 'other']);

  const time = Date.now();
  for (const redis of [undefined, redisServer.connect()]) {
    const budget = makeWriteBudget(makeOptionalRedis(redis, undefined, PATIENCE), `statuses-${time}`, () => time);
    for (let write = KEPT_FOR_STATUSES; write < MAX_WRITES_AT_ONCE; write += 1) {
      t.is(await budget.take('a', 'other'), undefined);
    }
    t.is(await budget.take('a', 'other'), time + 1_500);
    for (let write = 0; write < KEPT_FOR_STATUSES; write += 1) {
      t.is(await budget.take('a', 'status'), undefined);
    }
    t.is(await budget.take('a', 'status'), time + 1_500);
    t.is(await budget.take('a', 'other'), time + 1_500 + KEPT_FOR_STATUSES * 1_500);
  }
});

test('the writes of a minute are at most 80, whatever their order', async (t) => {
  let time = 1_000_000_000_000;
  const budget = makeWriteBudget(makeOptionalRedis(undefined), '', () => time);
  const written: number[] = [];
  for (; time < 1_000_000_180_000; time += 100) {
    while ((await budget.take('a', 'status')) === undefined) {
      written.push(time);
    }
  }
  const inMinuteFrom = (start: number) => written.filter((at) => at >= start && at < start + 60_000).length;
  t.is(inMinuteFrom(1_000_000_000_000), 79);
  t.true(written.every((at) => inMinuteFrom(at) <= 80));
});

test('replicas share one budget over Redis, and installations do not', async (t) => {
  const time = Date.now();
  const replica = () =>
    makeWriteBudget(makeOptionalRedis(redisServer.connect(), undefined, PATIENCE), `budget-${time}`, () => time);
  const [one, two] = [replica(), replica()];
  for (let write = 0; write < MAX_WRITES_AT_ONCE; write += 1) {
    t.is(await (write % 2 === 0 ? one : two).take('installation-1', 'status'), undefined);
  }
  t.is(await one.take('installation-1', 'status'), time + 1_500);
  t.is(await two.take('installation-1', 'status'), time + 1_500);
  t.is(await two.take('installation-2', 'status'), undefined);
});
