import * as z from 'zod';
import { policySchema } from './schema.ts';
import type { YamlPath } from './yaml.ts';

/** The keys that the schema allows in the mapping at a path; none where no mapping is expected. */
export function knownKeys(path: YamlPath): readonly string[] {
  let schemas = alternatives(policySchema);
  for (const part of path) {
    schemas = schemas.flatMap((schema) => {
      if (schema instanceof z.ZodArray) {
        return alternatives(schema.element);
      }
      return schema instanceof z.ZodObject ? alternatives(schema.shape[part]) : [];
    });
  }
  return schemas.flatMap((schema) => (schema instanceof z.ZodObject ? Object.keys(schema.shape) : []));
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
