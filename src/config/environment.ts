import { readFileSync } from 'node:fs';
import type { z } from 'zod';

/** Every fault at once, each a sentence that begins with the variable's name and never shows a value. */
export type Parsed<T> = { readonly ok: true; readonly config: T } | { readonly ok: false; readonly faults: string[] };

export type Environment = Readonly<Record<string, string | undefined>>;
export type ReadFile = (path: string) => string;

/** Reads the variables that a schema names. Any may be given as `NAME_FILE`, a path to read it from. */
export function parseEnvironment<Shape extends z.core.$ZodLooseShape>(
  schema: z.ZodObject<Shape>,
  env: Environment,
  readFile: ReadFile,
): Parsed<z.output<z.ZodObject<Shape>>> {
  const { values, faults, reported } = gather(Object.keys(schema.shape), env, readFile);
  const result = schema.safeParse(values);
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
