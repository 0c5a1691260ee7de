import { type Row, timeOf } from './play-part.ts';

const HEADS = ['Part', 'Outcome', 'Time', 'Last line'] as const;

/** A table in Markdown, aligned to be read as it is, and how many were red. */
export function report(rows: readonly Row[]): string {
  const cells = rows.map(({ name, outcome, seconds, said }) => [
    name,
    outcome,
    outcome === 'left out' ? '' : timeOf(seconds),
    said.replaceAll('|', '\\|'),
  ]);
  const widths = HEADS.map((_, column) => Math.max(...[HEADS, ...cells].map((line) => line[column]?.length ?? 0)));
  const lineOf = (line: readonly string[]) =>
    `| ${line.map((cell, column) => (column === HEADS.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join(' | ')} |`;
  const rule = `|${HEADS.map((_, column) => '-'.repeat(column === HEADS.length - 1 ? 3 : (widths[column] ?? 0) + 2)).join('|')}|`;
  const count = (outcome: Row['outcome']) => rows.filter((row) => row.outcome === outcome).length;
  const counts = `${count('passed')} passed, ${count('RED')} red, ${count('left out')} left out`;
  return [lineOf(HEADS), rule, ...cells.map(lineOf), '', counts, ''].join('\n');
}

/** Of the run: what passed must have been run. */
export function exitCodeOf(rows: readonly Row[]): number {
  return rows.some(({ outcome }) => outcome === 'passed') && !rows.some(({ outcome }) => outcome === 'RED') ? 0 : 1;
}
