import type { Redis } from 'ioredis';
import { makeGiteaClient } from './gitea/client.ts';
import { makeGitea } from './gitea/gitea.ts';
import { type GitHubCredentials, type Installations, makeGitHubClient } from './github/client.ts';
import { makeGitHub } from './github/github.ts';
import { makePause, scopeOfToken } from './limits/pause.ts';
import { makeTurns } from './limits/turns.ts';
import { type Log, makeOptionalRedis } from './optional-redis.ts';
import { withOwnCommits } from './own-commits.ts';
import { apiUrlOf } from './port/addresses.ts';
import type { Forge } from './port/forge.ts';
import type { ForgeName } from './port/forges.ts';
import { rememberFiles } from './remember-files.ts';
import { withSettled } from './settled.ts';
import { makeAgent } from './transport/agent.ts';
import { makeForgeClock } from './transport/clock.ts';
import { type ForgeHooks, makeForgeFetch } from './transport/forge-fetch.ts';

/** Which forge, where, and as whom. `url` is the address that people use, not the API's. */
export interface ForgeConfig {
  readonly forge: ForgeName;
  readonly url: string;
  /** Those of an App only where FORGES says that the forge has Apps. */
  readonly credentials: GitHubCredentials;
  /** {@link Forge.machineAccounts} */
  readonly machineAccounts?: readonly string[];
  /** The e-mail address that the forge itself commits with, where it does not tell. */
  readonly committer?: string | undefined;
}

export interface ForgeDeps {
  /** The limits are kept without it too, by each process for itself. Not closed here. */
  readonly redis?: Redis;
  readonly log?: Log;
  readonly hooks?: ForgeHooks;
  /** The installations of a GitHub App. Without them each is looked up. */
  readonly installations?: Installations;
  /** Multiplies the limits on a request and on a command to Redis. */
  readonly patience?: number;
}

export function makeForge(config: ForgeConfig, deps: ForgeDeps = {}): Forge {
  const { machineAccounts = [], committer } = config;
  let limit: number | undefined;
  const hooks: ForgeHooks = {
    ...deps.hooks,
    onRateLimit(seen) {
      limit = seen.api === 'rest' && Number.isFinite(seen.limit) ? seen.limit : limit;
      deps.hooks?.onRateLimit?.(seen);
    },
  };
  const forge = withOwnCommits(connect(config, { ...deps, hooks }), committer);
  return { ...forge, machineAccounts, requestLimit: () => limit };
}

function connect(config: ForgeConfig, deps: ForgeDeps): Forge {
  const apiUrl = apiUrlOf(config.forge, config.url);
  const { origin, host } = new URL(apiUrl);
  const optionalRedis = makeOptionalRedis(deps.redis, deps.log, deps.patience);
  const agent = makeAgent();
  const { hooks = {}, patience = 1, log } = deps;
  const clock = makeForgeClock();
  const common = {
    origin,
    dispatcher: agent,
    pause: makePause(optionalRedis, origin),
    hooks,
    clock,
    patience,
  };

  switch (config.forge) {
    case 'github': {
      // GitHub Enterprise Server has no limits unless its operator set some, and it reports those in headers.
      const turns = host === 'api.github.com' ? { turns: makeTurns(optionalRedis, origin) } : {};
      const client = makeGitHubClient({
        baseUrl: apiUrl,
        credentials: config.credentials,
        fetchFor: (scope) => makeForgeFetch({ ...common, ...turns, forge: 'github' }, scope),
        ...(deps.installations ? { installations: deps.installations } : {}),
        ...(log ? { log } : {}),
      });
      return rememberFiles(
        withSettled(
          makeGitHub(client, () => agent.close(), log),
          clock,
        ),
      );
    }
    case 'gitea':
    case 'forgejo': {
      const token = tokenOf(config);
      const forgeFetch = makeForgeFetch({ ...common, forge: config.forge }, scopeOfToken(token));
      const client = makeGiteaClient(forgeFetch, apiUrl, token);
      return rememberFiles(
        withSettled(
          makeGitea(config.forge, client, () => agent.close()),
          clock,
        ),
      );
    }
  }
}

function tokenOf({ forge, credentials }: ForgeConfig): string {
  if (credentials.kind !== 'token') {
    throw new Error(`${forge} takes a token`);
  }
  return credentials.token;
}
