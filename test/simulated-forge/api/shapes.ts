import type { Description, Schema } from './description.ts';

/** What a schema says of a value, without references and with all its parts together. */
export interface Shape {
  readonly schema: Schema;
  readonly isNullable: boolean;
  readonly properties: ReadonlyMap<string, Schema>;
  readonly required: readonly string[];
  /** Whether any other field is described, too. */
  readonly isOpen: boolean;
  /** Of `anyOf` and `oneOf`, without `null`. */
  readonly branches: readonly Schema[];
}

export function makeShapes(schemas: Description['schemas']): (schema: Schema) => Shape {
  const shapes = new Map<Schema, Shape>();
  const target = (schema: Schema): Schema => {
    const reference = schema['$ref'];
    return typeof reference === 'string' ? target(schemas[reference.split('/').at(-1) ?? ''] ?? {}) : schema;
  };
  function shapeOf(given: Schema): Shape {
    const known = shapes.get(given);
    if (known !== undefined) {
      return known;
    }
    const schema = target(given);
    const parts = [schema, ...listOf(schema['allOf']).map(target)];
    const alternatives = parts.flatMap((part) => [...listOf(part['anyOf']), ...listOf(part['oneOf'])]);
    const branches = alternatives.filter((branch) => target(branch)['type'] !== 'null');
    const types = [schema['type']].flat();
    const shape: Shape = {
      schema: Object.assign({}, ...parts),
      isNullable:
        alternatives.length === 0
          ? types.includes('null')
          : alternatives.some((branch) => [target(branch)['type']].flat().includes('null')),
      properties: propertiesOf(parts),
      required: parts.flatMap((part) => (part['required'] as readonly string[] | undefined) ?? []),
      branches,
      isOpen: parts.some((part) => Boolean(part['additionalProperties'])),
    };
    shapes.set(given, shape);
    return shape;
  }
  return shapeOf;
}

/** What several parts say of one property holds together. */
function propertiesOf(parts: readonly Schema[]): ReadonlyMap<string, Schema> {
  const properties = new Map<string, Schema>();
  for (const [name, schema] of parts.flatMap((part) => Object.entries<Schema>(Object(part['properties'])))) {
    const known = properties.get(name);
    properties.set(name, known === undefined ? schema : { allOf: [known, schema] });
  }
  return properties;
}

function listOf(value: unknown): readonly Schema[] {
  return Array.isArray(value) ? value : [];
}
