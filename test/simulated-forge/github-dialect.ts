import { createVerify } from 'node:crypto';
import type { Checks } from './api/checks.ts';
import type { Dialect } from './dialect.ts';
import { githubAppRoutes } from './github-app-routes.ts';
import { githubGraphqlRoutes } from './github-graphql-routes.ts';
import { githubReadRoutes } from './github-read-routes.ts';
import { githubSettingsRoutes, manifestFlow } from './github-settings-routes.ts';
import { githubWriteRoutes } from './github-write-routes.ts';
import type { Oddity } from './graphql-oddities.ts';
import { githubHistoryRoutes } from './history-routes.ts';
import { githubInspectionRoutes } from './inspection-routes.ts';
import type { Answer } from './routes.ts';
import { findRepository, isArchived, type World } from './world.ts';

/** A GitHub App, for those who sign in as one. */
export interface SimulatedApp {
  readonly id: string;
  readonly slug: string;
  /** PEM. */
  readonly publicKey: string;
  /** Owners of repositories it is installed for, to the installation's number. */
  readonly installations: ReadonlyMap<string, number>;
  /** What it was given, by GitHub's names; a test may change it. */
  permissions: Readonly<Record<string, string>>;
  events: readonly string[];
  readonly privateKey: string;
  /** Its webhook. A registration from a manifest has GitHub make the secret. */
  hook: { readonly url: string; readonly content_type: string; readonly secret: string | null };
  install(owner: string): void;
}

/** GitHub's limit of requests, which a test may set. */
export interface RateLimit {
  /** Of an hour. */
  limit: number;
  remaining: number;
  /** Seconds since the epoch. */
  resetAt: number;
}

const HOUR_S = 3_600;

export function makeRateLimit(): RateLimit {
  return { limit: 5_000, remaining: 5_000, resetAt: Math.ceil(Date.now() / 1_000) + HOUR_S };
}

/**
 * GitHub's secondary limit of what creates content, which a test may set; as on Enterprise Server there is none unless set.
 * Whatever writes counts, since GitHub does not say what does.
 */
export interface ContentLimit {
  perMinute: number;
}

export function makeContentLimit(): ContentLimit {
  return { perMinute: Number.POSITIVE_INFINITY };
}

const MINUTE_MS = 60_000;

