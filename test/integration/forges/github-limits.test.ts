import type { ExecutionContext } from 'ava';
import { makeGitHubClient } from '../../../src/forges/github/client.ts';
import { makeGitHub } from '../../../src/forges/github/github.ts';
import { makePause } from '../../../src/forges/limits/pause.ts';
import { makeTurns, type Turns } from '../../../src/forges/limits/turns.ts';
import { makeOptionalRedis } from '../../../src/forges/optional-redis.ts';
import { statusDescription } from '../../../src/forges/port/postings.ts';
import { makeAgent } from '../../../src/forges/transport/agent.ts';
import { makeForgeFetch } from '../../../src/forges/transport/forge-fetch.ts';
import { PATIENCE } from '../../helpers/patience.ts';
import test from '../../helpers/test.ts';
import { until } from '../../helpers/until.ts';
import { forgeError, openPullRequest, SITE, setUp, setUpPull, startRedis } from './setup.ts';

const redisServer = await startRedis();
test.after.always(() => redisServer.stop());

const STATUS = { context: 'gatehouse', state: 'pending', description: statusDescription('') } as const;
const noRedis = makeOptionalRedis(undefined);
const sharedRedis = () => makeOptionalRedis(redisServer.connect(), undefined, PATIENCE);

test('github: the last 100 requests of an hour are for statuses, in all replicas', async (t) => {
  const { simulated, forge, another } = await setUp(t, 'github', { redis: redisServer.connect() });
  const other = another({ redis: redisServer.connect() });
  const { ref, head } = openPullRequest(simulated);
  // Less than an hour away: no pause is longer.
  Object.assign(simulated.rateLimit, { remaining: 102, resetAt: Math.ceil(Date.now() / 1_000) + 1_800 });
  await forge.commits(ref);
  await forge.commits(ref);
  t.is(simulated.rateLimit.remaining, 100);

  for (const replica of [forge, other]) {
    for (const ask of [() => replica.commits(ref), () => replica.createComment(ref, 'Hello')]) {
      const { kind, retryAt } = await forgeError(t, ask);
      t.is(kind, 'rate-limited');
      t.is(retryAt, simulated.rateLimit.resetAt * 1_000);
    }
    await replica.setStatus(SITE, head(), STATUS);
  }
  t.is(simulated.rateLimit.remaining, 98);
});

test('github: of a small limit, a tenth is for statuses', async (t) => {
  const { simulated, forge, ref } = await setUpPull(t, 'github');
  simulated.rateLimit.limit = 60;
  simulated.rateLimit.remaining = 8;
  await forge.commits(ref);
  await forge.commits(ref);
  t.is((await forgeError(t, () => forge.commits(ref))).kind, 'rate-limited');
  t.is(simulated.rateLimit.remaining, 6);
});

test('github: no points of GraphQL left pause no request of REST', async (t) => {
  const { simulated, forge, ref } = await setUpPull(t, 'github');
  simulated.graphql.points.remaining = 0;
  t.is((await forge.pullRequestWithFacts(ref, []))?.pullRequest.number, ref.number);
  t.is((await forge.commits(ref)).length, 1);
});

/** A forge of which comments take their turns. */
async function openWith(t: ExecutionContext, turns: Turns) {
  const { simulated, ref, head } = await setUpPull(t, 'github');
  const agent = makeAgent();
  const deps = {
    forge: 'github',
    origin: simulated.url,
    dispatcher: agent,
    pause: makePause(noRedis, ''),
    hooks: {},
    turns,
  } as const;
  const client = makeGitHubClient({
    baseUrl: `${simulated.url}/api/v3`,
    credentials: { kind: 'token', token: simulated.token },
    fetchFor: (scope) => makeForgeFetch(deps, scope),
  });
  const forge = makeGitHub(client, () => agent.close());
  t.teardown(() => forge.close());
  return { forge, ref, head };
}

test('comments take turns, statuses and reads do not', async (t) => {
  let turns = 0;
  const { forge, ref, head } = await openWith(t, {
    take(_scope, write) {
      turns += 1;
      return write();
    },
  });
  const { id } = await forge.createComment(ref, 'Hello');
  await forge.updateComment(ref, id, 'Hello again');
  await forge.deleteComment(ref, id);
  t.is(turns, 3);
  await forge.setStatus(SITE, head(), STATUS);
  await forge.ownComments(ref);
  t.is(turns, 3);
});

test('comments of a credential are written one after the other, also after a failure', async (t) => {
  const turns = makeTurns(noRedis, 'order', 10);
  const order: string[] = [];
  const write = (name: string) => async () => {
    order.push(`${name} begins`);
    await new Promise((resolve) => setTimeout(resolve, 5));
    order.push(`${name} ends`);
    if (name === 'a') {
      throw new Error('refused');
    }
  };
  const first = turns.take('token', write('a'));
  await Promise.all([t.throwsAsync(first), turns.take('token', write('b')), turns.take('token', write('c'))]);
  t.deepEqual(order, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('a second that another replica has is waited for, and other credentials are not', async (t) => {
  const redis = redisServer.connect();
  const turns = makeTurns(sharedRedis(), 'shared', 10);
  await redis.set('gatehouse:turn:shared:token', '', 'PX', 600_000);
  let written = false;
  const waiting = turns.take('token', async () => {
    written = true;
  });
  await turns.take('another', async () => {});
  t.false(written);
  await redis.del('gatehouse:turn:shared:token');
  await waiting;
  await until(async () => (await redis.exists('gatehouse:turn:shared:token')) === 0);
  t.true(written);
});
