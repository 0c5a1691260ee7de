import { type GiteaClient, makeGiteaClient } from '../gitea/client.ts';
import { type GitHubClient, type GitHubCredentials, makeGitHubClient } from '../github/client.ts';
import { makePause, scopeOfToken } from '../limits/waits.ts';
import { makeOptionalRedis } from '../optional-redis.ts';
import { apiUrlOf } from '../port/addresses.ts';
import type { ForgeName } from '../port/forges.ts';
import { type ForgeFetch, makeForgeFetch } from '../transport/forge-fetch.ts';
import { makeNetwork } from '../transport/network.ts';

/** A connection to a forge for its settings, as more than one account. Reviews never use it. */
export interface SetupConnection {
  readonly apiUrl: string;
  /** A fetch for each credential; see {@link makeForgeFetch}. */
  fetchFor(scope: string): ForgeFetch;
  gitea(token: string): GiteaClient;
  github(credentials: GitHubCredentials): GitHubClient;
  close(): Promise<void>;
}

/** `url` is the address at which people open the forge. Nothing is cached. */
export function connectForSetup(forge: ForgeName, url: string): SetupConnection {
  const apiUrl = apiUrlOf(forge, url);
  const { origin } = new URL(apiUrl);
  const noRedis = makeOptionalRedis(undefined);
  const network = makeNetwork(noRedis);
  const deps = { forge, origin, network, pause: makePause(noRedis, origin), hooks: {} };
  const fetchFor = (scope: string) => makeForgeFetch(deps, scope);
  return {
    apiUrl,
    fetchFor,
    gitea: (token) => makeGiteaClient(fetchFor(scopeOfToken(token)), apiUrl, token),
    github: (credentials) => makeGitHubClient({ baseUrl: apiUrl, credentials, fetchFor }),
    close: network.close,
  };
}
