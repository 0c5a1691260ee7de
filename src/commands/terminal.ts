import { visible } from '../review/text.ts';
import type { ReviewWorkers } from '../review/workers/review-workers.ts';

/** What a command may use of its process. */
export interface Terminal {
  readonly stdin: AsyncIterable<Buffer | string>;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the relative paths of the command line begin. */
  readonly folder: string;
  /** Starts what reads and judges policies. The command closes it. */
  readonly startWorkers: () => ReviewWorkers;
}

interface Output {
  readonly isTTY?: boolean;
  write(text: string | Uint8Array): unknown;
}

/** Colours are for people: never in a pipe or a file, and not where NO_COLOR (no-color.org) says so. */
export function hasColours({ stdout, env }: Pick<Terminal, 'stdout' | 'env'>): boolean {
  return stdout.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

/** A table for people: columns as wide as their widest cell. */
export function columns(rows: readonly (readonly string[])[]): string {
  const shown = rows.map((row) => row.map(visible));
  const widths = (shown[0] ?? []).map((_, column) => Math.max(...shown.map((row) => row[column]?.length ?? 0)));
  return shown
    .map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => `${line.trimEnd()}\n`)
    .join('');
}

/** In UTC, to the second. */
export function shortTime(time: Date): string {
  return time.toISOString().replace('T', ' ').replace(/\.\d+/, '');
}
