import { pino } from 'pino';
import type { LogLevel } from './config/config.ts';

export type Log = pino.Logger;

/**
 * Structured logs, one JSON object a line on standard output. Callers pass identifiers and outcomes;
 * bodies, signatures and secrets are never passed, and errors are reduced to what {@link describeError} keeps.
 */
export function makeLog(level: LogLevel, destination: pino.DestinationStream = pino.destination(1)): Log {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }), log: onlyPlainFields },
    serializers: { err: describeError },
  };
  return pino(options, destination);
}

const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'authorization',
  'body',
  'credentials',
  'password',
  'payload',
  'secret',
  'signature',
  'token',
]);

/** Code calls it the `number` of a pull request; in the log of door and worker it has one name. */
const NAMES: Readonly<Record<string, string>> = { number: 'pullRequest' };

/**
 * Leaves out fields with the names of secrets, and objects other than the error: a request, a payload or a
 * configuration may have secrets at any depth. Much cheaper than pino's redaction, which clones what it finds.
 */
function onlyPlainFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (name === 'err' || (isPlain(value) && !SECRET_FIELDS.has(name))) {
      plain[NAMES[name] ?? name] = value;
    }
  }
  return plain;
}

function isPlain(value: unknown): boolean {
  return (
    typeof value !== 'object' ||
    value === null ||
    value instanceof Date ||
    (Array.isArray(value) && value.every((each) => typeof each !== 'object' || each === null))
  );
}

interface DescribedError {
  readonly type: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: DescribedError;
}

const MAX_CAUSES = 5;

/**
 * What a log may say of an error. Database errors carry rows and query text in further properties,
 * and URLs in messages may carry a password: neither is kept.
 */
export function describeError(error: unknown, depth = 0): DescribedError {
  if (!isErrorLike(error)) {
    return { type: typeof error, message: withoutCredentials(String(error)) };
  }
  return {
    type: error.name ?? 'object',
    message: withoutCredentials(error.message),
    ...('code' in error && error.code !== undefined && { code: String(error.code) }),
    ...(error.stack !== undefined && { stack: withoutCredentials(error.stack) }),
    ...(error.cause !== undefined && depth < MAX_CAUSES && { cause: describeError(error.cause, depth + 1) }),
  };
}

/** The job engine reports a failure as a plain object with the error's fields. */
function isErrorLike(value: unknown): value is Partial<Error> & { readonly message: string; readonly code?: unknown } {
  return typeof value === 'object' && value !== null && 'message' in value && typeof value.message === 'string';
}

function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^@\s/]*@/g, '//***@');
}
