import * as z from 'zod';
import type { YamlPath } from './yaml.ts';

/** The keys that the schema allows in the mapping at a path; none where no mapping is expected. */
export function knownKeys(schema: z.ZodType, path: YamlPath): readonly string[] {
  let schemas = alternatives(schema);
  for (const part of path) {
    schemas = schemas.flatMap((outer) => {
      if (outer instanceof z.ZodArray) {
        return alternatives(outer.element);
      }
      return outer instanceof z.ZodObject ? alternatives(outer.shape[part]) : [];
    });
  }
  return schemas.flatMap((found) => (found instanceof z.ZodObject ? Object.keys(found.shape) : []));
}

/** What a schema accepts, without the wrappers that say optional, either or transformed. */
function alternatives(schema: unknown): readonly unknown[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodLazy) {
    return alternatives(schema.unwrap());
  }
  if (schema instanceof z.ZodPipe) {
    return alternatives(schema.in);
  }
  return schema instanceof z.ZodUnion ? schema.options.flatMap(alternatives) : [schema];
}
