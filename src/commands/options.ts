import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { MAX_PULL_REQUEST_NUMBER } from '../forges/port/pull-request.ts';
import type { PolicyFile } from '../review/policy/load.ts';
import { reasonOf, UsageError } from './failures.ts';

/** The value of an option that is a whole number, 1 to `most`. */
export function parseNumber(option: string, text: string, most = MAX_PULL_REQUEST_NUMBER): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > most) {
    throw new UsageError(`${option} takes a whole number, 1 to ${most}`);
  }
  return value;
}

/** Where the forge sends its webhooks. Another path than that of a bare address may be that of a proxy. */
export function webhookUrlOf({ pathname, origin, href }: URL): string {
  return pathname === '/' ? `${origin}/webhook` : href;
}

/** For the help of options that {@link parseTime} reads. */
export const TIME_HELP = '30m, 12h, 7d, or a time such as 2026-01-31T12:00Z';

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

const TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?(Z|[+-]\d\d:\d\d)?$/;

/** The value of an option that is a time: a duration before `now`, or a date, in UTC unless it has an offset. */
export function parseTime(option: string, text: string, now: number): Date {
  const [, amount, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const [, day, time = '00:00', offset = 'Z'] = TIME.exec(text) ?? [];
  const found =
    amount === undefined ? Date.parse(`${day}T${time}${offset}`) : now - Number(amount) * (UNIT_MS[unit] ?? 0);
  if (Number.isNaN(found)) {
    throw new UsageError(`${option} takes ${TIME_HELP}`);
  }
  return new Date(found);
}

/** The value of `--wait`, in seconds. */
export function parseWait(text: string): number {
  if (!/^\d{1,4}$/.test(text)) {
    throw new UsageError('--wait takes whole seconds');
  }
  return Number(text);
}

/** The file of `--policy`, which replaces a repository's own policy. Its faults are found when it is parsed. */
export async function readPolicyOption(path: string | undefined, folder: string): Promise<PolicyFile | undefined> {
  if (path === undefined) {
    return undefined;
  }
  try {
    return { path, text: await readFile(resolve(folder, path), 'utf8'), unusable: false };
  } catch (error) {
    throw new UsageError(`--policy: cannot read ${path}: ${reasonOf(error)}`);
  }
}
