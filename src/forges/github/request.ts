import { type Octokit, RequestError } from 'octokit';
import { z } from 'zod';
import { limitList, parseAnswer, requireFound } from '../answer.ts';
import { ForgeError } from '../port/forge-error.ts';

/** The most that GitHub gives in one page. */
const PAGE_SIZE = 100;
/** Where a page of that is too large. No text is longer than 64 KiB, which is 400 KB as JSON. */
const SMALL_PAGE_SIZE = 25;
/** Ten thousand entries: more is not a pull request that anyone reviews. */
export const MAX_PAGES = 100;
const MAX_QUOTE_LENGTH = 300;

type Parameters = Readonly<Record<string, unknown>>;

/** One answer, validated; undefined when GitHub answers 404 or 410. */
export async function ask<T>(
  octokit: Octokit | undefined,
  route: string,
  parameters: Parameters,
  shape: z.ZodType<T>,
): Promise<T | undefined> {
  const response = octokit && (await send(octokit, route, parameters));
  return response && parseAnswer(shape, response.data, route);
}

export interface List<T> {
  readonly items: readonly T[];
  /** Where the first page came from, after redirects. */
  readonly url: string;
}

/** All pages of a list, validated; undefined when GitHub answers 404 or 410. Stops early when `enough` says so. */
export async function askAll<T>(
  octokit: Octokit | undefined,
  route: string,
  parameters: Parameters,
  shape: z.ZodType<readonly T[]>,
  enough?: (items: readonly T[]) => boolean,
): Promise<readonly T[] | undefined> {
  return (await askList(octokit, route, parameters, shape, enough))?.items;
}

export async function askList<T>(
  octokit: Octokit | undefined,
  route: string,
  parameters: Parameters,
  shape: z.ZodType<readonly T[]>,
  enough: (items: readonly T[]) => boolean = () => false,
): Promise<List<T> | undefined> {
  const ask = (pageSize: number) =>
    octokit && askPages(octokit, route, { per_page: pageSize, ...parameters }, shape, enough);
  try {
    return await ask(PAGE_SIZE);
  } catch (error) {
    // A page, and not the list: texts of people can make it so large.
    if (error instanceof ForgeError && error.kind === 'too-large' && error.status !== undefined) {
      return ask(SMALL_PAGE_SIZE);
    }
    throw error;
  }
}

async function askPages<T>(
  octokit: Octokit,
  route: string,
  parameters: Parameters,
  shape: z.ZodType<readonly T[]>,
  enough: (items: readonly T[]) => boolean,
): Promise<List<T> | undefined> {
  const items: T[] = [];
  const countPage = limitList(route, MAX_PAGES);
  let response = await send(octokit, route, parameters);
  const url = response?.url ?? '';
  while (response !== undefined) {
    const page = parseAnswer(shape, response.data, route);
    countPage(page);
    items.push(...page);
    const next = nextPage(response.headers.link);
    if (next === undefined || enough(items)) {
      return { items, url };
    }
    // The link is followed as it is: some lists go by page, others by cursor. forge-fetch.ts checks its host.
    response = await send(octokit, `GET ${next}`, {});
  }
  return undefined;
}

/** A write. Throws when the forge answers 404, unless `allowNotFound`. */
export async function write(
  octokit: Octokit | undefined,
  route: string,
  parameters: Parameters,
  allowNotFound = false,
): Promise<unknown> {
  const response = octokit && (await send(octokit, route, parameters));
  return allowNotFound ? response?.data : requireFound(response, route).data;
}

/** Those of a query that ran have a `type`; those of a query that the schema does not allow have a code instead. */
const graphqlError = z.object({
  message: z.string(),
  type: z.string().optional(),
  path: z.array(z.unknown()).optional(),
  extensions: z.object({ code: z.string().optional() }).optional(),
});
type GraphqlError = z.output<typeof graphqlError>;
const graphqlFailure = z.object({
  name: z.literal('GraphqlResponseError'),
  headers: z.record(z.string(), z.unknown()).default({}),
  errors: z.array(graphqlError),
  data: z.unknown(),
});

/** Status of an answer to GraphQL that holds errors: the request itself was fine. */
const GRAPHQL_STATUS = 200;
/** The wait for a limit whose end is not named. */
const UNNAMED_WAIT_MS = 60_000;

/**
 * One query to the GraphQL API, validated. It answers 200 with errors, also where a part of the data is there: that
 * part is not used. Throws as `invalid` when the forge's schema does not allow the query.
 */
export async function askGraphql<T>(
  octokit: Octokit,
  what: string,
  query: string,
  variables: Parameters,
  shape: z.ZodType<T>,
): Promise<T> {
  const route = routeOf(what);
  return parseGraphql(shape, (await sendGraphql(octokit, route, query, variables, () => false)).data, route);
}

/** The same for one thing; undefined where the forge says that there is none. A null without a reason is an error. */
export async function askGraphqlIfFound<T>(
  octokit: Octokit,
  what: string,
  query: string,
  variables: Parameters,
  shape: z.ZodType<T>,
): Promise<T | undefined> {
  const route = routeOf(what);
  const isAbsent = ({ type, path }: GraphqlError) => type === 'NOT_FOUND' && path?.length === 1;
  const { data, errors } = await sendGraphql(octokit, route, query, variables, isAbsent);
  return errors.length > 0 ? undefined : parseGraphql(shape, data, route);
}

