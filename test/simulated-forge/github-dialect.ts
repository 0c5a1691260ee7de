import { createVerify } from 'node:crypto';
import type { Dialect } from './dialect.ts';
import type { Hostility } from './github-api/hostile.ts';
import { githubAppRoutes, makeApp, type SimulatedApp } from './github-app-routes.ts';
import { githubGraphqlRoutes } from './github-graphql-routes.ts';
import { githubReadRoutes, NOT_FOUND } from './github-read-routes.ts';
import { githubSettingsRoutes, manifestFlow } from './github-settings-routes.ts';
import { githubWriteRoutes } from './github-write-routes.ts';
import { githubHistoryRoutes } from './history-routes.ts';
import { githubInspectionRoutes } from './inspection-routes.ts';
import type { Answer } from './routes.ts';
import { findRepository, isArchived, type World } from './world.ts';

interface RateLimit {
  limit: number;
  remaining: number;
  resetAt: number;
}

const HOUR_S = 3_600;

function makeRateLimit(): RateLimit {
  return { limit: 5_000, remaining: 5_000, resetAt: Math.ceil(Date.now() / 1_000) + HOUR_S };
}

export function makeSwitches() {
  return {
    rateLimit: makeRateLimit(),
    /**
     * The secondary limit of what creates content. As on Enterprise Server there is none unless set. Whatever writes counts,
     * since GitHub does not say what does.
     */
    contentLimit: { perMinute: Number.POSITIVE_INFINITY, writtenAt: [] as number[] },
    graphql: {
      /** Counted apart from requests. */
      points: makeRateLimit(),
      /** Fields that this server does not have. */
      missing: [] as string[],
      /** Fields that the credentials lack a permission for. */
      forbidden: [] as string[],
    },
  };
}

export type Switches = ReturnType<typeof makeSwitches>;

const MINUTE_MS = 60_000;

/** Refuses a write beyond the limit, with the seconds until the next may come. */
function makeContentLimiter(limit: Switches['contentLimit']): (method: string) => Answer | undefined {
  return (method) => {
    const now = Date.now();
    const { writtenAt } = limit;
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

/** `drawOddity`: of the next answer to a GraphQL query. */
export function makeGitHubDialect(
  world: World,
  app = makeApp(world.installations),
  { rateLimit, contentLimit, graphql }: Switches = makeSwitches(),
  { checks, drawOddity }: Partial<Hostility> = {},
): Dialect {
  const limitContent = makeContentLimiter(contentLimit);
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
    open: manifestFlow(app),
    notFound: NOT_FOUND,
    unauthorized: {
      status: 401,
      body: { message: 'Bad credentials', documentation_url: 'https://docs.github.com/rest', status: '401' },
    },

    login(headers) {
      const [, credential = ''] = (headers.authorization ?? '').split(' ');
      return world.tokens.get(credential) ?? (isSignedBy(app, credential) ? `app:${app.slug}` : undefined);
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
      };
    },

    finish(call, answer) {
      return isGraphql(call.path) ? counted(answer, graphql.points, 'graphql') : counted(answer, rateLimit, 'core');
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

/** Every request, and every query here, costs one. */
function counted(answer: Answer, limit: RateLimit, resource: 'core' | 'graphql'): Answer {
  limit.remaining = Math.max(0, limit.remaining - 1);
  const headers = {
    'x-ratelimit-limit': String(limit.limit),
    'x-ratelimit-remaining': String(limit.remaining),
    'x-ratelimit-reset': String(limit.resetAt),
    'x-ratelimit-resource': resource,
  };
  return { ...answer, headers: { ...answer.headers, ...headers } };
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
