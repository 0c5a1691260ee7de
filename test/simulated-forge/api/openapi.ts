import type { Schema } from './description.ts';

type Json = Readonly<Record<string, unknown>>;

/** Keywords that say nothing about which values are valid. */
const PROSE = new Set([
  'title',
  'description',
  'example',
  'examples',
  'externalDocs',
  'deprecated',
  'readOnly',
  'default',
]);

/**
 * JSON Schema of what OpenAPI 3.0, OpenAPI 3.1 or Swagger 2.0 say: without prose, `nullable` written as a type, and every
 * reference passed through `rename`.
 */
export function toJsonSchema(value: unknown, rename: (reference: string) => string): Schema {
  const given = Object(value) as Json;
  if (typeof given['$ref'] === 'string') {
    return { $ref: rename(given['$ref']) };
  }
  const said = Object.fromEntries(
    Object.entries(given).filter(
      ([keyword]) => !PROSE.has(keyword) && !keyword.startsWith('x-') && keyword !== 'nullable',
    ),
  );
  const schema = mapSchemas(said, (inner) => toJsonSchema(inner, rename));
  return given['nullable'] === true ? orNull(schema) : schema;
}

/** The schema with those inside it changed. */
export function mapSchemas(schema: Schema, change: (inner: Schema) => Schema): Schema {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      switch (keyword) {
        case 'properties':
        case 'patternProperties':
          return [
            keyword,
            Object.fromEntries(Object.entries(Object(value)).map(([name, inner]) => [name, change(inner as Schema)])),
          ];
        case 'allOf':
        case 'anyOf':
        case 'oneOf':
          return [keyword, (value as readonly Schema[]).map((inner) => change(inner))];
        case 'items':
        case 'not':
          return [keyword, change(value as Schema)];
        case 'additionalProperties':
          return [keyword, typeof value === 'object' ? change(value as Schema) : value];
        default:
          return [keyword, value];
      }
    }),
  );
}

export function orNull(schema: Schema): Schema {
  const { type, enum: values } = schema;
  if (typeof type !== 'string') {
    return { anyOf: [schema, { type: 'null' }] };
  }
  return {
    ...schema,
    type: [type, 'null'],
    ...(Array.isArray(values) ? { enum: [...new Set([...values, null])] } : {}),
  };
}

/** What a reference such as `#/components/schemas/issue` points to. */
export function follow(document: unknown, reference: string): unknown {
  return reference
    .slice('#/'.length)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((at, part) => Object(at)[part], document);
}
