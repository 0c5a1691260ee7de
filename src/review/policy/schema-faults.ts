import * as z from 'zod';
import { shorten } from '../../common/shorten.ts';
import { visible } from '../text.ts';
import type { FaultCollector } from './faults.ts';
import { nearest } from './nearest.ts';
import type { PolicyYaml, YamlPath } from './yaml.ts';

type Issue = z.core.$ZodIssue;

/** Puts what the schema has against a file into words, each at its place. */
export function schemaFaults(
  schema: z.ZodType,
  issues: readonly Issue[],
  yaml: PolicyYaml,
  faults: FaultCollector,
): void {
  for (const issue of issues) {
    addIssue(schema, issue, [], yaml, faults);
  }
}

function addIssue(schema: z.ZodType, issue: Issue, parent: YamlPath, yaml: PolicyYaml, faults: FaultCollector): void {
  const path = [...parent, ...issue.path.map((part) => (typeof part === 'number' ? part : String(part)))];
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys) {
      addUnknownKey(schema, key, path, yaml, faults);
    }
    return;
  }
  if (issue.code === 'invalid_union') {
    // The alternative whose kind of value was given knows best what is wrong with it.
    const meant = issue.errors.find(
      (errors) => !errors.some(({ code, path: at }) => code === 'invalid_type' && at.length === 0),
    );
    if (meant !== undefined && meant.length > 0) {
      for (const inner of meant) {
        addIssue(schema, inner, path, yaml, faults);
      }
      return;
    }
  }
  const offset = yaml.positionOf(path);
  if (issue.code === 'custom' && issue.params?.['sentence'] === true) {
    faults.add(offset, { message: issue.message, found: describe(valueAt(yaml.value, path)) });
    return;
  }
  const expected = issue.message;
  const value = valueAt(yaml.value, path);
  const key = path.at(-1);
  if (value === undefined) {
    faults.add(offset, { message: `missing key "${key}": expected ${expected}`, expected, found: 'nothing' });
    return;
  }
  const near =
    issue.code === 'invalid_value' && typeof value === 'string' && !issue.values.map(String).includes(value)
      ? nearest(value, issue.values.map(String))
      : undefined;
  const found = issue.code === 'too_big' && Array.isArray(value) ? `${value.length}` : describe(value);
  faults.add(offset, {
    message: `expected ${expected}, found ${found}${near === undefined ? '' : `; did you mean "${near}"?`}`,
    expected,
    found,
    ...(near === undefined ? {} : { suggestion: near }),
  });
}

function addUnknownKey(schema: z.ZodType, key: string, path: YamlPath, yaml: PolicyYaml, faults: FaultCollector): void {
  const allowed = allowedKeys(schema, path);
  const near = nearest(key, allowed);
  let hint = `; expected ${allowed.length > 6 ? 'one of ' : ''}${allowed.join(', ')}`;
  if (near !== undefined) {
    hint = `; did you mean "${near}"?`;
  } else if (isRule(path) && allowedKeys(schema, [...path, 'when']).includes(key)) {
    hint = `; "${key}" belongs under when, require or forbid`;
  }
  faults.add(yaml.keyPositionOf(path, key), {
    message: `unknown key ${describe(key)}${hint}`,
    expected: allowed.join(', '),
    found: key,
    ...(near === undefined ? {} : { suggestion: near }),
  });
}

/** `rules`, and a number. */
function isRule(path: YamlPath): boolean {
  return path.length === 2;
}

function valueAt(value: unknown, path: YamlPath): unknown {
  let current = value;
  for (const part of path) {
    if (typeof current !== 'object' || current === null) {
      return undefined;
    }
    current = Object.getOwnPropertyDescriptor(current, part)?.value;
  }
  return current;
}

const MAX_FOUND_SHOWN = 60;

/** A value as a person would point at it. */
function describe(value: unknown): string {
  if (value === undefined || value === null) {
    return 'nothing';
  }
  if (Array.isArray(value)) {
    return value.length === 0 ? 'an empty list' : 'a list';
  }
  if (typeof value === 'object') {
    return 'a mapping';
  }
  if (typeof value === 'string') {
    return `"${visible(shorten(value, MAX_FOUND_SHOWN))}"`;
  }
  return visible(shorten(String(value), MAX_FOUND_SHOWN));
}

/** The keys that the schema allows in the mapping at a path; none where no mapping is expected. */
function allowedKeys(schema: z.ZodType, path: YamlPath): readonly string[] {
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
