/** Cells under each other: the first and the last of each row to the left, all others to the right. */
export function tableOf(rows: readonly (readonly (string | number)[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => `${row[column] ?? ''}`.length)));
  const pad = (cell: string | number, column: number) =>
    column === 0 ? `${cell}`.padEnd(widths[0] ?? 0) : `${cell}`.padStart(widths[column] ?? 0);
  return rows.map((row) => `${[...row.slice(0, -1).map(pad), row.at(-1)].join('  ')}\n`).join('');
}
