import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { FORGE_NAMES, FORGES, isForgeName } from '../forges/port/forges.ts';
import {
  type Environment,
  type Parsed,
  parseEnvironment,
  type ReadFile,
  readText,
  readVariables,
  type Settings,
} from './environment.ts';
import {
  bytes,
  count,
  databaseUrl,
  flag,
  logLevel,
  names,
  port,
  redisUrl,
  repositoryName,
  seconds,
  secret,
  statusContext,
  token,
  url,
  verifiedMode,
} from './settings.ts';

export type LogLevel = z.infer<typeof logLevel>;

/** Where the forge is, and the credentials for it. */
export interface ForgeAccess {
  readonly forgeUrl: string;
  readonly credentials: ForgeCredentials;
}

export type ForgeCredentials =
  | { readonly kind: 'token'; readonly token: string }
  | { readonly kind: 'app'; readonly appId: string; readonly privateKey: string };

/** What a process does: take webhooks, review, or both. */
export interface Roles {
  readonly door: boolean;
  readonly worker: boolean;
}

/** The settings, the operator's policy or the database schema do not allow the command. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

function isPrivateKey(text: string): boolean {
  try {
    return createPrivateKey(text).type === 'private';
  } catch {
    return false;
  }
}

const MIB = 1024 * 1024;

const database = { DATABASE_URL: databaseUrl, LOG_LEVEL: logLevel.default('info') };

const common = {
  PORT: port.default(8080),
  METRICS_PORT: port.default(9090),
  /** Undefined listens on every address, IPv6 and IPv4. */
  HOST: z.string().optional(),
  ...database,
  REDIS_URL: redisUrl,
  FORGE: z.enum(FORGE_NAMES).default('github'),
  DRAIN_SECONDS: seconds.default(5),
  /** Readiness alone ignores Redis. */
  READY_WITHOUT_REDIS: flag.default(false),
  /**
   * The name of the commit status, `{base}` for the base branch. The door queues a job for the webhook of a status of
   * this name: the worker ignores those that Gatehouse set.
   */
  STATUS_CONTEXT: statusContext.default('gatehouse/{base}'),
  /**
   * The address of the collector of traces, without `/v1/traces`. Absent: nothing is traced. OpenTelemetry's packages
   * read its other variables themselves.
   */
  OTEL_EXPORTER_OTLP_ENDPOINT: url(['http:', 'https:']).optional(),
};

const door = {
  WEBHOOK_SECRET: secret,
  /** The secret before the last rotation, still accepted. */
  WEBHOOK_SECRET_PREVIOUS: secret.optional(),
  WEBHOOK_BODY_LIMIT: bytes.default(25 * MIB),
};

const access = {
  FORGE_URL: url(['https:', 'http:']).optional(),
  FORGE_TOKEN: token.optional(),
  GITHUB_APP_ID: z
    .string()
    .regex(/^\d{1,20}$/, 'must be the App’s number')
    .optional(),
  GITHUB_APP_PRIVATE_KEY: z.string().refine(isPrivateKey, 'must be a private key in PEM').optional(),
};

const worker = {
  /** Reviews at once in this process. */
  WORKER_CONCURRENCY: count(1, 64).default(4),
  RESYNC_MINUTES: count(1, 1_440).default(15),
  /** Each day is a partition: thousands would need more locks than a server has. */
  RETENTION_DAYS: count(1, 400).default(30),
  /** How long the record of verdicts is kept. */
  AUDIT_DAYS: count(1, 36_500).default(400),
  /** A policy for repositories that have none of their own. */
  POLICY_FILE: z.string().optional(),
  /** The name of the repository of each owner whose policy comes before all others of that owner. */
  POLICY_REPOSITORY: repositoryName.optional(),
  /** Accounts that are no people, `*` for any characters: see Forge.machineAccounts. */
  MACHINE_ACCOUNTS: names.optional(),
  /** The e-mail address that the forge itself commits with: see withOwnCommits. */
  FORGE_COMMITTER: z
    .string()
    .regex(/^[^\s@]+@[^\s@]+$/, 'must be an e-mail address')
    .optional(),
  /** False: every status is `success`, whatever the verdict. */
  ENFORCE: flag.default(true),
};

