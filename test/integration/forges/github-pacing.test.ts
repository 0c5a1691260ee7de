import test from 'ava';
import { ForgeError } from '../../../src/forges/forge.ts';
import { makeGitHubClient } from '../../../src/forges/github/client.ts';
import { makeGitHub } from '../../../src/forges/github/github.ts';
import { makePause } from '../../../src/forges/pause.ts';
import { makeForgeFetch } from '../../../src/forges/transport/forge-fetch.ts';
import { makeNetwork } from '../../../src/forges/transport/network.ts';
import { makeOptionalRedis } from '../../../src/forges/transport/optional-redis.ts';
import { openPullRequest, SITE, setUp } from './setup.ts';

test('spaced writes all arrive, and a rate limit is reported instead of slept on', async (t) => {
  const { simulated } = await setUp(t, 'github');
  const { ref, head } = openPullRequest(simulated);
  const optionalRedis = makeOptionalRedis(undefined);
  const network = makeNetwork(optionalRedis);
  const parts = {
    forge: 'github',
    origin: simulated.url,
    network,
    pause: makePause(optionalRedis, ''),
    hooks: {},
  } as const;
  const client = makeGitHubClient({
    baseUrl: `${simulated.url}/api/v3`,
    credentials: { kind: 'token', token: simulated.token },
    fetchFor: (scope) => makeForgeFetch(parts, scope),
    paced: true,
  });
  const forge = makeGitHub(client, network.close);
  t.teardown(() => forge.close());

  const status = { context: 'gatehouse', state: 'pending', description: '' } as const;
  await Promise.all([forge.setStatus(SITE, head(), status), forge.setStatus(SITE, head(), status)]);
  t.is(simulated.statuses(SITE).length, 2);

  simulated.fault({ fault: { kind: 'secondary-limit', retryAfter: 600 } });
  const error = await t.throwsAsync(() => forge.createComment(ref, 'x'), { instanceOf: ForgeError });
  t.is(error?.kind, 'rate-limited');
  t.is(simulated.count('POST', /comments$/), 1);
});
