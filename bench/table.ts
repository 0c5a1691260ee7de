import type { Spread } from './stats.ts';

/** A Markdown table. Columns are right-aligned, except those with these numbers. */
export function table(
  header: readonly string[],
  left: readonly number[],
  rows: readonly (readonly string[])[],
): string {
  const align = header.map((_, index) => (left.includes(index) ? '---' : '--:'));
  return [header, align, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The median, and in parentheses the minimum and maximum of the rounds. */
export function cell(value: Spread | undefined, digits: number): string {
  if (value === undefined) {
    return 'not measured';
  }
  const [median, least, most] = [value.median, value.least, value.most].map((one) => format(one, digits));
  return `${median} (${least}–${most})`;
}

export function format(value: number, digits: number): string {
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
