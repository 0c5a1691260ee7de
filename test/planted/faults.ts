import type { Fault } from './fault.ts';
import { DOOR } from './faults/door.ts';
import { FORGES } from './faults/forges.ts';
import { JOBS } from './faults/jobs.ts';
import { REST } from './faults/rest.ts';
import { REVIEW } from './faults/review.ts';

/** Mistakes that users would feel, over all rooms of `src`. Whoever moves the code takes them along. */
export const FAULTS: readonly Fault[] = [...DOOR, ...JOBS, ...REVIEW, ...FORGES, ...REST];
