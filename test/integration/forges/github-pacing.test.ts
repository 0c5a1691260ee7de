import test from 'ava';
import { makeGitHubClient } from '../../../src/forges/github/client.ts';
import { makeGitHub } from '../../../src/forges/github/github.ts';
import { MAX_WRITES_AT_ONCE, makePause, makeWriteBudget } from '../../../src/forges/limits/waits.ts';
import { makeOptionalRedis } from '../../../src/forges/optional-redis.ts';
import { ForgeError } from '../../../src/forges/port/forge-error.ts';
import { makeForgeFetch } from '../../../src/forges/transport/forge-fetch.ts';
import { makeNetwork } from '../../../src/forges/transport/network.ts';
import { openPullRequest, SITE, setUp, startRedis } from './setup.ts';

const redisServer = await startRedis();
test.after.always(() => redisServer.stop());

const STATUS = { context: 'gatehouse', state: 'pending', description: '' } as const;

test('writes go out at once until the budget is used up, then the job waits', async (t) => {
  const { simulated } = await setUp(t, 'github');
  const { ref, head } = openPullRequest(simulated);
  const optionalRedis = makeOptionalRedis(undefined);
  const network = makeNetwork(optionalRedis);
  const time = Date.now();
  const deps = {
    forge: 'github',
    origin: simulated.url,
    network,
    pause: makePause(optionalRedis, ''),
    hooks: {},
    // A clock that stands still: nothing is waited for.
    writeBudget: makeWriteBudget(optionalRedis, '', () => time),
  } as const;
  const client = makeGitHubClient({
    baseUrl: `${simulated.url}/api/v3`,
    credentials: { kind: 'token', token: simulated.token },
    fetchFor: (scope) => makeForgeFetch(deps, scope),
  });
  const forge = makeGitHub(client, network.close);
  t.teardown(() => forge.close());

  for (let write = 0; write < MAX_WRITES_AT_ONCE; write += 1) {
    await forge.setStatus(SITE, head(), STATUS);
  }
  t.is(simulated.statuses(SITE).length, MAX_WRITES_AT_ONCE);
  t.is((await forge.pullRequest(ref))?.number, ref.number, 'reads need no budget');
  simulated.fault({ method: 'GET', fault: { kind: 'secondary-limit', retryAfter: 600 } });
  const error = await t.throwsAsync(() => forge.commits(ref), { instanceOf: ForgeError });
  t.is(error?.kind, 'rate-limited');
});

test('the writes of a minute are at most 80, whatever their order', async (t) => {
  let time = 1_000_000_000_000;
  const budget = makeWriteBudget(makeOptionalRedis(undefined), '', () => time);
  const written: number[] = [];
  for (; time < 1_000_000_180_000; time += 100) {
    while ((await budget.take('a')) === undefined) {
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
    makeWriteBudget(makeOptionalRedis(redisServer.connect(), undefined, 30_000), `budget-${time}`, () => time);
  const [one, two] = [replica(), replica()];
  for (let write = 0; write < MAX_WRITES_AT_ONCE; write += 1) {
    t.is(await (write % 2 === 0 ? one : two).take('installation-1'), undefined);
  }
  t.is(await one.take('installation-1'), time + 1_500);
  t.is(await two.take('installation-1'), time + 1_500);
  t.is(await two.take('installation-2'), undefined);
});
