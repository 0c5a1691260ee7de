import { countsLines } from './counted-lines.ts';

export const deletions = countsLines('How many lines are removed', 'removed', (file) => file.deletions);
