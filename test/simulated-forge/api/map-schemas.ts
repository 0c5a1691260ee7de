import type { Schema } from './description.ts';

/** The schema with those inside it changed. */
export function mapSchemas(schema: Schema, change: (inner: Schema) => Schema): Schema {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => {
      switch (keyword) {
        case 'properties':
          return [
            keyword,
            Object.fromEntries(Object.entries(Object(value)).map(([name, inner]) => [name, change(inner as Schema)])),
          ];
        case 'allOf':
        case 'anyOf':
        case 'oneOf':
          return [keyword, (value as readonly Schema[]).map((inner) => change(inner))];
        case 'items':
          return [keyword, change(value as Schema)];
        case 'additionalProperties':
          return [keyword, typeof value === 'object' ? change(value as Schema) : value];
        default:
          return [keyword, value];
      }
    }),
  );
}
