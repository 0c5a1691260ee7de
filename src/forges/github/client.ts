import { createAppAuth } from '@octokit/auth-app';
import { Octokit } from 'octokit';
import { z } from 'zod';
import { splitRepository } from '../names.ts';
import { scopeOfToken } from '../pause.ts';
import type { ForgeFetch } from '../transport/forge-fetch.ts';
import type { Log } from '../transport/optional-redis.ts';
import { ask } from './request.ts';

export type GitHubCredentials =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'app'; readonly appId: string; readonly privateKey: string };

/** Installations change; a result is cached for this long. */
const INSTALLATION_MEMORY_MS = 600_000;
const MAX_REMEMBERED = 5_000;

/** Returns the octokit that may read a repository or an organisation; undefined where the App is not installed. */
export interface GitHubClient {
  readonly kind: GitHubCredentials['kind'];
  forRepository(repository: string): Promise<Octokit | undefined>;
  forOrganisation(organisation: string): Promise<Octokit | undefined>;
  /** The App itself, or the token: for what belongs to no repository. */
  readonly own: Octokit;
}

export interface GitHubClientParts {
  readonly baseUrl: string;
  readonly credentials: GitHubCredentials;
  /** A fetch for each scope that GitHub counts by: the token, the App, each installation. */
  readonly fetchFor: (scope: string) => ForgeFetch;
  readonly log?: Log;
}

export function makeGitHubClient(parts: GitHubClientParts): GitHubClient {
  const { credentials } = parts;
  if (credentials.kind === 'token') {
    const octokit = makeOctokit(parts, scopeOfToken(credentials.token), { auth: credentials.token });
    return {
      kind: 'token',
      own: octokit,
      forRepository: () => Promise.resolve(octokit),
      forOrganisation: () => Promise.resolve(octokit),
    };
  }

  const { appId, privateKey } = credentials;
  const app = makeOctokit(parts, `app-${appId}`, { authStrategy: createAppAuth, auth: { appId, privateKey } });
  const installations = new Map<number, Octokit>();
  const found = new Map<string, { octokit: Octokit | undefined; until: number }>();

  function forInstallation(installationId: number): Octokit {
    const known = installations.get(installationId);
    const octokit =
      known ??
      makeOctokit(parts, `installation-${installationId}`, {
        authStrategy: createAppAuth,
        auth: { appId, privateKey, installationId },
      });
    installations.set(installationId, octokit);
    return octokit;
  }

  async function find(path: string): Promise<Octokit | undefined> {
    const known = found.get(path);
    if (known !== undefined && known.until > Date.now()) {
      return known.octokit;
    }
    const installation = await ask(app, `GET ${path}/installation`, {}, z.object({ id: z.number() }));
    const octokit = installation && forInstallation(installation.id);
    if (found.size >= MAX_REMEMBERED) {
      found.clear();
    }
    found.set(path, { octokit, until: Date.now() + INSTALLATION_MEMORY_MS });
    return octokit;
  }

  return {
    kind: 'app',
    own: app,
    async forRepository(repository) {
      const { owner, name } = splitRepository(repository);
      return find(`/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`);
    },
    forOrganisation: (organisation) => find(`/orgs/${encodeURIComponent(organisation)}`),
  };
}

function makeOctokit(parts: GitHubClientParts, scope: string, auth: object): Octokit {
  const { log } = parts;
  return new Octokit({
    ...auth,
    baseUrl: parts.baseUrl,
    userAgent: 'gatehouse',
    request: { fetch: parts.fetchFor(scope) },
    // One retry, for every forge alike, is in forge-fetch.ts. This plugin would also repeat a POST that may have worked.
    retry: { enabled: false },
    // It spaces writes a second apart (three for comments) in each process. write-budget.ts keeps to the documented limits for all.
    throttle: { enabled: false },
    log: {
      debug: () => {},
      info: () => {},
      warn: (message: string) => log?.warn({}, message),
      error: (message: string) => log?.debug({}, message),
    },
  });
}
