import { UsageError } from './failures.ts';

/** The value of `--wait`, in seconds. */
export function parseWait(text: string): number {
  if (!/^\d{1,4}$/.test(text)) {
    throw new UsageError('--wait takes whole seconds');
  }
  return Number(text);
}
