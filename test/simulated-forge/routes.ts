import { findRepository, newId, type Pull, type Repository, type Status, type World } from './world.ts';

export interface Call {
  readonly method: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The JSON body, `{}` when there is none. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly login: string;
  /** Where the API is, as the client reached it. */
  readonly apiUrl: string;
  /** The path asked for, without the API's prefix. */
  readonly path: string;
}

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  /** Sent as it is, when there is no JSON. */
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Handler = (call: Call) => Answer;

/** `GET /repos/:owner/:repo/pulls/:number` to what answers it. `*name` at the end takes the rest of the path. */
export type Routes = Readonly<Record<string, Handler>>;

/** Handlers of what belongs to a repository or a pull request: `notFound` is answered where there is none. */
export function makeFinders(notFound: Answer) {
  const withRepository = (world: World, answer: (repository: Repository, call: Call) => Answer): Handler => {
    return (call) => {
      const repository = findRepository(world, `${call.parameters['owner']}/${call.parameters['repo']}`);
      return repository === undefined || repository.deleted ? notFound : answer(repository, call);
    };
  };
  const withPull = (world: World, answer: (pull: Pull, call: Call) => Answer): Handler =>
    withRepository(world, (repository, call) => {
      const pull = repository.pulls.get(Number(call.parameters['number']));
      return pull === undefined ? notFound : answer(pull, call);
    });
  return { withRepository, withPull };
}

export interface Match {
  readonly route: string;
  readonly handler: Handler;
  readonly parameters: Readonly<Record<string, string>>;
}

export function matchRoute(routes: Routes, method: string, path: string): Match | undefined {
  for (const [route, handler] of Object.entries(routes)) {
    const [ofMethod, pattern = ''] = route.split(' ');
    const match = ofMethod === method ? expression(pattern).exec(path) : null;
    if (match !== null) {
      const decoded = Object.entries(match.groups ?? {}).map(([name, value]) => [name, decodeURIComponent(value)]);
      return { route, handler, parameters: Object.fromEntries(decoded) };
    }
  }
  return undefined;
}

const expressions = new Map<string, RegExp>();

function expression(pattern: string): RegExp {
  const known = expressions.get(pattern);
  if (known !== undefined) {
    return known;
  }
  const source = pattern
    .replaceAll('.', '\\.')
    .replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')
    .replace(/\*(\w+)/, '(?<$1>.+)');
  const made = new RegExp(`^${source}$`);
  expressions.set(pattern, made);
  return made;
}

/** Text of a JSON body's field, `''` when it is something else. */
export function textIn(body: Readonly<Record<string, unknown>>, name: string): string {
  const value = body[name];
  return typeof value === 'string' ? value : '';
}

export function listIn(body: Readonly<Record<string, unknown>>, name: string): readonly Record<string, unknown>[] {
  const value = body[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
}

/** Adds the status that a request asks for; the same fields on all forges. */
export function addStatus(world: World, repository: Repository, { parameters, body, login }: Call): Status {
  const status = {
    id: newId(world),
    sha: parameters['sha'] ?? '',
    context: textIn(body, 'context') || 'default',
    state: textIn(body, 'state'),
    description: textIn(body, 'description'),
    targetUrl: textIn(body, 'target_url'),
    author: login,
    at: new Date().toISOString(),
  };
  repository.statuses.push(status);
  return status;
}
