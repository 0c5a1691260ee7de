import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Every fault at once, each a sentence that begins with the variable's name and never shows a value. */
export type Parsed<T> = { readonly ok: true; readonly config: T } | { readonly ok: false; readonly faults: string[] };

export type Environment = Readonly<Record<string, string | undefined>>;
export type ReadFile = (path: string) => string;

/** How each variable is read, by its name. */
export type Shape = Readonly<Record<string, z.ZodType>>;

/** What is read: `DRAIN_SECONDS` is `drainSeconds`. */
export type Settings<S extends Shape> = { readonly [Name in keyof S & string as CamelCase<Name>]: z.output<S[Name]> };

type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>;

/** Reads the variables that a shape names. Any may be given as `NAME_FILE`, a path to read it from. */
export function parseEnvironment<S extends Shape>(shape: S, env: Environment, readFile: ReadFile): Parsed<Settings<S>> {
  const parsed = readVariables(shape, env, readFile);
  if (!parsed.ok) {
    return parsed;
  }
  const read: Readonly<Record<string, unknown>> = parsed.config;
  // The type says of each name what this does.
  const config = Object.fromEntries(Object.keys(shape).map((name) => [camelCase(name), read[name]])) as Settings<S>;
  return { ok: true, config };
}

/** The same, by the names of the variables. */
export function readVariables<S extends Shape>(
  shape: S,
  env: Environment,
  readFile: ReadFile,
): Parsed<z.output<z.ZodObject<S>>> {
  const { values, faults, reported } = gather(Object.keys(shape), env, readFile);
  const result = z.object(shape).safeParse(values);
  if (result.success && faults.length === 0) {
    return { ok: true, config: result.data };
  }
  for (const issue of result.error?.issues ?? []) {
    const name = String(issue.path[0]);
    if (!reported.has(name)) {
      faults.push(`${name}: ${describe(issue, values[name])}`);
    }
  }
  return { ok: false, faults };
}

function camelCase(name: string): string {
  return name.toLowerCase().replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
}

/** An empty variable counts as absent: that is how shells, Compose files and charts leave one out. */
function gather(names: readonly string[], env: Environment, readFile: ReadFile) {
  const values: Record<string, string> = {};
  const faults: string[] = [];
  /** Variables with a reported fault, which must not be reported as missing as well. */
  const reported = new Set<string>();
  for (const name of names) {
    const direct = env[name] || undefined;
    const path = env[`${name}_FILE`] || undefined;
    if (direct !== undefined && path !== undefined) {
      faults.push(`${name}: is set twice, as ${name} and as ${name}_FILE`);
      reported.add(name);
    } else if (path !== undefined) {
      try {
        // Editors and `echo` add white space at the end of a file.
        const text = readFile(path).trimEnd();
        if (text !== '') {
          values[name] = text;
        }
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
        faults.push(`${name}_FILE: cannot read ${path} (${code})`);
        reported.add(name);
      }
    } else if (direct !== undefined) {
      values[name] = direct;
    }
  }
  return { values, faults, reported };
}

function describe(issue: z.core.$ZodIssue, value: string | undefined): string {
  if (value === undefined) {
    return 'is required';
  }
  if (issue.code === 'invalid_value') {
    return `must be one of ${issue.values.join(', ')}`;
  }
  return issue.message;
}

export function readText(path: string): string {
  return readFileSync(path, 'utf8');
}