/** Errors about one thing that is asked for, which is then null in the answer. */
const ABSENT: readonly (string | undefined)[] = ['NOT_FOUND', 'FORBIDDEN'];

/** The same for several things at once: one that is not there, or may not be seen, is null and no error. */
export async function askPartialGraphql<T>(
  octokit: Octokit,
  what: string,
  query: string,
  variables: Parameters,
  shape: z.ZodType<T>,
): Promise<T> {
  // A part of it that may not be seen is another matter: without it the rest would say something wrong. An App may lack
  // the permission for merge queues, and then reviews no merge group.
  const isAbsent = ({ type, path = [] }: GraphqlError) =>
    ABSENT.includes(type) && (path.length === 1 || path.includes('mergeQueueEntry'));
  const route = routeOf(what);
  return parseGraphql(shape, (await sendGraphql(octokit, route, query, variables, isAbsent)).data, route);
}

/**
 * The same for what the credentials may lack a permission for: such a field is null, and `refused` names it and those
 * that it is in.
 */
export async function askWhatIsAllowed<T>(
  octokit: Octokit,
  what: string,
  query: string,
  variables: Parameters,
  shape: z.ZodType<T>,
): Promise<{ readonly answer: T; readonly refused: readonly unknown[] }> {
  const route = routeOf(what);
  const { data, errors } = await sendGraphql(octokit, route, query, variables, ({ type }) => type === 'FORBIDDEN');
  return { answer: parseGraphql(shape, data, route), refused: errors.flatMap(({ path = [] }) => path) };
}

const routeOf = (what: string) => `POST /graphql (${what})`;

/** The data, not validated, and those errors that are ignored. Any other error is thrown. */
async function sendGraphql(
  octokit: Octokit,
  route: string,
  query: string,
  variables: Parameters,
  ignored: (error: GraphqlError) => boolean,
): Promise<{ readonly data: unknown; readonly errors: readonly GraphqlError[] }> {
  try {
    return { data: await octokit.graphql(query, { ...variables }), errors: [] };
  } catch (error) {
    const failed = graphqlFailure.safeParse(error);
    if (!failed.success) {
      throw translate(error, route);
    }
    if (!failed.data.errors.every(ignored)) {
      throw errorOf(route, failed.data);
    }
    return failed.data;
  }
}

function parseGraphql<T>(shape: z.ZodType<T>, answer: unknown, route: string): T {
  try {
    return parseAnswer(shape, answer, route);
  } catch (error) {
    throw error instanceof ForgeError ? new ForgeError(error.kind, error.message, { status: GRAPHQL_STATUS }) : error;
  }
}

function errorOf(route: string, { errors, headers }: z.output<typeof graphqlFailure>): ForgeError {
  const said = errors.map(({ message }) => message).join('; ');
  const message = `${route}: the forge answered: ${said.slice(0, MAX_QUOTE_LENGTH)}`;
  if (errors.some(({ type }) => type === 'RATE_LIMITED')) {
    const reset = Number(headers['x-ratelimit-reset']) * 1_000;
    const retryAt = reset > Date.now() ? reset : Date.now() + UNNAMED_WAIT_MS;
    return new ForgeError('rate-limited', message, { status: GRAPHQL_STATUS, retryAt });
  }
  const isRefused = errors.some(({ type, extensions }) => type === undefined && extensions?.code !== undefined);
  return new ForgeError(isRefused ? 'invalid' : 'unavailable', message, { status: GRAPHQL_STATUS });
}

/** One answer; undefined when GitHub answers 404 or 410. */
export async function send(octokit: Octokit, route: string, parameters: Parameters) {
  try {
    return await octokit.request(route, { ...parameters });
  } catch (error) {
    const translated = translate(error, route);
    if (translated.status === 404 || translated.status === 410) {
      return undefined;
    }
    throw translated;
  }
}

/** For `catch`: what is asked for is not there, or not as it was asked for. */
export function undefinedIfInvalid(error: unknown): undefined {
  if (error instanceof ForgeError && error.kind === 'invalid') {
    return undefined;
  }
  throw error;
}

/** octokit's errors carry the request; only what a reader may see is copied. */
function translate(error: unknown, route: string): ForgeError {
  if (error instanceof Error && error.cause instanceof ForgeError) {
    return error.cause;
  }
  if (!(error instanceof RequestError)) {
    return new ForgeError('refused', `${route}: the request could not be signed with the credentials given`, {
      cause: error,
    });
  }
  const { status } = error;
  const message = `${route}: the forge answered ${status}: ${error.message.slice(0, MAX_QUOTE_LENGTH)}`;
  if (error.request.url.endsWith('/access_tokens')) {
    // The installation was removed or suspended. This must not look like a missing resource.
    return new ForgeError('refused', message, { cause: new Error(`status ${status}`) });
  }
  if (status >= 500) {
    return new ForgeError('unavailable', message, { cause: error.cause });
  }
  return new ForgeError(status === 401 || status === 403 ? 'refused' : 'invalid', message, { status });
}

/** RFC 8288. */
function nextPage(link: string | undefined): string | undefined {
  return /<([^<>]+)>;\s*rel="next"/.exec(link ?? '')?.[1];
}
