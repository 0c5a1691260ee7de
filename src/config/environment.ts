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

function gather(names: readonly string[], env: Environment, readFile: ReadFile) {
  const values: Record<string, string> = {};
  const faults: string[] = [];
  /** Variables with a reported fault, which must not be reported as missing as well. */
  const reported = new Set<string>();
  for (const name of names) {
    const { value, fault } = read(name, env, readFile);
    if (fault !== undefined) {
      faults.push(fault);
      reported.add(name);
    } else if (value !== undefined) {
      values[name] = value;
    }
  }
  return { values, faults, reported };
}

interface Read {
  readonly value?: string | undefined;
  readonly fault?: string;
}

function read(name: string, env: Environment, readFile: ReadFile): Read {
  const direct = trimmed(env[name]);
  const path = trimmed(env[`${name}_FILE`]);
  if (direct !== undefined && path !== undefined) {
    return { fault: `${name}: is set twice, as ${name} and as ${name}_FILE` };
  }
  let value = direct;
  try {
    value = path === undefined ? direct : trimmed(readFile(path));
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return { fault: `${name}_FILE: cannot read ${path} (${code})` };
  }
  return value !== undefined && IN_QUOTES.test(value)
    ? { fault: `${name}: has quotes around its value: remove them` }
    : { value };
}

/**
 * `echo`, editors and `base64` add line ends, and Windows a byte order mark, which nobody sees. Empty is absent: that is
 * how shells, Compose files and charts leave a variable out.
 */
function trimmed(text: string | undefined): string | undefined {
  return text?.trim() || undefined;
}

/** `docker run --env-file` and Secrets keep those that a shell takes away. */
const IN_QUOTES = /^(["']).*\1$/s;

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
