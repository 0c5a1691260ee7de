import { countsLines } from './counted-lines.ts';

export const changedLines = countsLines(
  'How many lines are added and removed, taken together',
  'changed',
  ({ additions, deletions }) => additions + deletions,
);
