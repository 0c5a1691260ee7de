import {
  describeSslMode,
  parseConfig,
  parseDatabaseConfig,
  parseForgeConfig,
  parseRedisUrl,
} from '../../config/config.ts';
import type { Environment, Parsed } from '../../config/environment.ts';
import { type Finding, ok, wrong } from './finding.ts';

export type ForgeDoctorConfig = Extract<ReturnType<typeof parseForgeConfig>, { readonly ok: true }>['config'];

/** What of the configuration can be used, part by part. */
export interface DoctorConfig {
  readonly findings: readonly Finding[];
  readonly databaseUrl: string | undefined;
  readonly redisUrl: string | undefined;
  /** `absent`: that of a door, which has no credentials for the forge. */
  readonly forge: ForgeDoctorConfig | 'absent' | 'faulty';
  /** How long deliveries are kept. */
  readonly retentionDays: number | undefined;
}

/** In the chart a door and a worker have different parts of the configuration, each without the other's secrets. */
export function readConfiguration(env: Environment): DoctorConfig {
  const has = (name: string) => Boolean(env[name] || env[`${name}_FILE`]);
  const isDoor = has('WEBHOOK_SECRET');
  const isWorker = ['FORGE_TOKEN', 'GITHUB_APP_ID', 'GITHUB_APP_PRIVATE_KEY'].some(has);
  const roles = { door: isDoor || !isWorker, worker: isWorker || !isDoor };
  const parsed = parseConfig(env, roles);
  const database = parseDatabaseConfig({ ...env, LOG_LEVEL: undefined, LOG_LEVEL_FILE: undefined });
  const forge = parseForgeConfig(env);
  return {
    findings: parsed.ok
      ? [validAs(roles, parsed.config.worker?.enforce, describeSslMode(env))]
      : parsed.faults.map(faulty),
    databaseUrl: configOf(database)?.databaseUrl,
    redisUrl: configOf(parseRedisUrl(env)),
    forge: roles.worker ? (configOf(forge) ?? 'faulty') : 'absent',
    retentionDays: configOf(parsed)?.worker?.retentionDays,
  };
}

function configOf<T>(parsed: Parsed<T>): T | undefined {
  return parsed.ok ? parsed.config : undefined;
}

function validAs(
  roles: { readonly door: boolean; readonly worker: boolean },
  enforce: boolean | undefined,
  sslMode: string | undefined,
): Finding {
  const parts = [roles.door && 'the door', roles.worker && 'the worker'].filter((part) => part !== false);
  const dryRun = enforce === false ? '. ENFORCE=false: every status is success' : '';
  const note = sslMode === undefined ? '' : `. ${sslMode}`;
  return ok('configuration', `valid for ${parts.join(' and ')}${dryRun}${note}`);
}

function faulty(fault: string): Finding {
  return wrong('configuration', fault, 'correct the variable');
}
