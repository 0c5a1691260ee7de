import { countsLines } from './counted-lines.ts';

export const additions = countsLines('How many lines are added', 'added', (file) => file.additions);
