import type { Description, Operation, Schema } from './description.ts';
import { follow, toJsonSchema } from './openapi.ts';
import { makePathFinder } from './paths.ts';

export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

interface Described {
  readonly parameters?: readonly unknown[];
  readonly requestBody?: { readonly required?: boolean; readonly content?: Content };
  readonly responses: Readonly<Record<string, unknown>>;
}

type Content = Readonly<Record<string, { readonly schema: unknown }>>;

/** Swagger 2.0 writes the type of a parameter beside its name, and a body as one more parameter. */
interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly schema?: unknown;
}

/** The operations of a published description that the routes of a simulator are, with the schemas that they refer to. */
export function sliceOperations(document: Document, routes: readonly string[], source: string): Description {
  const schemas: Record<string, Schema> = {};
  const find = makePathFinder(Object.keys(document.paths));
  const rename = (reference: string): string => {
    const name = reference.split('/').at(-1) ?? '';
    if (schemas[name] === undefined) {
      // Known before it is read: schemas refer to themselves.
      schemas[name] = {};
      schemas[name] = toJsonSchema(follow(document, reference), rename);
    }
    return `#/schemas/${name}`;
  };
  const operations = routes.map((route) => {
    const [method = '', path = ''] = route.split(' ');
    const described = find(path.replaceAll(/[:*](\w+)/g, '$1'))?.path ?? '';
    const operation = document.paths[described]?.[method.toLowerCase()];
    if (operation === undefined) {
      throw new Error(`${route} is not in ${source}`);
    }
    const read = (given: unknown) => toJsonSchema(given, rename);
    return [`${method} ${described}`, toOperation(document, operation, read)] as const;
  });
  return { source, operations: Object.fromEntries(operations), schemas };
}

type Read = (given: unknown) => Schema;

function toOperation(document: Document, described: Described, read: Read): Operation {
  const parameters = (described.parameters ?? []).map((given) => whole(document, given) as Parameter);
  const inPlace = (place: string) =>
    Object.fromEntries(
      parameters.filter((one) => one.in === place).map((one) => [one.name, read(one.schema ?? typeOf(one))]),
    );
  const body = bodyOf(described, parameters);
  return {
    query: inPlace('query'),
    path: inPlace('path'),
    ...(body === undefined ? {} : { body: { required: body.required, schema: read(body.schema) } }),
    answers: Object.fromEntries(
      Object.entries(described.responses).map(([status, given]) => {
        const answer = Object(whole(document, given));
        const schema = answer['content']?.['application/json']?.schema ?? answer['schema'];
        return [status, schema === undefined ? null : read(schema)];
      }),
    ),
  };
}

function bodyOf(described: Described, parameters: readonly Parameter[]) {
  const { requestBody } = described;
  const inParameters = parameters.find((one) => one.in === 'body');
  const schema = requestBody?.content?.['application/json']?.schema ?? inParameters?.schema;
  return schema === undefined ? undefined : { schema, required: (requestBody ?? inParameters)?.required === true };
}

function typeOf({ in: _in, name: _name, required: _required, ...schema }: Parameter): object {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => keyword !== 'collectionFormat'));
}

function whole(document: Document, given: unknown): unknown {
  const reference = Object(given)['$ref'];
  return typeof reference === 'string' ? follow(document, reference) : given;
}
