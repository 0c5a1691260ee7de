import { isObject } from '../../../src/common/is-object.ts';
import type { Description, Schema } from './description.ts';
import { makeShapes, type Shape } from './shapes.ts';

/** A value with all that its schema requires. What it has is kept as it is. */
export type Complete = (schema: Schema, value: unknown) => Completed;

export interface Completed {
  readonly value: unknown;
  /** Names of fields that the schema does not know, though it names others beside them. */
  readonly unknown: readonly string[];
}

type Fill = (value: unknown) => unknown;

/** Draws a value that a schema allows, for a field that the simulator leaves out; undefined: it stays out, if it may. */
export type Draw = (name: string, schema: Schema) => unknown;

/** Without `draw`, what is optional stays out, and what is required is as empty as it may be. */
export function makeCompletion(schemas: Description['schemas'], draw?: Draw): Complete {
  const unknown = new Set<string>();
  const fills = new Map<Schema, Fill>();
  const defaults = new Map<Schema, { readonly value: unknown }>();
  const shapeOf = makeShapes(schemas);

  function defaultOf(schema: Schema): unknown {
    const known = defaults.get(schema) ?? { value: makeDefault(shapeOf(schema)) };
    defaults.set(schema, known);
    return known.value;
  }

  function makeDefault({ schema, isNullable, properties, required, branches }: Shape): unknown {
    const [first] = branches;
    if (isNullable) {
      return null;
    }
    if (first !== undefined && required.length === 0) {
      return defaultOf(first);
    }
    return properties.size > 0 || required.length > 0
      ? Object.fromEntries(required.map((name) => [name, defaultOf(properties.get(name) ?? {})]))
      : plainDefault(schema);
  }

  function fillOf(schema: Schema): Fill {
    const known = fills.get(schema);
    if (known !== undefined) {
      return known;
    }
    // Known before it is made: schemas refer to themselves.
    fills.set(schema, (value) => fillOf(schema)(value));
    const made = makeFill(shapeOf(schema));
    fills.set(schema, made);
    return made;
  }

  function makeFill({ schema, properties, required, branches, isOpen }: Shape): Fill {
    const { items } = schema;
    if (typeof items === 'object') {
      const fill = fillOf(items as Schema);
      return (value) => (Array.isArray(value) ? value.map(fill) : value);
    }
    const fillBranch = branches.length === 0 ? undefined : makeBranchFill(branches);
    if (properties.size === 0) {
      return fillBranch ?? ((value) => value);
    }
    // One of several that are closed would no longer be that one.
    const drawable = draw === undefined || schema['additionalProperties'] === false ? [] : [...properties];
    return (value) => {
      if (!isObject(value)) {
        return fillBranch?.(value) ?? value;
      }
      const filled: Record<string, unknown> = { ...value };
      for (const name of Object.keys(value)) {
        const of = properties.get(name);
        const given = value[name];
        if (of === undefined && !isOpen) {
          unknown.add(name);
        } else if (of !== undefined && typeof given === 'object' && given !== null) {
          filled[name] = fillOf(of)(given);
        }
      }
      for (const [name, of] of drawable) {
        const drawn = filled[name] === undefined ? draw?.(name, of) : undefined;
        if (drawn !== undefined) {
          filled[name] = drawn;
        }
      }
      for (const name of required) {
        if (filled[name] === undefined) {
          filled[name] = defaultOf(properties.get(name) ?? {});
        }
      }
      return filled;
    };
  }

  function makeBranchFill(branches: readonly Schema[]): Fill {
    const shapes = branches.map((branch) => ({ shape: shapeOf(branch), fill: fillOf(branch) }));
    return (value) => {
      const suiting = shapes
        .map(({ shape, fill }) => ({ fill, score: suits(shape, value) }))
        .toSorted((one, other) => other.score - one.score);
      return suiting[0] === undefined || value === null ? value : suiting[0].fill(value);
    };
  }

  return (schema, given) => {
    unknown.clear();
    const value = fillOf(schema)(given);
    return { value, unknown: [...unknown] };
  };
}

/** How well a value suits a schema among several: by the fields that both have, then by those that it lacks. */
function suits({ schema, properties, required }: Shape, value: unknown): number {
  if (Array.isArray(value)) {
    return schema['type'] === 'array' ? 1 : -1;
  }
  if (!isObject(value) || properties.size === 0) {
    return schema['type'] === typeof value ? 1 : -1;
  }
  const names = Object.keys(value);
  const alien = names.some((name) => {
    const { enum: values } = properties.get(name) ?? {};
    return Array.isArray(values) && !values.includes(value[name]);
  });
  const lacking = required.filter((name) => value[name] === undefined).length;
  return alien ? -1 : names.filter((name) => properties.has(name)).length - lacking / 1_000;
}

const TEXTS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  uri: 'https://api.github.com/',
  'uri-template': 'https://api.github.com/',
  email: 'nobody@example.com',
  uuid: '00000000-0000-4000-8000-000000000000',
};

function plainDefault(schema: Schema): unknown {
  const { enum: values, const: only, type, format, minimum, minLength } = schema;
  if (Array.isArray(values)) {
    return values[0];
  }
  if (only !== undefined) {
    return only;
  }
  switch ([type].flat()[0]) {
    case 'array':
      return [];
    case 'integer':
    case 'number':
      return typeof minimum === 'number' ? Math.max(0, minimum) : 0;
    case 'boolean':
      return false;
    case 'object':
      return {};
    default:
      return TEXTS[String(format)] ?? 'x'.repeat(Number(minLength ?? 0));
  }
}