/** Every variable, by who reads it. docs/settings.md and the chart are tested against it. */
export const SETTINGS = { common, door, worker, access } as const;

/** What every role needs to run. Frozen; nothing else reads the environment. */
export interface Config extends Omit<Settings<typeof common>, 'databaseUrl' | 'redisUrl'> {
  /** Reads its file again, where it is given as one. */
  readonly databaseUrl: () => string;
  readonly redisUrl: () => string;
  /** Absent in a process that takes no webhooks. */
  readonly door?: DoorConfig;
  /** Absent in a process that reviews nothing. */
  readonly worker?: WorkerConfig;
}

export type DoorConfig = Settings<typeof door>;

export interface WorkerConfig extends Settings<typeof worker>, ForgeAccess {}

/** Reads the configuration of a process. Any variable may be given as `NAME_FILE`, a path to read it from. */
export function parseConfig(env: Environment, roles: Roles, readFile: ReadFile = readText): Parsed<Config> {
  const base = parseEnvironment(common, env, readFile);
  const doors = roles.door ? parseEnvironment(door, env, readFile) : undefined;
  const workers = roles.worker ? parseEnvironment(worker, env, readFile) : undefined;
  const forgeAccess = roles.worker ? parseAccess(env, readFile) : undefined;
  const faults = [base, doors, workers, forgeAccess].flatMap((part) =>
    part === undefined || part.ok ? [] : part.faults,
  );
  if (base.ok && base.config.port === base.config.metricsPort && base.config.port !== 0) {
    faults.push('METRICS_PORT: must differ from PORT');
  }
  if (faults.length > 0 || !base.ok) {
    return { ok: false, faults };
  }
  return {
    ok: true,
    config: Object.freeze({
      ...base.config,
      databaseUrl: rereading('DATABASE_URL', base.config.databaseUrl, env, readFile),
      redisUrl: rereading('REDIS_URL', base.config.redisUrl, env, readFile),
      ...(doors?.ok && { door: doors.config }),
      ...(workers?.ok && forgeAccess?.ok && { worker: { ...workers.config, ...forgeAccess.config } }),
    }),
  };
}

/** While the file cannot be used, as in the middle of a rotation, what was read last. */
function rereading(
  name: 'DATABASE_URL' | 'REDIS_URL',
  first: string,
  env: Environment,
  readFile: ReadFile,
): () => string {
  if (!env[`${name}_FILE`]) {
    return () => first;
  }
  let last = first;
  return () => {
    const parsed = readVariables({ url: common[name] }, { url_FILE: env[`${name}_FILE`] }, readFile);
    last = parsed.ok ? parsed.config.url : last;
    return last;
  };
}

/** What to tell an operator whose DATABASE_URL asks for less than it gets. */
export function describeSslMode(env: Environment, readFile: ReadFile = readText): string | undefined {
  const parsed = readVariables({ DATABASE_URL: url(['postgres:', 'postgresql:']) }, env, readFile);
  const mode = parsed.ok ? verifiedMode(parsed.config.DATABASE_URL) : undefined;
  return (
    mode &&
    `DATABASE_URL: sslmode=${mode} is treated as verify-full, which verifies the server’s certificate and host name`
  );
}

/** What commands need that only read the database, `gatehouse migrate` among them. */
export function parseDatabaseConfig(
  env: Environment,
  readFile: ReadFile = readText,
): Parsed<Settings<typeof database>> {
  return parseEnvironment(database, env, readFile);
}

