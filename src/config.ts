import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { ForgeName } from './forges/forge.ts';

/** What the door needs to run. Frozen; nothing else reads the environment. */
export interface Config {
  readonly port: number;
  readonly metricsPort: number;
  /** Undefined listens on every address, IPv6 and IPv4. */
  readonly host: string | undefined;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly webhookSecret: string;
  /** The secret before the last rotation, still accepted. */
  readonly webhookSecretPrevious: string | undefined;
  /** Bytes. */
  readonly webhookBodyLimit: number;
  readonly forge: ForgeName;
  readonly drainSeconds: number;
  readonly logLevel: LogLevel;
}

/** What `gatehouse migrate` needs. */
export type MigrateConfig = Pick<Config, 'databaseUrl' | 'logLevel'>;

export type LogLevel = z.infer<typeof logLevel>;

/** Every fault at once, each a sentence that begins with the variable's name and never shows a value. */
export type Parsed<T> = { readonly ok: true; readonly config: T } | { readonly ok: false; readonly faults: string[] };

type Environment = Readonly<Record<string, string | undefined>>;
type ReadFile = (path: string) => string;

const MIN_SECRET_CHARACTERS = 16;
const MIB = 1024 * 1024;

const port = z
  .string()
  .refine((text) => /^\d{1,5}$/.test(text) && Number(text) <= 65_535, 'must be a port number, 0 to 65535')
  .transform(Number);

const seconds = z
  .string()
  .refine((text) => /^\d{1,4}$/.test(text) && Number(text) <= 3_600, 'must be whole seconds, 0 to 3600')
  .transform(Number);

const BYTE_UNITS: Readonly<Record<string, number>> = { '': 1, KiB: 1024, MiB: MIB };

const bytes = z
  .string()
  .transform((text) => {
    const [, digits = '', unit = ''] = /^(\d{1,10})(KiB|MiB)?$/.exec(text) ?? [];
    return digits === '' ? Number.NaN : Number(digits) * (BYTE_UNITS[unit] ?? Number.NaN);
  })
  .refine((size) => size >= 1 && size <= 100 * MIB, 'must be a size from 1 to 100MiB, such as 26214400 or 25MiB');

const secret = z
  .string()
  .refine((text) => text.length >= MIN_SECRET_CHARACTERS, `must have at least ${MIN_SECRET_CHARACTERS} characters`);

function url(protocols: readonly string[]) {
  return z
    .string()
    .refine(
      (text) => URL.canParse(text) && protocols.includes(new URL(text).protocol),
      `must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    );
}

const logLevel = z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']);

const environment = z.object({
  PORT: port.default(8080),
  METRICS_PORT: port.default(9090),
  HOST: z.string().optional(),
  DATABASE_URL: url(['postgres:', 'postgresql:']),
  REDIS_URL: url(['redis:', 'rediss:']),
  WEBHOOK_SECRET: secret,
  WEBHOOK_SECRET_PREVIOUS: secret.optional(),
  WEBHOOK_BODY_LIMIT: bytes.default(25 * MIB),
  FORGE: z.enum(['github', 'gitea', 'forgejo']).default('github'),
  DRAIN_SECONDS: seconds.default(5),
  LOG_LEVEL: logLevel.default('info'),
});

const migrateEnvironment = environment.pick({ DATABASE_URL: true, LOG_LEVEL: true });

/** Reads the door's configuration. Any variable may be given as `NAME_FILE`, a path to read it from. */
export function parseConfig(env: Environment, readFile: ReadFile = readText): Parsed<Config> {
  const parsed = parse(environment, env, readFile);
  if (!parsed.ok) return parsed;
  const values = parsed.config;
  if (values.PORT === values.METRICS_PORT && values.PORT !== 0) {
    return { ok: false, faults: ['METRICS_PORT: must differ from PORT'] };
  }
  return {
    ok: true,
    config: Object.freeze({
      port: values.PORT,
      metricsPort: values.METRICS_PORT,
      host: values.HOST,
      databaseUrl: values.DATABASE_URL,
      redisUrl: values.REDIS_URL,
      webhookSecret: values.WEBHOOK_SECRET,
      webhookSecretPrevious: values.WEBHOOK_SECRET_PREVIOUS,
      webhookBodyLimit: values.WEBHOOK_BODY_LIMIT,
      forge: values.FORGE,
      drainSeconds: values.DRAIN_SECONDS,
      logLevel: values.LOG_LEVEL,
    }),
  };
}

export function parseMigrateConfig(env: Environment, readFile: ReadFile = readText): Parsed<MigrateConfig> {
  const parsed = parse(migrateEnvironment, env, readFile);
  if (!parsed.ok) return parsed;
  return {
    ok: true,
    config: Object.freeze({ databaseUrl: parsed.config.DATABASE_URL, logLevel: parsed.config.LOG_LEVEL }),
  };
}

/** The signing secret alone, for `gatehouse send`. */
export function parseSecret(env: Environment, readFile: ReadFile = readText): Parsed<string> {
  const parsed = parse(environment.pick({ WEBHOOK_SECRET: true }), env, readFile);
  return parsed.ok ? { ok: true, config: parsed.config.WEBHOOK_SECRET } : parsed;
}

function parse<Shape extends z.core.$ZodLooseShape>(
  schema: z.ZodObject<Shape>,
  env: Environment,
  readFile: ReadFile,
): Parsed<z.output<z.ZodObject<Shape>>> {
  const { values, faults } = gather(Object.keys(schema.shape), env, readFile);
  const result = schema.safeParse(values);
  if (result.success && faults.length === 0) return { ok: true, config: result.data };

  // A file that cannot be read is told once, not again as a missing value.
  const told = new Set(faults.map((fault) => fault.split(/_FILE|:/)[0]));
  for (const issue of result.error?.issues ?? []) {
    const name = String(issue.path[0]);
    if (!told.has(name)) faults.push(`${name}: ${describe(issue, values[name])}`);
  }
  return { ok: false, faults };
}

/** An empty variable counts as absent: that is how shells, Compose files and charts leave one out. */
function gather(names: readonly string[], env: Environment, readFile: ReadFile) {
  const values: Record<string, string> = {};
  const faults: string[] = [];
  for (const name of names) {
    const direct = env[name] || undefined;
    const path = env[`${name}_FILE`] || undefined;
    if (direct !== undefined && path !== undefined) {
      faults.push(`${name}: is given twice, as ${name} and as ${name}_FILE`);
    } else if (path !== undefined) {
      try {
        // Editors and `echo` end a file with a line feed that nobody meant.
        values[name] = readFile(path).replace(/\r?\n$/, '');
      } catch (error) {
        const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
        faults.push(`${name}_FILE: cannot read ${path} (${code})`);
      }
    } else if (direct !== undefined) {
      values[name] = direct;
    }
  }
  return { values, faults };
}

function describe(issue: z.core.$ZodIssue, value: string | undefined): string {
  if (value === undefined) return 'is required';
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`;
  return issue.message;
}

function readText(path: string): string {
  return readFileSync(path, 'utf8');
}
