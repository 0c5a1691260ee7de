import { makePause } from '../limits/pause.ts';
import { makeOptionalRedis } from '../optional-redis.ts';
import { apiUrlOf } from '../port/addresses.ts';
import type { ForgeName } from '../port/forges.ts';
import { makeAgent } from '../transport/agent.ts';
import { makeForgeFetch } from '../transport/forge-fetch.ts';

export type SetupConnection = ReturnType<typeof connectForSetup>;

/** For the settings of a forge, as more than one account. `url`: where people open the forge. */
export function connectForSetup(forge: ForgeName, url: string) {
  const apiUrl = apiUrlOf(forge, url);
  const { origin } = new URL(apiUrl);
  const noRedis = makeOptionalRedis(undefined);
  const agent = makeAgent();
  const deps = { forge, origin, dispatcher: agent, pause: makePause(noRedis, origin), hooks: {} };
  return { apiUrl, fetchFor: (scope: string) => makeForgeFetch(deps, scope), close: () => agent.close() };
}
