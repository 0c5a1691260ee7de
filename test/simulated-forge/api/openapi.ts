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
  const schema = Object.fromEntries(
    Object.entries(given)
      .filter(([keyword]) => !PROSE.has(keyword) && !keyword.startsWith('x-') && keyword !== 'nullable')
      .map(([keyword, of]) => [keyword, converted(keyword, of, rename)]),
  );
  return given['nullable'] === true ? orNull(schema) : schema;
}

function converted(keyword: string, value: unknown, rename: (reference: string) => string): unknown {
  switch (keyword) {
    case 'properties':
    case 'patternProperties':
      return Object.fromEntries(
        Object.entries(Object(value)).map(([name, schema]) => [name, toJsonSchema(schema, rename)]),
      );
    case 'allOf':
    case 'anyOf':
    case 'oneOf':
      return (value as readonly unknown[]).map((schema) => toJsonSchema(schema, rename));
    case 'items':
    case 'not':
      return toJsonSchema(value, rename);
    case 'additionalProperties':
      return typeof value === 'object' ? toJsonSchema(value, rename) : value;
    default:
      return value;
  }
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
