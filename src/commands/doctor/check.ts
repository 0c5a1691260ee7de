import type pg from 'pg';
import { withTimeout } from '../../common/timeout.ts';
import type { parseForgeConfig } from '../../config/config.ts';
import type { Purpose } from '../../facts/purposes.ts';
import type { Forge } from '../../forges/port/forge.ts';
import { ForgeError } from '../../forges/port/forge-error.ts';
import type { Hook, InspectedRepository } from '../../forges/port/inspection.ts';
import type { Policy } from '../../review/policy/policy.ts';
import type { ReviewWorkers } from '../../review/workers/review-workers.ts';
import { reasonOf } from '../failures.ts';

/** `unknown`: the forge does not tell, or not to these credentials. `skipped`: the check depends on what is wrong. */
export interface Result {
  readonly result: 'ok' | 'wrong' | 'unknown' | 'skipped';
  readonly message: string;
  /** What to do about it. */
  readonly action?: string;
}

export interface Check {
  readonly title: string;
  /** Throws {@link Skip} where it cannot be checked. */
  run(context: Context): Promise<Result | readonly Result[]>;
}

/** The forge, and the settings that it is reached by. */
export interface Site {
  readonly forge: Forge;
  readonly settings: Extract<ReturnType<typeof parseForgeConfig>, { readonly ok: true }>['config'];
}

/** What there is to check, and what the checks have found so far that others need. */
export interface Context {
  readonly configuration: readonly Result[];
  readonly databaseUrl: string | undefined;
  readonly pool: pg.Pool | undefined;
  readonly redisUrl: string | undefined;
  readonly site: Site | undefined;
  readonly workers: ReviewWorkers;
  readonly asked: string | undefined;
  readonly webhookUrl: string | undefined;
  /** Whether the database takes no writes; undefined where it does not answer. */
  readOnly?: boolean;
  /** Why the forge, or its repository, cannot be asked. */
  lacks: string;
  accepted?: Site;
  found?: Site & { readonly repository: InspectedRepository };
  /** The policy of POLICY_FILE. */
  operators?: Policy | undefined;
  /** What pull requests into the default branch are judged by. */
  policy?: Policy;
  /** What the repository needs beside what every review does, and what of it needs webhooks. */
  extras: readonly Purpose[];
  eventsFor: readonly Purpose[];
  /** Gatehouse's own. */
  hooks: readonly Hook[];
}

export const ok = (message: string): Result => ({ result: 'ok', message });
export const wrong = (message: string, action: string): Result => ({ result: 'wrong', message, action });
export const unknown = (message: string, action: string): Result => ({ result: 'unknown', message, action });

export class Skip extends Error {
  override readonly name = 'Skip';
}

/** `lacks` is what is missing: `no database`. */
export function needed<T>(value: T | undefined, lacks: string): T {
  if (value === undefined) {
    throw new Skip(lacks);
  }
  return value;
}

/** More than one question to the forge takes, which is 10 seconds. */
const LIMIT_MS = 15_000;

/** Never rejects. A check that hangs is given up, so that those after it still come. */
export async function runCheck({ run }: Check, context: Context, limitMs = LIMIT_MS): Promise<readonly Result[]> {
  const late = wrong(`no result within ${limitMs / 1_000} seconds`, 'find out why it is slow, and run doctor again');
  return [await withTimeout(limitMs, run(context).catch(failed), () => late)].flat();
}

function failed(error: unknown): Result {
  const reason = reasonOf(error);
  if (error instanceof Skip) {
    return { result: 'skipped', message: `skipped: ${reason}` };
  }
  const isKept = error instanceof ForgeError && (error.kind === 'rate-limited' || error.kind === 'refused');
  return isKept
    ? unknown(`the forge does not say: ${reason}`, 'run doctor again later, or with other credentials')
    : wrong(reason, 'fix the cause, and run doctor again');
}
