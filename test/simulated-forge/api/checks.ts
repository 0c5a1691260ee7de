import type { Answer, Call } from '../routes.ts';
import { type Draw, makeCompletion } from './completion.ts';
import type { Description, Operation, Schema } from './description.ts';
import { makePathFinder } from './paths.ts';
import { makeValidators, type Validate } from './validators.ts';

/** Statuses that any operation may be answered with: redirects, credentials, limits, what is hidden, outages. */
const ANYWHERE = new Set([301, 302, 304, 307, 401, 403, 404, 429, 500, 502, 503, 504]);

export interface Rules {
  /** What the forge's documents say of the headers, each fault as one sentence. */
  readonly headers: (call: Call) => readonly string[];
  readonly page: { readonly parameter: string; readonly max: number };
  /** Whether it is known that the forge itself differs from its description in this. */
  readonly isAccepted: (fault: string) => boolean;
}

export type Checks = ReturnType<typeof makeChecks>;

export function makeChecks(description: Description, rules: Rules, draw?: Draw) {
  const find = makeFinder(description);
  const validatorOf = makeValidators(description, schemasOf(description));
  const complete = makeCompletion(description.schemas, draw);

  return {
    /** What the description calls the operation, as in `GET /repos/{owner}/{repo}`; undefined for no known one. */
    operationOf: (method: string, path: string): string | undefined => find(method, path)?.name,

    /** What a request has that the description does not allow, each as one sentence. */
    faultsOfRequest(call: Call): readonly string[] {
      const found = find(call.method, call.path);
      if (found === undefined) {
        return [`${call.method} ${call.path}: no operation is described`];
      }
      const { name, operation, parameters } = found;
      const told = (where: string, fault: string | undefined) =>
        fault === undefined ? [] : [`${name}: ${where} ${fault}`];
      const query = typed(operation.query, Object.fromEntries(call.query));
      return [
        ...told('path', validatorOf(`${name} path`)?.(typed(operation.path, parameters))),
        ...told('query', validatorOf(`${name} query`)?.(query)),
        ...(Number(query[rules.page.parameter] ?? 0) > rules.page.max
          ? [`${name}: query /${rules.page.parameter} is over ${rules.page.max}`]
          : []),
        ...rules.headers(call).map((fault) => `${name}: ${fault}`),
        ...told('body', faultOfBody(operation, call, validatorOf(`${name} body`))),
      ];
    },

    /** The answer with all that the forge always sends, and what it has against the description. */
    complete(call: Call, answer: Answer): { readonly whole: Answer; readonly faults: readonly string[] } {
      const { status } = answer;
      const found = find(call.method, call.path);
      if (found === undefined) {
        return { whole: answer, faults: [] };
      }
      const { name, operation } = found;
      const told = (faults: readonly string[]) =>
        faults.map((fault) => `${name}: ${fault}`).filter((fault) => !rules.isAccepted(fault));
      const schema = operation.answers[status];
      if (schema === undefined) {
        return { whole: answer, faults: ANYWHERE.has(status) ? [] : told([`answer ${status} is not described`]) };
      }
      if (schema === null || answer.body === undefined) {
        return { whole: answer, faults: [] };
      }
      const { value: body, unknown } = complete(schema, answer.body);
      const fault = validatorOf(`${name} ${status}`)?.(body);
      const faults = [
        ...(fault === undefined ? [] : [`answer ${status} ${fault}`]),
        ...unknown.map((field) => `answer ${status} has the field ${field}, which is not described`),
      ];
      return { whole: { ...answer, body }, faults: told(faults) };
    },
  };
}

function schemasOf({ operations, schemas }: Description): Readonly<Record<string, Schema>> {
  const named: Record<string, Schema> = {};
  for (const [name, { query, path, body, answers }] of Object.entries(operations)) {
    named[`${name} query`] = { type: 'object', properties: query, additionalProperties: false };
    named[`${name} path`] = { type: 'object', properties: path };
    if (body !== undefined) {
      named[`${name} body`] = closed(body.schema, schemas);
    }
    for (const [status, schema] of Object.entries(answers)) {
      if (schema !== null) {
        named[`${name} ${status}`] = schema;
      }
    }
  }
  return named;
}

/** Descriptions leave objects open. What Gatehouse sends, and the forge does not know, is a mistake. */
function closed(given: Schema, schemas: Description['schemas']): Schema {
  const reference = given['$ref'];
  const schema = typeof reference === 'string' ? (schemas[reference.split('/').at(-1) ?? ''] ?? {}) : given;
  const { properties, items, additionalProperties = false } = schema;
  const inside = (of: unknown) => closed(of as Schema, schemas);
  return {
    ...schema,
    ...(typeof items === 'object' && { items: inside(items) }),
    ...(typeof properties === 'object' && {
      additionalProperties,
      properties: Object.fromEntries(Object.entries(Object(properties)).map(([name, of]) => [name, inside(of)])),
    }),
  };
}

function faultOfBody({ body }: Operation, call: Call, validate: Validate | undefined): string | undefined {
  const isSent = Object.keys(call.body).length > 0;
  if (body === undefined) {
    return isSent && call.method !== 'GET' ? `has ${Object.keys(call.body)}, but none is described` : undefined;
  }
  return isSent || body.required ? validate?.(call.body) : undefined;
}

/** Texts of a path or a query as the description types them, where they can be read so. */
function typed(
  schemas: Readonly<Record<string, Schema>>,
  texts: Readonly<Record<string, string>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => {
      const { type } = schemas[name] ?? {};
      const isNumber = (type === 'integer' || type === 'number') && /^-?\d+$/.test(text);
      const isBoolean = type === 'boolean' && /^(?:true|false)$/.test(text);
      return [name, isNumber ? Number(text) : isBoolean ? text === 'true' : text];
    }),
  );
}

interface Found {
  readonly name: string;
  readonly operation: Operation;
  readonly parameters: Readonly<Record<string, string>>;
}

function makeFinder({ operations }: Description): (method: string, path: string) => Found | undefined {
  const names = Object.keys(operations);
  const methods = new Set(names.map((name) => name.split(' ')[0] ?? ''));
  const finders = new Map(
    [...methods].map((method) => {
      const ofMethod = names.filter((name) => name.startsWith(`${method} `));
      return [method, makePathFinder(ofMethod.map((name) => name.slice(method.length + 1)))] as const;
    }),
  );
  return (method, path) => {
    const found = finders.get(method)?.(path);
    const name = `${method} ${found?.path}`;
    const operation = operations[name];
    return found && operation && { name, operation, parameters: found.parameters };
  };
}