/** The address of Redis alone. */
export function parseRedisUrl(env: Environment, readFile: ReadFile = readText): Parsed<string> {
  const parsed = parseEnvironment({ REDIS_URL: common.REDIS_URL }, env, readFile);
  return parsed.ok ? { ok: true, config: parsed.config.redisUrl } : parsed;
}

const replay = { DATABASE_URL: common.DATABASE_URL, REDIS_URL: common.REDIS_URL.optional() };

/** What `gatehouse replay` needs. Without Redis the workers are not notified. */
export function parseReplayConfig(env: Environment, readFile: ReadFile = readText): Parsed<Settings<typeof replay>> {
  return parseEnvironment(replay, env, readFile);
}

const judging = {
  FORGE: common.FORGE,
  POLICY_FILE: worker.POLICY_FILE,
  POLICY_REPOSITORY: worker.POLICY_REPOSITORY,
  MACHINE_ACCOUNTS: worker.MACHINE_ACCOUNTS,
  FORGE_COMMITTER: worker.FORGE_COMMITTER,
  STATUS_CONTEXT: common.STATUS_CONTEXT,
};

/** What a command needs that judges without stores. */
export interface ForgeSettings extends ForgeAccess, Settings<typeof judging> {}

/** What commands need that only ask the forge. */
export function parseForgeConfig(env: Environment, readFile: ReadFile = readText): Parsed<ForgeSettings> {
  const parsed = parseEnvironment(judging, env, readFile);
  const found = parseAccess(env, readFile);
  if (!parsed.ok || !found.ok) {
    return { ok: false, faults: [parsed, found].flatMap((part) => (part.ok ? [] : part.faults)) };
  }
  return { ok: true, config: Object.freeze({ ...found.config, ...parsed.config }) };
}

/** The signing secret alone, for `gatehouse send`. */
export function parseSecret(env: Environment, readFile: ReadFile = readText): Parsed<string> {
  const parsed = parseEnvironment({ WEBHOOK_SECRET: secret }, env, readFile);
  return parsed.ok ? { ok: true, config: parsed.config.webhookSecret } : parsed;
}

/** Reports its faults together with the others; a fault of FORGE itself is reported by the caller. */
function parseAccess(env: Environment, readFile: ReadFile): Parsed<ForgeAccess> {
  const parsed = parseEnvironment({ FORGE: z.string().default('github'), ...access }, env, readFile);
  if (!parsed.ok) {
    return parsed;
  }
  const { forge, forgeToken: token, githubAppId: appId, githubAppPrivateKey: privateKey } = parsed.config;
  const faults: string[] = [];
  const row = isForgeName(forge) ? FORGES[forge] : undefined;
  const forgeUrl = parsed.config.forgeUrl ?? row?.defaultUrl;
  if (forgeUrl === undefined) {
    faults.push(`FORGE_URL: is required when FORGE is ${forge}`);
  }

  const app = appId !== undefined || privateKey !== undefined;
  if (app && !row?.apps) {
    faults.push(`GITHUB_APP_ID: is only for FORGE=github; set FORGE_TOKEN for ${forge}`);
  } else if (app && token !== undefined) {
    faults.push('FORGE_TOKEN: is set as well as a GitHub App; set only one of them');
  } else if (app && appId === undefined) {
    faults.push('GITHUB_APP_ID: is required with GITHUB_APP_PRIVATE_KEY');
  } else if (app && privateKey === undefined) {
    faults.push('GITHUB_APP_PRIVATE_KEY: is required with GITHUB_APP_ID');
  } else if (!app && token === undefined) {
    faults.push(
      row?.apps ? 'FORGE_TOKEN: is required, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY' : 'FORGE_TOKEN: is required',
    );
  }
  if (faults.length > 0 || forgeUrl === undefined) {
    return { ok: false, faults };
  }
  const credentials: ForgeCredentials =
    token === undefined ? { kind: 'app', appId: appId ?? '', privateKey: privateKey ?? '' } : { kind: 'token', token };
  return { ok: true, config: { forgeUrl, credentials } };
}
