import fc from '../../helpers/property.ts';
import type { Description, Schema } from './description.ts';
import { makeShapes, type Shape } from './shapes.ts';

/** Deeper down everything that may be absent is. */
const MAX_DEPTH = 2;

/** Values that a schema allows: without what is optional, null where that is allowed, with fields that it does not know. */
export function makeArbitraries(schemas: Description['schemas']): (schema: Schema) => fc.Arbitrary<unknown> {
  const shapeOf = makeShapes(schemas);

  const made = new Map<Schema, Map<number, fc.Arbitrary<unknown>>>();

  function arbitraryOf(schema: Schema, depth = 0): fc.Arbitrary<unknown> {
    const level = Math.min(depth, MAX_DEPTH + 1);
    const ofSchema = made.get(shapeOf(schema).schema) ?? new Map<number, fc.Arbitrary<unknown>>();
    const arbitrary = ofSchema.get(level) ?? makeArbitrary(schema, level);
    made.set(shapeOf(schema).schema, ofSchema.set(level, arbitrary));
    return arbitrary;
  }

  function makeArbitrary(schema: Schema, depth: number): fc.Arbitrary<unknown> {
    const shape = shapeOf(schema);
    const value = withoutNull(shape, depth);
    return shape.isNullable
      ? fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 4, arbitrary: value })
      : value;
  }

  function withoutNull({ schema, properties, required, branches }: Shape, depth: number): fc.Arbitrary<unknown> {
    if (properties.size > 0 || required.length > 0) {
      const names = [...new Set([...(depth > MAX_DEPTH ? [] : properties.keys()), ...required])];
      const model = Object.fromEntries(
        names.map((name) => [name, propertyOf(name, properties.get(name) ?? {}, depth + 1)]),
      );
      const known = fc.record(model, { requiredKeys: [...required] });
      return fc
        .tuple(known, fc.option(fc.jsonValue({ maxDepth: 1 })))
        .map(([object, more]) =>
          more === null || schema['additionalProperties'] !== undefined ? object : { ...object, something_new: more },
        );
    }
    if (branches.length > 0) {
      return fc.oneof(...branches.map((branch) => arbitraryOf(branch, depth + 1)));
    }
    return plainOf(schema, depth);
  }

  function propertyOf(name: string, schema: Schema, depth: number): fc.Arbitrary<unknown> {
    const { type, enum: values, format } = shapeOf(schema).schema;
    const isText = [type].flat().includes('string') && values === undefined && format === undefined;
    return (isText ? textOf(name) : undefined) ?? arbitraryOf(schema, depth);
  }

  function plainOf({ enum: values, const: only, items, type, format }: Schema, depth: number): fc.Arbitrary<unknown> {
    if (Array.isArray(values)) {
      return fc.constantFrom(...values.filter((value) => value !== null));
    }
    if (only !== undefined) {
      return fc.constant(only);
    }
    switch ([type].flat().find((one) => one !== 'null')) {
      case 'array':
        return fc.array(arbitraryOf((items as Schema | undefined) ?? {}, depth + 1), { maxLength: depth > 2 ? 1 : 2 });
      case 'integer':
      case 'number':
        return fc.oneof(fc.nat(), fc.constantFrom(0, -1, 2 ** 31, 2 ** 53, 2 ** 53 + 2));
      case 'boolean':
        return fc.boolean();
      case 'string':
        return TEXTS[String(format)] ?? TEXT;
      case 'object':
        return fc.constant({});
      default:
        return fc.jsonValue({ maxDepth: 1 });
    }
  }

  return arbitraryOf;
}

const TEXT = fc.oneof(fc.constantFrom('__proto__', 'toString', ''), fc.string({ unit: 'binary', maxLength: 20 }));

/** Texts of a form that somebody may look at, by the ends of their names. */
const NAMED: readonly (readonly [end: RegExp, text: string])[] = [
  [/^full_name$/, 'acme/widgets'],
  [/^login$/, 'alice'],
  [/ref$/, 'refs/heads/main'],
  [/sha$/, 'a'.repeat(40)],
  [/^body$/, '/gatehouse recheck'],
];

function textOf(name: string): fc.Arbitrary<unknown> | undefined {
  const [, text] = NAMED.find(([end]) => end.test(name)) ?? [];
  return text === undefined
    ? undefined
    : fc.oneof({ weight: 4, arbitrary: fc.constant(text) }, { weight: 1, arbitrary: TEXT });
}

const TEXTS: Readonly<Record<string, fc.Arbitrary<string>>> = {
  'date-time': fc.constantFrom('2026-01-01T00:00:00Z', '1970-01-01T00:00:00+14:00'),
  uri: fc.constantFrom('https://github.example/x', 'https://api.github.com/repos/a/b?c=d#e'),
};