/** Refuses a write beyond the limit, with the seconds until the next may come. */
function makeContentLimiter(limit: ContentLimit): (method: string) => Answer | undefined {
  const writtenAt: number[] = [];
  return (method) => {
    const now = Date.now();
    const [oldest = now] = writtenAt.slice(-limit.perMinute);
    if (method === 'GET') {
      return undefined;
    }
    if (writtenAt.filter((at) => at > now - MINUTE_MS).length < limit.perMinute) {
      writtenAt.push(now);
      return undefined;
    }
    return {
      status: 403,
      body: { message: 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.' },
      headers: { 'retry-after': String(Math.ceil((oldest + MINUTE_MS - now) / 1_000)) },
    };
  };
}

/** What a test may change about GraphQL. */
export interface GraphqlSwitch {
  /** Points, which are counted apart from requests. */
  readonly points: RateLimit;
  /** Fields that this server does not have. */
  readonly missing: string[];
  /** Fields that the credentials lack a permission for. */
  readonly forbidden: string[];
}

export function makeGraphqlSwitch(): GraphqlSwitch {
  return { points: makeRateLimit(), missing: [], forbidden: [] };
}

interface GitHubParts {
  readonly checks?: Checks | undefined;
  readonly contentLimit?: ContentLimit;
  /** What else the next answer to a GraphQL query is. */
  readonly drawOddity?: (() => Oddity) | undefined;
}

export function makeGitHubDialect(
  world: World,
  app: SimulatedApp | undefined,
  rateLimit: RateLimit,
  graphql: GraphqlSwitch,
  { checks, contentLimit = makeContentLimit(), drawOddity }: GitHubParts = {},
): Dialect {
  const limitContent = makeContentLimiter(contentLimit);
  const notFound: Answer = {
    status: 404,
    body: { message: 'Not Found', documentation_url: 'https://docs.github.com/rest', status: '404' },
  };
  return {
    name: 'github',
    prefix: '/api/v3',
    graphqlPath: '/api/graphql',
    ...(checks && { checks }),
    routes: {
      ...githubReadRoutes(world),
      ...githubHistoryRoutes(world),
      ...githubWriteRoutes(world),
      ...githubAppRoutes(world, app),
      ...githubSettingsRoutes(world),
      ...githubInspectionRoutes(world),
      ...githubGraphqlRoutes(world, graphql, drawOddity),
    },
    ...(app && { open: manifestFlow(app) }),
    notFound,
    unauthorized: {
      status: 401,
      body: { message: 'Bad credentials', documentation_url: 'https://docs.github.com/rest', status: '401' },
    },

    login(headers) {
      const [, credential = ''] = (headers.authorization ?? '').split(' ');
      return world.tokens.get(credential) ?? (app && isSignedBy(app, credential) ? `app:${app.slug}` : undefined);
    },

    locate(method, path) {
      const byId = /^\/repositories\/(\d+)(.*)$/.exec(path);
      if (byId !== null) {
        const repository = [...world.repositories.values()].find((candidate) => candidate.id === Number(byId[1]));
        return { path: `/repos/${repository?.fullName}${byId[2]}` };
      }
      const [, fullName = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)(.*)$/.exec(path) ?? [];
      const renamed = findRepository(world, fullName) ? undefined : world.renames.get(fullName.toLowerCase());
      if (renamed === undefined) {
        return { path };
      }
      const location = `/api/v3/repositories/${renamed.id}${rest}`;
      const status = method === 'GET' ? 301 : 307;
      return { redirect: { status, body: { message: 'Moved Permanently', url: location }, headers: { location } } };
    },

    graphqlTarget(body) {
      const { owner, repo, branch, number, facts, sha, p0 } = Object(body['variables']);
      if (p0 !== undefined) {
        return '/permissions';
      }
      if (branch !== undefined) {
        return `/repos/${owner}/${repo}/merge-queue`;
      }
      if (sha !== undefined) {
        return `/repos/${owner}/${repo}/commits/${sha}/checks`;
      }
      const part = facts === undefined ? '/comments' : facts ? '/facts' : '';
      return number === undefined ? '' : `/repos/${owner}/${repo}/pulls/${number}${part}`;
    },

    refuse({ method, path }) {
      if (isGraphql(path)) {
        return isUsedUp(graphql.points) ? POINTS_USED_UP : undefined;
      }
      if (method !== 'GET' && isArchived(world, path)) {
        return { status: 403, body: { message: 'Repository was archived so is read-only.' } };
      }
      if (!isUsedUp(rateLimit)) {
        return limitContent(method);
      }
      return {
        status: 403,
        body: { message: 'API rate limit exceeded for user ID 1.', documentation_url: 'https://docs.github.com/rest' },
        headers: limitHeaders(rateLimit),
      };
    },

    finish(call, answer) {
      return isGraphql(call.path) ? withPoints(answer, graphql.points) : counted(answer, rateLimit);
    },
  };
}

function isGraphql(path: string): boolean {
  return path === '/graphql' || path.startsWith('/graphql/');
}

function isUsedUp({ remaining, resetAt }: RateLimit): boolean {
  return remaining <= 0 && resetAt * 1_000 >= Date.now();
}

/** https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api */
const POINTS_USED_UP: Answer = {
  status: 200,
  body: { errors: [{ type: 'RATE_LIMITED', message: 'API rate limit already exceeded for user ID 1.' }] },
};

/** Every query here costs one. */
function withPoints(answer: Answer, points: RateLimit): Answer {
  points.remaining = Math.max(0, points.remaining - 1);
  return { ...answer, headers: { ...answer.headers, ...limitHeaders(points), 'x-ratelimit-resource': 'graphql' } };
}

function limitHeaders(rateLimit: RateLimit): Record<string, string> {
  return {
    'x-ratelimit-limit': String(rateLimit.limit),
    'x-ratelimit-remaining': String(rateLimit.remaining),
    'x-ratelimit-reset': String(rateLimit.resetAt),
    'x-ratelimit-resource': 'core',
  };
}

function counted(answer: Answer, rateLimit: RateLimit): Answer {
  rateLimit.remaining = Math.max(0, rateLimit.remaining - 1);
  return { ...answer, headers: { ...answer.headers, ...limitHeaders(rateLimit) } };
}

/** RS256, the App's own number as issuer, and not expired. */
function isSignedBy(app: SimulatedApp, jwt: string): boolean {
  const [header = '', payload = '', signature = ''] = jwt.split('.');
  const verified = createVerify('RSA-SHA256')
    .update(`${header}.${payload}`)
    .verify(app.publicKey, Buffer.from(signature, 'base64url'));
  const claims = verified ? JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) : {};
  return String(claims.iss) === app.id && claims.exp * 1_000 > Date.now();
}
