import { MAX_PULL_REQUEST_NUMBER } from '../forges/port/pull-request.ts';
import { UsageError } from './failures.ts';

/** The value of an option, 1 or more. */
export function number(option: string, text: string, most = MAX_PULL_REQUEST_NUMBER): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > most) {
    throw new UsageError(`${option} takes a whole number, 1 to ${most}`);
  }
  return value;
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

const TIME = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?(Z|[+-]\d\d:\d\d)?$/;

/** So long before `now`, or a time of its own: in UTC, as the list has them, unless it says otherwise. */
export function moment(option: string, text: string, now: number): Date {
  const [, amount, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const [, day, time = '00:00', offset = 'Z'] = TIME.exec(text) ?? [];
  const found =
    amount === undefined ? Date.parse(`${day}T${time}${offset}`) : now - Number(amount) * (UNIT_MS[unit] ?? 0);
  if (Number.isNaN(found)) {
    throw new UsageError(`${option} takes 30m, 12h, 7d, or a time such as 2026-01-31T12:00Z`);
  }
  return new Date(found);
}
