import { visible } from '../review/text.ts';

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
