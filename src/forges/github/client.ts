import { createAppAuth } from '@octokit/auth-app';
import { LRUCache } from 'lru-cache';
import { Octokit, RequestError } from 'octokit';
import { z } from 'zod';
import { parseJson, requireFound } from '../answer.ts';
import { scopeOfToken } from '../limits/pause.ts';
import type { Log } from '../optional-redis.ts';
import { splitRepository } from '../port/names.ts';
import type { FetchInit, ForgeFetch } from '../transport/forge-fetch.ts';
import { ask, askAll } from './request.ts';

export type GitHubCredentials =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'app'; readonly appId: string; readonly privateKey: string };

/** Installations change; a result is cached for this long. */
const INSTALLATION_MEMORY_MS = 600_000;
const MAX_REMEMBERED = 5_000;

/**
 * The installations of an App, by owner: an account has one. Kept where every worker finds them, so that each is looked
 * up at GitHub only if no delivery has named it.
 */
export interface Installations {
  find(owner: string): Promise<number | undefined>;
  save(owner: string, id: number): Promise<void>;
}

const listedInstallations = z.array(
  z.object({
    id: z.number(),
    suspended_at: z.string().nullable().default(null),
    // An enterprise has no login.
    account: z.object({ login: z.string().optional() }).nullish(),
  }),
);

export interface OpenedInstallation {
  readonly octokit: Octokit;
  /** The account that has it. */
  readonly owner: string | undefined;
}

/** Returns the octokit that may read a repository or an organisation; undefined where the App is not installed. */
export interface GitHubClient {
  readonly kind: GitHubCredentials['kind'];
  forRepository(repository: string): Promise<Octokit | undefined>;
  forOrganisation(organisation: string): Promise<Octokit | undefined>;
  /** Those of an App that are not suspended; with a token the only one, which has no owner. */
  installations(): Promise<readonly OpenedInstallation[]>;
  /** The App itself, or the token: for what belongs to no repository. */
  readonly own: Octokit;
}

/** The client as the account that Gatehouse posts with. */
export interface GitHubAccount extends GitHubClient {
  /** The login. */
  self(): Promise<string>;
}

export interface GitHubClientDeps {
  readonly baseUrl: string;
  readonly credentials: GitHubCredentials;
  /** A fetch for each scope that GitHub counts by: the token, the App, each installation. */
  readonly fetchFor: (scope: string) => ForgeFetch;
  readonly installations?: Installations;
  readonly log?: Log;
}

export function makeGitHubClient(deps: GitHubClientDeps): GitHubClient {
  const { credentials } = deps;
  if (credentials.kind === 'token') {
    const octokit = makeOctokit(deps, scopeOfToken(credentials.token), { auth: credentials.token });
    return {
      kind: 'token',
      own: octokit,
      forRepository: () => Promise.resolve(octokit),
      forOrganisation: () => Promise.resolve(octokit),
      installations: () => Promise.resolve([{ octokit, owner: undefined }]),
    };
  }

  const { appId, privateKey } = credentials;
  const app = makeOctokit(deps, `app-${appId}`, { authStrategy: createAppAuth, auth: { appId, privateKey } });
  const installations = new LRUCache<number, Octokit>({ max: MAX_REMEMBERED });
  const found = new LRUCache<string, Octokit>({ max: MAX_REMEMBERED, ttl: INSTALLATION_MEMORY_MS });
  /** Where there was none, beside which that deliveries had told of. */
  const absent = new LRUCache<string, { readonly told: number | undefined }>({
    max: MAX_REMEMBERED,
    ttl: INSTALLATION_MEMORY_MS,
  });

  function forInstallation(installationId: number): Octokit {
    const opened = installations.get(installationId);
    const octokit =
      opened ??
      makeOctokit(deps, `installation-${installationId}`, {
        authStrategy: createAppAuth,
        auth: { appId, privateKey, installationId },
      });
    installations.set(installationId, octokit);
    return octokit;
  }

  function remember(owner: string, octokit: Octokit): Octokit {
    found.set(owner, octokit);
    return octokit;
  }

  /**
   * By the owner where it was looked up already; `path` is where to look it up. That there is none is remembered of the
   * path alone, until a delivery tells of another installation.
   */
  async function find(owner: string, path: string): Promise<Octokit | undefined> {
    const known = found.get(owner);
    if (known !== undefined) {
      return known;
    }
    const kept = await deps.installations?.find(owner);
    const before = absent.get(path);
    if (before !== undefined && before.told === kept) {
      return undefined;
    }
    if (kept !== undefined && (await isInstalled(forInstallation(kept)))) {
      return remember(owner, forInstallation(kept));
    }
    const installation = await ask(app, `GET ${path}/installation`, {}, z.object({ id: z.number() }));
    if (installation === undefined) {
      absent.set(path, { told: kept });
      return undefined;
    }
    await deps.installations?.save(owner, installation.id);
    return remember(owner, forInstallation(installation.id));
  }

  return {
    kind: 'app',
    own: app,
    async forRepository(repository) {
      const { owner, name } = splitRepository(repository);
      return find(owner.toLowerCase(), `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`);
    },
    forOrganisation: (organisation) => find(organisation.toLowerCase(), `/orgs/${encodeURIComponent(organisation)}`),
    async installations() {
      const route = 'GET /app/installations';
      const listed = requireFound(await askAll(app, route, {}, listedInstallations), route);
      const active = listed.filter((one) => one.suspended_at === null);
      return active.map(({ id, account }) => ({ octokit: forInstallation(id), owner: account?.login }));
    },
  };
}

/**
 * False when the App was uninstalled, and perhaps installed again with another id. Anything else shows with the first
 * request.
 */
async function isInstalled(octokit: Octokit): Promise<boolean> {
  try {
    // The token is then used by what follows.
    await octokit.auth({ type: 'installation' });
    return true;
  } catch (error) {
    return !(error instanceof RequestError && error.status === 404);
  }
}

function makeOctokit(deps: GitHubClientDeps, scope: string, auth: object): Octokit {
  const { log } = deps;
  const octokit = new Octokit({
    ...auth,
    baseUrl: deps.baseUrl,
    userAgent: 'gatehouse',
    // Its own parser throws on an object with a field `toString`, which may be the name of a repository's custom
    // property.
    request: { fetch: fetchOf(deps.fetchFor(scope)), parseSuccessResponseBody: false },
    // One retry, for every forge alike, is in forge-fetch.ts. This plugin would also repeat a POST that may have
    // worked.
    retry: { enabled: false },
    // It would space all writes, statuses too, and in each process by itself. limits/turns.ts spaces comments, in all.
    throttle: { enabled: false },
    log: {
      debug: () => {},
      info: () => {},
      warn: (message: string) => log?.warn({}, message),
      error: (message: string) => log?.debug({}, message),
    },
  });
  octokit.hook.after('request', (response) => {
    if (response.headers['content-type']?.startsWith('application/json')) {
      response.data = parseJson(response.data);
    }
  });
  return octokit;
}

/** As octokit calls it: it takes the body of a success as it is, and reads that of an error. */
function fetchOf(forgeFetch: ForgeFetch) {
  return async (url: string, init: FetchInit) => {
    const answer = await forgeFetch(url, init);
    const text = () => Promise.resolve(answer.body);
    return { ...answer, text, arrayBuffer: async () => new TextEncoder().encode(answer.body).buffer };
  };
}
