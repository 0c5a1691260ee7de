import { makePause } from '../limits/waits.ts';
import { makeOptionalRedis } from '../optional-redis.ts';
import { apiUrlOf } from '../port/addresses.ts';
import type { ForgeName } from '../port/forges.ts';
import { makeForgeFetch } from '../transport/forge-fetch.ts';
import { makeNetwork } from '../transport/network.ts';

export type SetupConnection = ReturnType<typeof connectForSetup>;

/** For the settings of a forge, as more than one account. `url`: where people open the forge. Nothing is cached. */
export function connectForSetup(forge: ForgeName, url: string) {
  const apiUrl = apiUrlOf(forge, url);
  const { origin } = new URL(apiUrl);
  const noRedis = makeOptionalRedis(undefined);
  const network = makeNetwork(noRedis);
  const deps = { forge, origin, network, pause: makePause(noRedis, origin), hooks: {} };
  return { apiUrl, fetchFor: (scope: string) => makeForgeFetch(deps, scope), close: network.close };
}
